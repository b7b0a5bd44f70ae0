"""A recipe: the parameters that transforms draw, and the ops that use them, in the user's order.

Each transform appends its draws and ops once per shape and dtype of images (`Transform.write`). The passes and the
program of draws are planned from the complete recipe (`plan.py`).
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .. import _check
from .._passes.resample import INTERPOLATIONS, check_reduction
from .._program.dtypes import MAX_VALUE
from .recipe_ops import (
    Cast,
    Column,
    ConditionalOp,
    CoordinateMap,
    Displacement,
    Gate,
    Grayscale,
    Instruction,
    Op,
    Pointwise,
    Resize,
)

MAX_TRANSFORMS = 1024  # written into a recipe; kernels/draws/philox.cuh has room for 2**16 positions
_MAX_ARGUMENTS = 1 << 18  # of all draws: 2 MB of the program
AFFINE_COLUMNS = ("angle", "translate_x", "translate_y", "scale", "shear_x", "shear_y")
COUNTERS_PER_DRAW = 64  # Philox counter values reserved per draw; each yields four random words


@dataclass
class Recipe:
    """Draws and ops for images of one shape and dtype; transforms append to it one after the other."""

    size: tuple[int, int]  # (H, W) of the images at this point
    channels: int
    dtype: str
    draws: list[Instruction] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    mask_dtypes: list[str] = field(default_factory=list)  # of the casts of label masks, in their order
    position: int = -1  # of the transform that `begin` has started
    name: str = ""  # of that transform
    drawn_size: tuple[int, int] | None = None  # `ImageBatch.drawn_size` of the images
    _gates: tuple[Gate, ...] = ()
    _min_size: tuple[int, int] = (0, 0)  # the smallest canvas that holds samples whose gate is closed
    _counter: int = 0  # Philox counter of the transform's next draw
    _gated_dtype: str = ""  # of the images where the innermost gate began: samples whose gate is closed come back to it
    _last_changed: dict[str, str] = field(default_factory=dict)  # names of transforms, by property of the images
    _transform_count: int = 0
    _argument_count: int = 0

    def begin(self, name: str) -> None:
        """Start the next transform. Its columns are named after it; its draws are independent of all others."""
        self.count_transform()
        self.position, self.name, self._counter = self.position + 1, name, 0

    def count_transform(self) -> None:
        """Refuse recipes whose planning takes long. A transform counts as often as it is appended."""
        self._transform_count += 1
        if self._transform_count > MAX_TRANSFORMS:
            raise ValueError(
                f"a recipe must have at most {MAX_TRANSFORMS} transforms: those inside of others count, slots of a "
                "policy too, and n * n for the n of a RandomOrder"
            )

    @property
    def max_value(self) -> float:
        """The largest value of the images' dtype at this point."""
        return MAX_VALUE.get(self.dtype, 1.0)

    @property
    def is_random(self) -> bool:
        """Whether any column is drawn: another seed or step can give another result."""
        return any(draw.opcode != "Constant" for draw in self.draws)

    def draw(
        self,
        opcode: str,
        names: Sequence[str],
        *arguments: float | Column,
        max_value: float | None = None,
        integer_range: tuple[int, int] | None = None,
    ) -> list[Column]:
        """New columns, and the instruction that fills them (`Opcode` of kernels/draws/instruction.cuh).

        `max_value` and `integer_range`: those of `Column`. They describe the drawn numbers and do not change them.
        """
        if not all(map(math.isfinite, [argument for argument in arguments if not isinstance(argument, Column)])):
            raise ValueError(f"{self.name} must draw {names[0]} from finite numbers, got {arguments}")
        self._argument_count += len(arguments)
        if self._argument_count > _MAX_ARGUMENTS:
            raise ValueError(f"a recipe must draw from at most {_MAX_ARGUMENTS} numbers, bins of magnitudes included")
        columns = [Column(f"{self.position}.{self.name}.{name}", max_value, integer_range) for name in names]
        gate = self._gates[-1] if self._gates else None
        self.draws.append(Instruction(opcode, columns, arguments, self.position, self._counter, gate))
        self._counter += COUNTERS_PER_DRAW
        return columns

    def constant(
        self,
        name: str,
        value: float,
        otherwise: float | None = None,
        max_value: float | None = None,
        integer_range: tuple[int, int] | None = None,
    ) -> Column:
        """The same number for every sample; `otherwise` for samples whose gate is closed."""
        arguments = float(value), float(value if otherwise is None else otherwise)
        return self.draw("Constant", [name], *arguments, max_value=max_value, integer_range=integer_range)[0]

    def uniform(self, name: str, low: float, high: float, otherwise: float, rounded: bool = False) -> Column:
        """A number in low..high; `otherwise` for samples whose gate is closed."""
        if low == high:
            return self.constant(name, low, otherwise)
        return self.draw("Uniform", [name], low, high, float(rounded), otherwise)[0]

    def bernoulli(
        self, name: str, p: float, if_true: float = 1.0, if_false: float = 0.0, max_value: float | None = None
    ) -> Column:
        """`if_true` with probability p, else `if_false`."""
        return self.draw("Bernoulli", [name], p, if_true, if_false, max_value=max_value)[0]

    def randint(self, name: str, count: int, first: int, otherwise: float) -> Column:
        """An integer in first..first + count - 1; `otherwise` for samples whose gate is closed."""
        return self.draw("RandInt", [name], count, first, otherwise)[0]

    def beta(self, name: str, a: float, b: float, otherwise: float) -> Column:
        """A number from Beta(a, b); `otherwise` for samples whose gate is closed."""
        return self.draw("Beta", [name], a, b, otherwise)[0]

    def choice(self, name: str, weights: Sequence[float]) -> Column:
        """An index, drawn with these weights."""
        total = sum(weights)
        cumulative = [weight / total for weight in itertools.accumulate(weights)]
        return self.draw("Categorical", [name], len(weights), *cumulative)[0]

    @contextlib.contextmanager
    def only_where(self, column: Column, value: float = 1.0) -> Iterator[None]:
        """Draws and ops that are appended inside apply only to samples whose `column` holds `value`.

        The size and the dtype must be the same at the end. Inside, the size may grow and shrink again, and the dtype
        may become a wider one; the channels must not change. Both change for all samples, so the changes must lose
        nothing.
        """
        outer_gates, outer_min_size, outer_dtype = self._gates, self._min_size, self._gated_dtype
        self._gates, self._min_size = (*outer_gates, Gate(column, value)), self.size
        properties = {"size": self.size, "dtype": self.dtype}
        self._gated_dtype = self.dtype
        yield
        self._gates, self._min_size, self._gated_dtype = outer_gates, outer_min_size, outer_dtype
        for name, old in properties.items():
            new = getattr(self, name)
            if new != old:
                raise ValueError(f"{self._last_changed[name]}: {_some_samples_only(name, old, new)}")

    def add(self, op: Op) -> None:
        """Append an op; inside `only_where` it applies to the samples whose gates are open."""
        if isinstance(op, ConditionalOp):
            op.applies_to = (*op.applies_to, *((gate.column, frozenset([gate.value])) for gate in self._gates))
        if isinstance(op, (CoordinateMap, Displacement)):
            op.mask_cast_count = len(self.mask_dtypes)
        self.ops.append(op)

    def add_pointwise(self, functor: str, columns: Sequence[Column] = (), **options: Any) -> None:
        self.add(Pointwise(functor, columns, **options))

    def add_cast(self, dtype: str, scale: bool) -> None:
        keeps_range = scale or MAX_VALUE.get(dtype) == MAX_VALUE.get(self.dtype)
        if self._gates and dtype != self.dtype and not (keeps_range and _holds(dtype, self._gated_dtype)):
            raise ValueError(_some_samples_only("dtype", self.dtype, dtype))
        self.dtype, self._last_changed["dtype"] = dtype, self.name
        self.ops.append(Cast(dtype, scale))

    def add_mask_cast(self, dtype: str) -> None:
        """Cast label masks.

        A pass that fills masks comes after the casts before it, as the fill must fit into their dtype. All other casts
        are made after the last pass: without a fill, a pass only moves pixels.
        """
        if self._gates:
            raise ValueError(f"must not change the dtype of the masks of some samples only, to {dtype}")
        self.mask_dtypes.append(dtype)

    def add_grayscale(self, channels: int) -> None:
        if self._gates and channels != self.channels:
            raise ValueError(_some_samples_only("channels", self.channels, channels))
        self.channels = channels
        self.add(Grayscale(channels))

    def add_geometry(
        self,
        opcode: str,
        columns: Sequence[Column],
        *constants: float,
        size: tuple[int, int] | None = None,
        **options: Any,
    ) -> None:
        """A coordinate map, computed by an instruction with this opcode from the columns and constants.

        The columns are adjacent in the table; the instruction's arguments are the first column and the constants.
        """
        size = size or self.size
        self._check_gated_size(size)
        if size != self.size:
            self.size, self._last_changed["size"] = size, self.name
        inverse_map = Instruction(opcode, (), (columns[0], *constants))
        self.add(CoordinateMap(inverse_map, columns, self.size, **options))

    def add_affine(
        self, columns: Sequence[Column], center: Any, interpolation: str, fill: Any, *, clockwise: bool, **options: Any
    ) -> None:
        """A rotation, translation, scale and shear about a point (x, y) or the middle.

        `columns`: the parameters, in the order of `AFFINE_COLUMNS`.

        `clockwise`: the direction of a positive angle; torchvision's `affine` is clockwise, its `rotate` is not.
        """
        height, width = self.size
        x, y = center or (width / 2, height / 2)
        options = {"interpolation": interpolation, "fill": fill, **options}
        constants = x - 0.5, y - 0.5, 1.0 if clockwise else -1.0
        self.add_geometry("InverseAffine", columns, *constants, reads_border=True, **options)

    def add_flip(self, flag: Column, axis: Literal["x", "y"]) -> None:
        extent = self.size[1] if axis == "x" else self.size[0]
        self.add_geometry("InverseFlip", [flag], extent, float(axis == "y"), flip_axis=axis, pixel_aligned=True)

    def add_crop(self, corner: Sequence[Column], size: tuple[int, int]) -> None:
        """A box of this size inside the image, whose corner is (top, left)."""
        box = [*corner, *(self.constant(n, v) for n, v in zip(("height", "width"), size, strict=True))]
        self.add_geometry("InverseTranslate", box, size=size, pixel_aligned=True, within_box=True)

    def resize_image(self, size: tuple[int, int], interpolation: str, antialias: bool) -> None:
        """Resize the whole image, the new canvas."""
        sides = zip(("top", "left", "height", "width"), (0, 0, *self.size), strict=True)
        box = [self.constant(name, side) for name, side in sides]
        self.add_resize(box, size, interpolation, antialias)

    def add_resize(self, box: Sequence[Column], size: tuple[int, int], interpolation: str, antialias: bool) -> None:
        """A box (top, left, height, width) of the image, resized to `size`, the new canvas."""
        _check.one_of("interpolation", interpolation, INTERPOLATIONS)
        self._check_gated_size(size, exact=True)
        constants = *size, *(1.0 / extent for extent in size)
        if interpolation == "nearest" or (interpolation == "bilinear" and not antialias):
            options = {"interpolation": interpolation, "border": "edge", "within_box": True}
            self.add_geometry("InverseCropResize", box, *constants, size=size, **options)
            return
        if antialias or interpolation == "area":
            check_reduction(self.size, size)  # the box is drawn later
        window = [Column("") for _ in range(6)]
        # The arguments are those of `add_geometry`.
        inverse_map = Instruction("InverseWindowedResize", window, (box[0], *constants))
        reduces_at_most_twofold = self.size[0] <= 2 * size[0] and self.size[1] <= 2 * size[1]
        fits_warp = antialias and reduces_at_most_twofold and interpolation == "bilinear"
        self.ops.append(Resize(inverse_map, box, window, size, interpolation, antialias, fits_warp))
        self.size = size

    def require_uint8(self) -> None:
        """For ops that work on 256 levels."""
        if self.dtype != "uint8":
            raise TypeError(f"images must be uint8, got {self.dtype}: put ToDtype('uint8', scale=True) before it")

    def _check_gated_size(self, size: tuple[int, int], exact: bool = False) -> None:
        """Raises if the canvas gets too small for samples whose gate is closed, which stay at its top left."""
        min_height, min_width = self._min_size
        if self._gates and ((exact and size != self.size) or size[0] < min_height or size[1] < min_width):
            raise ValueError(_some_samples_only("size", self.size, size))


def _holds(dtype: str, other: str) -> bool:
    """Whether numbers of `other` that are scaled to `dtype`, and back, stay as they are."""
    if dtype == "float32":
        return other != "float64"
    return dtype in (other, "float64") or (other == "uint8" and dtype in ("uint16", "float16"))


def _some_samples_only(name: str, old: Any, new: Any) -> str:
    return f"must not change the {name} of some samples only, from {old} to {new}"
