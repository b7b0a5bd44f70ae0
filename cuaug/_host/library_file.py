"""Files of compiled libraries that end with a checksum, because loading a damaged library can end the process.

A power loss can leave a file empty, short, or with blocks of zeros. The dynamic loader ignores bytes after a library.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

_MARK = b"cuaug library, SHA-256 "


def is_intact(path: Path) -> bool:
    """Whether the file is as `write` left it."""
    try:
        content = path.read_bytes()
    except OSError:  # missing, a folder, or unreadable
        return False
    length = len(content) - len(_checksum(b""))
    return length > 0 and content[length:] == _checksum(content[:length])


def write(path: Path, library: bytes) -> None:
    """Replaces the file in one step: other processes see the old file or the complete new one, also after a crash."""
    descriptor, temporary = tempfile.mkstemp(prefix="writing-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(library + _checksum(library))
            file.flush()
            os.fsync(file.fileno())
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _checksum(library: bytes) -> bytes:
    return _MARK + hashlib.sha256(library).digest()
