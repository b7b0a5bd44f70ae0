"""Suppression of overlapping boxes, IoU, and pooling of regions, against torchvision: ``make bench``.

Boxes are in clusters about objects, as a detector's. A result whose length is the number of kept boxes makes the call
wait for the device, in cuaug and in torchvision: such rows have wall times, from call to result. Rows with a result of
fixed size do not wait, and have device times. The results of cuaug and the peer are compared, in float16 with the
peer's in float32: torchvision pools float16 with coordinates in half precision. Exit code 1: some differ.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]
sys.path.append(str(HERE.parent))  # a checkout that is not installed

import clocks  # noqa: E402
import numpy as np  # noqa: E402
from report import TORCHVISION_IMPORT_ERRORS, cpu_name, cpus, default_path, document, number, print_table, write  # noqa: E402
from threads import set_threads  # noqa: E402

import cuaug  # noqa: E402

CLASSES, IOU = 80, 0.5
COUNTS = {"gpu": (1_000, 10_000, 100_000), "cpu": (1_000, 10_000, 30_000)}
MIN_AGREEMENT = 0.999  # share of the boxes: an IoU that nearly equals the threshold may be rounded to either side


class Row(NamedTuple):
    """cuaug's call and the peer's."""

    name: str
    call: Callable[[], Any]
    peer: Callable[[], Any] | None
    wall_time: bool = True  # False: device time, of a GPU call that does not wait for its result
    captured: bool = True  # False for gradients, which run on the stream of the forward pass
    float32_peer: Callable[[], Any] | None = None  # of a float16 row: the same numbers, computed in float32


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    devices = parser.add_mutually_exclusive_group()
    devices.add_argument("--gpu", action="store_true", help="only the GPU table")
    devices.add_argument("--cpu", action="store_true", help="only the CPU table")
    parser.add_argument("--quick", action="store_true", help="few boxes: does it run?")
    parser.add_argument("--no-peers", action="store_true", help="only cuaug")
    parser.add_argument("--json", type=Path, metavar="PATH", help="file of results; otherwise only full runs write")
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
        results = document(tables, "detection")
        write(results, options.json or default_path(results))
    return 0 if all(entry["rows"] and not entry["problems"] for entry in tables.values()) else 1


def detections(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Boxes in an image of 1333 x 800, about 8 per object, with scores and classes."""
    rng = np.random.default_rng(count)
    objects = max(count // 8, 1)
    corner, size = rng.uniform(0, (1200, 700), (objects, 2)), np.exp(rng.uniform(2.5, 5.5, (objects, 2)))
    object_of = rng.integers(0, objects, count)
    exact = np.concatenate([corner, corner + size], 1)[object_of]
    boxes = exact + rng.normal(0, 0.08, (count, 4)) * np.tile(size[object_of], 2)
    return boxes.astype(np.float32), rng.random(count, np.float32), object_of % CLASSES


def rows(device: str, options: argparse.Namespace) -> list[Row]:
    try:
        import torch
        from torchvision import ops
    except TORCHVISION_IMPORT_ERRORS:
        ops = None
    entries = []
    for count in (200, 2_000) if options.quick else COUNTS[device]:
        boxes, scores, classes = detections(count)
        if device == "gpu" or ops is not None:
            boxes, scores, classes = (torch.from_numpy(array) for array in (boxes, scores, classes))
        if device == "gpu":
            boxes, scores, classes = boxes.cuda(), scores.cuda(), classes.cuda()
        without_classes, with_classes = (boxes, scores), (boxes, scores, classes)
        peers: list[Any] = [None, None]
        if ops is not None and not options.no_peers:
            peers = [
                lambda args=without_classes: ops.nms(*args, IOU),
                lambda args=with_classes: ops.batched_nms(*args, IOU),
            ]
        entries += [
            Row(f"nms {count}", lambda args=without_classes: cuaug.nms(*args, IOU), peers[0]),
            Row(f"batched_nms {count}", lambda args=with_classes: cuaug.batched_nms(*args, IOU), peers[1]),
        ]
        if device == "gpu":
            fixed = {"fixed_size": True, "max_output": 300}
            entries.append(
                Row(
                    f"nms {count}, fixed size",
                    lambda args=without_classes, f=fixed: cuaug.nms(*args, IOU, **f),
                    None,
                    False,
                )
            )
    entries += overlaps(device, ops, options)
    entries += pooling(ops, options) if device == "cpu" else pooling_gpu(ops, options) + without_peers(options)
    return [row for row in entries if options.only in row.name]


def overlaps(device: str, ops: Any, options: argparse.Namespace) -> list[Row]:
    """IoU of all pairs of two sets, as matching of anchors takes it, and CIoU."""
    entries = []
    for count in (200,) if options.quick else (1_000, 10_000):
        boxes: Any = detections(count)[0]
        if ops is not None or device == "gpu":
            import torch

            boxes = torch.from_numpy(boxes).to("cuda" if device == "gpu" else "cpu")
        for name in ("box_iou", "complete_box_iou"):
            functions = [getattr(cuaug, name), *([getattr(ops, name)] if ops and not options.no_peers else [])]
            calls = [lambda f=function, b=boxes: f(b, b[:1000]) for function in functions]
            entries.append(Row(f"{name} {count} x 1000", calls[0], calls[1] if calls[1:] else None, device == "cpu"))
    return entries


def pooling(ops: Any, options: argparse.Namespace) -> list[Row]:
    """Regions of a feature pyramid's finest level, 2 x 2 sampling points for each bin, with channels first and last."""
    channels, count = (16, 50) if options.quick else (256, 500)
    rng = np.random.default_rng(count)
    features = rng.normal(0, 1, (2, 200, 272, channels)).astype(np.float32)
    boxes = detections(count)[0]
    rois = np.concatenate([rng.integers(0, 2, (count, 1)), boxes], 1).astype(np.float32)
    entries = []
    for order in ("planes", "channels last"):
        maps, regions, layout = features, rois, {"layout": "NHWC"}
        if ops is not None:
            import torch

            maps, regions, layout = torch.from_numpy(features).movedim(-1, 1), torch.from_numpy(rois), {}
            maps = maps.contiguous() if order == "planes" else maps
        elif order == "planes":
            maps, layout = np.ascontiguousarray(np.moveaxis(features, -1, 1)), {"layout": "NCHW"}
        align_options = {"spatial_scale": 0.25, "sampling_ratio": 2, "aligned": True}

        def call(maps=maps, regions=regions, layout=layout, align_options=align_options):
            return cuaug.roi_align(maps, regions, 7, **align_options, **layout)

        peer = None
        if ops is not None and not options.no_peers:

            def peer(maps=maps, regions=regions, align_options=align_options):
                return ops.roi_align(maps, regions, 7, **align_options)

        entries.append(Row(f"roi_align {count}, {order}", call, peer))
    return entries


def pooling_gpu(ops: Any, options: argparse.Namespace) -> list[Row]:
    """As `pooling`, with more regions, forward and backward, in device time."""
    import torch

    channels, count = (16, 50) if options.quick else (256, 1000)
    rng = np.random.default_rng(count)
    rois = np.concatenate([rng.integers(0, 2, (count, 1)), detections(count)[0]], 1)
    align_options: dict[str, Any] = {"spatial_scale": 0.25, "sampling_ratio": 2, "aligned": True}
    entries = []
    for dtype, order in ((d, o) for d in (torch.float32, torch.float16) for o in ("planes", "channels last")):
        maps = torch.randn((2, channels, 200, 272), device="cuda").to(dtype)
        maps = maps.contiguous(memory_format=torch.channels_last) if order == "channels last" else maps
        maps.requires_grad_()
        regions = torch.from_numpy(rois).to(dtype).cuda()
        for name in ("roi_align", "roi_pool"):
            arguments = align_options if name == "roi_align" else {"spatial_scale": 0.25}
            row_name = f"{name} {count}, {str(dtype).removeprefix('torch.')}, {order}"
            contenders = [(getattr(cuaug, name), maps, regions)]
            if ops and not options.no_peers:
                contenders.append((getattr(ops, name), maps, regions))
                if dtype == torch.float16:
                    float32_maps = maps.detach().float().requires_grad_()
                    contenders.append((getattr(ops, name), float32_maps, regions.float()))
            calls = [partial(function, maps, regions, 7, **arguments) for function, maps, regions in contenders]
            backward_calls = []
            for call in calls if options.only in f"{row_name}, backward" else []:
                out = call()
                backward_calls.append(gradient_call(out, call.args[0], torch.ones_like(out)))

            def detach_result(call: Any) -> Any:
                return lambda: call().detach()

            forward_calls = [detach_result(call) for call in calls]
            for title, title_calls, captured in (
                (row_name, forward_calls, True),
                (f"{row_name}, backward", backward_calls, False),
            ):
                if title_calls:
                    call, peer, float32_peer = (*title_calls, None, None)[:3]
                    entries.append(Row(title, call, peer, False, captured, float32_peer))
    return entries


def gradient_call(out: Any, maps: Any, gradient: Any) -> Callable[[], Any]:
    import torch

    return lambda: torch.autograd.grad(out, maps, gradient, retain_graph=True)[0]


def without_peers(options: argparse.Namespace) -> list[Row]:
    """soft_nms and rotated boxes, which torchvision lacks."""
    import torch

    entries = []
    for count in (200,) if options.quick else (1_000, 10_000):
        boxes, scores, _ = (torch.from_numpy(array).cuda() for array in detections(count))
        rotated = torch.cat([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2], 90 * scores[:, None]], 1)
        fixed = {"fixed_size": True, "max_output": 300}
        entries += [
            Row(
                f"soft_nms {count}, 300 of them",
                lambda b=boxes, s=scores, f=fixed: cuaug.soft_nms(b, s, **f),
                None,
                False,
            ),
            Row(f"nms {count}, rotated", lambda b=rotated, s=scores, f=fixed: cuaug.nms(b, s, IOU, **f), None, False),
            Row(f"box_iou {count} x 1000, rotated", lambda b=rotated: cuaug.box_iou(b, b[:1000]), None, False),
        ]
    return entries


