"""Suppression of overlapping boxes, and pooling of regions, against torchvision: ``make bench``.

Boxes lie as a detector's do, in clusters about objects. A call that returns as many indices as are kept waits for the
device, here and in torchvision: such rows are timed by the wall, from call to result. Rows of a fixed size wait for
nothing and are timed on the device alone. What a peer keeps is compared with cuaug's result before it is timed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]
sys.path.append(str(HERE.parent))  # a checkout that is not installed

import clocks  # noqa: E402
import numpy as np  # noqa: E402
from report import cpu_name, cpus, default_path, document, number, print_table, write  # noqa: E402

import cuaug  # noqa: E402

CLASSES, IOU = 80, 0.5
COUNTS = {"gpu": (1_000, 10_000, 100_000), "cpu": (1_000, 10_000, 30_000)}
ALIKE = 0.999  # of the boxes: an IoU within a rounding error of the threshold may fall to either side


class Row(NamedTuple):
    """A call, and its peer's."""

    name: str
    own: Callable[[], Any]
    peer: Callable[[], Any] | None
    waits: bool = True
    captured: bool = True  # a gradient runs on the stream of its result, and a graph cannot hold it alone


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", action="store_true", help="the GPU table alone")
    parser.add_argument("--cpu", action="store_true", help="the CPU table alone")
    parser.add_argument("--quick", action="store_true", help="few boxes: does it run?")
    parser.add_argument("--no-peers", action="store_true", help="cuaug alone")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write there; a partial run is written nowhere else")
    parser.add_argument("--only", metavar="TEXT", default="", help="rows whose names contain it")
    options = parser.parse_args()
    tables: dict[str, Any] = {}
    if not options.cpu and cuaug.is_available():
        import torch

        tables["gpu"] = table("gpu", torch.cuda.get_device_name(), options)
    if not options.gpu:
        tables["cpu"] = table("cpu", cpu_name(), options)
    if not tables:
        print("no GPU that CuPy can use")
        return 1
    if options.json or not (options.quick or options.no_peers or options.only):
        found = document(tables, "detection")
        write(found, options.json or default_path(found))
    return 0 if all(entry["rows"] for entry in tables.values()) else 1


