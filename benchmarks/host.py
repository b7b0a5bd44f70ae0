"""Host time of functions, matrix builders and recipes with 8 images of 32x32, against ``torch.relu``: ``make bench``.

The batch is small, so that a GPU does not delay the host. On a CPU the time includes the loops, in one thread.
compare_host.py compares two installations with the same calls.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]  # also under -P and PYTHONSAFEPATH
sys.path.append(str(HERE.parent))  # a checkout that is not installed

import clocks  # noqa: E402
import torch  # noqa: E402
from host_calls import RELU, Calls, batch_calls  # noqa: E402
from report import cpu_name, default_path, document, number, print_table, write  # noqa: E402
from threads import set_threads  # noqa: E402

import cuaug  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    devices = parser.add_mutually_exclusive_group()
    devices.add_argument("--gpu", action="store_true", help="only the GPU table")
    devices.add_argument("--cpu", action="store_true", help="only the CPU table")
    parser.add_argument("--quick", action="store_true", help="few calls, to see that it runs")
    parser.add_argument(
        "--json",
        type=Path,
        metavar="PATH",
        help="where to write the results; without it, runs without --quick write to the default file",
    )
    options = parser.parse_args()
    seconds, tables = 0.01 if options.quick else 1.0, dict[str, Any]()
    if not options.cpu and cuaug.is_available():
        tables["gpu"] = table(batch_calls("cuda"), torch.cuda.get_device_name(), torch.cuda.synchronize, seconds)
    if not options.gpu:
        set_threads(1)
        tables["cpu"] = table(batch_calls("cpu"), cpu_name(), lambda: None, seconds)
        set_threads(0)  # all CPUs
    if not tables:
        print("no GPU that CuPy can use")
        return 1
    if options.json or not options.quick:
        results = document(tables, "host-time")
        write(results, options.json or default_path(results))
    return 0


def table(calls: Calls, device: str, wait: Callable[[], Any], seconds: float) -> dict[str, Any]:
    rows = [{"name": name, "host_us": clocks.host_us(call, wait, seconds)} for name, call in calls.items()]
    relu_us = next(row["host_us"] for row in rows if row["name"] == RELU)
    for row in rows:
        row["ratio"] = row["host_us"] / relu_us
    cells = [{"": row["name"], "host us": number(row["host_us"]), RELU: f"{row['ratio']:.1f}x"} for row in rows]
    print_table(f"host time on {device}, 8 images of 32x32", cells, [f"{RELU}: the ratio to its time."])
    return {"device": device, "rows": rows}


if __name__ == "__main__":
    sys.exit(main())