def table(device: str, device_name: str, options: argparse.Namespace) -> dict[str, Any]:
    seconds, results = 0.05 if options.quick else 1.0, []
    if device == "cpu":
        set_threads(1)
    for row in rows(device, options):
        entry: dict[str, Any] = {"name": row.name, "peers": {}}
        if not row.wall_time:
            import torch

            entry |= clocks.gpu(lambda _, row=row: row.call(), 1, row.captured)._asdict()
            entry["host_us"] = clocks.host_us(row.call, torch.cuda.synchronize, seconds)
        elif device == "gpu":
            entry["us"] = wall(row.call, seconds)
        else:
            calls = {"": row.call} | ({"torchvision": row.peer} if row.peer else {})
            times = clocks.interleaved(calls, seconds)
            entry["us"] = times[""]
        if row.peer:
            us = peer_time(row, seconds) if device == "gpu" else times["torchvision"]
            entry["peers"]["torchvision"] = {"us": us, "ratio": us / entry["us"], "alike": agreement(row, row.peer)}
        if row.float32_peer:
            entry["peers"]["torchvision"]["alike_float32"] = agreement(row, row.float32_peer)
        results.append(entry)
    if device == "cpu":
        set_threads(0)
    by_peer = [(row["name"], peer) for row in results for peer in row["peers"].values()]
    wrong = [name for name, peer in by_peer if peer.get("alike_float32", peer["alike"]) < MIN_AGREEMENT]
    notes = ["In brackets: the ratio to cuaug's time.", *(f"FAILED: {name} differs from the peer" for name in wrong)]
    notes += [
        f"{name}: {peer['alike']:.1%} of the values are the peer's in float16, {peer['alike_float32']:.1%} in float32"
        for name, peer in by_peer
        if "alike_float32" in peer and peer["alike"] < MIN_AGREEMENT
    ]
    threads = "one thread" if device == "cpu" else f"{cpus()} CPUs"
    print_table(f"detection on {device_name}, {threads}", [cells(row) for row in results], notes)
    return {"device": device_name, "rows": results, "problems": wrong}


