"""A row of a table, and its work: noise, drawn parameters, and buffers, on a GPU so many that calls miss its cache."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import cuaug

# Calls use the buffers in turn: this many bytes of other buffers lie between two uses of one.
BYTES_BETWEEN_USES = 120e6  # twice the L2 cache of an H200 (60 MB)
ITEM_SIZE = {"uint8": 1, "float16": 2, "bfloat16": 2, "float32": 4}
Draw = Callable[[np.random.Generator, int, tuple[int, int]], dict[str, np.ndarray]]


def no_parameters(rng: np.random.Generator, count: int, size: tuple[int, int]) -> dict[str, np.ndarray]:
    return {}


@dataclasses.dataclass(frozen=True)
class Row:
    """``cuaug.op(images, **options, **drawn)``; ``reference.op`` takes one image [H, W, C] and its parameters."""

    name: str
    op: str
    shape: tuple[int, int, int, int]  # (N, C, H, W) in every layout
    dtype: str = "uint8"
    layout: str = "NCHW"
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    draw: Draw = no_parameters
    shared: bool = False  # one draw for the batch
    host: bool = False  # drawn parameters stay on the host
    compiled: bool = False  # also timed with torch.compile, which takes seconds
    quick: bool = False

    @property
    def interpolation(self) -> str:
        default = "nearest" if self.op in ("rotate", "hflip", "crop", "pad") else "bilinear"
        return str(self.options.get("interpolation", default))

    @property
    def border(self) -> str:
        return str(self.options.get("padding_mode" if self.op == "pad" else "border", "constant"))


@dataclasses.dataclass(frozen=True)
class Contender:
    """A call to time: ``run(i)`` works on buffer ``i``, ``sample(result, n)`` is an image of its result. [H, W, C]

    Without ``sample``, the result differs from the row's by design.
    """

    run: Callable[[int], Any]
    sample: Callable[[Any, int], np.ndarray] | None = None
    clock: str = "events"  # "graph": can be captured; "events": cannot be; "host": runs on the CPU


class NotSupported(Exception):
    """A peer has no such operation: its cell is a dash."""


class Work:
    """One row on one device ("cuda" or "cpu")."""

    def __init__(self, row: Row, device: str) -> None:
        self.row, self.device = row, device
        self.samples, self.channels, height, width = row.shape
        rng = np.random.default_rng(20261120)
        self.noise = rng.integers(0, 256, (self.samples, height, width, self.channels), np.uint8)
        drawn = row.draw(rng, self.samples, (height, width))
        self.drawn = {name: values[0] for name, values in drawn.items()} if row.shared else drawn
        self.buffers = 1
        self.batches: dict[tuple[str, str, str], list[Any]] = {}
        self.expected: dict[int, np.ndarray] = {}
        self.call = getattr(cuaug, row.op)
        self.parameters = {n: self.parameter(v) for n, v in self.drawn.items()}
        library = "torch" if device == "cuda" else "numpy"
        first = self.cuaug(self.images(library, row.dtype, row.layout)[0])
        shape = dict(zip(row.layout, first.shape, strict=True))
        self.size: tuple[int, int] = (shape["H"], shape["W"])
        if device == "cuda":
            self.buffers = 1 + math.ceil(BYTES_BETWEEN_USES / (self.noise.size * ITEM_SIZE[row.dtype] + first.nbytes))
            self.batches.clear()
        self.inputs = self.images(library, row.dtype, row.layout)
        empty = functools.partial(np.empty_like, first)
        if device == "cuda":
            import torch

            empty = functools.partial(torch.empty_like, first)
        self.outputs = [empty() for _ in range(self.buffers)]
        self.bytes = (
            self._values_read() * ITEM_SIZE[row.dtype] + first.nbytes + sum(v.nbytes for v in self.drawn.values())
        )

    def cuaug(self, images: Any, out: Any = None) -> Any:
        return self.call(images, **self.parameters, **self.row.options, layout=self.row.layout, out=out)

    def contender(self) -> Contender:
        """The contender for cuaug's own call."""
        clock = "host" if self.device == "cpu" else "events" if self.row.host else "graph"
        return Contender(
            lambda i: self.cuaug(self.inputs[i], self.outputs[i]), self.sample_copier(self.row.layout), clock
        )

    def sample_copier(self, layout: str) -> Callable[[Any, int], np.ndarray]:
        """A function that copies a sample of a batch to the host as [H, W, C], bfloat16 as float32."""

        def copy_sample(result: Any, n: int) -> np.ndarray:
            image = result[n]
            if hasattr(image, "cpu"):
                image = image.cpu()
                image = (image.float() if str(image.dtype) == "torch.bfloat16" else image).numpy()
            return np.asarray(image if layout == "NHWC" else np.moveaxis(image, 0, -1))

        return copy_sample

    def parameter(self, values: np.ndarray) -> Any:
        if self.device == "cpu" or self.row.host:
            return values
        import torch

        return torch.from_numpy(np.ascontiguousarray(values)).to(self.device)

    def images(self, library: str, dtype: str, layout: str) -> list[Any]:
        """The noise in every buffer; float images are in 0..1."""
        key = library, dtype, layout
        if key not in self.batches:
            self.batches[key] = self._new_batches(*key)
        return self.batches[key]

    def _new_batches(self, library: str, dtype: str, layout: str) -> list[Any]:
        values = np.ascontiguousarray(self.noise if layout == "NHWC" else self.noise.transpose(0, 3, 1, 2))
        if library == "numpy":
            values = values if dtype == "uint8" else values.astype(dtype) / np.array(255, dtype)
            return [values]
        import torch

        tensor = torch.from_numpy(values).to(self.device)
        tensor = tensor if dtype == "uint8" else (tensor.float() / 255).to(getattr(torch, dtype))
        return [tensor.clone() for _ in range(self.buffers)]

    def arguments_of_sample(self, n: int) -> dict[str, Any]:
        """The reference's keyword arguments for sample n."""
        return self.row.options | (self.drawn if self.row.shared else {name: v[n] for name, v in self.drawn.items()})

    def _values_read(self) -> int:
        """Number of input values that the result depends on: those in the box of a crop."""
        if self.row.op == "crop":
            return self.samples * self.channels * math.prod(self.size)
        if self.row.op == "resized_crop":
            area = np.broadcast_to(self.drawn["height"] * self.drawn["width"], self.samples)
            return int(area.sum()) * self.channels
        return int(self.noise.size)
