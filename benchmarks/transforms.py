"""Whole recipes against the floor and against their peers: ``make bench``.

The floor is the bytes of the images and of the result over the bandwidth of a large device copy. Peers whose name says
"one draw" draw once for the whole batch. Before a peer is timed, its result is compared with cuaug's in size, mean and
standard deviation, and the file of results notes whether the peer draws for each sample. On the GPU each peer runs in a
process of its own, so that a crash affects no other peer; the file of results has the reason of the crash.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]
sys.path.append(str(HERE.parent))  # a checkout that is not installed

import clocks  # noqa: E402
import numpy as np  # noqa: E402
import recipe_peers  # noqa: E402
from recipe_chains import MEAN, STD, RecipeNotSupported  # noqa: E402
from report import cpu_name, cpus, default_path, document, number, print_table, write  # noqa: E402
from threads import set_threads  # noqa: E402

import cuaug  # noqa: E402
from cuaug import transforms as T  # noqa: E402

LIST_RECIPES = "imagenet", "imagenet, antialiased"  # also timed with lists of images of different sizes
BUFFERS = 6  # of 50 MB each: more than twice the L2 cache
PEER_TIMEOUT = 180  # seconds for all recipes of one peer


def imagenet(size: int = 224, **options: Any) -> list[T.Transform]:
    about = options.pop("about", None)
    jitter = T.ColorJitter(0.4, 0.4, 0.4, 0.1, contrast_about=about)
    return [T.RandomResizedCrop(size, **options), T.RandomHorizontalFlip(), jitter, T.RandomGrayscale(0.2)]


def normalized(dtype: str) -> list[T.Transform]:
    return [T.ToDtype(dtype, scale=True), T.Normalize(MEAN, STD)]


def recipes(dtype: str) -> dict[str, list[T.Transform]]:
    """Recipes by name; the peers use the same names."""
    crop = [T.RandomResizedCrop(224, antialias=False), T.RandomHorizontalFlip()]
    simclr = [*crop, T.ColorJitter(0.8, 0.8, 0.8, 0.2), T.RandomGrayscale(0.2), T.GaussianBlur(23)]
    affine = T.RandomAffine(30, (0.1, 0.1), (0.8, 1.2), 10, interpolation="bilinear")
    return {
        "imagenet, contrast about the middle": [*imagenet(antialias=False, about=127.5), *normalized(dtype)],
        "imagenet": [*imagenet(antialias=False), *normalized(dtype)],
        "imagenet, antialiased": [*imagenet(), *normalized(dtype)],
        "crop and flip": [*crop, *normalized(dtype)],
        "simclr": [*simclr, T.ToDtype(dtype, scale=True)],
        "detection": [affine, T.RandomHorizontalFlip(), T.ColorJitter(0.4, 0.4, 0.4, 0.1), *normalized(dtype)],
        "elastic": [T.ElasticTransform(250.0), *normalized(dtype)],
        "augmix": [T.AugMix(), *normalized(dtype)],
        "randaugment": [*crop, T.RandAugment(interpolation="bilinear"), *normalized(dtype)],
        "trivialaugment": [*crop, T.TrivialAugmentWide(interpolation="bilinear"), *normalized(dtype)],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    devices = parser.add_mutually_exclusive_group()
    devices.add_argument("--gpu", action="store_true", help="only the GPU table")
    devices.add_argument("--cpu", action="store_true", help="only the CPU table")
    parser.add_argument("--quick", action="store_true", help="small batches: does it run?")
    parser.add_argument("--no-peers", action="store_true", help="only cuaug")
    parser.add_argument("--json", type=Path, metavar="PATH", help="file of results; otherwise only full runs write")
    parser.add_argument("--only", metavar="TEXT", default="", help="recipes whose names contain it")
    parser.add_argument("--peers", metavar="TEXT", default="", help="peers whose names contain it")
    parser.add_argument("--peer", metavar="NAME", help="measure only this peer, on the GPU, into --json")
    options = parser.parse_args()
    if options.peer and not options.json:
        parser.error("--peer needs --json")
    if options.peer:
        return one_peer(options)
    tables: dict[str, Any] = {}
    if not options.cpu and cuaug.is_available():
        tables["gpu"] = gpu_table(options)
    if not options.gpu:
        tables["cpu"] = cpu_table(options)
    if not tables:
        print("no GPU that CuPy can use")
        return 1
    if options.json or not (options.quick or options.no_peers or options.only or options.peers):
        results = document(tables, "transforms")
        write(results, options.json or default_path(results))
    return 0 if all(table["rows"] for table in tables.values()) else 1


def selected_recipes(dtype: str, options: argparse.Namespace) -> dict[str, list[T.Transform]]:
    return {name: transforms for name, transforms in recipes(dtype).items() if options.only in name}


def photos(count: int, seed: int) -> np.ndarray:
    """Smooth noise, whose local contrast is like that of photographs. [count, 256, 256, 3]"""
    coarse = np.random.default_rng(seed).integers(0, 256, (count, 17, 17, 3)).astype(np.uint8)
    return np.asarray(cuaug.resize(coarse, (256, 256)))


def peers_for(options: argparse.Namespace, on_gpu: bool) -> dict[str, recipe_peers.Peer]:
    peers = {} if options.no_peers else recipe_peers.peers(on_gpu)
    return {name: peer for name, peer in peers.items() if options.peers in name}


def gpu_images(options: argparse.Namespace) -> list[Any]:
    import torch

    samples, buffers = (16, 2) if options.quick else (256, BUFFERS)
    return [torch.from_numpy(photos(samples, i)).cuda() for i in range(buffers)]


def gpu_table(options: argparse.Namespace) -> dict[str, Any]:
    import torch

    device, bandwidth, images = torch.cuda.get_device_name(), clocks.bandwidth(), gpu_images(options)
    rows: list[dict[str, Any]] = []
    samples = len(images[0])
    for name, transforms in selected_recipes("float16", options).items():
        aug = T.Compose(transforms, seed=0)
        run = lambda i, aug=aug: aug(images[i], layout="NHWC", step=i)  # noqa: E731
        result = run(0)
        floor_us = (images[0].nbytes + result.nbytes) / bandwidth * 1e6
        gpu_time = clocks.gpu(run, len(images), True)
        host = clocks.host_us(lambda aug=aug: aug(images[0], layout="NHWC"), torch.cuda.synchronize)
        row: dict[str, Any] = {
            "name": name,
            "floor_us": floor_us,
            "ratio": gpu_time.us / floor_us,
            "host_us": host,
            "peers": {},
        }
        rows.append(row | gpu_time._asdict())
        print(
            f"  {name}: {number(gpu_time.us)} us, {number(gpu_time.us / floor_us)} floors, host {number(host)} us",
            flush=True,
        )
    rows += [list_row(name, options, bandwidth) for name in LIST_RECIPES if options.only in f"{name}, list"]
    images.clear()  # the peers load their own
    torch.cuda.empty_cache()
    problems: dict[str, str] = {}
    for peer in peers_for(options, on_gpu=True):
        times_by_recipe, outcome = run_in_process(peer, options)
        for row in rows:
            if row["name"] not in recipes("float16"):
                continue  # peers have no lists
            times = times_by_recipe.get(row["name"], {"error": outcome})
            if "error" in times:
                problems[f"{peer}, {row['name']}"] = times["error"]
            elif times:
                row["peers"][peer] = {**times, "ratio": longer_us(times) / longer_us(row)}
        print(f"  {peer}: {outcome}", flush=True)
    notes = [f"{name}: {why}" for name, why in problems.items()] + [
        "In brackets: the ratio of the longer of device and wall time."
    ]
    print_table(
        f"recipes on {device}, batch {samples}, copy bandwidth {bandwidth / 1e12:.2f} TB/s",
        [cells(r) for r in rows],
        notes,
    )
    return {"device": device, "floor_bytes_per_s": bandwidth, "rows": rows, "problems": problems}


def longer_us(times: dict[str, Any]) -> float:
    """The device time of a call, or the wall time, which is longer where the host limits the call."""
    return max(times["us"], times["wall_us"])


def list_row(name: str, options: argparse.Namespace, bandwidth: float) -> dict[str, Any]:
    """A list of images of different sizes around 375x500, against the same recipe image by image."""
    import torch

    samples, buffers = (16, 2) if options.quick else (256, 3)
    large = torch.from_numpy(np.asarray(cuaug.resize(photos(8, 0), (600, 700)))).cuda()
    sizes = (
        np.random.default_rng(0).normal((375, 500), (60, 70), (buffers, samples, 2)).clip(200, (600, 700)).astype(int)
    )
    lists = [
        [large[i % 8, :h, :w].contiguous() for i, (h, w) in enumerate(list_sizes)] for list_sizes in sizes.tolist()
    ]
    aug = T.Compose(recipes("float16")[name], seed=0)
    whole_list = lambda i: aug(lists[i], layout="HWC", step=i)  # noqa: E731
    one_by_one = lambda i: [aug(image, layout="HWC", step=i, ids=n) for n, image in enumerate(lists[i])]  # noqa: E731
    floor_us = (
        (sum(image.nbytes for image in lists[0]) + sum(image.nbytes for image in whole_list(0))) / bandwidth * 1e6
    )
    list_time, image_time = clocks.gpu(whole_list, buffers, False), clocks.gpu(one_by_one, buffers, False)
    host = clocks.host_us(lambda: whole_list(0), torch.cuda.synchronize)
    ratio = longer_us(image_time._asdict()) / longer_us(list_time._asdict())
    times = {**image_time._asdict(), "draws": "each sample", "ratio": ratio}
    print(
        f"  {name}, list: {number(list_time.us)} us, {number(list_time.us / floor_us)} floors, host {number(host)} us",
        flush=True,
    )
    row: dict[str, Any] = {
        "name": f"{name}, list",
        "floor_us": floor_us,
        "ratio": list_time.us / floor_us,
        "host_us": host,
    }
    return row | {"peers": {"image by image": times}} | list_time._asdict()


def run_in_process(peer: str, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """The times by recipe that a peer's process wrote, and the outcome of the process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "times.json"
        command = [sys.executable, __file__, "--peer", peer, "--json", str(path), "--only", options.only]
        try:
            process = subprocess.run(
                command + ["--quick"] * options.quick, timeout=PEER_TIMEOUT, capture_output=True, text=True, check=False
            )
            code, errors = process.returncode, process.stderr[-200:].strip()
            outcome = "done" if code == 0 else f"ended with {code}: {errors}"
        except subprocess.TimeoutExpired:
            outcome = f"not done after {PEER_TIMEOUT} s"
        return (json.loads(path.read_text()) if path.exists() else {}), outcome


