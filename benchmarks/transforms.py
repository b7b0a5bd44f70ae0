"""Whole recipes against the floor and against their peers: ``make bench``.

The floor is the bytes of the images and of the result over the bandwidth of a large device copy. A peer does what it
offers: some draw once for the whole batch, which the name says. Before it is timed its result is compared with cuaug's
own in size and levels, and whether it draws for each sample is noted. On the GPU each peer has a process of its own, so
that one which fails takes nothing with it; why it did is in the file.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]
sys.path.append(str(HERE.parent))  # a checkout that is not installed

import clocks  # noqa: E402
import numpy as np  # noqa: E402
import recipe_peers  # noqa: E402
from report import cpu_name, cpus, default_path, document, number, print_table, write  # noqa: E402

import cuaug  # noqa: E402
from cuaug import transforms as T  # noqa: E402

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
LISTS = "imagenet", "imagenet, antialiased"  # recipes that are timed with lists of images of different sizes too
BUFFERS = 6  # of 50 MB: more than twice the cache
PATIENCE = 180  # seconds for all recipes of one peer


def imagenet(size: int = 224, **how: Any) -> list[T.Transform]:
    about = how.pop("about", None)
    jitter = T.ColorJitter(0.4, 0.4, 0.4, 0.1, contrast_about=about)
    return [T.RandomResizedCrop(size, **how), T.RandomHorizontalFlip(), jitter, T.RandomGrayscale(0.2)]


def normalized(dtype: str) -> list[T.Transform]:
    return [T.ToDtype(dtype, scale=True), T.Normalize(MEAN, STD)]


def recipes(dtype: str) -> dict[str, list[T.Transform]]:
    """By the peers' names for them."""
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
    parser.add_argument("--gpu", action="store_true", help="the GPU table alone")
    parser.add_argument("--cpu", action="store_true", help="the CPU table alone")
    parser.add_argument("--quick", action="store_true", help="small batches: does it run?")
    parser.add_argument("--no-peers", action="store_true", help="cuaug alone")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write there; a partial run is written nowhere else")
    parser.add_argument("--only", metavar="TEXT", default="", help="recipes whose names contain it")
    parser.add_argument("--peers", metavar="TEXT", default="", help="peers whose names contain it")
    parser.add_argument("--peer", metavar="NAME", help="measure this one alone, on the GPU, into --json")
    options = parser.parse_args()
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
        found = document(tables, "transforms")
        write(found, options.json or default_path(found))
    return 0 if all(table["rows"] for table in tables.values()) else 1


def chosen(dtype: str, options: argparse.Namespace) -> dict[str, list[T.Transform]]:
    return {name: transforms for name, transforms in recipes(dtype).items() if options.only in name}


def photos(count: int, seed: int) -> np.ndarray:
    """Smooth noise, which blurs and contrasts as photographs do. [count, 256, 256, 3]"""
    coarse = np.random.default_rng(seed).integers(0, 256, (count, 17, 17, 3)).astype(np.uint8)
    return np.asarray(cuaug.resize(coarse, (256, 256)))


def peers_for(options: argparse.Namespace, on_gpu: bool) -> dict[str, recipe_peers.Peer]:
    found = {} if options.no_peers else recipe_peers.peers(on_gpu)
    return {name: peer for name, peer in found.items() if options.peers in name}


def gpu_images(options: argparse.Namespace) -> list[Any]:
    import torch

    samples, buffers = (16, 2) if options.quick else (256, BUFFERS)
    return [torch.from_numpy(photos(samples, i)).cuda() for i in range(buffers)]


