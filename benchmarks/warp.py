"""The warp family against the floor and against its peers: ``make bench``.

Before a row is timed, its result in poisoned memory is compared with the float64 reference; a wrong row prints FAILED,
and the exit code is 1. benchmarks/log/method.md describes the clocks and the columns.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]  # also under -P and PYTHONSAFEPATH
sys.path.append(str(HERE.parent))  # a checkout that is not installed

import clocks  # noqa: E402
import correct  # noqa: E402
import host_peers  # noqa: E402
import overhead  # noqa: E402
import torch_peers  # noqa: E402
from report import cpu_name, cpus, default_path, document, number, print_table, write  # noqa: E402
from rows import CPU, GPU  # noqa: E402
from threads import set_threads  # noqa: E402
from work import Contender, NotSupported, Row, Work  # noqa: E402

import cuaug  # noqa: E402
from cuaug._host.extension import extension  # noqa: E402

Builder = Callable[[Work], Contender]
MAX_DIFFERENCE = 0.005  # of a peer from the reference: 1.3 of 255 levels; bilinear peers of uint8 differ by 0.001
Problems = dict[str, str]  # by peer or row: the reason why it has no number


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", action="store_true", help="only the GPU table")
    parser.add_argument("--cpu", action="store_true", help="only the CPU table")
    parser.add_argument("--quick", action="store_true", help="few rows, small batches: does it run?")
    parser.add_argument("--only", nargs="+", metavar="PATTERN", help="rows with such a name, e.g. 'resize*' or NHWC")
    parser.add_argument("--no-peers", action="store_true", help="only cuaug")
    parser.add_argument("--json", type=Path, metavar="PATH", help="file of results; otherwise only full runs write")
    options = parser.parse_args()

    tables: dict[str, Any] = {}
    reason = missing_gpu_reason() if options.gpu or not options.cpu else ""
    if reason:
        print(f"no GPU table: {reason}")
    elif options.gpu or not options.cpu:
        tables["gpu"] = gpu_table(options)
    if options.cpu or not options.gpu:
        tables["cpu"] = cpu_table(options)
    if not tables:
        return 1
    results = document(tables)
    is_full_run = not (options.quick or options.only or options.no_peers)
    if options.json or is_full_run:
        write(results, options.json or default_path(results))
    failed = [row["name"] for table in tables.values() for row in table["rows"] if row["check"] != "ok"]
    for name in failed:
        print(f"FAILED: {name}")
    return 1 if failed or not any(table["rows"] for table in tables.values()) else 0


def missing_gpu_reason() -> str:
    """The reason why there is no GPU table, or ""."""
    try:
        import torch
    except ImportError:
        return "torch, which provides the arrays and the clocks, is not installed"
    if not torch.cuda.is_available():
        return "torch sees no CUDA device"
    return "" if cuaug.is_available() else "CuPy is not usable; run: python -m cuaug doctor"


def selected(rows: list[Row], options: argparse.Namespace) -> Iterator[Row]:
    for row in rows:
        matches = any(fnmatch.fnmatch(row.name, pattern) or pattern in row.name for pattern in options.only or ["*"])
        if matches and (row.quick or not options.quick):
            yield row


def prepare(row: Row, device: str, quick: bool) -> tuple[Work | None, str]:
    """The row's work, and why its result is wrong or could not be computed; an empty reason if it is right."""
    if quick:
        row = Row(**{**vars(row), "shape": (min(4, row.shape[0]), *row.shape[1:])})
    try:
        work = Work(row, device)
        return work, correct.fault(work)
    except Exception as error:  # the other rows still run
        return None, error_text(error)


def error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def peers(
    work: Work, builders: dict[str, Builder], problems: Problems
) -> Iterator[tuple[str, Contender, float | None]]:
    """The peers that run, with their difference from the reference, scaled to 0..1."""
    for name, build in builders.items():
        try:
            contender = build(work)
            result = contender.run(0)
            difference = correct.difference(work, contender.sample(result, 0)) if contender.sample else None
        except NotSupported:
            continue
        except ImportError as error:
            problems[name] = f"not installed ({error})"
        except Exception as error:  # a peer may raise anything
            problems[f"{name}, {work.row.name}"] = error_text(error)
        else:
            yield name, contender, difference


