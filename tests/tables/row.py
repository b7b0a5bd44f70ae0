"""One row for each op and variant: call, oracle, tolerance. Tests and lists of functors are derived from rows."""

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np
from helpers.arrays import IMAGE_DTYPES, SHAPE, max_value, seeded
from helpers.compare import EXACT, Tolerance, is_integer

N = SHAPE[0]

FLOAT32_AND_STORAGE = "float32 weights and coordinates, and storage rounds once: "
TOLERANCES = {
    "uint8": Tolerance(
        absolute=1, exact=0.995, reason="README's accuracy: one level, where the exact value is nearly a tie"
    ),
    "uint16": Tolerance(absolute=2, exact=0.8, reason="a level is 1.5e-5 of the range, and float32 weights carry 1e-6"),
    "int16": Tolerance(absolute=2, exact=0.8, reason="a level is 3.1e-5 of the range, and float32 weights carry 1e-6"),
    "float16": Tolerance(absolute=1e-4, relative=2**-11, reason=FLOAT32_AND_STORAGE + "11 bits"),
    "bfloat16": Tolerance(absolute=1e-4, relative=2**-8, reason=FLOAT32_AND_STORAGE + "8 bits"),
    "float32": Tolerance(absolute=1e-4, reason="README's accuracy, for images in 0..1"),
    "float64": Tolerance(absolute=1e-9, reason="float64 arithmetic for float64 images"),
}
EXACT_INTEGERS = {**TOLERANCES, **{dtype: EXACT for dtype in TOLERANCES if is_integer(dtype)}}


def no_parameters(rng, leading=()):
    return {}


def same_dtype(dtype):
    return dtype


def scaled(share, dtype):
    """A value of 0..1 in the range of a dtype, rounded to whole levels for integers."""
    value = np.asarray(share) * max_value(dtype)
    return np.rint(value) if is_integer(dtype) else value


@dataclasses.dataclass(frozen=True)
class Row:
    """A call ``cuaug.op(images, **options, **draw(...))``, which equals ``oracle`` of each image.

    ``draw(rng, leading)`` gives the parameters, one value (``leading=()``) or one per sample (``leading=(N,)``). The
    oracle takes one image [H, W, C] of float64, the options, the parameters and the ``max_value`` of the dtype.
    """

    op: str
    draw: Callable = no_parameters
    options: dict = dataclasses.field(default_factory=dict)
    oracle: Callable | None = None
    tolerance_of: Mapping = dataclasses.field(default_factory=lambda: TOLERANCES)  # by the images' dtype, else EXACT
    identity: dict | None = None  # the parameters that change nothing
    dtypes: tuple = tuple(IMAGE_DTYPES)
    result_dtype: Callable = same_dtype  # dtype of the result, from the dtype of the images
    scaled_parameters: frozenset = frozenset()  # in 0..1 here; scaled to the images' range in calls
    functor: str | None = None  # its struct in kernels/ops, if it has one
    within_unit_range: bool = False  # values of 0..1 stay in 0..1; a filter clamps all values to 0..1
    uses_position: bool = False  # the result of a pixel depends on its position in the image
    any_channels: bool = False  # takes images of any number of channels, with parameters of one value per sample
    wide_ranges: Mapping = dataclasses.field(default_factory=dict)  # lowest and highest valid value, by parameter
    rejects: Mapping = dataclasses.field(default_factory=dict)  # a value that the function rejects, by parameter
    channels: tuple = ()  # the only numbers of channels that the function takes; (): not tested
    transforms: tuple = ()  # a TransformRow for each transform that applies the op
    fused_only: bool = False  # a functor that only recipes use: no function, no oracle

    def __str__(self):
        words = [v if isinstance(v, str) else f"{k}={v}" for k, v in self.options.items() if k != "fill"]
        return "-".join([self.op, *words]).replace(" ", "")

    @property
    def is_exact(self):
        """Whether results are exact for every dtype. Exact warps copy pixels or the fill, so they suit label masks."""
        return not self.tolerance_of

    def dtypes_among(self, *dtypes):
        """The dtypes among these that the op takes, or else the op's first dtype."""
        return [dtype for dtype in dtypes if dtype in self.dtypes] or self.dtypes[:1]

    def parameters(self, leading=(), dtype="uint8"):
        return self._in_range(self.draw(seeded(self.op, 0), leading), dtype)

    def keywords(self, dtype):
        """The options, in the range of images of this dtype."""
        return {k: v.tolist() if hasattr(v, "tolist") else v for k, v in self._in_range(self.options, dtype).items()}

    def _in_range(self, values, dtype):
        return {k: scaled(v, dtype) if k in self.scaled_parameters else v for k, v in values.items()}

    def tolerance(self, dtype):
        return self.tolerance_of.get(dtype, EXACT)

    def expected(self, images, parameters, dtype, leading=(N,), **more):
        """The oracle of a batch, with one set of parameters per sample or for all. [N, H, W, C]"""
        options = {**self.keywords(dtype), **more}
        samples = [{k: v[n] for k, v in parameters.items()} if leading else parameters for n in range(len(images))]
        if not leading and "ids" in parameters:  # a number is the id of the first sample
            samples = [{**parameters, "ids": parameters["ids"] + n} for n in range(len(images))]
        pairs = zip(images, samples, strict=True)
        return np.stack([self.oracle(i, **{**options, **values}, max_value=max_value(dtype)) for i, values in pairs])


def first_rows(rows):
    """The first row of each op, by its name."""
    return {row.op: row for row in reversed(rows)}
