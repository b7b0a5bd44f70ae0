"""Host time of calls in two installations, compared in turns: ``compare_host.py BEFORE AFTER [OUT.json]``.

BEFORE and AFTER are folders of ``pip install --target``. The calls get batches on a GPU; with ``--cpu`` single images,
as in a worker process of a data loader, and the times include those of the loops.

A machine's speed drifts by more than the difference that matters, so two processes on one core take turns of a few
calls, in the order before, after, after, before. A process has its own memory layout, which changes a call by up to
4 %, so several pairs of processes are measured.
"""

import argparse
import gc
import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

CALLS_PER_TURN = 15


def gpu_calls():
    """The measured calls by name. Images are small, so that the device does not delay the host."""
    import torch

    import cuaug
    from cuaug import transforms as T

    torch.manual_seed(0)
    images = torch.randint(0, 256, (8, 3, 32, 32), dtype=torch.uint8, device="cuda")
    floats, numbers = images.float() / 255, torch.rand(8, device="cuda")
    matrices = torch.eye(3, device="cuda")[:2].repeat(8, 1, 1).contiguous()
    boxes = torch.rand(64, 4, device="cuda").sort(1).values
    points = torch.rand(2, 8, 4, 2, device="cuda")
    different_sizes = [images[0, :, : 29 + i % 4].contiguous() for i in range(32)]
    crop = [T.RandomResizedCrop(24), T.RandomHorizontalFlip()]
    jitter, normalize = T.ColorJitter(0.4, 0.4, 0.4, 0.1), T.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    imagenet = T.Compose([*crop, normalize], seed=1)
    cifar = T.Compose([T.RandomCrop(32, padding=4), T.RandomHorizontalFlip(), normalize], seed=1)
    simclr = T.Compose(
        [*crop, T.RandomApply([jitter], 0.8), T.RandomGrayscale(0.2), T.GaussianBlur(5), normalize], seed=1
    )
    policy = T.Compose([T.RandAugment(), normalize], seed=1)
    affine = T.Compose([T.RandomAffine(10), jitter], seed=1)
    return {
        "torch.relu": lambda: torch.relu(floats),
        "warp_affine": lambda: cuaug.warp_affine(images, matrices),
        "warp_affine, host matrix": lambda: cuaug.warp_affine(images, [[1.0, 0.0, 1.0], [0.0, 1.0, 2.0]]),
        "rotate": lambda: cuaug.rotate(images, numbers),
        "rotate, one angle": lambda: cuaug.rotate(images, 10.0),
        "affine": lambda: cuaug.affine(images, numbers, (1.0, 2.0), 1.0, (0.0, 0.0)),
        "perspective": lambda: cuaug.perspective(images, points[0], points[1]),
        "get_rotation_matrix": lambda: cuaug.get_rotation_matrix(numbers),
        "affine_matrix": lambda: cuaug.affine_matrix(numbers, (1.0, 2.0), 1.0, (0.0, 0.0), (16.0, 16.0)),
        "estimate_affine": lambda: cuaug.estimate_affine(points[0], points[1]),
        "get_perspective_transform": lambda: cuaug.get_perspective_transform(points[0], points[1]),
        "compose_affine": lambda: cuaug.compose_affine(matrices, matrices),
        "convert_matrix": lambda: cuaug.convert_matrix(matrices, "cuaug", "torch", size=(32, 32)),
        "invert_affine": lambda: cuaug.invert_affine(matrices),
        "transform_points": lambda: cuaug.transform_points(points[0], matrices),
        "adjust_brightness": lambda: cuaug.adjust_brightness(images, numbers),
        "adjust_contrast": lambda: cuaug.adjust_contrast(images, numbers),
        "adjust_hue": lambda: cuaug.adjust_hue(images, 0.1),
        "normalize": lambda: cuaug.normalize(floats, [0.4, 0.5, 0.6], [0.2, 0.2, 0.2]),
        "resize": lambda: cuaug.resize(images, (24, 24)),
        "pad": lambda: cuaug.pad(images, 4),
        "crop": lambda: cuaug.crop(images, 1, 2, 20, 20),
        "hflip": lambda: cuaug.hflip(images),
        "mixup": lambda: cuaug.mixup(floats, numbers),
        "invert": lambda: cuaug.invert(images),
        "gaussian_blur": lambda: cuaug.gaussian_blur(images, 5),
        "box_iou": lambda: cuaug.box_iou(boxes, boxes),
        "Compose: ImageNet": lambda: imagenet(images),
        "Compose: CIFAR": lambda: cifar(images),
        "Compose: SimCLR": lambda: simclr(images),
        "Compose: RandAugment": lambda: policy(images),
        "Compose: affine, jitter": lambda: affine(images),
        "Compose: ImageNet, list of 32": lambda: imagenet(different_sizes),
    }


