"""Compiles a user's op for the CPU into a small library, with the machine's C++ compiler. Caches libraries on disk."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import hashlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from concurrent.futures import CancelledError, Future
from pathlib import Path

from .._check import BackendError
from .._program.user_ops import UserOp, compile_error_for
from . import library_file
from .private_folder import private_folder

HEADER_FOLDERS = Path(__file__).parents[1] / "kernels", Path(__file__).parents[1] / "cpu/loops"
_OPTIONS = ("-std=c++17", "-shared", "-fPIC", "-fvisibility=hidden", "-w", *(f"-I{path}" for path in HEADER_FOLDERS))
_PROGRAM = """\
#include <cstring>
namespace {{
#include "maths.hpp"
#include "user_op.hpp"
{text}}}
extern "C" __attribute__((visibility("default")))
void loop(int value_bytes, int channels, const void* params, const void* context, int count, void* rows) {{
    cuaug::user_loop<cuaug::{struct}>(value_bytes, channels, params, context, count, rows);
}}
"""
_TIME_LIMIT = 120.0  # seconds for one op; most take about 1, the longest that `user_ops` allows 3.5
_LEFTOVER_AGE = 3600.0  # seconds after which a temporary file in the cache folder belongs to no running compiler
_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT}
_loaded: dict[str, ctypes.CDLL] = {}
# The ops that threads are compiling. Not a lock: a child forked while a thread compiles would inherit it locked.
_compiling: dict[str, Future[ctypes.CDLL]] = {}
os.register_at_fork(after_in_child=_compiling.clear)


def loop_address(op: UserOp, flags: str) -> int:
    """The address of the op's native::UserOpLoop, compiled with the extension's own `flags` at its first use."""
    library = _loaded.get(op.struct_name) or _load_once(op, flags)
    address = ctypes.cast(library.loop, ctypes.c_void_p).value
    assert address is not None
    return address


def _load_once(op: UserOp, flags: str) -> ctypes.CDLL:
    """Loads the op's library; other threads that need the op wait for it."""
    future: Future[ctypes.CDLL] = Future()
    while (first := _compiling.setdefault(op.struct_name, future)) is not future:
        with contextlib.suppress(CancelledError):  # the other thread was interrupted
            return first.result()
    try:
        _loaded[op.struct_name] = library = _load(op, flags)
        future.set_result(library)
    except Exception as error:
        future.set_exception(error)
        raise
    finally:
        _compiling.pop(op.struct_name, None)
        future.cancel()  # of a future without a result, after an interrupt
    return library


def _load(op: UserOp, flags: str) -> ctypes.CDLL:
    path = compiled_library(op, flags)
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise BackendError(
            f"{op.name} was compiled, but cannot be loaded ({error}): "
            "set XDG_CACHE_HOME to a private folder from which programs may be run"
        ) from error


def compiled_library(op: UserOp, flags: str) -> Path:
    """The op's library, from the cache or compiled now."""
    program = _PROGRAM.format(text=op.struct_text, struct=op.struct_name)
    compile_command = [*compiler_command(), *flags.split(), *_OPTIONS]
    key_parts = program, _headers_digest(), _version(compile_command[0]), *compile_command
    key = hashlib.sha256("\0".join(key_parts).encode()).hexdigest()
    path = cache_dir() / f"{op.struct_name}-{key[:32]}.so"
    if library_file.is_intact(path):
        return path
    try:
        return _compile(op, program, compile_command, path)
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            raise
        private = private_folder() / path.name
    if not library_file.is_intact(private):
        try:
            _compile(op, program, compile_command, private)
        except OSError as error:
            raise BackendError(
                f"{op.name} cannot be compiled, as {path.parent} and {private.parent} cannot be written ({error}): "
                "free space, or set XDG_CACHE_HOME or TMPDIR to another disk"
            ) from error
    return private


def _compile(op: UserOp, program: str, compile_command: list[str], path: Path) -> Path:
    """Compiles the program to `path`. Raises OSError if its folder cannot be written."""
    _remove_leftovers(path.parent)
    with tempfile.TemporaryDirectory(prefix="compiling-", dir=path.parent) as folder:
        source, library = Path(folder, "op.cpp"), Path(folder, "op.so")
        source.write_text(program)
        code, log = _run([*compile_command, "-o", str(library), str(source)], op.name)
        if code != 0:
            if "No space left on device" in log:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            compiler_error = BackendError(
                f"{shlex.join(compile_command)} failed: set CXX to a C++17 compiler\n{log[:2000]}"
            )
            raise compile_error_for([op.struct_name], log) or compiler_error
        library_file.write(path, library.read_bytes())
    return path


def _remove_leftovers(folder: Path) -> None:
    """Removes what killed processes left while they compiled."""
    for leftover in (*folder.glob("compiling-*"), *folder.glob("writing-*")):
        with contextlib.suppress(OSError):  # another process removed it
            if time.time() - leftover.stat().st_mtime < _LEFTOVER_AGE:
                continue
            if leftover.is_dir():
                shutil.rmtree(leftover)
            else:
                leftover.unlink()


def compiler_command() -> list[str]:
    """The compiler, and options that ``CXX`` may add."""
    variable = os.environ.get("CXX", "")
    try:
        configured = shlex.split(variable)
    except ValueError as error:  # an open quotation
        raise BackendError(f"CXX is {variable!r} ({error}): set it to a C++17 compiler, or unset CXX") from error
    if configured and not shutil.which(configured[0]):
        fault = "is not a program" if Path(configured[0]).exists() else "does not exist"
        raise BackendError(f"CXX names {configured[0]}, which {fault}: set it to a C++17 compiler, or unset CXX")
    installed = next((name for name in ("c++", "g++", "clang++") if shutil.which(name)), None)
    if not configured and installed is None:
        raise BackendError(
            "a PixelOp on the CPU needs a C++17 compiler, and none is installed: apt install g++ "
            "(or conda install cxx-compiler), or set CXX to one"
        )
    return configured or [str(installed)]


@functools.cache
def _version(compiler: str) -> str:
    return f"{shutil.which(compiler)} {_run([compiler, '--version'], compiler)[1]}"


def _run(command: list[str], name: str) -> tuple[int, str]:
    """The exit code, and what the compiler printed."""
    try:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            env={**os.environ, "LC_ALL": "C"}, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise BackendError(f"{command[0]} cannot be run ({error}): set CXX to a C++17 compiler") from error
    try:
        log, _ = process.communicate(timeout=_TIME_LIMIT)
    except BaseException as error:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # a compiler runs further programs, which hold the pipe
        process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            raise BackendError(
                f"{name}: {command[0]} took more than {_TIME_LIMIT:.0f} s: use a simpler expression"
            ) from None
        raise
    return process.returncode, log


@functools.cache
def _headers_digest() -> str:
    """Changes with every header that a program may include."""
    digest = hashlib.sha256()
    headers = (path for folder in HEADER_FOLDERS for suffix in ("cuh", "hpp") for path in folder.rglob(f"*.{suffix}"))
    for path in sorted(headers):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def cache_dir() -> Path:
    """A folder that only this user can write to, as libraries are code."""
    return _user_cache_dir() or private_folder()


def _user_cache_dir() -> Path | None:
    try:
        configured = os.environ.get("XDG_CACHE_HOME")
        folder = (Path(configured) if configured else Path.home() / ".cache") / "cuaug"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
        if status.st_uid == os.getuid() and not status.st_mode & 0o022 and os.access(folder, os.W_OK | os.X_OK):
            return folder
    except (OSError, RuntimeError):  # no home folder, a full disk, or a file of that name
        pass
    return None
