"""The ops of a recipe, and the columns of the parameter table that they read.

An op states what happens to the images; nothing is drawn and nothing runs here. Parameters are columns of a table with
one row per sample. A column gets its index in the table once the passes are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple


class Column:
    """One number per sample.

    `max_value`: the images' largest value, for numbers in the images' own range; None for all other numbers.
    `integers`: for columns that hold integers alone, the smallest and the largest that an op accepts.
    """

    __slots__ = ("index", "integers", "max_value", "name")

    def __init__(self, name: str, max_value: float | None = None, integers: tuple[int, int] | None = None) -> None:
        self.name, self.max_value, self.integers, self.index = name, max_value, integers, -1


Condition = tuple[Column, frozenset[float]]  # true for samples whose column holds one of the values
SampleFilter = tuple[Condition, ...]  # the samples for which all conditions are true; empty: every sample


class Gate(NamedTuple):
    """Open for the samples whose column holds this value."""

    column: Column
    value: float


@dataclass
class Instruction:
    """One instruction of kernels/draws/instruction.cuh. An argument is a number, or a column, which gives its index."""

    kind: str
    columns: Sequence[Column]
    arguments: Sequence[float | Column]
    position: int = 0
    index: int = 0
    gate: Gate | None = None
    sample_arguments_offset: int = -1  # in a ragged batch's arguments per sample, which replace these; -1: none


@dataclass
class CoordinateMap:
    """A map from output to input coordinates, which one instruction computes."""

    inverse_map: Instruction
    columns: Sequence[Column]  # adjacent: those that the instruction reads
    size: tuple[int, int]  # of the output
    interpolation: str = "nearest"
    border: str = "constant"
    fill: Any = 0
    reads_border: bool = False  # reads coordinates outside its input, which `border` answers
    flip_axis: Literal["", "x", "y"] = ""  # a flip, which maps the canvas to itself
    pixel_aligned: bool = False  # maps pixel centres onto pixel centres: every interpolation gives the same result
    within_box: bool = False  # reads only the box (top, left, height, width) that its columns are
    projective: bool = False
    applies_to: SampleFilter = ()


@dataclass
class Resize:
    """A box (top, left, height, width) of the input, resized by a separable filter."""

    inverse_map: Instruction
    columns: Sequence[Column]  # the box, then whether it is flipped upside down, and left to right
    size: tuple[int, int]
    interpolation: str
    antialias: bool
    fits_warp: bool  # antialiased, at most twofold reduction: few taps, which a GPU's warp kernel reads itself


@dataclass
class Displacement:
    """Each pixel from elsewhere: a field of uniform noise per sample, smoothed by a Gaussian."""

    columns: Sequence[Column]  # the key of the random numbers, then the amplitude in x and in y
    size: tuple[int, int]
    kernel_size: tuple[int, int]  # (x, y) of the Gaussian
    sigma: tuple[float, float]  # (x, y) of the Gaussian; 0: not smoothed
    interpolation: str
    fill: Any
    border: str = "constant"
    name: str = "ElasticTransform"

    @property
    def launches(self) -> int:
        """The launches that make the field: the noise, and the Gaussian."""
        return 2 if self.sigma[0] else 1

    @property
    def bytes(self) -> int:
        """Bytes of one sample's field, two float32 per pixel: each launch writes them, its successor reads them."""
        return 8 * self.size[0] * self.size[1] * 2 * self.launches


@dataclass
class Pointwise:
    """A struct of kernels/ops and its parameters."""

    op: str
    columns: Sequence[Column]
    mean: Column | None = None  # the one of `columns` that receives the mean luma of the images at this point
    around_mean: tuple[Pointwise, Pointwise] | None = None  # the op in two: with its first columns, then with all
    needs_integer_levels: bool = False
    applies_to: SampleFilter = ()

    @property
    def before_mean(self) -> list[Pointwise]:
        """The part of the op that runs before the mean is taken."""
        return [self.around_mean[0]] if self.around_mean else []

    @property
    def after_mean(self) -> Pointwise:
        """The part of the op that runs once the mean is known."""
        return self.around_mean[1] if self.around_mean else self


@dataclass
class Cast:
    """A conversion to another dtype; `scale`: from the old dtype's full range to the new one's."""

    dtype: str
    scale: bool


@dataclass
class Blur:
    """A Gaussian blur."""

    kernel_size: tuple[int, int]  # (x, y) in pixels
    columns: Sequence[Column]  # sigma


@dataclass
class Mix:
    """Each sample with another sample of the batch (kernels/ops/mixes).

    The first column is the other sample's offset: -1 is the sample before.
    """

    name: str
    columns: Sequence[Column]
    lam: Column  # the weight of the sample itself
    classes: int | None = None  # of the labels that are mixed with the same weight


@dataclass
class Sharpen:
    """A blend with the smoothed image."""

    columns: Sequence[Column]  # the factor
    applies_to: SampleFilter = ()


@dataclass
class Autocontrast:
    """Each channel's range of values stretched to the full range."""

    columns: Sequence[Column]  # 0: the sample stays as it is


EQUALIZE, AUTOCONTRAST, CONTRAST = 1.0, 2.0, 3.0  # kernels/ops/histogram_lut.cuh


@dataclass
class HistogramLut:
    """uint8 images through a lookup table per channel, computed from the channel's histogram."""

    columns: Sequence[Column]  # 0: the sample stays; else one of the constants above; CONTRAST reads a factor behind it
    applies_to: SampleFilter = ()


@dataclass
class Grayscale:
    """The luma, in this many equal channels."""

    channels: int
    columns: Sequence[Column] = ()


@dataclass
class Branch:
    """The start of a branch: the following ops read the images as they were at the first branch.

    The result of the branch before waits for `Blend`.
    """

    first: bool  # the images at this point are what every branch reads


@dataclass
class Blend:
    """The images at the first branch, blended with the result of each branch."""

    columns: Sequence[Column]  # stick-breaking fractions: of the image, then of each branch but the last
    name: str = "AugMix"


Separate = Blur | Mix | Autocontrast | Grayscale | Blend  # run by a kernel that no other op joins before
OverrideOp = Sharpen | HistogramLut  # replace the sampling of samples that do not move
ConditionalOp = CoordinateMap | Pointwise | OverrideOp  # may change some samples only
Op = ConditionalOp | Resize | Displacement | Cast | Branch | Separate
