"""The ops of a recipe, and the columns of the parameter table that they read.

An op describes a change of the images. Parameters are columns of a table with one row per sample; a column gets its
index in the table once the passes are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple


class Column:
    """One number per sample.

    `max_value`: the largest value of the images' dtype, for numbers in the images' own range; None for others.
    `integer_range`: for columns of integers, the smallest and the largest that an op accepts; else None.
    """

    __slots__ = ("index", "integer_range", "max_value", "name")

    def __init__(self, name: str, max_value: float | None = None, integer_range: tuple[int, int] | None = None) -> None:
        self.name: str = name
        self.max_value: float | None = max_value
        self.integer_range: tuple[int, int] | None = integer_range
        self.index: int = -1


Condition = tuple[Column, frozenset[float]]  # true for samples whose column holds one of the values
SampleFilter = tuple[Condition, ...]  # the samples for which all conditions are true; empty: every sample


class Gate(NamedTuple):
    """Open for the samples whose column holds this value."""

    column: Column
    value: float


@dataclass
class Instruction:
    """One instruction of kernels/draws/instruction.cuh. An argument is a number, or a column, which gives its index."""

    opcode: str
    columns: Sequence[Column]
    arguments: Sequence[float | Column]
    position: int = 0  # of the transform in the recipe
    counter: int = 0  # Philox counter of the draw within its transform
    gate: Gate | None = None
    # Index of its first argument in a ragged batch's arguments per sample, which replace `arguments`; -1: none.
    sample_arguments_offset: int = -1


@dataclass
class CoordinateMap:
    """A map from output to input coordinates, which one instruction computes."""

    inverse_map: Instruction
    columns: Sequence[Column]  # read by the instruction, adjacent in the table
    size: tuple[int, int]  # of the output
    interpolation: str = "nearest"
    border: str = "constant"
    fill: Any = 0  # or a `FillByKind`
    reads_border: bool = False  # may read outside its input
    flip_axis: Literal["", "x", "y"] = ""  # the axis that a flip reverses; empty: no flip
    pixel_aligned: bool = False  # maps pixel centres onto pixel centres: every interpolation gives the same result
    within_box: bool = False  # `columns` are a box (top, left, height, width), outside which the map reads nothing
    projective: bool = False
    applies_to: SampleFilter = ()
    mask_cast_count: int = 0  # the casts of label masks before it


@dataclass
class Resize:
    """A box (top, left, height, width) of the input, resized by a separable filter.

    Crops, pads and flips after it choose a window of the resized box: only the window is computed.
    """

    inverse_map: Instruction  # also stores the window
    box: Sequence[Column]
    window: Sequence[Column]  # six numbers of kernels/records/resample.cuh, adjacent to the box
    size: tuple[int, int]  # of the whole resized box
    interpolation: str
    antialias: bool
    fits_warp: bool  # antialiased bilinear, at most twofold reduction: a GPU's warp kernel computes these few taps
    # Whether padding after it joins its pass: in ragged batches, whose results need one size. Other batches are padded
    # by the next pass, which changes pixels as well: that is faster (benchmarks/log/drawn-sizes.md).
    padding_joins_pass: bool = False

    @property
    def columns(self) -> Sequence[Column]:
        return *self.box, *self.window


@dataclass
class Displacement:
    """A resample by a displacement field: uniform noise per sample, smoothed by a Gaussian."""

    columns: Sequence[Column]  # the random stream (`StreamColumns`), then the amplitudes in x and y
    size: tuple[int, int]
    kernel_size: tuple[int, int]  # (x, y) of the Gaussian
    sigma: tuple[float, float]  # (x, y) of the Gaussian; both 0: not smoothed
    interpolation: str
    fill: Any  # or a `FillByKind`
    border: str = "constant"
    name: str = "ElasticTransform"
    mask_cast_count: int = 0  # the casts of label masks before it

    @property
    def launches(self) -> int:
        """The launches that make the field: the noise, and the Gaussian."""
        return 2 if self.sigma[0] else 1

    @property
    def bytes(self) -> int:
        """Bytes per sample: each launch writes a field of two float32 per pixel, the next launch reads the field."""
        return 8 * self.size[0] * self.size[1] * 2 * self.launches


@dataclass
class Pointwise:
    """A functor of kernels/ops and its parameters."""

    functor: str
    columns: Sequence[Column]
    mean: Column | None = None  # the column that receives the mean luma of the images at this point
    # The part before the mean, with the first columns; the part after it, with all columns.
    parts_at_mean: tuple[Pointwise, Pointwise] | None = None
    needs_integer_levels: bool = False
    applies_to: SampleFilter = ()

    @property
    def before_mean(self) -> list[Pointwise]:
        """The part of the op that runs before the mean is taken."""
        return [self.parts_at_mean[0]] if self.parts_at_mean else []

    @property
    def after_mean(self) -> Pointwise:
        """The part of the op that runs once the mean is known."""
        return self.parts_at_mean[1] if self.parts_at_mean else self


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
class Jpeg:
    """uint8 images coded as JPEG, and decoded."""

    columns: Sequence[Column]  # the quality; 0: the sample stays as it is


@dataclass
class Mix:
    """Each sample mixed with another sample of the batch (kernels/ops/mixes).

    The first column is the index of the other sample. A negative number means the sample before, for sample 0 the last
    one; a number beyond the batch means the sample itself.
    """

    functor: str
    name: str  # of the transform
    columns: Sequence[Column]
    lam: Column  # the weight of the sample itself
    classes: int | None = None  # number of classes of labels, which are mixed with the same weight


@dataclass
class Sharpen:
    """A blend with the smoothed image."""

    columns: Sequence[Column]  # the factor
    applies_to: SampleFilter = ()


@dataclass
class Autocontrast:
    """Each channel's range of values stretched to the full range."""

    columns: Sequence[Column]  # a flag; 0: the sample stays as it is


EQUALIZE, AUTOCONTRAST, CONTRAST = 1.0, 2.0, 3.0  # kernels/ops/histogram_lut.cuh


@dataclass
class HistogramLut:
    """uint8 images through a lookup table per channel, computed from the channel's histogram."""

    columns: Sequence[Column]  # one of the constants above, or 0 to keep the sample; then the factor of CONTRAST
    applies_to: SampleFilter = ()


@dataclass
class Grayscale:
    """The luma, copied to `channels` channels."""

    channels: int
    columns: Sequence[Column] = ()


@dataclass
class Branch:
    """The start of a branch. Every branch of a `Blend` reads the images at the first branch."""

    is_first: bool  # the first branch of its blend


@dataclass
class Blend:
    """The images at the first branch, blended with the results of all branches."""

    columns: Sequence[Column]  # the `remainder_fractions` of `_passes.mix.blend`
    name: str = "AugMix"


# Begins a pass without coordinate maps. Pointwise ops after it begin the next pass, except after `Blend`.
StandaloneOp = Blur | Jpeg | Mix | Autocontrast | Grayscale | Blend
OverrideOp = Sharpen | HistogramLut  # replaces a warp's sampling, for samples that no other op of the pass changes
ConditionalOp = CoordinateMap | Pointwise | OverrideOp  # may change some samples only
Op = ConditionalOp | Resize | Displacement | Cast | Branch | StandaloneOp
