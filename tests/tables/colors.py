"""The table of colour ops, as ``cases.py`` is that of the warps: parameters, oracle, tolerance.

A parameter named in ``WHITE_SHARES`` is drawn as a share of white and handed over in the images' own range.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
from helpers.arrays import IMAGE_DTYPES, SHAPE, seeded, white
from helpers.compare import EXACT, Tolerance, is_integer

from tables import color_reference as reference_color
from tables import warps as cases

N, H, W, C = SHAPE
WHITE_SHARES = {"threshold", "v", "about"}
TOLERANCES = cases.TOLERANCES


@dataclasses.dataclass(frozen=True)
class Case:
    """``cuaug.op(images, **options, **draw(...))`` equals ``reference_color.op`` of each image."""

    op: str
    draw: Callable = cases.nothing
    options: dict = dataclasses.field(default_factory=dict)
    identity: dict | None = None
    exact: bool = False  # whole levels of integer images: nothing to round
    steps: bool = False  # of floats, a value nearly at a step may fall on either side
    dtypes: tuple = tuple(IMAGE_DTYPES)

    def __str__(self):
        return "-".join([self.op, *(f"{k}={v}" for k, v in self.options.items())]).replace(" ", "")

    def some(self, *dtypes):
        """Those of them that the op takes, or its own first one."""
        return [dtype for dtype in dtypes if dtype in self.dtypes] or self.dtypes[:1]

    def parameters(self, dtype, lead=(), seed=0):
        drawn = self.draw(seeded(self.op, seed), lead)
        return {k: in_range(v, dtype) if k in WHITE_SHARES else v for k, v in drawn.items()}

    def result(self, dtype):
        """The dtype that comes out."""
        if self.op == "normalize":
            return dtype if "float" in dtype else "float32"
        return self.options.get("dtype", dtype)

    def tolerance(self, dtype):
        if self.exact and is_integer(dtype):
            return EXACT
        if self.op == "normalize" and self.result(dtype) == "float32":
            return Tolerance(absolute=2e-5, reason="0..1 in float32, divided by a standard deviation of 0.1 or more")
        if self.op == "gaussian_noise" and dtype == "float64":
            return Tolerance(absolute=1e-6, reason="normal numbers of float32, whatever the dtype")
        found = TOLERANCES[self.result(dtype)]
        if self.op == "normalize" and "float16" in dtype:
            return dataclasses.replace(found, absolute=1e-3)  # float32 arithmetic, divided by 0.1 or more
        return found

    def expected(self, images, parameters, dtype, lead=(N,)):
        """The oracle over a batch: sample n gets its own parameters, or all get the one. [N, H, W, C]"""
        function, top = getattr(reference_color, self.op), white(dtype)
        samples = [{k: v[n] for k, v in parameters.items()} if lead else parameters for n in range(len(images))]
        return np.stack([function(i, **{**self.options, **p}, white=top) for i, p in zip(images, samples, strict=True)])


def in_range(share, dtype):
    value = np.asarray(share) * white(dtype)
    return np.rint(value) if is_integer(dtype) else value


def factor(name, low=0.3, high=1.7):
    return lambda rng, lead=(): {name: rng.uniform(low, high, lead)}


def powers(rng, lead=()):
    return {"gamma": rng.uniform(0.4, 2.5, lead), "gain": rng.uniform(0.7, 1.3, lead)}


def contrasts(rng, lead=()):
    return {"contrast_factor": rng.uniform(0.3, 1.7, lead), "about": rng.uniform(0.2, 0.8, lead)}


def moments(rng, lead=()):
    return {"mean": rng.uniform(0.2, 0.8, (*lead, C)), "std": rng.uniform(0.1, 1, (*lead, C))}


def mixtures(rng, lead=()):
    return {"matrix": np.eye(3, 4) + rng.uniform(-0.3, 0.3, (*lead, 3, 4))}


def holes(rng, lead=()):
    box = {
        name: rng.integers(low, high, lead)
        for name, low, high in zip("ijhw", (-3, -3, 0, 0), (9, 6, 9, 7), strict=True)
    }
    return {**box, "v": rng.uniform(0, 1, (*lead, C))}


def tables(*axes):
    return lambda rng, lead=(): {"table": rng.integers(0, 256, (*lead, *axes, 256))}


def noises(rng, lead=()):
    ids = rng.integers(0, 2**24, lead)
    return {"mean": rng.uniform(-0.2, 0.2, lead), "sigma": rng.uniform(0.05, 0.3, lead), "ids": ids}


BYTES = ("uint8",)
CASES = [
    Case("adjust_brightness", factor("brightness_factor"), identity={"brightness_factor": 1.0}),
    Case("adjust_contrast", contrasts, identity={"contrast_factor": 1.0, "about": 0.3}),
    Case("adjust_contrast", factor("contrast_factor")),
    Case("adjust_saturation", factor("saturation_factor"), identity={"saturation_factor": 1.0}),
    Case("adjust_hue", factor("hue_factor", -0.5, 0.5), identity={"hue_factor": 0.0}),
    Case("adjust_gamma", powers, identity={"gamma": 1.0, "gain": 1.0}),
    Case("invert", exact=True),
    Case("solarize", factor("threshold", 0, 1), exact=True, identity={"threshold": 1e9}),
    Case("posterize", lambda rng, lead=(): {"bits": rng.integers(1, 8, lead)}, exact=True, steps=True),
    Case("autocontrast", exact=True),
    Case("equalize", exact=True, dtypes=BYTES),
    Case("lut", tables(1), exact=True, dtypes=BYTES, identity={"table": np.arange(256)}),
    Case("lut", lambda rng, lead=(): tables(C)(rng, lead or (1,)), exact=True, dtypes=BYTES),
    Case("gaussian_noise", noises, {"seed": 2**60 + 12345}, identity={"sigma": 0.0}),
    Case("gaussian_noise", noises, {"seed": 5, "step": 2**31 + 3, "clip": False}),
    Case("rgb_to_grayscale"),
    Case("rgb_to_grayscale", options={"num_output_channels": 3}),
    Case("normalize", moments),
    Case("to_dtype", options={"dtype": "float32", "scale": True}),
    Case("to_dtype", options={"dtype": "float32"}, exact=True),
    Case("to_dtype", options={"dtype": "uint8", "scale": True}),
    Case("to_dtype", options={"dtype": "uint8"}),
    Case("color_matrix", mixtures, identity={"matrix": np.eye(3)}),
    Case("erase", holes, exact=True, identity={"i": 0, "j": 0, "h": 0, "w": 0}),
]
FIRST = {case.op: case for case in reversed(CASES)}

# The structs of kernels/ops that are not named as their function is.
OTHERS = {"rgb_to_grayscale": "Grayscale", "to_dtype": "ConvertRange"}
LOOKED_UP = {"equalize", "lut"}  # which have a kernel of their own
STRUCTS = {OTHERS.get(op) or "".join(word.capitalize() for word in op.split("_")) for op in set(FIRST) - LOOKED_UP}
# Those that only a recipe asks for.
IN_RECIPES = {
    *("JitterAfterMean", "JitterBeforeMean", "ColorJitter", "CoarseDropout", "GridMask", "RandomGrayscale"),
    *("Rescale", "UniformNoise"),
}
