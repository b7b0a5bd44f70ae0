"""The table of colour ops: parameters, oracle, tolerance, functor."""

import dataclasses

import numpy as np
from helpers.arrays import IMAGE_DTYPES, SHAPE
from helpers.compare import EXACT, Tolerance, is_integer

import cuaug
from cuaug import transforms as T
from tables import color_reference, draws
from tables.recipe import EXACT_OPS, ONE_OP
from tables.recipe_functions import for_chosen_samples, permute_channels
from tables.row import EXACT_INTEGERS, TOLERANCES, Row, first_rows, no_parameters
from tables.transform_row import TransformRow

N, H, W, C = SHAPE


def color_row(op, draw=no_parameters, options=None, **more):
    """A row of the op; its functor is the op's name in PascalCase."""
    more.setdefault("functor", "".join(word.capitalize() for word in op.split("_")))
    return Row(op, draw, options or {}, getattr(color_reference, op), **more)


def normalized_dtype(dtype):
    return dtype if "float" in dtype else "float32"


DIVIDED = Tolerance(absolute=2e-5, reason="0..1 in float32, divided by a standard deviation of 0.1 or more")
NORMALIZED_TOLERANCES = {
    dtype: DIVIDED if normalized_dtype(dtype) == "float32" else TOLERANCES[dtype] for dtype in IMAGE_DTYPES
}
for half in ("float16", "bfloat16"):  # float32 arithmetic, divided by 0.1 or more
    NORMALIZED_TOLERANCES[half] = dataclasses.replace(TOLERANCES[half], absolute=1e-3)
NOISE_TOLERANCES = {
    **TOLERANCES,
    "float64": Tolerance(absolute=1e-6, reason="normally distributed numbers, computed in float32"),
}


def conversion_row(dtype, exact, transforms=(), **options):
    """Conversion to a dtype, with the tolerance of that dtype. With `exact`, integer images must convert exactly."""
    tolerances = {d: EXACT if exact and is_integer(d) else TOLERANCES[dtype] for d in IMAGE_DTYPES}
    more = {
        "tolerance_of": tolerances,
        "result_dtype": lambda image_dtype: dtype,
        "functor": "ConvertRange",
        "transforms": transforms,
    }
    return color_row("to_dtype", options={"dtype": dtype, **options}, **more)


def factor(name, low=0.3, high=1.7):
    return lambda rng, leading=(): {name: rng.uniform(low, high, leading)}


def gammas_and_gains(rng, leading=()):
    return {"gamma": rng.uniform(0.4, 2.5, leading), "gain": rng.uniform(0.7, 1.3, leading)}


def contrasts(rng, leading=()):
    return {"contrast_factor": rng.uniform(0.3, 1.7, leading), "about": rng.uniform(0.2, 0.8, leading)}


def means_and_stds(rng, leading=()):
    return {"mean": rng.uniform(0.2, 0.8, (*leading, C)), "std": rng.uniform(0.1, 1, (*leading, C))}


def color_matrices(rng, leading=()):
    return {"matrix": np.eye(3, 4) + rng.uniform(-0.3, 0.3, (*leading, 3, 4))}


def permutations(rng, leading=()):
    return {"permutation": rng.permuted(np.broadcast_to(np.arange(C), (*leading, C)), axis=-1)}


def erased_boxes(rng, leading=()):
    box = {
        name: rng.integers(low, high, leading)
        for name, low, high in zip("ijhw", (-3, -3, 0, 0), (9, 6, 9, 7), strict=True)
    }
    return {**box, "v": rng.uniform(0, 1, (*leading, C))}


def tables(*axes):
    return lambda rng, leading=(): {"table": rng.integers(0, 256, (*leading, *axes, 256))}


def is_applied(t, p):
    return p["apply"] != 0


def histogram_transform(instance, function):
    """A transform that applies a function of the image's histogram to some samples."""
    return TransformRow(
        instance,
        draw=draws.with_probability("apply"),
        functions=for_chosen_samples(is_applied, lambda t, image, **options: function(image, **options)),
        uses_whole_clip=True,
        alone=EXACT_OPS,
    )


def noise_parameters(rng, leading=()):
    ids = rng.integers(0, 2**24, leading)
    return {"mean": rng.uniform(-0.2, 0.2, leading), "sigma": rng.uniform(0.05, 0.3, leading), "ids": ids}