def cpu_calls():
    """Calls with one image on a CPU, in one thread."""
    import torch

    import cuaug
    from cuaug import transforms as T

    torch.manual_seed(0)
    torch.set_num_threads(1)
    cuaug.set_num_threads(1)
    image = torch.randint(0, 256, (3, 32, 32), dtype=torch.uint8)
    floats, pixels = image.float() / 255, image.permute(1, 2, 0).contiguous().numpy()
    equal = [torch.randint(0, 256, (3, 352, 490), dtype=torch.uint8) for _ in range(500)]
    different = [torch.randint(0, 256, (3, 340 + i % 25, 480 + i // 25), dtype=torch.uint8) for i in range(500)]
    next_equal, next_different = itertools.cycle(equal).__next__, itertools.cycle(different).__next__
    normalize = T.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    cifar = [T.Compose([T.RandomCrop(32, padding=4), T.RandomHorizontalFlip(), normalize], seed=1) for _ in range(2)]
    policy = T.Compose([T.RandAugment(), normalize], seed=1)
    crop = [T.RandomResizedCrop(224), T.RandomHorizontalFlip(), T.ColorJitter(0.4, 0.4, 0.4), normalize]
    one_size, many_sizes = T.Compose(crop, seed=1), T.Compose(crop, seed=1)
    for photograph in different * 2:  # twice: an image of a known size costs less
        many_sizes(photograph)
    return {
        "torch.relu": lambda: torch.relu(floats),
        "warp_affine": lambda: cuaug.warp_affine(image, [[1.0, 0.0, 1.0], [0.0, 1.0, 2.0]]),
        "rotate": lambda: cuaug.rotate(image, 10.0),
        "adjust_brightness": lambda: cuaug.adjust_brightness(image, 1.2),
        "adjust_contrast": lambda: cuaug.adjust_contrast(image, 1.2),
        "adjust_hue": lambda: cuaug.adjust_hue(image, 0.1),
        "normalize": lambda: cuaug.normalize(floats, [0.4, 0.5, 0.6], [0.2, 0.2, 0.2]),
        "resize": lambda: cuaug.resize(image, (24, 24)),
        "pad": lambda: cuaug.pad(image, 4),
        "crop": lambda: cuaug.crop(image, 1, 2, 20, 20),
        "hflip": lambda: cuaug.hflip(image),
        "hflip, NumPy": lambda: cuaug.hflip(pixels),
        "invert": lambda: cuaug.invert(image),
        "gaussian_blur": lambda: cuaug.gaussian_blur(image, 5),
        "Compose: CIFAR": lambda: cifar[0](image),
        "Compose: CIFAR, NumPy": lambda: cifar[1](pixels),
        "Compose: RandAugment": lambda: policy(image),
        "Compose: ImageNet, one size": lambda: one_size(next_equal()),
        "Compose: ImageNet, 500 sizes": lambda: many_sizes(next_different()),
    }


def answer_turns(device):
    """The process of one installation: prints the names of its calls; then for each number read, the ns per call."""
    import torch

    measured = gpu_calls() if device == "cuda" else cpu_calls()
    synchronize = torch.cuda.synchronize if device == "cuda" else lambda: None
    for call in measured.values():
        for _ in range(30):
            call()
        synchronize()
    gc.collect()
    gc.freeze()
    gc.disable()
    print(json.dumps(list(measured)), flush=True)
    by_number = list(measured.values())
    for line in sys.stdin:
        call = by_number[int(line)]
        call()
        synchronize()
        start = time.perf_counter_ns()
        for _ in range(CALLS_PER_TURN):
            call()
        elapsed = time.perf_counter_ns() - start
        synchronize()
        print(elapsed / CALLS_PER_TURN, flush=True)


class Installation:
    """A process that imports cuaug from a folder."""

    def __init__(self, folder, core, device):
        command = ["taskset", "-c", str(core), sys.executable, __file__, "--answer-turns", device]
        environment = os.environ | {"PYTHONPATH": folder, "PYTHONSAFEPATH": "1"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.names = json.loads(self.process.stdout.readline())

    def turn(self, number):
        """Nanoseconds per call."""
        self.process.stdin.write(f"{number}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def compare_pair(before, after, seconds):
    """Turns [before, after] in ns per call, by name."""
    turns = {name: [] for name in before.names}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for number, rounds in enumerate(turns.values()):
            first, *both, last = (side.turn(number) for side in (before, after, after, before))
            rounds.append(((first + last) / 2, sum(both) / 2))
    return turns


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="a folder of pip install --target")
    parser.add_argument("after", help="another one")
    parser.add_argument("out", nargs="?", help="a JSON file for the result")
    parser.add_argument("--cpu", action="store_true", help="single images on the CPU in place of batches on a GPU")
    parser.add_argument("--pairs", type=int, default=3, help="pairs of processes, each on one core")
    parser.add_argument("--seconds", type=float, default=45, help="for each pair")
    options = parser.parse_args()
    rows, device, cores = {}, "cpu" if options.cpu else "cuda", sorted(os.sched_getaffinity(0))
    for pair in range(options.pairs):
        core = cores[-1 - pair % len(cores)]
        before, after = (Installation(folder, core, device) for folder in (options.before, options.after))
        for name, turns in compare_pair(before, after, options.seconds).items():
            ratio = statistics.median(b / a for a, b in turns)
            microseconds = [round(statistics.median(side) / 1e3, 2) for side in zip(*turns, strict=True)]
            rows.setdefault(name, []).append([round(ratio, 3), *microseconds])
        before.close()
        after.close()
    print(f"{'after / before, per pair of processes':50} us before, after")
    for name, pairs in rows.items():
        ratios = "  ".join(f"{ratio:.3f}" for ratio, _, _ in pairs)
        print(f"{name:30} {ratios:20} {pairs[0][1]:8.1f} {pairs[0][2]:8.1f}")
    if options.out:
        Path(options.out).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    answer_turns(sys.argv[2]) if sys.argv[1:2] == ["--answer-turns"] else main()
