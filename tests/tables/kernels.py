"""Names of kernels to compile.

The covering sets hold, for each kernel, names in which each value of each template argument meets each value of each
other argument. The others are kernels of usual recipes, ragged batches, detection and users' ops.
"""

import itertools

from helpers.arrays import IMAGE_DTYPES

from cuaug import _warmup
from cuaug._program import names as kernels
from tables import pixel_ops
from tables.colors import FUNCTORS
from tables.covering import covering as covering_rows
from tables.warps import BORDERS, INTERPOLATIONS

LAYOUTS = ["Planar", "Packed", "Strided"]
WARPS = {
    "source": [*IMAGE_DTYPES, "int32", "int64"],
    "target": [*IMAGE_DTYPES, "int32", "int64"],
    "layout": LAYOUTS,
    "result": LAYOUTS,
    "channels": [1, 2, 3, 4],
    "geometry": ["Affine", "Perspective", "CoordinateMap", "CoordinateMap64"],
    "sampler": [name.capitalize() for name in INTERPOLATIONS],
    "border": [name.capitalize() for name in BORDERS],
}
SAMPLE_OVERRIDES = [f"SampleOverride<cuaug::{sampler}>" for sampler in WARPS["sampler"]]
WINDOWED_BORDERS = [f"WindowedBorder<cuaug::{border}>" for border in ("Constant", "Edge")]
FILTERS = ["Triangle", "CatmullRom", "Cubic75", "Lanczos3", "Lanczos4"]
RESAMPLES = {
    "source": IMAGE_DTYPES,
    "target": IMAGE_DTYPES,
    "layout": LAYOUTS,
    "result": LAYOUTS,
    "channels": [1, 2, 3, 4],
    "filter": FILTERS,
}

POINTWISES = {
    "source": IMAGE_DTYPES,
    "target": IMAGE_DTYPES,
    "layout": LAYOUTS,
    "result": LAYOUTS,
    "channels": [1, 2, 3, 4],
    "op": FUNCTORS,
}
MIXES = {
    "source": IMAGE_DTYPES,
    "layout": LAYOUTS,
    "result": LAYOUTS,
    "channels": [1, 2, 3, 4],
    "mix": ["Mixup", "Cutmix"],
}
BLURS = {"source": IMAGE_DTYPES, "layout": LAYOUTS, "channels": [1, 2, 3, 4], "result": LAYOUTS}
MEANS = {"source": IMAGE_DTYPES, "layout": LAYOUTS, "channels": [1, 3]}
EXTREMES = {"source": IMAGE_DTYPES, "layout": LAYOUTS, "channels": [1, 2, 3, 4]}
LUTS = {**BLURS, "source": ["uint8"]}
# Chains of ops after a resample, in a recipe's pass.
JITTER_OPS = ("ColorJitter", "RandomGrayscale", "Normalize")
AFTER_MEAN_OPS = (
    "JitterAfterMean",
    "RandomGrayscale",
    "Normalize",
)  # the pass before applies the ops before the mean
COLOR_CHAINS = {"jittered": JITTER_OPS, "grey": ("RandomGrayscale",)}
SLOT_OPS = ("AdjustBrightness", "AdjustSaturation", "Posterize", "Solarize")  # one slot of a policy
CHAINS = {
    **COLOR_CHAINS,
    "erased": ("Erase",),
    "scaled": ("Rescale", "Normalize"),
    "unscaled": ("ConvertRange",),
    "stepped": ("Solarize", "Posterize", "Erase"),
    "slot": SLOT_OPS,
}
BLEND_CHAINS = {"none": (), "scaled": CHAINS["scaled"], "stepped": CHAINS["stepped"]}
BLENDS = {**BLURS, "chain": list(BLEND_CHAINS), "target": ["uint8", "float16", "float32"]}
FUSED_WARPS = {
    **WARPS,
    "source": IMAGE_DTYPES,
    "target": ["uint8", "float16", "bfloat16", "float32", "float64"],
    "geometry": ["Affine", "Perspective"],
    "sampler": [*WARPS["sampler"], "Antialiased", *SAMPLE_OVERRIDES],
    "border": [*WARPS["border"], *WINDOWED_BORDERS],
    "chain": list(CHAINS),
}
# Passes that apply the ops before a mean, and sum the mean.
BEFORE_MEAN_CHAINS = {
    "none": (),
    "first": ("JitterBeforeMean",),
    "second": ("ColorJitter", "RandomGrayscale", "JitterBeforeMean"),
}
WARPS_WITH_MEAN = {
    **{name: values for name, values in FUSED_WARPS.items() if name != "target"},
    "channels": [1, 3],
    "chain": list(BEFORE_MEAN_CHAINS),
}
# Warps by a displacement field.
DISPLACEMENT_FACTORS = {
    "geometry": ["CoordinateMap", "CoordinateMap64"],
    "sampler": ["Nearest", "Bilinear", "Bicubic"],
    "border": ["Constant"],
}
DISPLACED_WARPS, DISPLACED_WARPS_WITH_MEAN = (
    {**FUSED_WARPS, **DISPLACEMENT_FACTORS},
    {**WARPS_WITH_MEAN, **DISPLACEMENT_FACTORS},
)


