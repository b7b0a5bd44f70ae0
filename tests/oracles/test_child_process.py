"""Programs in forks of a process with imported modules: each is a new process, and its faults are reported."""

import os

import pytest
from helpers.child_process import python_after_import

MODULES = ["colorsys"]


def test_programs_share_imports_and_nothing_else():
    program = """
import os, sys
print("colorsys" in sys.modules, hasattr(sys, "left"), __name__, os.environ["NAME"])
print(os.getpid(), os.getppid())
print("error", file=sys.stderr)
sys.left = 1
"""
    replies = [python_after_import(MODULES, program, NAME=name) for name in ("a", "a", "b")]
    facts, processes = zip(*(output.splitlines() for output, _ in replies), strict=True)
    assert facts == ("True False __main__ a", "True False __main__ a", "True False __main__ b")
    children, servers = zip(*(pids.split() for pids in processes), strict=True)
    assert len({*children, *servers, str(os.getpid())}) == 3 + 2 + 1
    assert [errors for _, errors in replies] == ["error"] * 3


@pytest.mark.parametrize(
    ("program", "timeout", "fault"),
    [
        ("print(1, flush=True); raise ValueError('planted')", 60, r"exit code 1: 1\n(.|\n)*ValueError: planted"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", 60, "exit code -11"),
        ("import os, time; os.fork(); time.sleep(60)", 0.2, r"no end within 0.2 s"),
        ("import os; os.fork(); os.fork()\nwhile True: os.write(1, b'1' * 4096)", 0.2, r"no end within 0.2 s: 11"),
        (r"import os; os.write(2, b'\xff'); raise SystemExit(3)", 60, "exit code 3: \N{REPLACEMENT CHARACTER}$"),
    ],
    ids=["error", "crash", "time", "time of a writer", "not UTF-8"],
)
def test_program_that_fails_is_reported(program, timeout, fault):
    with pytest.raises(AssertionError, match=fault):
        python_after_import(MODULES, program, timeout)
    assert python_after_import(MODULES, "print(2)") == ("2", "")


def test_program_has_no_pipes_but_its_output_and_errors():
    """If the program held the read end of its output pipe, its writes would not fail after its server has died."""
    program = """
import os
print(*sorted(name for name in os.listdir("/proc/self/fd") if "pipe:" in os.path.realpath(f"/proc/self/fd/{name}")))
"""
    assert python_after_import(MODULES, program) == ("1 2", "")
