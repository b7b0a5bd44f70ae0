"""Runs the scripts of benchmarks/."""

import json
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def run(*command, **options):
    """Run Python with the arguments ``command``; return the finished process."""
    command = [sys.executable, *command]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **options)


def report_of(script, folder, *arguments):
    """The report that a script writes in a quick run, which must succeed."""
    path = folder / "results.json"
    process = run(str(BENCHMARKS / script), "--quick", "--json", str(path), *arguments)
    assert process.returncode == 0, process.stdout + process.stderr
    return json.loads(path.read_text())