def is_possible(row):
    """Whether cuaug uses this combination; a rule about a factor that the row lacks does not apply."""
    packed = "Packed" in (row.get("layout"), row.get("result")) and row.get("channels") == 1
    labels = {"int32", "int64"} & {row.get("source"), row.get("target")}
    mixed = labels and ("source" in row and "target" in row) and row["source"] != row["target"]
    colourless = row.get("chain") in COLOR_CHAINS and row.get("channels") in (2, 4)
    boxed = {"geometry": "Affine", "border": WINDOWED_BORDERS[1]} if row.get("sampler") == "Antialiased" else {}
    if any(row.get(factor, value) != value for factor, value in boxed.items()):
        return False
    return not packed and not mixed and not colourless and not (labels and row.get("sampler", "Nearest") != "Nearest")


def covering(factors):
    return covering_rows(factors, is_possible)


def covering_names():
    warps = [
        kernels.name_expression(
            "warp_image", source, layout, channels, geometry, sampler, border, kernels.chain(()), target, result
        )
        for source, target, layout, result, channels, geometry, sampler, border in covering(WARPS)
    ]
    resamples = [
        kernels.name_expression("resample", source, layout, channels, chosen, target, result)
        for source, target, layout, result, channels, chosen in covering(RESAMPLES)
    ]
    pointwises = [
        kernels.name_expression("pointwise", source, layout, channels, kernels.chain([op]), target, result, channels)
        for source, target, layout, result, channels, op in covering(POINTWISES)
    ]
    greys = [
        kernels.name_expression("pointwise", "uint8", a, 3, kernels.chain(["Grayscale"]), "uint8", b, 1)
        for a, b in itertools.product(LAYOUTS, ["Planar", "Strided"])
    ]
    long = kernels.name_expression("pointwise", "uint8", "Packed", 3, kernels.chain(FUNCTORS), "float16", "Planar", 3)
    mixes = [
        kernels.name_expression("mix", source, layout, channels, mix, result)
        for source, layout, result, channels, mix in covering(MIXES)
    ]
    stencils = [
        *(
            kernels.name_expression("gaussian_blur", *row[:3], "float16" if row[0] == "uint8" else row[0], row[3])
            for row in covering(BLURS)
        ),
        *(kernels.name_expression("adjust_sharpness", *row) for row in covering(BLURS)),
    ]
    statistics = [
        *(kernels.name_expression("luma_mean", *row, kernels.chain(())) for row in covering(MEANS)),
        *(
            kernels.name_expression("luma_mean", *row, kernels.chain(BEFORE_MEAN_CHAINS["first"]), "StoreInPlace")
            for row in covering(MEANS)
        ),
        *(kernels.name_expression("channel_min_max", *row) for row in covering(EXTREMES)),
        *(kernels.name_expression("histogram_lut", *row) for row in covering({**EXTREMES, "source": ["uint8"]})),
    ]
    blends = [
        kernels.name_expression("blend", source, layout, channels, kernels.chain(BLEND_CHAINS[chain]), target, result)
        for source, layout, channels, result, chain, target in covering(BLENDS)
    ]
    luts = [kernels.name_expression("lut", *row) for row in covering(LUTS)]
    return [*warps, *resamples, *pointwises, *greys, long, *statistics, *mixes, *blends, *stencils, *luts]


