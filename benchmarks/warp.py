"""The warp family against the floor and against its peers: ``make bench``.

Every row is held against the float64 reference, on poisoned output, before it is timed; a wrong one prints FAILED and
the exit code is 1. benchmarks/log/method.md says how the clocks work and what the columns mean.
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
from work import Contender, NotFor, Row, Work  # noqa: E402

import cuaug  # noqa: E402
from cuaug._host import extension as _cpu  # noqa: E402

Builder = Callable[[Work], Contender]
Problems = dict[str, str]  # peer or row: why it has no number


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", action="store_true", help="the GPU table alone")
    parser.add_argument("--cpu", action="store_true", help="the CPU table alone")
    parser.add_argument("--quick", action="store_true", help="few rows, small batches: does it run?")
    parser.add_argument("--only", nargs="+", metavar="PATTERN", help="rows with such a name, e.g. 'resize*' or NHWC")
    parser.add_argument("--no-peers", action="store_true", help="cuaug alone")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write there; a partial run is written nowhere else")
    options = parser.parse_args()

    tables: dict[str, Any] = {}
    reason = no_gpu() if options.gpu or not options.cpu else ""
    if reason:
        print(f"no GPU table: {reason}")
    elif options.gpu or not options.cpu:
        tables["gpu"] = gpu_table(options)
    if options.cpu or not options.gpu:
        tables["cpu"] = cpu_table(options)
    if not tables:
        return 1
    found = document(tables)
    whole = not (options.quick or options.only or options.no_peers)
    if options.json or whole:
        write(found, options.json or default_path(found))
    failed = [row["name"] for table in tables.values() for row in table["rows"] if row["check"] != "ok"]
    for name in failed:
        print(f"FAILED: {name}")
    return 1 if failed or not any(table["rows"] for table in tables.values()) else 0


def no_gpu() -> str:
    """Why there is no GPU table, or ""."""
    try:
        import torch
    except ImportError:
        return "it needs torch, for arrays and clocks"
    if not torch.cuda.is_available():
        return "torch sees no CUDA device"
    return "" if cuaug.is_available() else "CuPy is not usable; run: python -m cuaug doctor"


def chosen(rows: list[Row], options: argparse.Namespace) -> Iterator[Row]:
    for row in rows:
        named = any(fnmatch.fnmatch(row.name, pattern) or pattern in row.name for pattern in options.only or ["*"])
        if named and (row.quick or not options.quick):
            yield row


def prepared(row: Row, device: str, quick: bool) -> tuple[Work | None, str]:
    """The row made ready and checked, or what is wrong with it."""
    if quick:
        row = Row(**{**vars(row), "shape": (min(4, row.shape[0]), *row.shape[1:])})
    try:
        work = Work(row, device)
        return work, correct.fault(work)
    except Exception as error:  # a row that cannot run must not end the others
        return None, told(error)


def told(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def peers(
    work: Work, builders: dict[str, Builder], problems: Problems
) -> Iterator[tuple[str, Contender, float | None]]:
    """Those that run, with how far they are from the reference, in shares of white."""
    for name, build in builders.items():
        try:
            contender = build(work)
            result = contender.run(0)
            apart = correct.difference(work, contender.sample(result, 0)) if contender.sample else None
        except NotFor:
            continue
        except ImportError as error:
            problems[name] = f"not installed ({error})"
        except Exception as error:  # whatever a peer raises is its own affair
            problems[f"{name}, {work.row.name}"] = told(error)
        else:
            yield name, contender, apart


def gpu_table(options: argparse.Namespace) -> dict[str, Any]:
    import torch

    device, floor = torch.cuda.get_device_name(), clocks.bandwidth()
    print(f"{device}: a device copy moves {floor / 1e12:.2f} TB/s", flush=True)
    builders: dict[str, Builder] = {
        "kornia fp32": torch_peers.kornia, "torchvision one draw": torch_peers.torchvision,
        "torch": torch_peers.torch, "torch compiled": torch_peers.torch_compiled,
        "CV-CUDA": torch_peers.cvcuda, "CV-CUDA one matrix": torch_peers.cvcuda_one_matrix,
        "cv2 on the CPU": lambda work: host_peers.cv2_pool(work, cpus()),
    }  # fmt: skip
    rows: list[dict[str, Any]] = []
    problems: Problems = {}
    extra: dict[str, float] = {}
    # First, as what peers leave behind, such as the processes that compiled for torch, slows Python.
    for measure in () if options.only else (overhead.per_call, overhead.first_call, overhead.import_time):
        try:
            extra |= measure()
        except Exception as error:
            problems[measure.__name__] = told(error)
    for row in chosen(GPU, options):
        rows.append(gpu_row(row, floor, options.quick, {} if options.no_peers else builders, problems))
        torch.cuda.empty_cache()
    notes = [f"{name:<60} {number(value):>8}" for name, value in extra.items()]
    notes += [f"{name}: {why}" for name, why in problems.items()]
    notes.append("A peer's us (times cuaug's): device against device; * its host side limits it: wall against wall.")
    print_table(f"warp on {device}, floor {floor / 1e12:.2f} TB/s", [gpu_cells(found) for found in rows], notes)
    return {"device": device, "floor_bytes_per_s": floor, "rows": rows, "overhead": extra, "problems": problems}


def gpu_row(row: Row, floor: float, quick: bool, builders: dict[str, Builder], problems: Problems) -> dict[str, Any]:
    found: dict[str, Any] = {"name": row.name, "check": "ok", "peers": {}}
    work, fault = prepared(row, "cuda", quick)
    try:
        if work is None or fault:
            raise AssertionError(fault)
        own = work.contender()
        time = clocks.gpu(own.run, work.buffers, own.clock == "graph")
    except Exception as error:
        problems[row.name] = found["check"] = told(error)
        print(f"  {row.name}: FAILED", flush=True)
        return found
    least = work.bytes / floor * 1e6
    found |= {"bytes": work.bytes, "floor_us": least, "ratio": time.us / least, "gb_s": work.bytes / time.us / 1e3}
    found |= time._asdict()
    print(f"  {row.name}: {number(time.us)} us, {number(found['ratio'])} floors ({time.method})", flush=True)
    for name, peer, apart in peers(work, builders, problems):
        try:
            found["peers"][name] = {**gpu_peer(peer, work, time), "difference": apart}
        except Exception as error:
            problems[f"{name}, {row.name}"] = told(error)
    return found


def gpu_peer(peer: Contender, work: Work, own: clocks.Time) -> dict[str, Any]:
    """Device time against device time; wall against wall where the host side is what limits the peer."""
    if peer.clock == "host":
        wall = clocks.in_turns({"": lambda: peer.run(0)}, 0.3)[""]
        time = clocks.Time(wall, wall, "host")
    else:
        time = clocks.gpu(peer.run, work.buffers, peer.clock == "graph")
    limited = time.method == "host" or (time.method == "events" and time.wall_us > 1.3 * time.us)
    ratio = time.wall_us / own.wall_us if limited else time.us / own.us
    return {**time._asdict(), "ratio": ratio, "host_limited": limited}


def gpu_cells(found: dict[str, Any]) -> dict[str, str]:
    if "us" not in found:
        return {"row": found["name"], "us": "FAILED"}
    cells = {"row": found["name"], "us": number(found["us"]), "floor us": number(found["floor_us"])}
    cells |= {"ratio": number(found["ratio"]), "GB/s": number(found["gb_s"]), "wall us": number(found["wall_us"])}
    for name, peer in found["peers"].items():
        shown = number(peer["wall_us"]) + "*" if peer["host_limited"] else number(peer["us"])
        cells[name] = f"{shown} ({number(peer['ratio'])}x)"
    return cells


def cpu_table(options: argparse.Namespace) -> dict[str, Any]:
    native, rows = _cpu.extension(), []
    device, isas, problems = cpu_name(), native.instruction_sets(), Problems()
    for row in chosen(CPU, options):
        for threads in sorted({1, cpus()}):
            print(f"  {row.name}, {threads} threads", flush=True)
            found: dict[str, Any] = {"name": row.name, "threads": threads, "peers": {}}
            rows.append(found)
            set_threads(threads)
            work, fault = prepared(row, "cpu", options.quick)
            found["check"] = fault or "ok"
            if fault or work is None:
                problems[row.name] = fault
                continue
            calls = {isa: with_isa(work.contender(), isa) for isa in isas[::-1]}
            apart: dict[str, float | None] = {}
            builders = {} if options.no_peers else cpu_builders(threads)
            for name, peer, away in peers(work, builders, problems):
                calls[name], apart[name] = partial(peer.run, 0), away
            times = clocks.in_turns(calls, 0.05 if options.quick else 1.0)
            native.set_instruction_set(isas[-1])
            own = times[isas[-1]]
            found |= {"us": own, "samples": work.samples, "isas": {isa: times[isa] for isa in isas}}
            for name, away in apart.items():
                found["peers"][name] = {"us": times[name], "ratio": times[name] / own, "difference": away}
    set_threads(0)
    notes = [] if options.only else [f"{name} {value:.1f}" for name, value in overhead.import_time().items()]
    notes += [f"{name}: {why}" for name, why in problems.items()]
    notes.append(f"ms a batch, the least of many turns; in brackets, times cuaug's own with {isas[-1]}")
    print_table(f"warp on {device}, {cpus()} CPUs", [cpu_cells(found, isas) for found in rows], notes)
    return {"device": device, "rows": rows, "isas": isas, "problems": problems}


def cpu_builders(threads: int) -> dict[str, Builder]:
    return {
        "cv2": host_peers.cv2, "cv2 pool": lambda work: host_peers.cv2_pool(work, threads), "Pillow": host_peers.pillow,
        "kornia fp32": torch_peers.kornia, "torch": torch_peers.torch, "torchvision one draw": torch_peers.torchvision,
    }  # fmt: skip


def set_threads(count: int) -> None:
    """Of everything that takes part; 0 is all."""
    cuaug.set_num_threads(count)
    for name, function in (("cv2", "setNumThreads"), ("torch", "set_num_threads")):
        try:
            getattr(__import__(name), function)(count or cpus())
        except ImportError:
            continue


def with_isa(contender: Contender, isa: str) -> Callable[[], Any]:
    native = _cpu.extension()

    def call() -> Any:
        native.set_instruction_set(isa)
        return contender.run(0)

    return call


def cpu_cells(found: dict[str, Any], isas: list[str]) -> dict[str, str]:
    cells = {"row": found["name"], "threads": str(found["threads"])}
    if "us" not in found:
        return cells | {"cuaug": "FAILED"}
    cells["cuaug"] = number(found["us"] / 1e3)
    others = {isa: found["isas"][isa] for isa in isas[-2::-1]} | {n: peer["us"] for n, peer in found["peers"].items()}
    return cells | {name: f"{number(us / 1e3)} ({number(us / found['us'])}x)" for name, us in others.items()}


if __name__ == "__main__":
    sys.exit(main())