def detections(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Boxes about 8 to an object in an image of 1333 x 800, their scores, their classes."""
    rng = np.random.default_rng(count)
    objects = max(count // 8, 1)
    corner, size = rng.uniform(0, (1200, 700), (objects, 2)), np.exp(rng.uniform(2.5, 5.5, (objects, 2)))
    chosen = rng.integers(0, objects, count)
    near = np.concatenate([corner, corner + size], 1)[chosen]
    boxes = near + rng.normal(0, 0.08, (count, 4)) * np.tile(size[chosen], 2)
    return boxes.astype(np.float32), rng.random(count, np.float32), chosen % CLASSES


def rows(where: str, options: argparse.Namespace) -> list[Row]:
    try:
        import torch
        from torchvision import ops
    except ImportError:
        ops = None
    found = []
    for count in (200, 2_000) if options.quick else COUNTS[where]:
        boxes, scores, classes = detections(count)
        if where == "gpu" or ops is not None:
            boxes, scores, classes = (torch.from_numpy(array) for array in (boxes, scores, classes))
        if where == "gpu":
            boxes, scores, classes = boxes.cuda(), scores.cuda(), classes.cuda()
        one, many = (boxes, scores), (boxes, scores, classes)
        peers: list[Any] = [None, None]
        if ops is not None and not options.no_peers:
            peers = [lambda one=one: ops.nms(*one, IOU), lambda many=many: ops.batched_nms(*many, IOU)]
        found += [
            Row(f"nms {count}", lambda one=one: cuaug.nms(*one, IOU), peers[0]),
            Row(f"batched_nms {count}", lambda many=many: cuaug.batched_nms(*many, IOU), peers[1]),
        ]
        if where == "gpu":
            fixed = {"fixed_size": True, "max_output": 300}
            found.append(
                Row(f"nms {count}, fixed size", lambda one=one, f=fixed: cuaug.nms(*one, IOU, **f), None, False)
            )
    found += pooling(ops, options) if where == "cpu" else pooling_gpu(ops, options) + scoring(options)
    return [row for row in found if options.only in row.name]


def pooling(ops: Any, options: argparse.Namespace) -> list[Row]:
    """Regions of a feature pyramid's finest level, two samples for each bin, in planes and with channels inside."""
    channels, count = (16, 50) if options.quick else (256, 500)
    rng = np.random.default_rng(count)
    features = rng.normal(0, 1, (2, 200, 272, channels)).astype(np.float32)
    boxes = detections(count)[0]
    rois = np.concatenate([rng.integers(0, 2, (count, 1)), boxes], 1).astype(np.float32)
    found = []
    for order in ("planes", "channels inside"):
        maps, regions, given = features, rois, {"layout": "NHWC"}
        if ops is not None:
            import torch

            maps, regions, given = torch.from_numpy(features).movedim(-1, 1), torch.from_numpy(rois), {}
            maps = maps.contiguous() if order == "planes" else maps
        elif order == "planes":
            maps, given = np.ascontiguousarray(np.moveaxis(features, -1, 1)), {"layout": "NCHW"}
        align = {"spatial_scale": 0.25, "sampling_ratio": 2, "aligned": True}

        def own(maps=maps, regions=regions, given=given, align=align):
            return cuaug.roi_align(maps, regions, 7, **align, **given)

        peer = None
        if ops is not None and not options.no_peers:

            def peer(maps=maps, regions=regions, align=align):
                return ops.roi_align(maps, regions, 7, **align)

        found.append(Row(f"roi_align {count}, {order}", own, peer))
    return found


def pooling_gpu(ops: Any, options: argparse.Namespace) -> list[Row]:
    """The same of more regions, forward and backward, on the device alone."""
    import torch

    channels, count = (16, 50) if options.quick else (256, 1000)
    rng = np.random.default_rng(count)
    rois = np.concatenate([rng.integers(0, 2, (count, 1)), detections(count)[0]], 1)
    align: dict[str, Any] = {"spatial_scale": 0.25, "sampling_ratio": 2, "aligned": True}
    found = []
    for dtype, order in ((d, o) for d in (torch.float32, torch.float16) for o in ("planes", "channels inside")):
        maps = torch.randn((2, channels, 200, 272), device="cuda").to(dtype)
        maps = maps.contiguous(memory_format=torch.channels_last) if order == "channels inside" else maps
        maps.requires_grad_()
        regions = torch.from_numpy(rois).to(dtype).cuda()
        for name in ("roi_align", "roi_pool"):
            further = align if name == "roi_align" else {"spatial_scale": 0.25}
            named = f"{name} {count}, {str(dtype).removeprefix('torch.')}, {order}"
            calls = [
                lambda f=function, maps=maps, regions=regions, further=further: f(maps, regions, 7, **further)
                for function in (getattr(cuaug, name), *([getattr(ops, name)] if ops and not options.no_peers else []))
            ]
            backs = []
            for call in calls if options.only in f"{named}, backward" else []:
                out = call()
                to = torch.ones_like(out)
                backs.append(lambda out=out, to=to, maps=maps: torch.autograd.grad(out, maps, to, retain_graph=True)[0])

            def still(call: Any) -> Any:
                return lambda: call().detach()

            pairs = [(named, [still(call) for call in calls]), (f"{named}, backward", backs)]
            found += [Row(n, own[0], own[1] if own[1:] else None, False, own is not backs) for n, own in pairs if own]
    return found


def scoring(options: argparse.Namespace) -> list[Row]:
    """soft_nms, and suppression of rotated boxes, which torchvision has not."""
    import torch

    found = []
    for count in (200,) if options.quick else (1_000, 10_000):
        boxes, scores, _ = (torch.from_numpy(array).cuda() for array in detections(count))
        turned = torch.cat([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2], 90 * scores[:, None]], 1)
        fixed = {"fixed_size": True, "max_output": 300}
        found += [
            Row(
                f"soft_nms {count}, 300 of them",
                lambda b=boxes, s=scores, f=fixed: cuaug.soft_nms(b, s, **f),
                None,
                False,
            ),
            Row(f"nms {count}, rotated", lambda b=turned, s=scores, f=fixed: cuaug.nms(b, s, IOU, **f), None, False),
            Row(f"box_iou {count} x 1000, rotated", lambda b=turned: cuaug.box_iou(b, b[:1000]), None, False),
        ]
    return found


