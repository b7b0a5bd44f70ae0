"""A temporary folder for compiled code, where the usual cache folder cannot be used."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

_folders: list[Path] = []


def private_folder() -> Path:
    """A folder that only this user can read and write, as it holds code. Removed when its process ends.

    A forked child uses its parent's folder, and creates another one if the parent has ended.
    """
    if not _folders or not _folders[-1].is_dir():
        folder = Path(tempfile.mkdtemp(prefix="cuaug-"))
        _folders.append(folder)
        atexit.register(_remove, folder, os.getpid())
    return _folders[-1]


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked child has its parent's exit functions
        shutil.rmtree(folder, ignore_errors=True)
