"""The number of CPU threads of cuaug and its peers."""

from __future__ import annotations

import importlib

import cuaug
from cuaug._host.extension import extension


def set_threads(count: int) -> None:
    """Sets the threads of cuaug, OpenCV and torch; 0: all CPUs."""
    cuaug.set_num_threads(count)
    for name, function in (("cv2", "setNumThreads"), ("torch", "set_num_threads")):
        try:
            getattr(importlib.import_module(name), function)(threads())
        except ImportError:
            continue


def threads() -> int:
    """The threads of a CPU call of cuaug."""
    return extension().threads()