def gpu_table(options: argparse.Namespace) -> dict[str, Any]:
    import torch

    device, floor, images = torch.cuda.get_device_name(), clocks.bandwidth(), gpu_images(options)
    rows: list[dict[str, Any]] = []
    samples = len(images[0])
    for name, transforms in chosen("float16", options).items():
        aug = T.Compose(transforms, seed=0)
        run = lambda i, aug=aug: aug(images[i], layout="NHWC", step=i)  # noqa: E731
        result = run(0)
        least = (images[0].nbytes + result.nbytes) / floor * 1e6
        own = clocks.gpu(run, len(images), True)
        host = host_us(lambda aug=aug: aug(images[0], layout="NHWC"), torch.cuda.synchronize)
        row: dict[str, Any] = {"name": name, "floor_us": least, "ratio": own.us / least, "host_us": host, "peers": {}}
        rows.append(row | own._asdict())
        print(f"  {name}: {number(own.us)} us, {number(own.us / least)} floors, host {number(host)} us", flush=True)
    rows += [row for name in LISTS if options.only in f"{name}, list" for row in [list_row(name, options, floor)]]
    images.clear()  # the peers have their own
    torch.cuda.empty_cache()
    problems: dict[str, str] = {}
    for peer in peers_for(options, on_gpu=True):
        found, end = in_a_process(peer, options)
        for row in rows:
            if row["name"] not in recipes("float16"):
                continue  # lists
            times = found.get(row["name"], {"error": end})
            if "error" in times:
                problems[f"{peer}, {row['name']}"] = times["error"]
            elif times:
                row["peers"][peer] = {**times, "ratio": max(times["us"], times["wall_us"]) / row["us"]}
        print(f"  {peer}: {end}", flush=True)
    notes = [f"{name}: {why}" for name, why in problems.items()] + ["In brackets: times cuaug's own."]
    print_table(f"recipes on {device}, batch {samples}, floor {floor / 1e12:.2f} TB/s", [cells(r) for r in rows], notes)
    return {"device": device, "floor_bytes_per_s": floor, "rows": rows, "problems": problems}


def list_row(name: str, options: argparse.Namespace, floor: float) -> dict[str, Any]:
    """A list of images of different sizes, around 375x500; the peer is the same recipe, image by image."""
    import torch

    samples, buffers = (16, 2) if options.quick else (256, 3)
    large = torch.from_numpy(np.asarray(cuaug.resize(photos(8, 0), (600, 700)))).cuda()
    sizes = (
        np.random.default_rng(0).normal((375, 500), (60, 70), (buffers, samples, 2)).clip(200, (600, 700)).astype(int)
    )
    lists = [[large[i % 8, :h, :w].contiguous() for i, (h, w) in enumerate(own)] for own in sizes.tolist()]
    aug = T.Compose(recipes("float16")[name], seed=0)
    at_once = lambda i: aug(lists[i], layout="HWC", step=i)  # noqa: E731
    one_by_one = lambda i: [aug(one, layout="HWC", step=i, ids=n) for n, one in enumerate(lists[i])]  # noqa: E731
    least = (sum(one.nbytes for one in lists[0]) + sum(one.nbytes for one in at_once(0))) / floor * 1e6
    own, alone = clocks.gpu(at_once, buffers, False), clocks.gpu(one_by_one, buffers, False)
    host = host_us(lambda: at_once(0), torch.cuda.synchronize)
    times = {
        **alone._asdict(),
        "draws": "each sample",
        "ratio": max(alone.us, alone.wall_us) / max(own.us, own.wall_us),
    }
    print(f"  {name}, list: {number(own.us)} us, {number(own.us / least)} floors, host {number(host)} us", flush=True)
    row: dict[str, Any] = {"name": f"{name}, list", "floor_us": least, "ratio": own.us / least, "host_us": host}
    return row | {"peers": {"image by image": times}} | own._asdict()


