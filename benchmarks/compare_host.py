"""Host time of calls in two installations, compared in turns: ``compare_host.py BEFORE AFTER [OUT.json]``.

BEFORE and AFTER are folders of ``pip install --target``. The calls get batches on a GPU; with ``--cpu`` single images,
as in a worker process of a data loader, and the times include those of the loops.

A machine's speed drifts by more than the difference that matters, so two processes on one core take turns of a few
calls, in the order before, after, after, before. A process has its own memory layout, which changes a call by up to
4 %, so several pairs of processes are measured.
"""

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CALLS_PER_TURN = 15


def calls_of(device):
    """The measured calls by name, and the number of warm-up calls of each: on a CPU every image is used twice."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH leaves it out
    import host_calls
    import torch

    if device == "cuda":
        return host_calls.batch_calls(device), 30
    import cuaug

    torch.set_num_threads(1)
    cuaug.set_num_threads(1)
    images = host_calls.Images(500)
    floats = images.small_tensors[0].float() / 255
    calls = {host_calls.RELU: lambda: torch.relu(floats)}
    for name, by_library in host_calls.single_image_calls(images).items():
        for library, call in by_library.items():
            calls[f"{name}, NumPy" if library == host_calls.NUMPY else name] = call
    return calls, 2 * images.count


def answer_turns(device):
    """Runs in the process of one installation: prints cuaug's file and the names of the calls, then times calls.

    For each index of a call that it reads from stdin, it prints the nanoseconds per call.
    """
    import cuaug

    print(cuaug.__file__, flush=True)
    import torch

    measured, warm_up = calls_of(device)
    synchronize = torch.cuda.synchronize if device == "cuda" else lambda: None
    for call in measured.values():
        for _ in range(warm_up):
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
        folder = Path(folder).resolve()
        # Without the first folder, the finder of an editable install would find its cuaug before this one.
        environment = {"PYTHONPATH": f"{ROOT}/tests/hide_editable{os.pathsep}{folder}", "PYTHONSAFEPATH": "1"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | environment
        )
        file = self.process.stdout.readline().strip()
        if not Path(file).is_relative_to(folder):
            self.process.kill()
            self.close()
            raise ImportError(f"cuaug must be imported from {folder}, got {file or 'none'}")
        self.names = json.loads(self.process.stdout.readline())

    def turn(self, number):
        """Nanoseconds per call."""
        self.process.stdin.write(f"{number}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def compare_pair(before, after, seconds):
    """Turns [before, after] in ns per call, by name."""
    turns = {name: [] for name in before.names}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for number, rounds in enumerate(turns.values()):
            first, *after_turns, last = (side.turn(number) for side in (before, after, after, before))
            rounds.append(((first + last) / 2, sum(after_turns) / 2))
    return turns


def as_row(name, pairs):
    """A row of a file in results/: the ratios of all pairs of processes, and the times of the first pair in us."""
    ratios = [ratio for ratio, _, _ in pairs]
    return {"name": name, "ratios": ratios, "before_us": pairs[0][1], "after_us": pairs[0][2]}


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
    print(f"{'after / before, per pair of processes':66} us before, after")
    for name, pairs in rows.items():
        ratios = "  ".join(f"{ratio:.3f}" for ratio, _, _ in pairs)
        print(f"{name:46} {ratios:20} {pairs[0][1]:8.1f} {pairs[0][2]:8.1f}")
    if options.out:
        Path(options.out).write_text(json.dumps({"rows": [as_row(*item) for item in rows.items()]}, indent=1))


if __name__ == "__main__":
    answer_turns(sys.argv[2]) if sys.argv[1:2] == ["--answer-turns"] else main()
