"""Run the GPU suite under compute-sanitizer: ``python sanitize.py [--tool memcheck ...] [pytest arguments]``.

Each tool first has to find an error planted for it, because a tool that reports nothing looks the same as one
that does not run. The memory pools of CuPy and torch are off, since the tools see no error inside a pool's block.
Exit code 0: ran and found nothing; 1: found an error, or a test failed; 2: not run.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # this file is run as a script

from helpers.sanitizer import ENVIRONMENT

# Each tool's planted error; the source is wrong on purpose.
PLANTED = {
    "memcheck": "extern \"C\" __global__ void planted(int* out) { out[threadIdx.x + 1000] = 1; }",
    "initcheck": "extern \"C\" __global__ void planted(int* out) { out[threadIdx.x] = out[threadIdx.x + 32] + 1; }",
    # The slot of another warp: the compiler keeps a thread's own slot in a register, which is no race.
    "racecheck": """extern "C" __global__ void planted(int* out) {
        __shared__ int slots[64];
        slots[threadIdx.x] = threadIdx.x;
        out[threadIdx.x] = slots[63 - threadIdx.x];
    }""",
    "synccheck": """extern "C" __global__ void planted(int* out) {
        if (threadIdx.x < 16) __syncthreads();
        out[threadIdx.x] = 1;
    }""",
}  # fmt: skip
# "ERROR SUMMARY: 3 errors" from most tools, "RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)" from one.
SUMMARY = re.compile(r"(?:ERROR SUMMARY: |RACECHECK SUMMARY: .*\()(\d+) error")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", action="append", choices=PLANTED, help="repeatable; default memcheck")
    parser.add_argument("--timeout", type=int, default=3600, help="seconds for each run under a tool")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="run every N-th test")
    parser.add_argument("--first", type=int, default=0, metavar="I", help="with --every: index of the first test")
    options, pytest_arguments = parser.parse_known_args()
    sanitizer = find_sanitizer()
    if not sanitizer:
        return not_run("compute-sanitizer is not installed; it comes with the CUDA toolkit")
    exit_code = 0
    for tool in options.tool or ["memcheck"]:
        findings, code, output = run_sanitizer(sanitizer, tool, "--planted", tool, timeout=options.timeout)
        if not findings:
            print(output)
            return not_run(f"{tool} did not find the error planted for it")
        print(f"{tool}: found the planted error", flush=True)
        arguments = "--suite", str(options.every), str(options.first), *pytest_arguments
        findings, code, output = run_sanitizer(sanitizer, tool, *arguments, timeout=options.timeout)
        print(output)
        if findings is None:
            return not_run(f"{tool} gave no summary of the suite")
        print(f"{tool}: {findings} errors; pytest ended with {code}", flush=True)
        exit_code = exit_code or int(findings > 0 or code != 0)
    return exit_code


def find_sanitizer():
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    folders = os.pathsep.join(str(Path(home, "bin")) for home in homes if home)
    return shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path=folders)


def not_run(reason):
    print(f"sanitize: NOT RUN: {reason}", file=sys.stderr)
    return 2


def run_sanitizer(sanitizer, tool, *arguments, timeout):
    """Errors in the tool's summary (None without one), exit code of the program, and all that was printed."""
    command = [sanitizer, "--tool", tool, "--target-processes", "application-only"]
    if tool == "memcheck":
        command += ["--report-api-errors", "no"]  # libraries query the driver about host pointers and expect an error
    environment = os.environ | ENVIRONMENT
    program = [sys.executable, __file__, *arguments]
    try:
        process = subprocess.run(
            [*command, *program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=timeout, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as expired:
        return None, None, f"{(expired.stdout or b'').decode(errors='replace')}\nended after {timeout} s"
    counts = [int(count) for count in SUMMARY.findall(process.stdout)]
    return max(counts, default=None), process.returncode, process.stdout


def run_planted(tool):
    """Runs under the tool."""
    import cupy

    cupy.cuda.set_allocator(None)
    out = cupy.cuda.alloc(4 * 128)  # not cleared, so that initcheck finds an error
    cupy.RawKernel(PLANTED[tool], "planted")((1,), (64,), (out,))
    cupy.cuda.runtime.deviceSynchronize()


class EveryNth:
    """A pytest plugin that runs every `step`-th test, from `first` on: so several processes can share the suite."""

    def __init__(self, step, first):
        self.step, self.first = step, first

    @pytest.hookimpl(trylast=True)  # after -m and -k
    def pytest_collection_modifyitems(self, config, items):
        chosen = range(self.first, len(items), self.step)
        config.hook.pytest_deselected(items=[test for i, test in enumerate(items) if i not in chosen])
        items[:] = items[self.first :: self.step]


def run_suite(step, first, arguments):
    """Runs under the tool."""
    import cupy

    cupy.cuda.set_allocator(None)
    cupy.cuda.set_pinned_memory_allocator(None)
    has_paths = any(Path(argument.partition("::")[0]).exists() for argument in arguments)
    suite = [] if has_paths else [str(Path(__file__).parents[1])]
    options = ["-m", "gpu", "--require-gpu", "-q", *suite, *arguments]
    return pytest.main(options, plugins=[EveryNth(step, first)])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--planted"]:
        run_planted(sys.argv[2])
    elif sys.argv[1:2] == ["--suite"]:
        sys.exit(run_suite(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]))
    else:
        sys.exit(main())
