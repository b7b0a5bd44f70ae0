"""The benchmark script runs, checks what it times, and says what it found."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "warp.py"

pytest.importorskip("cuaug")


def bench(*arguments):
    return subprocess.run(
        [sys.executable, str(SCRIPT), "--cpu", "--quick", "--no-peers", *arguments],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def test_rows_are_checked_timed_and_written(tmp_path):
    done = bench("--only", "hflip u8 NHWC", "--json", str(tmp_path / "found.json"))
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert {"date", "commit", "machine", "versions"} <= set(found)
    rows = found["tables"]["cpu"]["rows"]
    assert rows
    assert all(row["name"] == "hflip u8 NHWC" and row["check"] == "ok" and row["us"] > 0 for row in rows)
    assert "hflip u8 NHWC" in done.stdout


def test_a_wrong_result_fails(tmp_path):
    """With a reference that mirrors the other way."""
    program = (
        "import sys, runpy; sys.argv = sys.argv[1:]; sys.path.insert(0, sys.argv.pop(1))\n"
        "import reference; reference.hflip = lambda image, flip: image[:, ::-1] if not flip else image\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(SCRIPT), str(Path(__file__).parent),
         "--cpu", "--quick", "--no-peers", "--only", "hflip"],
        capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FAILED: hflip u8 NHWC" in done.stdout


def test_no_row_is_a_failure():
    assert bench("--only", "no such row").returncode == 1