def difference_notes(rows: list[dict[str, Any]]) -> list[str]:
    """The peers whose pixels are not those of the row."""
    return [
        f"{name}, {row['name']}: its pixels differ from the reference by {peer['difference']:.3f} on average, in 0..1"
        for row in rows
        for name, peer in row["peers"].items()
        if (peer["difference"] or 0) > MAX_DIFFERENCE
    ]


def gpu_table(options: argparse.Namespace) -> dict[str, Any]:
    import torch

    device, bandwidth = torch.cuda.get_device_name(), clocks.bandwidth()
    print(f"{device}: a device copy moves {bandwidth / 1e12:.2f} TB/s", flush=True)
    builders: dict[str, Builder] = {
        "kornia fp32": torch_peers.kornia, "torchvision one draw": torch_peers.torchvision,
        "torch": torch_peers.torch, "torch compiled": torch_peers.torch_compiled,
        "CV-CUDA": torch_peers.cvcuda, "CV-CUDA one matrix": torch_peers.cvcuda_one_matrix,
        "cv2 on the CPU": lambda work: host_peers.cv2_pool(work, cpus()),
    }  # fmt: skip
    rows: list[dict[str, Any]] = []
    problems: Problems = {}
    extra: dict[str, float] = {}
    # Before the peers: what they leave running (torch's compiler processes) slows Python.
    for measure in () if options.only else (overhead.per_call, overhead.first_call, overhead.import_time):
        try:
            extra |= measure()
        except Exception as error:
            problems[measure.__name__] = error_text(error)
    for row in selected(GPU, options):
        rows.append(gpu_row(row, bandwidth, options.quick, {} if options.no_peers else builders, problems))
        torch.cuda.empty_cache()
    notes = [f"{name:<60} {number(value):>8}" for name, value in extra.items()]
    notes += [f"{name}: {why}" for name, why in problems.items()]
    notes += difference_notes(rows)
    notes.append("A peer's us (ratio to cuaug's): device times; *: wall times, as the host limits the peer.")
    print_table(
        f"warp on {device}, copy bandwidth {bandwidth / 1e12:.2f} TB/s", [gpu_cells(row) for row in rows], notes
    )
    return {"device": device, "floor_bytes_per_s": bandwidth, "rows": rows, "overhead": extra, "problems": problems}


def gpu_row(
    row: Row, bandwidth: float, quick: bool, builders: dict[str, Builder], problems: Problems
) -> dict[str, Any]:
    import torch

    result: dict[str, Any] = {"name": row.name, "check": "ok", "peers": {}}
    work, fault = prepare(row, "cuda", quick)
    try:
        if work is None or fault:
            raise AssertionError(fault)
        contender = work.contender()
        time = clocks.gpu(contender.run, work.buffers, contender.clock == "graph")
        host_us = clocks.host_us(lambda: contender.run(0), torch.cuda.synchronize)
    except Exception as error:
        problems[row.name] = result["check"] = error_text(error)
        print(f"  {row.name}: FAILED", flush=True)
        return result
    floor_us = work.bytes / bandwidth * 1e6
    result |= {"bytes": work.bytes, "floor_us": floor_us, "ratio": time.us / floor_us}
    result |= {"gb_s": work.bytes / time.us / 1e3, **time._asdict(), "host_us": host_us}
    print(f"  {row.name}: {number(time.us)} us, {number(result['ratio'])} floors ({time.method})", flush=True)
    for name, peer, difference in peers(work, builders, problems):
        try:
            result["peers"][name] = {**gpu_peer(peer, work, time), "difference": difference}
        except Exception as error:
            problems[f"{name}, {row.name}"] = error_text(error)
    return result


def gpu_peer(peer: Contender, work: Work, cuaug_time: clocks.Time) -> dict[str, Any]:
    """The peer's times, and the ratio of device times to cuaug's; of wall times if the host limits the peer."""
    if peer.clock == "host":
        wall = clocks.interleaved({"": lambda: peer.run(0)}, 0.3)[""]
        time = clocks.Time(wall, wall, "host")
    else:
        time = clocks.gpu(peer.run, work.buffers, peer.clock == "graph")
    host_limited = time.method == "host" or (time.method == "events" and time.wall_us > 1.3 * time.us)
    ratio = time.wall_us / cuaug_time.wall_us if host_limited else time.us / cuaug_time.us
    return {**time._asdict(), "ratio": ratio, "host_limited": host_limited}


