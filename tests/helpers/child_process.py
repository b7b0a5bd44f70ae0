"""Programs in child processes, for imports, broken environments and lost CUDA contexts."""

import os
import subprocess
import sys
from pathlib import Path

import cuaug

ROOT = Path(cuaug.__file__).parents[1]  # the child imports the same cuaug
TESTS = Path(__file__).parents[1]


def start(program, **environment):
    """A child that runs ``program``; a variable of None is removed from its environment."""
    path = os.pathsep.join(filter(None, [str(ROOT), str(TESTS), os.environ.get("PYTHONPATH")]))
    merged = {**os.environ, "PYTHONPATH": path, **environment}
    surroundings = {name: value for name, value in merged.items() if value is not None}
    return subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=surroundings
    )


def finish(child, timeout=120):
    """Standard output and error of a child, which must succeed and end in time."""
    try:
        message, warned = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        child.kill()
        message, warned = child.communicate()
        raise AssertionError(f"no end within {timeout} s: {message}{warned}") from None
    assert child.returncode == 0, f"exit code {child.returncode}: {message}{warned}"
    return message.strip(), warned.strip()


def python(program, timeout=120, **environment):
    return finish(start(program, **environment), timeout)
