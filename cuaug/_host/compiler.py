"""Compiles a user's op for the CPU into a small library, with the machine's C++ compiler. Caches libraries on disk."""

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

HEADER_FOLDERS = Path(__file__).parents[1] / "kernels", Path(__file__).parents[1] / "cpu/loops"
_OPTIONS = ("-std=c++17", "-shared", "-fPIC", "-fvisibility=hidden", "-w", *(f"-I{path}" for path in HEADER_FOLDERS))
_PROGRAM = """\
#include <cstring>
namespace {{
#include "maths.hpp"
#include "user_op.hpp"
{text}}}
extern "C" __attribute__((visibility("default")))
void loop(int value_bytes, int channels, const void* params, const void* context, int count, void* channel) {{
    cuaug::user_loop<cuaug::{struct}>(value_bytes, channels, params, context, count, channel);
}}
"""
_lock = threading.Lock()
_loaded: dict[str, ctypes.CDLL] = {}


def loop_address(op: UserOp, flags: str) -> int:
    """The address of the op's native::UserOpLoop, compiled with the extension's own `flags` at its first use."""
    with _lock:
        if op.struct_name not in _loaded:
            path = compiled_library(op, flags)
            try:
                _loaded[op.struct_name] = ctypes.CDLL(str(path))
            except OSError as error:
                raise BackendError(
                    f"{op.name} was compiled, but cannot be loaded ({error}): "
                    "set XDG_CACHE_HOME to a private folder from which programs may be run"
                ) from error
        address = ctypes.cast(_loaded[op.struct_name].loop, ctypes.c_void_p).value
    assert address is not None
    return address


def compiled_library(op: UserOp, flags: str) -> Path:
    """The op's library, from the cache or compiled now."""
    program = _PROGRAM.format(text=op.struct_text, struct=op.struct_name)
    compile_command = [*compiler_command(), *flags.split(), *_OPTIONS]
    key_parts = program, _headers_digest(), _version(compile_command[0]), *compile_command
    key = hashlib.sha256("\0".join(key_parts).encode()).hexdigest()
    path = cache_dir() / f"{op.struct_name}-{key[:32]}.so"
    if path.exists():
        return path
    with tempfile.TemporaryDirectory(prefix="compiling-", dir=path.parent) as folder:
        source, library = Path(folder, "op.cpp"), Path(folder, "op.so")
        source.write_text(program)
        run = _run([*compile_command, "-o", str(library), str(source)])
        if run.returncode != 0:
            compiler_error = BackendError(
                f"{shlex.join(compile_command)} failed: set CXX to a C++17 compiler\n{run.stderr[:2000]}"
            )
            raise compile_error_for([op.struct_name], run.stderr) or compiler_error
        library.replace(path)  # atomic: no other process loads half a file
    return path


def compiler_command() -> list[str]:
    """The compiler, and options that ``CXX`` may add."""
    configured = shlex.split(os.environ.get("CXX", ""))
    if configured and not shutil.which(configured[0]):
        raise BackendError(f"CXX names {configured[0]}, which does not exist: set it to a C++17 compiler, or unset CXX")
    installed = next((name for name in ("c++", "g++", "clang++") if shutil.which(name)), None)
    if not configured and installed is None:
        raise BackendError(
            "a PixelOp on the CPU needs a C++17 compiler, and none is installed: apt install g++ "
            "(or conda install cxx-compiler), or set CXX to one"
        )
    return configured or [str(installed)]


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
def _headers_digest() -> str:
    """Changes with every header that a program may include."""
    digest = hashlib.sha256()
    headers = (path for folder in HEADER_FOLDERS for suffix in ("cuh", "hpp") for path in folder.rglob(f"*.{suffix}"))
    for path in sorted(headers):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


@functools.cache
def cache_dir() -> Path:
    """A folder that only this user can write to, as libraries are code; without one, a folder of this process."""
    try:
        configured = os.environ.get("XDG_CACHE_HOME")
        folder = (Path(configured) if configured else Path.home() / ".cache") / "cuaug"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
        if status.st_uid == os.getuid() and not status.st_mode & 0o022 and os.access(folder, os.W_OK | os.X_OK):
            return folder
    except (OSError, RuntimeError):  # no home folder, a full disk, or a file of that name
        pass
    private = tempfile.mkdtemp(prefix="cuaug-")
    atexit.register(shutil.rmtree, private, ignore_errors=True)
    return Path(private)
