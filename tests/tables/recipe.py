"""One row of the table of recipes, and transforms and tolerances that several rows share."""

import dataclasses
from collections.abc import Callable

import numpy as np
from helpers.arrays import max_value
from helpers.compare import Tolerance, is_integer

from cuaug import transforms as T


@dataclasses.dataclass(frozen=True)
class Recipe:
    """A recipe, and how far its result may be from that of its functions, called one after the other.

    Not a ``tables.row.Row``: a recipe has transforms in place of an op, its oracle is cuaug's own functions, and a
    result is also compared between devices.

    ``build(level)`` gives the list of transforms. Levels (a fill, a threshold) stand in 0..1; ``level`` scales them to
    the range of the images.
    """

    name: str
    build: Callable
    channels: tuple = (3,)
    level_error: float = 0.0  # of integers, in levels: the functions round after each op, the recipe after each pass
    exact_share: float = 0.0  # smallest share of equal values, of integers
    float_error: float = 2e-5  # of the range
    dtypes: tuple = ("uint8", "float16", "float32")
    device_error: float = 1.0  # multiplies the tolerance of `between_devices`
    reason: str = ""

    def __str__(self):
        return self.name

    def transforms(self, dtype):
        largest = max_value(dtype)
        return self.build(lambda share: float(np.rint(share * largest)) if is_integer(dtype) else share * largest)

    def compose(self, dtype, seed=11):
        return T.Compose(self.transforms(dtype), seed=seed)

    def tolerance(self, dtype):
        """Tolerance of a result of this dtype."""
        if is_integer(dtype):
            return Tolerance(absolute=self.level_error, exact=self.exact_share, reason=self.reason)
        return Tolerance(absolute=self.float_error, relative=self.float_error, reason=self.reason)

    def between_devices(self, dtype, source):
        """Tolerance between two devices' results of this dtype, from images of the dtype ``source``."""
        either_way = "a value that is nearly a tie may be rounded either way"
        if is_integer(dtype):
            return Tolerance(absolute=self.device_error, exact=0.97, reason=either_way)
        if is_integer(source):
            return Tolerance(
                absolute=1.01 * self.device_error / max_value(source), reason=either_way + ", and then multiplied"
            )
        near = {"float16": 2e-3, "float32": 2e-5}[dtype] * self.device_error
        return Tolerance(absolute=near, relative=near, reason="the dtype's rounding, multiplied by the later ops")


FLIPS = T.RandomHorizontalFlip(), T.RandomVerticalFlip()
JITTER = T.ColorJitter(0.4, 0.4, 0.4, 0.1)
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
BILINEAR = {"interpolation": "bilinear"}
ANY_CHANNELS = (1, 3, 4)
COPIED_PIXELS = {"level_error": 0.0, "exact_share": 1.0, "float_error": 0.0, "reason": "whole pixels are copied"}
EXACT_OPS = {**COPIED_PIXELS, "reason": "the dtype holds the result of each op: storage does not round"}
ONE_OP = {"level_error": 1.0, "exact_share": 0.99, "reason": "one op, whose result is rounded once"}
ONE_RESAMPLE = {
    "level_error": 1.0,
    "exact_share": 0.9,
    "reason": "one resample, at coordinates that passed through other ops",
}
FLOAT32_COORDINATES = {
    "level_error": 1.0,
    "exact_share": 0.9,
    "float_error": 1e-4,
    "reason": "coordinates pass back through several ops in float32",
}
