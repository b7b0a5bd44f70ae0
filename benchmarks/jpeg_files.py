"""The JPEG files of a folder."""

from __future__ import annotations

from pathlib import Path

SUFFIXES = ".jpg", ".jpeg"  # in any case: ImageNet's files are *.JPEG


def jpeg_files(folder: Path) -> list[Path]:
    """The files of a folder and its subfolders, sorted."""
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES)
