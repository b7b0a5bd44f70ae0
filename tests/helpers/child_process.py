"""Programs in a process of their own: what an import, a broken environment or a lost CUDA context does stays there."""

import os
import subprocess
import sys
from pathlib import Path

import cuaug

ROOT = Path(cuaug.__file__).parents[1]  # where the tests found it, so that the child finds the same one
TESTS = Path(__file__).parents[1]


def started(program, **environment):
    """A child that runs ``program``; a variable set to None is taken out of its environment."""
    path = os.pathsep.join(filter(None, [str(ROOT), str(TESTS), os.environ.get("PYTHONPATH")]))
    merged = {**os.environ, "PYTHONPATH": path, **environment}
    surroundings = {name: value for name, value in merged.items() if value is not None}
    return subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=surroundings
    )


def ended(child, timeout=120):
    """Standard output and error of a child, which must end well and in time."""
    try:
        message, warned = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        child.kill()
        message, warned = child.communicate()
        raise AssertionError(f"no end within {timeout} s: {message}{warned}") from None
    assert child.returncode == 0, f"exit code {child.returncode}: {message}{warned}"
    return message.strip(), warned.strip()


def python(program, timeout=120, **environment):
    return ended(started(program, **environment), timeout)
