"""ResNet-50 training, images per second: the step alone, and with each way to feed it from JPEG files: ``make bench``.

Mixed precision, channels_last, batches of 256, fused SGD. "The step alone" trains on one batch that stays on the GPU:
the rate that no loader can exceed. The other rows read JPEG photographs of 375x500 from the page cache, take a random
crop resized to 224 with antialiasing, flip, and normalise. Every row has its own warm-up; the rows alternate, and the
median of the rounds is reported. A timed part is long because the workers of a ``DataLoader`` finish whole batches at
about the same time. ``--cpus 16 4`` measures on 16 and then on 4 processors, as on a machine with few processors per
GPU, and writes a table for each.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "examples")]
sys.path.append(str(HERE.parent))  # a checkout that is not installed

from jpeg_files import jpeg_files  # noqa: E402
from report import cpus, default_path, document, number, print_table, write  # noqa: E402
from training_loaders import CLASSES, MAKERS  # noqa: E402

import cuaug  # noqa: E402

STEP = "the step alone"
STEPS_QUEUED = 4


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few images, a small network, any device: does it run?")
    parser.add_argument("--rows", metavar="TEXT", default="", help="rows whose names contain it")
    parser.add_argument("--rounds", type=int, default=3, help="timed parts of each row")
    parser.add_argument("--seconds", type=float, default=15.0, help="length of a timed part")
    parser.add_argument("--warm-up", type=float, default=4.0, metavar="SECONDS", help="before each timed part")
    parser.add_argument(
        "--cpus", type=int, nargs="+", default=[cpus()], dest="cpu_counts", metavar="COUNT",
        help="numbers of processors that training and its workers may use; one table for each",
    )  # fmt: skip
    parser.add_argument("--files", type=Path, help="a folder of classes of JPEG files; default: crops of photographs")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--json", type=Path, metavar="PATH", help="file of results; otherwise only full runs write")
    options = parser.parse_args()
    if not all(1 <= count <= cpus() for count in options.cpu_counts):
        parser.error(f"--cpus must be in 1..{cpus()}, the processors of this machine, got {options.cpu_counts}")
    if options.files and not jpeg_files(options.files):
        parser.error(f"--files must be a folder with JPEG files (.jpg, .jpeg), got {options.files}")
    if options.quick:
        options.rounds, options.seconds, options.warm_up, options.batch = 1, 0.1, 0.0, 16
    elif not cuaug.is_available():
        print("no GPU that CuPy can use")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        options.samples = samples(options, Path(folder))
        tables = {}
        for count in options.cpu_counts:
            tables[f"training, {count} processors"] = table = measure_in_child(count, options)
            print_rates(table)
    if options.json or not (options.quick or options.rows):
        results = document(tables, "training")
        write(results, options.json or default_path(results))
    return 0


def samples(options: argparse.Namespace, folder: Path) -> list[tuple[str, int]]:
    """Paths and labels of an epoch; the files repeat."""
    if options.files is None:
        from photographs import write_crops

        write_crops(folder, 2 if options.quick else 16, (375, 500), quality=96)
    paths = jpeg_files(options.files or folder)
    classes = sorted({path.parent.name for path in paths})
    pairs = [(str(path), classes.index(path.parent.name)) for path in paths]
    return list(itertools.islice(itertools.cycle(pairs), 4 * options.batch if options.quick else 262_144))


def measure_in_child(count: int, options: argparse.Namespace) -> dict[str, Any]:
    """Measures in a new process: threads that run already would keep their processors."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measure, count, options).result()


