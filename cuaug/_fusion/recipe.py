"""What a list of transforms asks for: draws, and the ops that take them, in the user's order.

Each transform writes itself down here, once for a shape and dtype of images (`Transform.write`). Nothing is drawn and
nothing runs: drawn numbers are columns of a table with a row for each sample, placed when the passes are known.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from .._check import WHITE

MOST_ENTRIES = 1 << 16  # positions in a recipe (kernels/draws/philox.cuh)
_INDICES = 64  # of random numbers that each draw keeps to itself: four to an index


class Column:
    """A number of every sample. `white`: for numbers in the images' own range, what full scale is there; else None."""

    __slots__ = ("name", "place", "white")

    def __init__(self, name: str, white: float | None = None) -> None:
        self.name, self.white, self.place = name, white, -1


# Which samples an op may change: those where every column holds one of its values; all, if there is no column.
Condition = tuple[Column, frozenset[float]]
Only = tuple[Condition, ...]


class Gate(NamedTuple):
    """Open for the samples whose column holds this value."""

    column: Column
    value: float


@dataclass
class Instruction:
    """One of kernels/draws/instruction.cuh. `arguments` are numbers, or columns that stand for their places."""

    kind: str
    columns: Sequence[Column]
    arguments: Sequence[float | Column]
    position: int = 0
    index: int = 0
    gate: Gate | None = None
    own: int = -1  # where a sample's own arguments begin that stand for these, if it has some


@dataclass
class Geometric:
    """A map of coordinates, by an instruction that carries them back."""

    carry: Instruction
    columns: Sequence[Column]  # adjoining, those that the instruction reads
    size: tuple[int, int]  # of the result
    interpolation: str = "nearest"
    border: str = "constant"
    fill: Any = 0
    shows_outside: bool = False  # looks beyond its input's canvas, and finds `border` there
    mirror: Literal["", "x", "y"] = ""  # takes the canvas to itself
    whole: bool = False  # from pixel centres to pixel centres: any interpolation will do
    box: bool = False  # its columns are a box (top, left, height, width) that it stays inside
    projective: bool = False
    only: Only = ()


@dataclass
class Resized:
    """A box (top, left, height, width) of the input, resized by a separable filter."""

    carry: Instruction
    columns: Sequence[Column]  # the box, and whether it is turned upside down, and left to right
    size: tuple[int, int]
    interpolation: str
    antialias: bool
    mild: bool  # a filter of few taps, which a GPU's warp reads as it reads all pixels


@dataclass
class Displaced:
    """Each pixel from elsewhere, by a field of noise for each sample, which a Gaussian smooths."""

    columns: Sequence[Column]  # the stream of random numbers, and how far noise reaches, in x and in y
    size: tuple[int, int]
    window: tuple[int, int]  # (x, y) of the Gaussian, and
    sigma: tuple[float, float]  # 0: none
    interpolation: str
    fill: Any
    border: str = "constant"
    name: str = "ElasticTransform"

    @property
    def launches(self) -> int:
        """Of the noise and the Gaussian."""
        return 2 if self.sigma[0] else 1

    @property
    def bytes(self) -> int:
        """Written and read for the field of a sample: two float32 numbers a pixel, by each launch and by the warp."""
        return 8 * self.size[0] * self.size[1] * 2 * self.launches


@dataclass
class Pointwise:
    """A struct of kernels/ops and its parameters. `mean`: the one of them that a reduction fills."""

    op: str
    columns: Sequence[Column]
    mean: Column | None = None  # that of them which the mean luma of the images so far goes to
    halves: tuple[Pointwise, Pointwise] | None = None  # before the mean, with the first columns, and after, with all
    ranged: bool = False  # it knows the levels of an integer dtype
    only: Only = ()

    @property
    def before(self) -> list[Pointwise]:
        """What of the op itself comes before the mean is taken."""
        return [self.halves[0]] if self.halves else []

    @property
    def after(self) -> Pointwise:
        """What of it is left to do then."""
        return self.halves[1] if self.halves else self


@dataclass
class Cast:
    """From here on another dtype."""

    dtype: str
    scale: bool


@dataclass
class Blur:
    """A Gaussian of `window` (x, y) pixels."""

    window: tuple[int, int]
    columns: Sequence[Column]  # sigma


@dataclass
class Mixed:
    """Each sample with another (kernels/ops/mixes); the first column says with which: -1, the one before it."""

    name: str
    columns: Sequence[Column]
    lam: Column  # the sample's own share
    classes: int | None = None  # of the labels that go along


@dataclass
class Sharpened:
    """Blended with its smoothed self."""

    columns: Sequence[Column]  # the factor
    only: Only = ()


@dataclass
class Stretched:
    """Each channel's levels spread from black to white."""

    columns: Sequence[Column]  # 0: this sample stays as it is


EQUALIZED, STRETCHED, CONTRASTED = 1.0, 2.0, 3.0  # kernels/ops/histogram_lut.cuh


@dataclass
class Relevelled:
    """Each channel's levels changed for others by what the whole image holds: of bytes."""

    columns: Sequence[Column]  # 0: this sample stays; else one of those below; of a contrast its factor comes next
    only: Only = ()


@dataclass
class Greyed:
    """The luma, in so many equal channels."""

    channels: int
    columns: Sequence[Column] = ()


@dataclass
class Branch:
    """Goes back to the images as they were at the first branch; what has become of them waits to be blended."""

    first: bool  # keeps the images instead


@dataclass
class Blended:
    """The images as they were at the first branch, blended with what each branch has made of them."""

    columns: Sequence[Column]  # of what is left over, what they take, and then each branch but the last
    name: str = "AugMix"