BYTES = {"dtypes": ("uint8",), "tolerance_of": {}, "functor": None}  # table look-ups are a kernel, not a functor
LEVELS = {"tolerance_of": EXACT_INTEGERS}  # integer images keep whole levels, so nothing is rounded
UNIT = {"within_unit_range": True}
POSITION = {"uses_position": True}
NOISE = {"tolerance_of": NOISE_TOLERANCES, **POSITION}
ANY_FACTOR = (0.0, np.inf)
ALWAYS_REACHED, NEVER_REACHED = -1e30, 1e30  # thresholds below and above every level
KEEP_ALL_BITS = 120  # more bits than any dtype has
TO_DTYPE = TransformRow(
    T.ToDtype("float16", scale=True),
    functions=lambda t, images, p, options: cuaug.to_dtype(images, t.dtype, t.scale, **options),
)
ALL_ROWS = [
    color_row(
        "adjust_brightness",
        factor("brightness_factor"),
        identity={"brightness_factor": 1.0},
        any_channels=True,
        wide_ranges={"brightness_factor": ANY_FACTOR},
        rejects={"brightness_factor": -1.0},
        **UNIT,
    ),
    color_row(
        "adjust_contrast",
        contrasts,
        identity={"contrast_factor": 1.0, "about": 0.3},
        scaled_parameters=frozenset({"about"}),
        any_channels=True,
        wide_ranges={"contrast_factor": ANY_FACTOR, "about": (-1.0, 1.0)},
        **UNIT,
    ),
    color_row(
        "adjust_contrast",
        factor("contrast_factor"),
        wide_ranges={"contrast_factor": ANY_FACTOR},
        rejects={"contrast_factor": -1.0},
        channels=(1, 3),
        **UNIT,
    ),
    color_row(
        "adjust_saturation",
        factor("saturation_factor"),
        identity={"saturation_factor": 1.0},
        wide_ranges={"saturation_factor": ANY_FACTOR},
        rejects={"saturation_factor": -1.0},
        channels=(1, 3),
        **UNIT,
    ),
    color_row(
        "adjust_hue",
        factor("hue_factor", -0.5, 0.5),
        identity={"hue_factor": 0.0},
        rejects={"hue_factor": 0.6},
        channels=(1, 3),
        **UNIT,
    ),
    color_row(
        "adjust_gamma",
        gammas_and_gains,
        identity={"gamma": 1.0, "gain": 1.0},
        any_channels=True,
        rejects={"gamma": -1.0},
    ),
    color_row(
        "invert",
        any_channels=True,
        transforms=(
            TransformRow(  # the op of RandomInvert is Solarize
                T.RandomInvert(0.4),
                draw=lambda t, canvas, words: {"threshold": ALWAYS_REACHED if words(0).chance(t.p) else NEVER_REACHED},
                functions=for_chosen_samples(
                    lambda t, p: p["threshold"] < 0, lambda t, image, **options: cuaug.invert(image, **options)
                ),
                alone=EXACT_OPS,
            ),
        ),
        **LEVELS,
        **UNIT,
    ),
    color_row(
        "solarize",
        factor("threshold", 0, 1),
        identity={"threshold": 1e9},
        scaled_parameters=frozenset({"threshold"}),
        any_channels=True,
        transforms=(
            TransformRow(
                T.RandomSolarize(100, 0.4),
                draw=lambda t, canvas, words: {"threshold": t.threshold if words(0).chance(t.p) else NEVER_REACHED},
                functions=lambda t, images, p, options: cuaug.solarize(images, p["threshold"], **options),
                alone=EXACT_OPS,
            ),
        ),
        **LEVELS,
        **UNIT,
    ),
    color_row(
        "posterize",
        lambda rng, leading=(): {"bits": rng.integers(0, 17, leading)},
        any_channels=True,
        rejects={"bits": 17},
        transforms=(
            TransformRow(
                T.RandomPosterize(3, 0.6),
                draw=lambda t, canvas, words: {"bits": t.bits if words(0).chance(t.p) else KEEP_ALL_BITS},
                functions=for_chosen_samples(
                    lambda t, p: p["bits"] == t.bits,
                    lambda t, image, **options: cuaug.posterize(image, t.bits, **options),
                ),
                alone=EXACT_OPS,
            ),
        ),
        **LEVELS,
    ),
    color_row(
        "autocontrast",
        any_channels=True,
        transforms=(histogram_transform(T.RandomAutocontrast(0.4), cuaug.autocontrast),),
        **LEVELS,
    ),
    color_row(
        "equalize",
        any_channels=True,
        transforms=(histogram_transform(T.RandomEqualize(0.4), cuaug.equalize),),
        **BYTES,
    ),
    color_row("lut", tables(1), identity={"table": np.arange(256)}, **BYTES),
    # A table of two axes could be per channel or per sample, as N = C: `lut` rejects it.
    color_row("lut", lambda rng, leading=(): tables(C)(rng, leading or (1,)), **BYTES),
    color_row(
        "gaussian_noise",
        noise_parameters,
        {"seed": 2**60 + 12345},
        identity={"sigma": 0.0},
        any_channels=True,
        rejects={"sigma": -1.0, "ids": -1},
        transforms=(TransformRow(T.GaussianNoise(0.1, 0.2, False)),),
        **NOISE,
    ),
    color_row(
        "gaussian_noise", noise_parameters, {"seed": 5, "step": 2**31 + 3, "clip": False}, any_channels=True, **NOISE
    ),
    color_row(
        "rgb_to_grayscale",
        functor="Grayscale",
        channels=(1, 3),
        transforms=(
            TransformRow(
                T.Grayscale(3),
                functions=lambda t, images, p, options: cuaug.rgb_to_grayscale(
                    images, t.num_output_channels, **options
                ),
                alone=ONE_OP,
            ),
            TransformRow(
                T.RandomGrayscale(0.4),
                draw=draws.with_probability("grey"),
                functions=for_chosen_samples(
                    lambda t, p: p["grey"] != 0, lambda t, image, **options: cuaug.rgb_to_grayscale(image, 3, **options)
                ),
                alone=ONE_OP,
            ),
        ),
        **UNIT,
    ),
    color_row("rgb_to_grayscale", options={"num_output_channels": 3}, functor="Grayscale", **UNIT),
    color_row(
        "normalize",
        means_and_stds,
        tolerance_of=NORMALIZED_TOLERANCES,
        result_dtype=normalized_dtype,
        transforms=(
            TransformRow(
                T.Normalize((0.1, 0.2, 0.3), (0.5, 0.6, 0.7)),
                functions=lambda t, images, p, options: cuaug.normalize(images, t.mean, t.std, **options),
                alone={"reason": "one op in float32"},
            ),
        ),
    ),
    conversion_row("float32", False, scale=True, transforms=(TO_DTYPE,)),
    conversion_row("float32", True),
    conversion_row("uint8", False, scale=True),
    conversion_row("uint8", False),
    color_row("color_matrix", color_matrices, identity={"matrix": np.eye(3)}, channels=(3,)),
    color_row(
        "permute_channels",
        permutations,
        identity={"permutation": np.arange(C)},
        rejects={"permutation": [0, 1, C]},
        tolerance_of={},  # values are copied
        transforms=(
            TransformRow(
                T.RandomChannelPermutation(),
                draw=lambda t, canvas, words: {f"permutation_{c}": k for c, k in enumerate(words(0).permutation(C))},
                functions=permute_channels,
                alone=EXACT_OPS,
            ),
        ),
        **UNIT,
    ),
    color_row(
        "erase",
        erased_boxes,
        identity={"i": 0, "j": 0, "h": 0, "w": 0},
        scaled_parameters=frozenset({"v"}),
        transforms=(
            TransformRow(
                T.RandomErasing(0.7, (0.1, 0.2), (0.5, 2.0), (1, 2, 3)),
                draw=draws.erasing,
                draw_instances=(
                    T.RandomErasing(0.8),
                    T.RandomErasing(1.0, scale=(0.7, 1.0), ratio=(0.9, 1.1)),
                    T.RandomErasing(1.0, scale=(1.0, 1.0)),
                ),
                functions=lambda t, images, p, options: cuaug.erase(
                    images, *(p[name] for name in "ijhw"), t.value, **options
                ),
                alone=EXACT_OPS,
            ),
        ),
        **LEVELS,
        **POSITION,
    ),
    *(Row(name, functor=name, fused_only=True, **POSITION) for name in ("CoarseDropout", "GridMask", "UniformNoise")),
    Row("Rescale", functor="Rescale", fused_only=True),
    *(
        Row(name, functor=name, fused_only=True, within_unit_range=True)
        for name in ("JitterBeforeMean", "JitterAfterMean", "ColorJitter", "RandomGrayscale")
    ),
]
ROWS = [row for row in ALL_ROWS if not row.fused_only]
ROW_OF_OP = first_rows(ROWS)
FUNCTORS = sorted({row.functor for row in ALL_ROWS if row.functor})
WITHIN_UNIT_RANGE = {row.functor for row in ALL_ROWS if row.within_unit_range}
USES_POSITION = {row.functor for row in ALL_ROWS if row.uses_position}