def measure(count: int, options: argparse.Namespace) -> dict[str, Any]:
    if hasattr(os, "sched_setaffinity"):  # before torch and cuaug start their threads
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])
    import torch

    options.cpus = count
    device = "cuda" if cuaug.is_available() else "cpu"
    torch.set_num_threads(options.cpus)
    cuaug.set_num_threads(options.cpus)
    step = training_step(device, options.quick)
    makers: dict[str, Callable[..., Iterator[Any]]] = {STEP: resident_batches, **MAKERS}
    makers = {name: maker for name, maker in makers.items() if name == STEP or options.rows in name}
    rates: dict[str, list[float]] = {name: [] for name in makers}
    for round_ in range(1, options.rounds + 1):
        for name, maker in makers.items():
            rates[name].append(rate(maker(device, options), step, device, options))
            gc.collect()  # ends the workers and threads of the loader
            print(f"{count} CPUs, round {round_}, {name}: {number(rates[name][-1])} images/s", flush=True)
    cuaug.set_num_threads(0)
    size = statistics.mean(Path(path).stat().st_size for path, _ in options.samples[:512])
    step_rate = statistics.median(rates[STEP])
    rows = [
        {
            "name": name,
            "images_per_s": statistics.median(values),
            "share_of_step": statistics.median(values) / step_rate,
            "rounds": [round(value) for value in values],
        }
        for name, values in rates.items()
    ]
    name = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    return {"device": name, "cpus": options.cpus, "batch": options.batch, "bytes": size, "rows": rows}


def training_step(device: str, quick: bool) -> Callable[[Any, Any], None]:
    import torch
    from torch import nn

    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    if quick:
        network: Any = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, CLASSES))
    else:
        from torchvision.models import resnet50

        network = resnet50(num_classes=CLASSES)
    network = network.to(device, memory_format=torch.channels_last)
    # Fused, because with any other form the scaler's step waits for the GPU and the host cannot queue further steps.
    optimizer = torch.optim.SGD(network.parameters(), 0.01, momentum=0.9, fused=device == "cuda")
    half = torch.float16 if device == "cuda" else torch.bfloat16
    scaler = torch.amp.GradScaler(device, enabled=device == "cuda")

    def step(images: Any, labels: Any) -> None:
        with torch.autocast(device, half):
            loss = nn.functional.cross_entropy(network(images), labels)
        optimizer.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    return step


def resident_batches(device: str, options: argparse.Namespace) -> Iterator[Any]:
    import torch

    images = torch.randn(options.batch, 3, 224, 224, device=device, dtype=torch.float16 if device == "cuda" else None)
    images = images.contiguous(memory_format=torch.channels_last)
    yield from itertools.repeat((images, torch.randint(CLASSES, (options.batch,), device=device)))


def rate(batches: Iterator[Any], step: Callable[[Any, Any], None], device: str, options: argparse.Namespace) -> float:
    """Images per second of training, after a warm-up that also lets the loader fill its queues."""
    train_for(options.warm_up, batches, step, device, options.batch)
    return train_for(options.seconds, batches, step, device, options.batch)


def train_for(
    seconds: float, batches: Iterator[Any], step: Callable[[Any, Any], None], device: str, batch: int
) -> float:
    import torch

    count, start = 0, time.perf_counter()
    queued: deque[Any] = deque()  # an event after each of the latest steps
    for images, labels in batches:
        assert tuple(images.shape) == (batch, 3, 224, 224), images.shape
        step(images, labels)
        count += batch
        if device == "cuda":
            queued.append(torch.cuda.current_stream().record_event())
            if len(queued) > STEPS_QUEUED:  # otherwise the host would queue hundreds of steps
                queued.popleft().synchronize()
        if time.perf_counter() - start > seconds:
            break
    else:
        raise AssertionError("the loader ended within the timed part")
    if device == "cuda":
        torch.cuda.synchronize()
    return count / (time.perf_counter() - start)


def print_rates(table: dict[str, Any]) -> None:
    cells = [
        {
            "batches from": row["name"],
            "images/s": number(row["images_per_s"]),
            "of the step": f"{row['share_of_step']:.1%}",
        }
        for row in table["rows"]
    ]
    notes = [f"batches of {table['batch']}, {table['bytes'] / 1e3:.0f} kB a file."]
    print_table(f"ResNet-50 training on {table['device']}, {table['cpus']} CPUs", cells, notes)


if __name__ == "__main__":
    sys.exit(main())