def one_peer(options: argparse.Namespace) -> int:
    """For :func:`run_in_process`: writes times or an error for each recipe, or nothing if the peer lacks the recipe."""
    images, peer = gpu_images(options), recipe_peers.peers(on_gpu=True)[options.peer]
    results: dict[str, dict[str, Any]] = {}
    for name, transforms in selected_recipes("float16", options).items():
        try:
            call = peer.build(name)
            draws = recipe_peers.check(call, images[0], T.Compose(transforms, seed=0)(images[0], layout="NHWC"))
            times = clocks.gpu(lambda i, call=call: call(images[i]), len(images), False)
            results[name] = {**times._asdict(), "draws": draws}
        except RecipeNotSupported:
            results[name] = {}
        except Exception as error:  # a peer may raise anything
            results[name] = {"error": f"{type(error).__name__}: {str(error)[:300]}"}
        options.json.write_text(json.dumps(results))  # after each recipe: the next one may end the process
    return 0


def cpu_table(options: argparse.Namespace) -> dict[str, Any]:
    samples, rows, problems = 4 if options.quick else 64, [], {}
    images = photos(samples, 0)
    for name, transforms in selected_recipes("float32", options).items():
        for threads in sorted({1, cpus()}):
            set_threads(threads)
            aug = T.Compose(transforms, seed=0)
            calls: dict[str, Callable[[], Any]] = {"": lambda aug=aug: aug(images)}
            draws: dict[str, str] = {}
            for title, peer in peers_for(options, on_gpu=False).items():
                try:
                    call = peer.build(name)
                    draws[title] = recipe_peers.check(call, images, calls[""]())
                    calls[title] = lambda call=call: call(images)
                except RecipeNotSupported:
                    continue
                except Exception as error:
                    problems[f"{title}, {name}"] = f"{type(error).__name__}: {str(error)[:300]}"
            times = clocks.interleaved(calls, 0.05 if options.quick else 1.0)
            cuaug_us = times.pop("") / samples
            peers = {
                title: {"us": us / samples, "ratio": us / samples / cuaug_us, "draws": draws[title]}
                for title, us in times.items()
            }
            rows.append({"name": f"{name}, {threads} threads", "us": cuaug_us, "threads": threads, "peers": peers})
    set_threads(0)
    notes = [f"{name}: {why}" for name, why in problems.items()] + ["us per image; in brackets: ratio to cuaug's time."]
    print_table(f"recipes on {cpu_name()}, {cpus()} CPUs", [cells(row) for row in rows], notes)
    return {"device": cpu_name(), "rows": rows, "problems": problems}


def cells(row: dict[str, Any]) -> dict[str, str]:
    texts = {"recipe": row["name"], "us": number(row["us"])}
    for key, title in (("floor_us", "floor us"), ("ratio", "ratio"), ("host_us", "host us")):
        if key in row:
            texts[title] = number(row[key])
    return texts | {name: f"{number(peer['us'])} ({number(peer['ratio'])}x)" for name, peer in row["peers"].items()}


if __name__ == "__main__":
    sys.exit(main())