def gpu_cells(row: dict[str, Any]) -> dict[str, str]:
    if "us" not in row:
        return {"row": row["name"], "us": "FAILED"}
    cells = {"row": row["name"], "us": number(row["us"]), "floor us": number(row["floor_us"])}
    cells |= {"ratio": number(row["ratio"]), "GB/s": number(row["gb_s"])}
    cells |= {"wall us": number(row["wall_us"]), "host us": number(row["host_us"])}
    for name, peer in row["peers"].items():
        time_text = number(peer["wall_us"]) + "*" if peer["host_limited"] else number(peer["us"])
        cells[name] = f"{time_text} ({number(peer['ratio'])}x)"
    return cells


def cpu_table(options: argparse.Namespace) -> dict[str, Any]:
    native, rows = extension(), []
    device, isas, problems = cpu_name(), native.instruction_sets(), Problems()
    for row in selected(CPU, options):
        for threads in sorted({1, cpus()}):
            print(f"  {row.name}, {threads} threads", flush=True)
            result: dict[str, Any] = {"name": row.name, "threads": threads, "peers": {}}
            rows.append(result)
            set_threads(threads)
            work, fault = prepare(row, "cpu", options.quick)
            result["check"] = fault or "ok"
            if fault or work is None:
                problems[row.name] = fault
                continue
            calls = {isa: with_isa(work.contender(), isa) for isa in isas[::-1]}
            differences: dict[str, float | None] = {}
            builders = {} if options.no_peers else cpu_builders(threads)
            for name, peer, difference in peers(work, builders, problems):
                calls[name], differences[name] = partial(peer.run, 0), difference
            times = clocks.interleaved(calls, 0.05 if options.quick else 1.0)
            native.set_instruction_set(isas[-1])
            cuaug_us = times[isas[-1]]
            result |= {"us": cuaug_us, "samples": work.samples, "isas": {isa: times[isa] for isa in isas}}
            for name, difference in differences.items():
                us = times[name]
                result["peers"][name] = {"us": us, "ratio": us / cuaug_us, "difference": difference}
    set_threads(0)
    notes = [] if options.only else [f"{name} {value:.1f}" for name, value in overhead.import_time().items()]
    notes += [f"{name}: {why}" for name, why in problems.items()]
    notes += difference_notes(rows)
    notes.append(f"ms per batch, the minimum of many rounds; in brackets, the ratio to cuaug with {isas[-1]}")
    print_table(f"warp on {device}, {cpus()} CPUs", [cpu_cells(row, isas) for row in rows], notes)
    return {"device": device, "rows": rows, "isas": isas, "problems": problems}


def cpu_builders(threads: int) -> dict[str, Builder]:
    return {
        "cv2": host_peers.cv2, "cv2 pool": lambda work: host_peers.cv2_pool(work, threads), "Pillow": host_peers.pillow,
        "kornia fp32": torch_peers.kornia, "torch": torch_peers.torch, "torchvision one draw": torch_peers.torchvision,
    }  # fmt: skip


def with_isa(contender: Contender, isa: str) -> Callable[[], Any]:
    native = extension()

    def call() -> Any:
        native.set_instruction_set(isa)
        return contender.run(0)

    return call


def cpu_cells(row: dict[str, Any], isas: list[str]) -> dict[str, str]:
    cells = {"row": row["name"], "threads": str(row["threads"])}
    if "us" not in row:
        return cells | {"cuaug": "FAILED"}
    cells["cuaug"] = number(row["us"] / 1e3)
    other_times = {isa: row["isas"][isa] for isa in isas[-2::-1]} | {n: peer["us"] for n, peer in row["peers"].items()}
    return cells | {name: f"{number(us / 1e3)} ({number(us / row['us'])}x)" for name, us in other_times.items()}


if __name__ == "__main__":
    sys.exit(main())
