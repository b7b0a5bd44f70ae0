"""The table of filters, as ``colors.py`` is that of the colour ops: parameters, oracle, tolerance."""

import dataclasses
from collections.abc import Callable

import numpy as np
from helpers.arrays import SHAPE, seeded, white

from tables import filter_reference as reference_filter
from tables import warps as cases

N = SHAPE[0]


@dataclasses.dataclass(frozen=True)
class Case:
    """``cuaug.op(images, **options, **draw(...))`` equals ``reference_filter.op`` of each image."""

    op: str
    draw: Callable = cases.nothing
    options: dict = dataclasses.field(default_factory=dict)
    identity: dict | None = None
    clamps: bool = False  # to 0..white, of int16 too

    def __str__(self):
        drawn = [name for name in self.draw(seeded(""), ()) if name not in self.options]
        return "-".join([self.op, *(f"{k}={v}" for k, v in self.options.items()), *drawn]).replace(" ", "")

    def parameters(self, lead=(), seed=0):
        """Arrays of one entry per sample; without ``lead`` plain numbers: two in an array would be of two samples."""
        drawn = self.draw(seeded(self.op, seed), lead)
        return drawn if lead else {name: np.asarray(value).tolist() for name, value in drawn.items()}

    def tolerance(self, dtype):
        return cases.TOLERANCES[dtype]

    def expected(self, images, parameters, dtype, lead=(N,)):
        """The oracle over a batch: sample n gets its own parameters, or all get the one. [N, H, W, C]"""
        function = getattr(reference_filter, self.op)
        samples = [{k: v[n] for k, v in parameters.items()} if lead else parameters for n in range(len(images))]
        pairs = zip(images, samples, strict=True)
        return np.stack([function(i, **self.options, **p, white=white(dtype)) for i, p in pairs])


def sigma(low, high, *axes):
    return lambda rng, lead=(): {"sigma": rng.uniform(low, high, (*lead, *axes))}


def factors(rng, lead=()):
    return {"sharpness_factor": rng.uniform(0, 3, lead)}


CASES = [
    Case("adjust_sharpness", factors, identity={"sharpness_factor": 1.0}, clamps=True),
    Case("gaussian_blur", sigma(0.4, 2.0), {"kernel_size": 5}, identity={"sigma": 1e-3}),
    Case("gaussian_blur", sigma(0.4, 2.0, 2), {"kernel_size": (3, 7)}),
    Case("gaussian_blur", options={"kernel_size": (7, 1)}),
    Case("gaussian_blur", sigma(2.0, 6.0), {"kernel_size": 23}),  # wider than the image: reflected again
    Case("gaussian_blur", sigma(9.0, 30.0, 2), {"kernel_size": (127, 125)}),
]
FIRST = {case.op: case for case in reversed(CASES)}
