"""Runs a recipe's passes on a CPU one sample after the other: what a pass makes of it, the next one finds in the cache.

The passes run as ever, but their loops are only made, and run at the end, all of them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _array, _cpu, _dlpack
from .._images import Images
from .._parameters import Table
from . import run
from .plan import Plan


class _Collecting:
    """An array library whose loops wait, and with them the memory that they need."""

    def __init__(self, library: _array.Library) -> None:
        self.library = library
        self.name, self.channels_first = library.name, library.channels_first
        self.loops: list[Any] = []
        self.kept: list[Any] = []

    def describe(self, array: Any, stream: int | None = None) -> _dlpack.Tensor:
        own = _array.library(type(array))  # what JAX hands out is an array of NumPy until it is finished
        assert own is not None
        return own.describe(array, stream)

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, order: Sequence[int] | None) -> Any:
        self.kept.append(self.library.empty(shape, dtype, device, order))
        return self.kept[-1]

    def pointer(self, array: Any) -> int:
        return self.library.pointer(array)

    def finish(self, array: Any) -> Any:
        return array

    def stream(self, device: int) -> int:
        return self.library.stream(device)

    def load(self, values: np.ndarray, device: int) -> Any:
        self.kept.append(self.library.load(values, device))
        return self.kept[-1]

    def namespace(self) -> Any:
        return self.library.namespace()

    def launch(self, *_: Any) -> None:
        raise AssertionError("nothing is launched on a CPU")

    def loop(self, loop: Any) -> None:
        self.loops.append(loop)


def apply(plan: Plan, image: Images, table: Table) -> Any:
    """The images, changed as the rows of the table say: as `run.apply`."""
    collecting = _Collecting(image.library)
    made = run.apply(plan, image._replace(library=collecting), table)
    _cpu.native().run(collecting.loops)
    return image.library.finish(made)
