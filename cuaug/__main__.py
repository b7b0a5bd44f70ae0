"""The command line: ``python -m cuaug info | doctor | warmup | bench | gallery | scan | migrate``."""

from __future__ import annotations

import argparse
import difflib
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import cuaug

from . import _doctor
from ._check import BackendError
from ._codecs import limits

SOURCE_ROOT = Path(__file__).parents[1]  # the source tree, unless cuaug is installed from a wheel


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = [*sys.argv[1:]] if arguments is None else [*arguments]
    parser = argparse.ArgumentParser(
        prog="python -m cuaug", description="Facts about this machine, checks of the set-up, and tools of cuaug."
    )
    commands = parser.add_subparsers(dest="command", required=True)

    command = commands.add_parser("info", help="versions, driver, GPUs, kernel cache")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=lambda options: info(options.json))

    command = commands.add_parser(
        "doctor", help="check the set-up and print the repair of each failure, where one is known"
    )
    command.set_defaults(run=lambda options: doctor())

    command = commands.add_parser(
        "warmup", help="compile the kernels of common warps, resizes, colour ops and nms before they are needed"
    )
    command.set_defaults(run=lambda options: warmup())

    command = commands.add_parser("bench", help="run benchmarks/warp.py of a checkout, with the arguments that follow")
    command.set_defaults(run=lambda options: run_script("benchmarks/warp.py", words[1:]))

    command = commands.add_parser("gallery", help="redraw the pictures of docs/gallery.md in a checkout")
    command.set_defaults(run=lambda options: run_script("docs/gallery.py", []))

    command = commands.add_parser(
        "migrate",
        help="print the edits that a recipe of torchvision, kornia or Albumentations needs, and what is left",
        description="Print the edits that a recipe of torchvision, kornia or Albumentations needs, and by line what is "
        "left to do. Exit code 0: at most notes are left; 1: names without a counterpart are left; 2: the file cannot "
        "be read, is not Python in UTF-8, or has an expression that is nested too deeply.",
    )
    command.add_argument("file", type=Path, help="a Python file in UTF-8; it is parsed, not executed or changed")
    command.set_defaults(run=lambda options: print_migration(options.file))

    command = commands.add_parser(
        "scan",
        help="list the images that cannot be decoded or are too large",
        description="List the images that cannot be decoded or are too large. Exit code 0: none is bad; 1: some are "
        "bad; 2: an argument is wrong, a file cannot be opened, or a library that decodes the images is missing.",
    )
    command.add_argument("source", help="a folder, or a .tar shard")
    command.add_argument(
        "--output",
        type=Path,
        default=Path(os.devnull),
        metavar="FILE",
        help="write the names of bad images to this file, one per line",
    )
    command.add_argument("--lenient", action="store_true", help="accept damage that a decoder can skip")
    command.add_argument("--max-pixels", type=int, default=limits.MAX_PIXELS, help="limit for one image (%(default)s)")
    command.set_defaults(run=scan)

    # argparse would refuse options of the script that `bench` runs (https://bugs.python.org/issue17050).
    options = parser.parse_args(words[:1] if words[:1] == ["bench"] else words)
    try:
        code: int = options.run(options)
    except BackendError as error:
        print(error, file=sys.stderr)
        return 2
    return code


def info(as_json: bool) -> int:
    """Print ``cuaug.info()``."""
    facts = cuaug.info()
    if as_json:
        print(json.dumps(facts, indent=2))
        return 0
    for name, value in facts.items():
        for index, entry in enumerate(value if isinstance(value, list) and value else [value]):
            print(f"{'' if index else name:22}{_as_text(entry)}")
    return 0


def doctor() -> int:
    """Print every finding; return 1 if one is a failure."""
    failures = 0
    for finding in _doctor.diagnose():
        print(finding, flush=True)
        failures += finding.state == "FAIL"
    return int(failures > 0)


def warmup() -> int:
    """Run ``cuaug.warmup()`` and print the time."""
    start = time.perf_counter()
    count = cuaug.warmup()
    print(f"{count} kernels ready after {time.perf_counter() - start:.1f} s")
    return 0


def print_migration(file: Path) -> int:
    """Print a unified diff and notes. Returns 1 if a name has no counterpart, 2 if the file cannot be read,
    is not Python, or is nested too deeply.
    """
    from ._migration.migrate import migrate

    try:
        text = file.read_bytes().decode()
        source = text.removeprefix("\ufeff")  # a byte order mark
        migration = migrate(source)
    except (OSError, SyntaxError, ValueError) as error:  # ValueError: not UTF-8; in Python 3.10, null bytes
        print(f"{file}: {error}", file=sys.stderr)
        return 2
    except RecursionError:  # of a sum with a thousand terms, for example
        print(f"{file}: an expression is nested too deeply", file=sys.stderr)
        return 2
    # `str.splitlines` also ends lines at form feeds and the like, where `git apply` and `patch` do not.
    byte_order_mark = text[: len(text) - len(source)]
    old, new = io.StringIO(text).readlines(), io.StringIO(byte_order_mark + migration.text).readlines()
    for entry in difflib.unified_diff(old, new, str(file), str(file)):
        print(entry, end="" if entry.endswith("\n") else "\n\\ No newline at end of file\n")
    for line, note in migration.notes:
        print(f"{file}:{line}: {note}")
    return int(bool(migration.missing))


def scan(options: argparse.Namespace) -> int:
    """Print every bad file and the count. Returns 1 if a file is bad, 2 if an argument is wrong or a file cannot
    be opened.
    """
    from .data import ImageFiles
    from .data.scan import scan as find_bad_images

    try:
        source, image_limits = ImageFiles(options.source), limits.limits_of(options.max_pixels)
        output = options.output.open("wb", buffering=0)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    start, count = time.perf_counter(), 0
    with output:
        for reasons in find_bad_images(source, not options.lenient, image_limits):
            for index, reason in reasons.items():
                name = source.name(index)
                output.write(os.fsencode(f"{name}\n"))
                print(_encodable(f"{name}: {reason}"), flush=True)
            count += len(reasons)
    rate = len(source) / (time.perf_counter() - start)
    print(f"{count} of {len(source)} images are bad ({rate:,.0f} a second)")
    return int(count > 0)


def run_script(path: str, arguments: list[str]) -> int:
    """Run a script of the source tree; wheels do not contain it."""
    if not (SOURCE_ROOT / path).exists():
        print(f"{path} is in the source tree only: clone the repository and run it from the clone", file=sys.stderr)
        return 1
    return subprocess.run([sys.executable, str(SOURCE_ROOT / path), *arguments], check=False).returncode


def _encodable(text: str) -> str:
    """The text with escapes for characters that stdout cannot encode: a file name need not be valid text."""
    encoding = sys.stdout.encoding or "utf-8"  # None: of io.StringIO
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _as_text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {entry}" for key, entry in value.items()) or "none"
    return "none" if value in (None, []) else str(value)


if __name__ == "__main__":
    sys.exit(main())
