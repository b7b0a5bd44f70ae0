"""What a list of transforms asks for: draws, and the ops that take them, in the user's order.

Each transform writes itself down here once for a size and dtype of images (`Transform.add`). Nothing is drawn and nothing
runs: drawn numbers are columns of a table with a row for each sample, whose places are settled when the passes are known.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .._check import WHITE

MOST_ENTRIES = 1 << 16  # positions in a recipe (kernels/philox.cuh)
_INDICES = 64  # of random numbers that each draw keeps to itself: four to an index


class Column:
    """A number of every sample. `white` is what 1 is there, for numbers in the images' own range."""

    __slots__ = ("name", "place", "white")

    def __init__(self, name: str, white: float = 1.0) -> None:
        self.name, self.white, self.place = name, white, -1


class Gate(NamedTuple):
    """Open for the samples whose column holds this value."""

    column: Column
    value: float


@dataclass
class Instruction:
    """One of kernels/draws/program.cuh. `arguments` are numbers, or columns that stand for their places."""

    kind: str
    columns: Sequence[Column]
    arguments: Sequence[float | Column]
    position: int = 0
    index: int = 0
    gate: Gate | None = None


@dataclass
class Geometric:
    """A map of coordinates. `shows_outside`: it may look beyond its input's canvas, and finds `border` and `fill` there."""

    carry: Instruction
    size: tuple[int, int]  # of the result
    interpolation: str = "nearest"
    border: str = "constant"
    fill: Any = 0
    shows_outside: bool = False
    onto: bool = False  # takes the canvas to itself, pixel by pixel
    whole: bool = False  # from pixel centres to pixel centres: any interpolation will do
    projective: bool = False


@dataclass
class Resized:
    """A box of the input, resized by a separable filter."""

    carry: Instruction
    box: Sequence[Column]
    size: tuple[int, int]
    interpolation: str
    antialias: bool


@dataclass
class Pointwise:
    """A struct of kernels/ops and its parameters. `mean`: the one of them that a reduction fills."""

    op: str
    columns: Sequence[Column]
    white: float
    mean: Column | None = None
    prefix: str | None = None  # what of this op itself comes before the mean is taken
    ranged: bool = False  # it knows the levels of an integer dtype


@dataclass
class Cast:
    """From here on another dtype."""

    dtype: str
    scale: bool


@dataclass
class Blur:
    """A Gaussian of `window` (x, y) pixels."""

    window: tuple[int, int]
    sigma: Sequence[Column]


@dataclass
class Mixed:
    """Each sample with another (kernels/mixes); the first column says with which."""

    name: str
    columns: Sequence[Column]
    lam: Column


Op = Geometric | Resized | Pointwise | Cast | Blur | Mixed


@dataclass
class Recipe:
    """Written by the transforms, one after the other."""

    size: tuple[int, int]
    channels: int
    dtype: str
    draws: list[Instruction] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    position: int = -1
    name: str = ""
    _gate: Gate | None = None
    _index: int = 0

    def begin(self, name: str) -> None:
        """The next transform: what it draws is called after it, and is independent of all others."""
        self.position, self.name, self._index = self.position + 1, name, 0
        if self.position >= MOST_ENTRIES:
            raise ValueError(f"a recipe must have fewer than {MOST_ENTRIES} transforms")

    @property
    def white(self) -> float:
        return WHITE.get(self.dtype, 1.0)

    def draw(self, kind: str, names: Sequence[str], *arguments: float | Column, white: float = 1.0) -> list[Column]:
        """Numbers from an instruction of kernels/draws/program.cuh."""
        columns = [Column(f"{self.position}.{self.name}.{name}", white) for name in names]
        self.draws.append(Instruction(kind, columns, arguments, self.position, self._index, self._gate))
        self._index += _INDICES
        return columns

    def constant(self, name: str, value: float, otherwise: float | None = None, white: float = 1.0) -> Column:
        """The same for all samples, and `otherwise` for those whose gate is shut."""
        arguments = float(value), float(value if otherwise is None else otherwise)
        return self.draw("Constant", [name], *arguments, white=white)[0]

    def uniform(self, name: str, low: float, high: float, otherwise: float, rounded: bool = False) -> Column:
        if low == high:
            return self.constant(name, low, otherwise)
        return self.draw("Uniform", [name], low, high, float(rounded), otherwise)[0]

    def chance(self, name: str, p: float, yes: float = 1.0, no: float = 0.0, white: float = 1.0) -> Column:
        return self.draw("Chance", [name], p, yes, no, white=white)[0]

    @contextlib.contextmanager
    def only_where(self, column: Column, value: float = 1.0) -> Iterator[None]:
        """What is written inside concerns the samples whose column holds the value, and leaves the others as they are."""
        before, self._gate = self._gate, Gate(column, value)
        size, dtype = self.size, self.dtype
        yield
        self._gate = before
        if self.size != size:
            raise ValueError(f"{self.name} must not change the size of some samples only, from {size} to {self.size}")
        if self.dtype != dtype:
            raise ValueError(f"{self.name} must not change the dtype of some samples only, from {dtype} to {self.dtype}")

    def geometric(
        self, kind: str, columns: Sequence[Column], *constants: float, size: tuple[int, int] | None = None, **how: Any
    ) -> None:
        """A map of coordinates by an instruction that carries them back."""
        self.size = size or self.size
        self.ops.append(Geometric(Instruction(kind, (), (columns[0], *constants)), self.size, **how))

    def resized(
        self, box: Sequence[Column], size: tuple[int, int], interpolation: str, antialias: bool
    ) -> None:
        """A box (top, left, height, width) of the image fills the canvas."""
        carry = Instruction("Box", (), (box[0], *map(float, size)))
        if interpolation == "nearest" or (interpolation == "bilinear" and not antialias):
            how = {"interpolation": interpolation, "border": "edge"}
            self.ops.append(Geometric(carry, size, **how))
        else:
            self.ops.append(Resized(carry, box, size, interpolation, antialias))
        self.size = size

    def pointwise(self, op: str, columns: Sequence[Column] = (), **how: Any) -> None:
        self.ops.append(Pointwise(op, columns, self.white, **how))

    def cast(self, dtype: str, scale: bool) -> None:
        self.dtype = dtype
        self.ops.append(Cast(dtype, scale))

    def add(self, op: Op) -> None:
        self.ops.append(op)
