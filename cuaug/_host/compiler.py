"""The machine's C++ compiler, which makes a small library of a user's op for the CPU. Libraries are kept on disk."""

from __future__ import annotations

import atexit
import ctypes
import functools
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

from .._check import BackendError
from .._program.user_ops import UserOp, compile_error_for

HEADERS = Path(__file__).parents[1] / "kernels", Path(__file__).parents[1] / "cpu/loops"
_OPTIONS = ("-std=c++17", "-shared", "-fPIC", "-fvisibility=hidden", "-w", *(f"-I{folder}" for folder in HEADERS))
_PROGRAM = """\
#include <cstring>
namespace {{
#include "maths.hpp"
#include "user_op.hpp"
{text}}}
extern "C" __attribute__((visibility("default")))
void loop(int bytes, int channels, const void* field, const void* where, int count, void* channel) {{
    cuaug::user_loop<cuaug::{struct}>(bytes, channels, field, where, count, channel);
}}
"""
_lock = threading.Lock()
_loaded: dict[str, ctypes.CDLL] = {}


def loop_address(op: UserOp, flags: str) -> int:
    """The address of the op's native::UserLoop, for loops that were compiled with these flags; compiled once."""
    with _lock:
        if op.struct not in _loaded:
            path = compiled_library(op, flags)
            try:
                _loaded[op.struct] = ctypes.CDLL(str(path))
            except OSError as error:
                raise BackendError(
                    f"{op.name} was compiled, but cannot be loaded ({error}): "
                    "set XDG_CACHE_HOME to a private folder that programs may be run from"
                ) from error
        address = ctypes.cast(_loaded[op.struct].loop, ctypes.c_void_p).value
    assert address is not None
    return address


def compiled_library(op: UserOp, flags: str) -> Path:
    """The op's library: where one is kept, or compiled now."""
    program = _PROGRAM.format(text=op.text, struct=op.struct)
    full = [*command(), *flags.split(), *_OPTIONS]
    key = hashlib.sha256("\0".join((program, _digest(), _version(full[0]), *full)).encode()).hexdigest()
    path = cache_dir() / f"{op.struct}-{key[:32]}.so"
    if path.exists():
        return path
    with tempfile.TemporaryDirectory(prefix="making-", dir=path.parent) as scratch:
        source, made = Path(scratch, "op.cpp"), Path(scratch, "op.so")
        source.write_text(program)
        run = _run([*full, "-o", str(made), str(source)])
        if run.returncode != 0:
            failed = BackendError(f"{shlex.join(full)} failed: set CXX to a C++17 compiler\n{run.stderr[:2000]}")
            raise compile_error_for([op.struct], run.stderr) or failed
        made.replace(path)  # at once, so that whoever else makes or loads it finds a whole one
    return path


def command() -> list[str]:
    """The compiler, with what ``CXX`` may give it besides."""
    chosen = shlex.split(os.environ.get("CXX", ""))
    if chosen and not shutil.which(chosen[0]):
        raise BackendError(f"CXX names {chosen[0]}, which is not there: set it to a C++17 compiler, or unset CXX")
    found = next((name for name in ("c++", "g++", "clang++") if shutil.which(name)), None)
    if not chosen and found is None:
        raise BackendError(
            "a PixelOp on the CPU needs a C++17 compiler, and none is installed: apt install g++ "
            "(or conda install cxx-compiler), or set CXX to one"
        )
    return chosen or [str(found)]


@functools.cache
def _version(compiler: str) -> str:
    return f"{shutil.which(compiler)} {_run([compiler, '--version']).stdout}"


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False, env={**os.environ, "LC_ALL": "C"}
        )
    except OSError as error:
        raise BackendError(f"{command[0]} cannot be run ({error}): set CXX to a C++17 compiler") from error


@functools.cache
def _digest() -> str:
    """Of every header that a program may include."""
    total = hashlib.sha256()
    for path in sorted(path for folder in HEADERS for kind in ("*.cuh", "*.hpp") for path in folder.rglob(kind)):
        total.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


@functools.cache
def cache_dir() -> Path:
    """Where libraries are kept, for this user alone, as they are code; else one of this process's own."""
    try:
        chosen = os.environ.get("XDG_CACHE_HOME")
        folder = (Path(chosen) if chosen else Path.home() / ".cache") / "cuaug"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
        if found.st_uid == os.getuid() and not found.st_mode & 0o022 and os.access(folder, os.W_OK | os.X_OK):
            return folder
    except (OSError, RuntimeError):  # no home, no room, a file in the way
        pass
    private = tempfile.mkdtemp(prefix="cuaug-")
    atexit.register(shutil.rmtree, private, ignore_errors=True)
    return Path(private)