def table(where: str, device: str, options: argparse.Namespace) -> dict[str, Any]:
    seconds, results = 0.05 if options.quick else 1.0, []
    if where == "cpu":
        cuaug.set_num_threads(1)
    for row in rows(where, options):
        entry: dict[str, Any] = {"name": row.name, "peers": {}}
        if not row.waits:
            entry.update(clocks.gpu(lambda _, row=row: row.own(), 1, row.captured)._asdict())
        elif where == "gpu":
            entry["us"] = wall(row.own, seconds)
        else:
            calls = {"": row.own} | ({"torchvision": row.peer} if row.peer else {})
            times = clocks.in_turns(calls, seconds)
            entry["us"] = times[""]
        if row.peer:
            us = peer_time(row, seconds) if where == "gpu" else times["torchvision"]
            entry["peers"]["torchvision"] = {"us": us, "ratio": us / entry["us"], "alike": alike(row)}
        results.append(entry)
    if where == "cpu":
        cuaug.set_num_threads(0)
    wrong = [row["name"] for row in results if any(peer["alike"] < ALIKE for peer in row["peers"].values())]
    notes = ["In brackets: times cuaug's own.", *(f"keeps other boxes: {name}" for name in wrong)]
    print_table(f"detection on {device}, {cpus()} CPUs", [cells(row) for row in results], notes)
    return {"device": device, "rows": results}


def alike(row: Row) -> float:
    """The share of boxes that both or neither keep; of values pooled, of those that differ by a rounding error."""
    if row.name.startswith("roi"):
        pooled, expected = (
            np.asarray(values.cpu().float() if hasattr(values, "cpu") else values)
            for values in (found() for found in (row.own, row.peer) if found is not None)
        )
        near = 2e-2 if "float16" in row.name else 1e-4
        return float(np.mean(np.abs(pooled - expected) < near * np.maximum(1, np.abs(expected))))
    own, other = (set(found().tolist()) for found in (row.own, row.peer) if found is not None)
    return 1 - len(own ^ other) / max(len(own | other), 1)


def peer_time(row: Row, seconds: float) -> float:
    peer = row.peer
    assert peer is not None
    return wall(peer, seconds) if row.waits else float(clocks.gpu(lambda _: peer(), 1, row.captured).us)


def wall(call: Callable[[], Any], seconds: float) -> float:
    """The median from call to result, in us; each waits for the device by itself."""
    warm = time.perf_counter() + seconds / 4  # a GPU that has been idle is slow
    while time.perf_counter() < warm:
        call()
    found: list[float] = []
    stop = time.perf_counter() + seconds
    while len(found) < 5 or (time.perf_counter() < stop and len(found) < 500):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return statistics.median(found) * 1e6


def cells(row: dict[str, Any]) -> dict[str, str]:
    peers = {name: f"{number(peer['us'])} ({number(peer['ratio'])}x)" for name, peer in row["peers"].items()}
    return {"boxes": row["name"], "us": number(row["us"])} | peers


if __name__ == "__main__":
    sys.exit(main())