def in_a_process(peer: str, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """What a peer's own process found, recipe by recipe, and how it ended."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.json"
        command = [sys.executable, __file__, "--peer", peer, "--json", str(path), "--only", options.only]
        try:
            done = subprocess.run(
                command + ["--quick"] * options.quick, timeout=PATIENCE, capture_output=True, text=True, check=False
            )
            end = "done" if done.returncode == 0 else f"ended with {done.returncode}: {done.stderr[-200:].strip()}"
        except subprocess.TimeoutExpired:
            end = f"not done after {PATIENCE} s"
        return (json.loads(path.read_text()) if path.exists() else {}), end


def one_peer(options: argparse.Namespace) -> int:
    """For :func:`in_a_process`. For each recipe times, an error, or nothing where it is not for the peer."""
    images, peer = gpu_images(options), recipe_peers.peers(on_gpu=True)[options.peer]
    found: dict[str, dict[str, Any]] = {}
    for name, transforms in chosen("float16", options).items():
        try:
            call = peer.build(name)
            draws = recipe_peers.check(call, images[0], T.Compose(transforms, seed=0)(images[0], layout="NHWC"))
            times = clocks.gpu(lambda i, call=call: call(images[i]), len(images), False)
            found[name] = {**times._asdict(), "draws": draws}
        except recipe_peers.NotForRecipe:
            found[name] = {}
        except Exception as error:  # whatever a peer raises is its own affair
            found[name] = {"error": f"{type(error).__name__}: {str(error)[:300]}"}
        options.json.write_text(json.dumps(found))  # what is known by now, should the next recipe end the process
    return 0


def cpu_table(options: argparse.Namespace) -> dict[str, Any]:
    samples, rows, problems = 4 if options.quick else 64, [], {}
    images = photos(samples, 0)
    for name, transforms in chosen("float32", options).items():
        for threads in sorted({1, cpus()}):
            recipe_peers.set_threads(threads)
            aug = T.Compose(transforms, seed=0)
            calls: dict[str, Callable[[], Any]] = {"": lambda aug=aug: aug(images)}
            draws: dict[str, str] = {}
            for title, peer in peers_for(options, on_gpu=False).items():
                try:
                    call = peer.build(name)
                    draws[title] = recipe_peers.check(call, images, calls[""]())
                    calls[title] = lambda call=call: call(images)
                except recipe_peers.NotForRecipe:
                    continue
                except Exception as error:
                    problems[f"{title}, {name}"] = f"{type(error).__name__}: {str(error)[:300]}"
            times = clocks.in_turns(calls, 0.05 if options.quick else 1.0)
            own = times.pop("") / samples
            peers = {
                title: {"us": us / samples, "ratio": us / samples / own, "draws": draws[title]}
                for title, us in times.items()
            }
            rows.append({"name": f"{name}, {threads} threads", "us": own, "threads": threads, "peers": peers})
    recipe_peers.set_threads(0)
    notes = [f"{name}: {why}" for name, why in problems.items()] + ["us an image; in brackets: times cuaug's own."]
    print_table(f"recipes on {cpu_name()}, {cpus()} CPUs", [cells(row) for row in rows], notes)
    return {"device": cpu_name(), "rows": rows, "problems": problems}


def host_us(call: Callable[[], Any], wait: Callable[[], Any]) -> float:
    """The least host time of a call among many, in groups short enough for the device to keep up."""
    best, stop = float("inf"), time.perf_counter() + 1
    for group in range(100):
        if group >= 15 and time.perf_counter() > stop:
            break
        wait()
        start = time.perf_counter()
        for _ in range(20):
            call()
        best = min(best, (time.perf_counter() - start) / 20)
    wait()
    return best * 1e6


def cells(row: dict[str, Any]) -> dict[str, str]:
    own = {"recipe": row["name"], "us": number(row["us"])}
    for key, title in (("floor_us", "floor us"), ("ratio", "ratio"), ("host_us", "host us")):
        if key in row:
            own[title] = number(row[key])
    return own | {name: f"{number(peer['us'])} ({number(peer['ratio'])}x)" for name, peer in row["peers"].items()}


if __name__ == "__main__":
    sys.exit(main())