Alone = Blur | Mixed | Stretched | Greyed | Blended
Retouch = Sharpened | Relevelled
Gated = Geometric | Pointwise | Retouch  # which may change some samples only
Op = Gated | Resized | Displaced | Cast | Branch | Alone


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
    _gates: tuple[Gate, ...] = ()
    _least: tuple[int, int] = (0, 0)  # what samples whose gate is shut need
    _index: int = 0

    def begin(self, name: str) -> None:
        """The next transform: what it draws is called after it, and is independent of all others."""
        self.position, self.name, self._index = self.position + 1, name, 0
        if self.position >= MOST_ENTRIES:
            raise ValueError(f"a recipe must have fewer than {MOST_ENTRIES} transforms")

    @property
    def white(self) -> float:
        return WHITE.get(self.dtype, 1.0)

    def draw(
        self, kind: str, names: Sequence[str], *arguments: float | Column, white: float | None = None
    ) -> list[Column]:
        """Numbers from an instruction of kernels/draws/instruction.cuh."""
        columns = [Column(f"{self.position}.{self.name}.{name}", white) for name in names]
        self.draws.append(
            Instruction(kind, columns, arguments, self.position, self._index, self._gates[-1] if self._gates else None)
        )
        self._index += _INDICES
        return columns

    def constant(self, name: str, value: float, otherwise: float | None = None, white: float | None = None) -> Column:
        """The same for all samples, and `otherwise` for those whose gate is shut."""
        arguments = float(value), float(value if otherwise is None else otherwise)
        return self.draw("Constant", [name], *arguments, white=white)[0]

    def uniform(self, name: str, low: float, high: float, otherwise: float, rounded: bool = False) -> Column:
        if low == high:
            return self.constant(name, low, otherwise)
        return self.draw("Uniform", [name], low, high, float(rounded), otherwise)[0]

    def chance(self, name: str, p: float, yes: float = 1.0, no: float = 0.0, white: float | None = None) -> Column:
        return self.draw("Bernoulli", [name], p, yes, no, white=white)[0]

    @contextlib.contextmanager
    def only_where(self, column: Column, value: float = 1.0) -> Iterator[None]:
        """What is written inside concerns the samples whose column holds the value; others stay as they are."""
        before, least = self._gates, self._least
        self._gates, self._least = (*before, Gate(column, value)), self.size
        size, dtype, channels = self.size, self.dtype, self.channels
        yield
        self._gates, self._least = before, least
        if self.size != size:
            raise ValueError(f"{self.name} must not change the size of some samples only, from {size} to {self.size}")
        if self.dtype != dtype:
            raise ValueError(
                f"{self.name} must not change the dtype of some samples only, from {dtype} to {self.dtype}"
            )
        if self.channels != channels:
            raise ValueError(f"{self.name} must not change the channels of some samples only")

    def geometric(
        self, kind: str, columns: Sequence[Column], *constants: float, size: tuple[int, int] | None = None, **how: Any
    ) -> None:
        """A map of coordinates by an instruction that carries them back."""
        self._fits(size or self.size)
        self.size = size or self.size
        self.add(Geometric(Instruction(kind, (), (columns[0], *constants)), columns, self.size, **how))

    def _fits(self, size: tuple[int, int], exactly: bool = False) -> None:
        """Samples whose gate is shut stay at the top left of the canvas, which must have room for them."""
        if self._gates and ((exactly and size != self.size) or size[0] < self._least[0] or size[1] < self._least[1]):
            raise ValueError(f"{self.name} must not change the size of some samples only, from {self.size} to {size}")

    def mirrored(self, flag: Column, axis: Literal["x", "y"]) -> None:
        extent = self.size[1] if axis == "x" else self.size[0]
        self.geometric("InverseFlip", [flag], extent, float(axis == "y"), mirror=axis, whole=True)

    def cropped(self, corner: Sequence[Column], size: tuple[int, int]) -> None:
        """A box inside the image, from (top, left) on."""
        box = [*corner, *(self.constant(n, v) for n, v in zip(("height", "width"), size, strict=True))]
        self.geometric("InverseTranslate", box, size=size, whole=True, box=True)

    def resized(self, box: Sequence[Column], size: tuple[int, int], interpolation: str, antialias: bool) -> None:
        """A box (top, left, height, width) of the image fills the canvas."""
        self._fits(size, exactly=True)
        of = *size, *(1.0 / extent for extent in size)
        if interpolation == "nearest" or (interpolation == "bilinear" and not antialias):
            self.geometric(
                "InverseCropResize", box, *of, size=size, interpolation=interpolation, border="edge", box=True
            )
            return
        turned = [self.constant(name, 0.0) for name in ("upside_down", "left_to_right")]
        carry, antialias = Instruction("InverseCropResize", (), (box[0], *of)), antialias or interpolation == "area"
        twofold = self.size[0] <= 2 * size[0] and self.size[1] <= 2 * size[1]
        mild = antialias and twofold and interpolation in ("bilinear", "area")
        self.ops.append(Resized(carry, [*box, *turned], size, interpolation, antialias, mild))
        self.size = size

    def pointwise(self, op: str, columns: Sequence[Column] = (), **how: Any) -> None:
        self.add(Pointwise(op, columns, **how))

    def cast(self, dtype: str, scale: bool) -> None:
        self.dtype = dtype
        self.ops.append(Cast(dtype, scale))

    def add(self, op: Op) -> None:
        """What is written inside `only_where` changes the samples of its gates alone."""
        if isinstance(op, Gated):
            op.only = (*op.only, *((gate.column, frozenset([gate.value])) for gate in self._gates))
        self.ops.append(op)
