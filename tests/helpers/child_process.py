"""Programs in child processes, for imports, broken environments and lost CUDA contexts."""

import atexit
import functools
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import cuaug

ROOT = Path(cuaug.__file__).parents[1]  # the child imports the same cuaug
TESTS = Path(__file__).parents[1]


def start(program, *, stdin=None, **environment):
    """A child that runs ``program``; an environment variable whose value is None is removed."""
    path = os.pathsep.join(filter(None, [str(ROOT), str(TESTS), os.environ.get("PYTHONPATH")]))
    merged = {**os.environ, "PYTHONPATH": path, **environment}
    # On a busy machine messages to the tracker of multiprocessing overtake each other: it warns of lost semaphores.
    merged["PYTHONWARNINGS"] = ",".join(filter(None, [merged.get("PYTHONWARNINGS"), "ignore:resource_tracker"]))
    variables = {name: value for name, value in merged.items() if value is not None}
    return subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables, start_new_session=True,
    )  # fmt: skip


def finish(child, timeout=120):
    """Standard output and error of a child, which must succeed and end in time."""
    try:
        output, errors = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)  # processes that the child started hold its pipes, too
        output, errors = child.communicate()
        raise AssertionError(f"no end within {timeout} s: {output}{errors}") from None
    return checked_output(child.returncode, output, errors)


def checked_output(exit_code, output, errors):
    """Standard output and error without outer whitespace. Fails unless the exit code is 0."""
    assert exit_code == 0, f"exit code {exit_code}: {output}{errors}"
    return output.strip(), errors.strip()


def python(program, timeout=120, **environment):
    return finish(start(program, **environment), timeout)


@functools.cache
def program_server(modules, environment):
    program = f"""
from helpers.program_server import next_program
exec(compile(next_program({modules}), "<string>", "exec"))
"""
    server = start(program, stdin=subprocess.PIPE, **dict(environment))
    atexit.register(server.communicate)
    return server


def python_after_import(modules, program, timeout=120, **environment):
    """`python` in a process that has imported the modules: once for all programs with this environment."""
    server = program_server(tuple(modules), tuple(sorted(environment.items())))
    server.stdin.write(json.dumps([program, timeout]) + "\n")
    server.stdin.flush()
    reply = server.stdout.readline()
    assert reply, server.stderr.read()
    exit_code, output, errors = json.loads(reply)
    assert exit_code is not None, f"no end within {timeout} s: {output}{errors}"
    return checked_output(exit_code, output, errors)
