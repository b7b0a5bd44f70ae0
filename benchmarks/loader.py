"""Loaders, from files to training batches, in images per second: ``make bench``.

JPEG photographs of 375x500 -> a random crop, resized to 224 with antialiasing, flipped, normalised, float16 on a GPU
and float32 on the CPU. Each loader has the same number of threads or worker processes; a DataLoader for a GPU has one
worker less, beside the process that copies. Whole epochs are timed after one for warm-up; loaders alternate, and
medians are reported, as epochs differ by more than the loaders. Some loaders (DALI) prefetch the next epoch when one
ends, others (cuaug) do not: epochs are long, and a timing starts only when this process is idle. Files are in the page
cache.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "examples")]
sys.path.append(str(HERE.parent))  # a checkout that is not installed

import loader_peers  # noqa: E402
from jpeg_files import jpeg_files  # noqa: E402
from loader_peers import MEAN, SIZE, STD  # noqa: E402
from report import cpu_name, cpus, default_path, document, number, print_table, write  # noqa: E402

import cuaug  # noqa: E402
from cuaug import transforms as T  # noqa: E402
from cuaug.data import Loader  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    devices = parser.add_mutually_exclusive_group()
    devices.add_argument("--gpu", action="store_true", help="the GPU table alone")
    devices.add_argument("--cpu", action="store_true", help="the CPU table alone")
    parser.add_argument("--quick", action="store_true", help="few files: does it run?")
    parser.add_argument("--no-peers", action="store_true", help="only cuaug")
    parser.add_argument("--peers", metavar="TEXT", default="", help="peers whose names contain it")
    parser.add_argument("--rounds", type=int, default=5, help="timed epochs of each loader")
    parser.add_argument("--json", type=Path, metavar="PATH", help="file of results; otherwise only full runs write")
    parser.add_argument("--files", type=Path, help="a folder of JPEG files; default: crops of photographs")
    parser.add_argument("--threads", type=int, default=cpus(), help="threads, or worker processes, of each loader")
    parser.add_argument("--images", type=int, default=32_768, help="images of an epoch")
    parser.add_argument("--batch", type=int, default=256)
    options = parser.parse_args()
    if options.files and not jpeg_files(options.files):
        parser.error(f"--files must be a folder with JPEG files (.jpg, .jpeg), got {options.files}")
    if options.quick:
        options.images, options.batch, options.rounds = 64, 16, 1
    with tempfile.TemporaryDirectory() as folder:
        options.paths = file_list(options, Path(folder))
        tables: dict[str, Any] = {}
        if not options.cpu and cuaug.is_available():
            import torch

            tables["gpu"] = table("cuda", torch.cuda.get_device_name(), options)
        if not options.gpu:
            tables["cpu"] = table("cpu", cpu_name(), options)
    if not tables:
        print("no GPU that CuPy can use")
        return 1
    if options.json or not (options.quick or options.no_peers):
        results = document(tables, "loader")
        write(results, options.json or default_path(results))
    return 0


def file_list(options: argparse.Namespace, folder: Path) -> list[str]:
    """The paths of an epoch; files repeat if there are fewer than images in an epoch."""
    if options.files is None:
        from photographs import write_crops

        write_crops(folder / "portrait", 2 if options.quick else 16, (500, 375))
        write_crops(folder / "landscape", 2 if options.quick else 48, (375, 500))
    paths = [str(path) for path in jpeg_files(options.files or folder)]
    return [paths[i % len(paths)] for i in range(options.images)]


def cuaug_loader(device: str, options: argparse.Namespace, decoder: str = "cpu") -> Callable[[], Iterator[Any]]:
    recipe = [
        T.RandomResizedCrop(SIZE),
        T.RandomHorizontalFlip(),
        T.ToDtype("float32" if device == "cpu" else "float16", scale=True),
        T.Normalize(MEAN, STD),
    ]
    settings = {
        "device": device,
        "shuffle": True,
        "seed": 0,
        "threads": options.threads,
        "library": "torch",
        "decoder": decoder,
    }
    loader = Loader(options.paths, options.batch, recipe, **settings)
    return lambda: iter(loader)


def table(device: str, name: str, options: argparse.Namespace) -> dict[str, Any]:
    cuaug.set_num_threads(options.threads)
    makers = {"cuaug": cuaug_loader}
    if device != "cpu":
        makers = {"cuaug, hybrid": partial(cuaug_loader, decoder="hybrid"), "cuaug, decoded by the CPU": cuaug_loader}
    peers = {} if options.no_peers else loader_peers.makers(device)
    makers |= {name: maker for name, maker in peers.items() if options.peers in name}
    results = measure({name: maker(device, options) for name, maker in makers.items()}, device, options)
    cuaug.set_num_threads(0)
    for row in results:
        row["ratio"] = results[0]["images_per_s"] / row["images_per_s"]
    cells = [
        {
            "loader": row["name"],
            "images/s": number(row["images_per_s"]),
            "best": number(row["best"]),
            "processor us/image": number(row["processor_us"]),
            "cuaug is": f"{row['ratio']:.2f}x",
        }
        for row in results
    ]
    size = sum(map(os.path.getsize, options.paths)) / len(options.paths)
    notes = [f"{options.threads} threads or workers, batches of {options.batch}, {size / 1e3:.0f} kB a file."]
    print_table(f"loader on {name}, {cpus()} CPUs", cells, notes)
    return {"device": name, "threads": options.threads, "batch": options.batch, "bytes": size, "rows": results}


def measure(
    epochs: dict[str, Callable[[], Iterator[Any]]], device: str, options: argparse.Namespace
) -> list[dict[str, Any]]:
    """Images per second of each loader, and the processor time of all threads and processes."""
    finish = _synchronize if device != "cpu" else lambda: None
    rates: dict[str, list[float]] = {name: [] for name in epochs}
    processor = dict.fromkeys(epochs, 0.0)
    for epoch in epochs.values():
        run(epoch, options)
    for _ in range(options.rounds):
        for name, epoch in epochs.items():
            finish()
            wait_until_idle()
            start, processor_start = time.perf_counter(), processor_seconds()
            count = run(epoch, options)
            finish()
            rates[name].append(count / (time.perf_counter() - start))
            processor[name] += (processor_seconds() - processor_start) / (options.rounds * count) * 1e6
    return [
        {
            "name": name,
            "images_per_s": statistics.median(rates[name]),
            "best": max(rates[name]),
            "epochs": [round(rate) for rate in rates[name]],
            "processor_us": processor[name],
        }
        for name in epochs
    ]


def run(epoch: Callable[[], Iterator[Any]], options: argparse.Namespace) -> int:
    count = 0
    for images, _ in epoch():
        assert tuple(images.shape[1:]) == (3, SIZE, SIZE), images.shape
        count += len(images)
    assert count >= options.images - options.batch, count
    return count


def processor_seconds() -> float:
    """Processor time of this process and its workers: those that have ended, and those that run."""
    ticks = 0
    for worker in multiprocessing.active_children():
        fields = Path(f"/proc/{worker.pid}/stat").read_text().rpartition(")")[2].split()  # from the third field on
        ticks += int(fields[11]) + int(fields[12])  # utime and stime, the 14th and 15th field
    usages = [resource.getrusage(target) for target in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return ticks / os.sysconf("SC_CLK_TCK") + sum(usage.ru_utime + usage.ru_stime for usage in usages)


def wait_until_idle() -> None:
    """Waits until no loader prefetches its next epoch, which would slow the loader that is timed next."""
    for _ in range(100):
        before = processor_seconds()
        time.sleep(0.05)
        if processor_seconds() - before < 0.005:
            break


def _synchronize() -> None:
    import torch

    torch.cuda.synchronize()


if __name__ == "__main__":
    sys.exit(main())
