"""Tables on the terminal, and the file of a run."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import os
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import cuaug

HERE = Path(__file__).parent
# Of `import torchvision`: a wheel for another torch raises RuntimeError.
TORCHVISION_IMPORT_ERRORS = ImportError, RuntimeError
PACKAGES = (
    "numpy",
    "torch",
    "torchvision",
    "triton",
    "kornia",
    "albumentationsx",
    "cvcuda",
    "nvidia-dali",
    "opencv",
    "cupy",
    "jax",
    "pillow",
    "simplejpeg",
)


def print_table(title: str, rows: Sequence[Mapping[str, str]], notes: Sequence[str]) -> None:
    """Columns in order of appearance, the first aligned left and numbers right; a missing cell is a dash."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    width = {name: max(len(name), *(len(row.get(name, "-")) for row in rows)) for name in columns} if rows else {}
    first, *others = columns or [""]
    print(f"\n{title}\n")
    for row in [dict(zip(columns, columns, strict=True)), *rows] if rows else []:
        print(
            "  ".join([f"{row.get(first, '-'):<{width[first]}}", *(f"{row.get(c, '-'):>{width[c]}}" for c in others)])
        )
    print()
    for note in notes:
        print(note)


def number(value: float) -> str:
    """At least three significant digits; below 1, two digits after the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def document(tables: Mapping[str, Any], benchmark: str = "warp") -> dict[str, Any]:
    """The tables with machine, versions, commit and date."""
    return {
        "benchmark": benchmark,
        "date": dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds"),
        "commit": _git("rev-parse", "HEAD") or None,
        "uncommitted": bool(_git("status", "--porcelain", "--", "../cuaug")),
        "machine": {"cpu": cpu_name(), "cpus": cpus(), "platform": platform.platform(), "gpus": cuaug.info()["gpus"]},
        "driver": cuaug.info()["driver"],
        "versions": {"python": platform.python_version(), "cuaug": cuaug.info()["cuaug"], **_versions()},
        "tables": tables,
    }


def write(results: Mapping[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n")
    print(f"\nwrote {path}")


def default_path(results: Mapping[str, Any]) -> Path:
    """``results/<date>-<GPU or CPU>-<benchmark>.json``; if that exists, the first free name with -2, -3, ..."""
    device = next(iter(results["tables"].values()))["device"]
    words = re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-")
    name = f"{results['date'][:10]}-{words}-{results['benchmark']}"
    names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
    return next(path for path in (HERE / "results" / f"{name}.json" for name in names) if not path.exists())


def cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cpu_name() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    match = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return match[1].strip() if match else platform.processor() or platform.machine()


def _git(*arguments: str) -> str:
    """What git prints; nothing if it fails or is not installed."""
    try:
        return subprocess.run(["git", *arguments], capture_output=True, text=True, check=False, cwd=HERE).stdout.strip()
    except OSError:
        return ""


def _versions() -> dict[str, str]:
    """Versions of the packages that take part; the names of wheels may have suffixes."""
    names = {(dist.metadata["Name"] or "").lower(): dist.version for dist in metadata.distributions()}
    return {name: names[name] for name in sorted(names) if any(re.match(rf"{p}\b", name) for p in PACKAGES)}