def fused_names():
    fused = [
        warp_of(row, kernels.chain(CHAINS[row["chain"]])) for row in rows_of(FUSED_WARPS) + rows_of(DISPLACED_WARPS)
    ]
    rows = rows_of(WARPS_WITH_MEAN) + rows_of(DISPLACED_WARPS_WITH_MEAN)
    measured = [warp_with_mean(row, kernels.chain(BEFORE_MEAN_CHAINS[row["chain"]])) for row in rows]
    return list(dict.fromkeys([*fused, *measured]))


def rows_of(factors):
    return [dict(zip(factors, row, strict=True)) for row in covering(factors)]


def warp_of(row, chain, *use):
    arguments = (row[name] for name in ("source", "layout", "channels", "geometry", "sampler", "border"))
    return kernels.name_expression("warp_image", *arguments, chain, row["target"], row["result"], *use)


def warp_with_mean(row, chain):
    return warp_of({**row, "target": row["source"]}, chain, "StoreAndMean")


def user_names():
    """All users' ops in one chain per number of channels; one in recipes, after a resample and before a mean."""
    structs = {c: [op.struct() for op in pixel_ops.USER_OPS if c in op.channels] for c in (1, 2, 3, 4)}
    pointwise = [
        kernels.name_expression("pointwise", source, layout, c, kernels.chain(structs[c]), target, result, c)
        for c, source, layout, target, result in (
            (1, "uint8", "Planar", "uint8", "Planar"),
            (2, "float16", "Packed", "float32", "Strided"),
            (3, "uint8", "Packed", "float16", "Planar"),
            (4, "bfloat16", "Strided", "bfloat16", "Packed"),
            (3, "float64", "Planar", "float64", "Packed"),
        )
    ]
    vignette = pixel_ops.BY_NAME["Vignette"].struct()
    rows = {**CROP, "layout": "Planar", "target": "float16", "result": "Planar"}
    fused = [
        warp_of(rows, kernels.chain((vignette, *JITTER_OPS))),
        warp_with_mean(rows, kernels.chain([vignette, "JitterBeforeMean"])),
        kernels.name_expression("luma_mean", "uint8", "Planar", 3, kernels.chain([vignette])),
    ]
    return pointwise, fused


COVERING = covering_names()
RECIPES = fused_names()
# The usual recipe: draws, then a crop that is resized, flipped, jittered and normalized, in one pass or two.
CROP = {"source": "uint8", "channels": 3, "geometry": "Affine", "sampler": "Bilinear", "border": WINDOWED_BORDERS[1]}
USUAL_RECIPE = [
    "cuaug::draw",
    *(
        name
        for layout in ("Planar", "Packed")
        for row in [{**CROP, "layout": layout, "result": layout}]
        for name in (
            warp_of({**row, "target": "float16"}, kernels.chain(JITTER_OPS)),
            warp_of({**row, "target": "float32"}, kernels.chain(JITTER_OPS)),
            warp_with_mean(row, kernels.chain(["JitterBeforeMean"])),
            *(
                kernels.name_expression("pointwise", "uint8", layout, 3, kernels.chain(ops), "float16", "Planar", 3)
                for ops in (JITTER_OPS, AFTER_MEAN_OPS)
            ),
            *(
                warp_of({**row, "border": "Constant", "sampler": sampler, "target": target}, kernels.chain(chain))
                for sampler in SAMPLE_OVERRIDES[:2]
                for target, chain in (("uint8", SLOT_OPS), ("float16", (*SLOT_OPS, "Rescale", "Normalize")))
            ),
            kernels.name_expression("histogram_lut", "uint8", layout, 3),
            kernels.name_expression("histogram_lut", "uint8", layout, 3, "BatchedLaunch"),
            warp_of(
                {**row, "border": "Constant", "sampler": SAMPLE_OVERRIDES[1], "target": "uint8"},
                kernels.chain(SLOT_OPS),
                "BatchedLaunch",
            ),
            kernels.name_expression("blend", "uint8", layout, 3, kernels.chain(CHAINS["scaled"]), "float16", layout),
        )
    ),
]
USER_OPS_POINTWISE, USER_OPS_FUSED = user_names()


