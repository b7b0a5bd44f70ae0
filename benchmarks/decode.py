"""Decoding of JPEGs in images per second: whole, a crop of 256x256, and at half the size. ``make bench``.

The files are photographs of 533x800. Each peer decodes one file after another, in the same number of threads. A peer
without crops decodes the whole image and takes a slice; a peer that cannot decode at half the size has no time in that
row. Processor time is that of the process: a busy machine disturbs it less than wall time. Results are compared with
cuaug's.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "examples")]
sys.path.append(str(HERE.parent))  # a checkout that is not installed

import numpy as np  # noqa: E402
from report import TORCHVISION_IMPORT_ERRORS, cpu_name, cpus, default_path, document, number, print_table, write  # noqa: E402

import cuaug  # noqa: E402
from cuaug import io  # noqa: E402

HEIGHT, WIDTH, SIDE = 533, 800, 256
TOLERANCE = 1  # levels: versions of libjpeg-turbo round a little differently

Corner = tuple[int, int]  # top, left
Decode = Callable[[bytes, Corner], np.ndarray]  # [H, W, 3]


def full_peers() -> dict[str, Decode]:
    """The installed peers that decode a whole file to RGB."""
    peers: dict[str, Decode] = {}
    try:
        import simplejpeg

        peers["simplejpeg"] = lambda file, corner: simplejpeg.decode_jpeg(file)
    except ImportError:
        pass
    try:
        import cv2

        flags = cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION
        peers["cv2"] = lambda file, corner: cv2.imdecode(np.frombuffer(file, np.uint8), flags)
    except (ImportError, AttributeError):
        pass
    try:
        from PIL import Image

        peers["Pillow"] = lambda file, corner: np.asarray(Image.open(BytesIO(file)))
    except ImportError:
        pass
    try:
        import torch
        from torchvision.io import decode_jpeg

        def torchvision(file: bytes, corner: Corner) -> np.ndarray:
            pixels: np.ndarray = decode_jpeg(torch.frombuffer(bytearray(file), dtype=torch.uint8)).numpy()
            return pixels.transpose(1, 2, 0)

        peers["torchvision"] = torchvision
    except TORCHVISION_IMPORT_ERRORS:
        pass
    return peers


def half_peers() -> dict[str, Decode]:
    """The installed peers that decode at half the size."""
    peers: dict[str, Decode] = {}
    try:
        import simplejpeg

        size = {"min_height": HEIGHT // 2, "min_width": WIDTH // 2, "min_factor": 2}
        peers["simplejpeg"] = lambda file, corner: simplejpeg.decode_jpeg(file, **size)
    except ImportError:
        pass
    try:
        import cv2

        flags = cv2.IMREAD_REDUCED_COLOR_2 | cv2.IMREAD_IGNORE_ORIENTATION
        peers["cv2"] = lambda file, corner: cv2.imdecode(np.frombuffer(file, np.uint8), flags)[..., ::-1]
    except ImportError:
        pass
    return peers


def sliced(decode: Decode) -> Decode:
    return lambda file, corner: decode(file, corner)[corner[0] : corner[0] + SIDE, corner[1] : corner[1] + SIDE]


ROWS: dict[str, tuple[Decode, Callable[[], dict[str, Decode]]]] = {
    "whole": (lambda file, corner: io.decode_jpeg(file), full_peers),
    "crop 256x256": (
        lambda file, corner: io.decode_and_crop_jpeg(file, *corner, SIDE, SIDE),
        lambda: {name: sliced(decode) for name, decode in full_peers().items()},
    ),
    "half the size": (lambda file, corner: io.decode_jpeg(file, scale=1 / 2), half_peers),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", action="store_true", help="no rows: JPEGs are decoded on the CPU here")
    parser.add_argument("--cpu", action="store_true", help="the default")
    parser.add_argument("--quick", action="store_true", help="few files: does it run?")
    parser.add_argument("--no-peers", action="store_true", help="only cuaug")
    parser.add_argument("--json", type=Path, metavar="PATH", help="file of results; otherwise only full runs write")
    parser.add_argument("--only", metavar="TEXT", default="", help="rows whose names contain it")
    options = parser.parse_args()
    if options.gpu and not options.cpu:
        return 0
    files = photographs(2 if options.quick else 24)
    rng = np.random.default_rng(0)
    corners = [(int(rng.integers(HEIGHT - SIDE + 1)), int(rng.integers(WIDTH - SIDE + 1))) for _ in files]
    rows, rounds = [], 1 if options.quick else 12
    for threads in sorted({1, cpus()}):
        cuaug.set_num_threads(1)  # a call has one file: the threads are the caller's, as for the peers
        for name, (decode, find_peers) in ROWS.items():
            if options.only in name:
                peers = {} if options.no_peers else find_peers()
                times = measure(decode, peers, files, corners, threads, rounds)
                rows.append({"name": name, "threads": threads, **times})
    cuaug.set_num_threads(0)
    tables = {"cpu": {"device": cpu_name(), "bytes": sum(map(len, files)) // len(files), "rows": rows}}
    wrong = [f"{row['name']}: {p}" for row in rows for p, peer in row["peers"].items() if peer["levels"] > TOLERANCE]
    notes = [
        "Processor time of an image in us; in brackets: the ratio to cuaug's.",
        *(f"differs: {name}" for name in wrong),
    ]
    print_table(f"decoding of {HEIGHT}x{WIDTH} JPEGs on {cpu_name()}", [cells(row) for row in rows], notes)
    if options.json or not (options.quick or options.no_peers or options.only):
        results = document(tables, "decode")
        write(results, options.json or default_path(results))
    return 0 if rows and not wrong else 1


def photographs(count: int) -> list[bytes]:
    """Files of photographs at two qualities, 4:2:0."""
    import skimage.data
    from sklearn.datasets import load_sample_images

    photos = [
        *load_sample_images().images,
        skimage.data.astronaut(),
        skimage.data.coffee(),
        skimage.data.rocket(),
        skimage.data.chelsea(),
    ]
    files = []
    for i in range(count):
        photo = np.ascontiguousarray(photos[i % len(photos)][..., :3])
        image = cuaug.resize(photo, (HEIGHT, WIDTH), antialias=True)
        files.append(io.encode_jpeg(image, quality=75 if i % 2 else 90))
    return files


def measure(
    decode_by_cuaug: Decode,
    peers: dict[str, Decode],
    files: list[bytes],
    corners: list[Corner],
    threads: int,
    rounds: int,
) -> dict[str, Any]:
    """Medians over rounds in which all contenders alternate, so that other load on the machine affects all."""
    pool = ThreadPoolExecutor(threads)
    times: dict[str, list[tuple[float, float]]] = {}
    contenders = {"": decode_by_cuaug, **peers}
    for _ in range(rounds):
        for name, decode in contenders.items():
            wall, busy = time.perf_counter(), time.process_time()
            if threads == 1:
                for file, corner in zip(files, corners, strict=True):
                    decode(file, corner)
            else:
                for _ in pool.map(decode, files, corners):
                    pass
            seconds = time.perf_counter() - wall, time.process_time() - busy
            times.setdefault(name, []).append(seconds)
    pool.shutdown()
    results: dict[str, dict[str, Any]] = {}
    for name, rows in times.items():
        wall, busy = (statistics.median(column) / len(files) for column in zip(*rows, strict=True))
        results[name] = {"images_per_s": 1 / wall, "cpu_us": busy * 1e6}
    first = decode_by_cuaug(files[0], corners[0]).astype(int)
    for name, decode in peers.items():
        results[name]["ratio"] = results[name]["cpu_us"] / results[""]["cpu_us"]
        results[name]["levels"] = int(np.abs(decode(files[0], corners[0]).astype(int) - first).max())
    return {**results.pop(""), "peers": results}


def cells(row: dict[str, Any]) -> dict[str, str]:
    peers = {name: f"{number(peer['cpu_us'])} ({number(peer['ratio'])}x)" for name, peer in row["peers"].items()}
    return {
        "what": row["name"], "threads": str(row["threads"]), "img/s": number(row["images_per_s"]),
        "us": number(row["cpu_us"]),
    } | peers  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