def agreement(row: Row, peer: Callable[[], Any]) -> float:
    """The share of boxes that both results have; for pooling and IoU, of values that are equal but for rounding."""
    if row.name.startswith("roi") or "box_iou" in row.name:
        pooled, expected = (
            np.asarray(values.cpu().float() if hasattr(values, "cpu") else values) for values in (row.call(), peer())
        )
        near = 2e-2 if "float16" in row.name else 1e-4
        return float(np.mean(np.abs(pooled - expected) < near * np.maximum(1, np.abs(expected))))
    kept, expected_kept = (set(call().tolist()) for call in (row.call, peer))
    return 1 - len(kept ^ expected_kept) / max(len(kept | expected_kept), 1)


def peer_time(row: Row, seconds: float) -> float:
    peer = row.peer
    assert peer is not None
    return wall(peer, seconds) if row.wall_time else float(clocks.gpu(lambda _: peer(), 1, row.captured).us)


def wall(call: Callable[[], Any], seconds: float) -> float:
    """Median wall time of a call that waits for the device, in us."""
    warm = time.perf_counter() + seconds / 4  # an idle GPU runs at a low clock
    while time.perf_counter() < warm:
        call()
    times: list[float] = []
    stop = time.perf_counter() + seconds
    while len(times) < 5 or (time.perf_counter() < stop and len(times) < 500):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def cells(row: dict[str, Any]) -> dict[str, str]:
    peers = {name: f"{number(peer['us'])} ({number(peer['ratio'])}x)" for name, peer in row["peers"].items()}
    host = {"host us": number(row["host_us"])} if "host_us" in row else {}
    return {"boxes": row["name"], "us": number(row["us"])} | host | peers


if __name__ == "__main__":
    sys.exit(main())