def ragged_names():
    """The first pass over a ragged batch, whose addresses and sizes the kernel reads from a table."""
    names = []
    for dtype, layout in itertools.product(("uint8", "float16", "float32"), LAYOUTS):
        ragged_layout, filter_ = f"Ragged<cuaug::{layout}>", "CatmullRom" if dtype == "uint8" else "Triangle"
        row = {**CROP, "source": dtype, "target": dtype, "layout": ragged_layout, "result": layout}
        names.append(warp_of(row, kernels.chain(())))
        names.append(warp_of({**row, "border": "Constant"}, kernels.chain(())))
        names.append(kernels.name_expression("resample", dtype, ragged_layout, 3, filter_, dtype, layout))
    labels = {**CROP, "sampler": "Nearest", "border": "Edge", "layout": "Ragged<cuaug::Planar>", "result": "Planar"}
    names += [
        warp_of({**labels, "source": dtype, "target": dtype}, kernels.chain(()))
        for dtype in ("uint8", "int32", "int64")
    ]
    for layout in ("Planar", "Packed"):
        row = {**CROP, "layout": f"Ragged<cuaug::{layout}>", "result": layout}
        names.append(warp_of({**row, "target": "float16"}, kernels.chain(JITTER_OPS)))
        names.append(warp_with_mean(row, kernels.chain(["JitterBeforeMean"])))
        names.append(
            warp_of({**row, "geometry": "Perspective", "border": "Edge", "target": "uint8"}, kernels.chain(()))
        )
    return names


RAGGED = ragged_names()
# Warps whose source boxes are staged raw, as they lie in memory.
RAW_STAGED = [
    kernels.name_expression(
        "warp_image", dtype, layout, channels, "Affine", "Bilinear", "Constant", kernels.chain(()), dtype, layout
    )
    for dtype in IMAGE_DTYPES
    if dtype != "float64"
    for layout in ("Planar", "Packed")
    for channels in (1, 2, 3, 4)
]


def detection_names():
    """nms, and roi pooling of each kind with its gradient, for planar, single and vectorized channels."""
    names = [kernels.name_expression(s, real) for s in ("nms_rank", "nms") for real in ("float64", "Rotated")]
    names += [
        kernels.name_expression(skeleton, "float64") for skeleton in ("nms_small_overlap_mask", "nms_overlap_mask")
    ]
    names += ["cuaug::soft_nms", "cuaug::rotated_pairs"]
    for dtype, wide in (("float16", 8), ("bfloat16", 1), ("float32", 4), ("float64", 2)):
        real = "cuaug::float64" if dtype == "float64" else "cuaug::float32"
        for vector_width in (0, wide):
            names.append(kernels.name_expression("roi_average", dtype, vector_width))
            names += [
                kernels.name_expression("roi_by_sample", dtype, *shape, vector_width)
                for shape in (
                    ("RoiAlignBins", 0),
                    ("RoiAlignBins", 1),
                    ("RoiAlignBins", 2),
                    ("RoiPoolBins", 1),
                    ("RoiPoolBins", 2),
                )
            ]
        names += [kernels.name_expression("roi_regions", dtype, shape) for shape in ("RoiAlignBins", "RoiPoolBins")]
        touches = [f"SeparableGather<{real}>", f"SampleGather<cuaug::RoiAlignBins<{real}>, 0>"]
        touches += [f"SampleGather<cuaug::{shape}<{real}>, 1>" for shape in ("RoiAlignBins", "RoiPoolBins")]
        names += [kernels.name_expression("roi_backward_gather", dtype, touch) for touch in touches]
        for inside in (0, 1):
            names.append(kernels.name_expression("roi_backward_separable", dtype, inside))
            names += [
                kernels.name_expression("roi_backward_scatter", dtype, *shape, inside)
                for shape in (("RoiAlignBins", 0), ("RoiAlignBins", 1), ("RoiPoolBins", 1))
            ]
    return names


DETECTION = detection_names()
WARMUP = _warmup.warmup_names()
USUAL = [*WARMUP, *USUAL_RECIPE, "cuaug::copy_boxes"]
ALL_NAMES = [*USUAL, *COVERING, *RECIPES, *RAGGED, *RAW_STAGED, *DETECTION]
ONE_OF_EACH_KERNEL = set({kernels.skeleton_of(name): name for name in reversed(ALL_NAMES)}.values())
