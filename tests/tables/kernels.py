"""Names of kernels to compile.

The covering sets hold, for each kernel, names in which each possible pair of values of its factors
(tables/kernel_factors.py) occurs. The others are kernels of usual recipes, ragged batches, detection and users' ops.
"""

import itertools

from helpers.arrays import IMAGE_DTYPES

from cuaug import _warmup
from cuaug._program import names as kernels
from tables import pixel_ops
from tables.colors import FUNCTORS
from tables.kernel_factors import (
    AFTER_MEAN_OPS,
    BEFORE_MEAN_CHAINS,
    BLEND_CHAINS,
    BLEND_FACTORS,
    BLUR_FACTORS,
    BLUR_U8_FACTORS,
    CHAINS,
    CHANNEL_CHAINS,
    DISPLACED_WARP_FACTORS,
    DISPLACED_WARP_WITH_MEAN_FACTORS,
    EXTREMES_FACTORS,
    FUSED_BLUR_FACTORS,
    FUSED_RESAMPLE_FACTORS,
    FUSED_WARP_FACTORS,
    JITTER_OPS,
    JPEG_FACTORS,
    LAYOUTS,
    LUT_FACTORS,
    MEAN_FACTORS,
    MIX_FACTORS,
    POINTWISE_FACTORS,
    RAW_STAGED_BORDER_FACTORS,
    RESAMPLE_FACTORS,
    SAMPLE_OVERRIDES,
    SLOT_OPS,
    WARP_FACTORS,
    WARP_WITH_MEAN_FACTORS,
    WINDOWED_BORDERS,
    covering,
)
from tables.matrix_builders import BUILDERS


def covering_names():
    warps = [warp_of(row, kernels.chain(())) for row in rows_of(WARP_FACTORS)]
    pointwises = [
        kernels.name_expression(
            "pointwise", input_dtype, input_layout, channels, kernels.chain([op]), output_dtype, output_layout, channels
        )
        for input_dtype, output_dtype, input_layout, output_layout, channels, op in covering(POINTWISE_FACTORS)
    ]
    greys = [
        kernels.name_expression(
            "pointwise", "uint8", input_layout, 3, kernels.chain(["Grayscale"]), "uint8", output_layout, 1
        )
        for input_layout, output_layout in itertools.product(LAYOUTS, ["Planar", "Strided"])
    ]
    all_functors = kernels.name_expression(
        "pointwise", "uint8", "Packed", 3, kernels.chain(FUNCTORS), "float16", "Planar", 3
    )
    mixes = [
        kernels.name_expression("mix", input_dtype, input_layout, channels, mix, output_layout)
        for input_dtype, input_layout, output_layout, channels, mix in covering(MIX_FACTORS)
    ]
    stencils = [
        *blur_names(),
        *(kernels.name_expression("adjust_sharpness", *row) for row in covering(BLUR_FACTORS)),
        *(kernels.name_expression("jpeg", *row) for row in covering(JPEG_FACTORS)),
    ]
    statistics = [
        *(kernels.name_expression("luma_mean", *row, kernels.chain(())) for row in covering(MEAN_FACTORS)),
        *(
            kernels.name_expression(
                "luma_mean", *row, kernels.chain(BEFORE_MEAN_CHAINS["first jitter"]), "StoreInPlace"
            )
            for row in covering(MEAN_FACTORS)
        ),
        *(kernels.name_expression("channel_min_max", *row) for row in covering(EXTREMES_FACTORS)),
        *(
            kernels.name_expression("histogram_lut", *row)
            for row in covering({**EXTREMES_FACTORS, "input_dtype": ["uint8"]})
        ),
    ]
    blends = [
        kernels.name_expression(
            "blend",
            input_dtype,
            input_layout,
            channels,
            kernels.chain(BLEND_CHAINS[chain]),
            output_dtype,
            output_layout,
        )
        for input_dtype, input_layout, channels, output_layout, chain, output_dtype in covering(BLEND_FACTORS)
    ]
    luts = [kernels.name_expression("lut", *row) for row in covering(LUT_FACTORS)]
    return [
        *warps,
        *resample_names(),
        *pointwises,
        *greys,
        all_functors,
        *statistics,
        *mixes,
        *blends,
        *stencils,
        *luts,
    ]


def resample_names():
    """Without ops, and with chains of them."""
    plain = [
        kernels.name_expression(
            "resample", input_dtype, input_layout, channels, filter_, kernels.chain(()), output_dtype, output_layout
        )
        for input_dtype, output_dtype, input_layout, output_layout, channels, filter_ in covering(RESAMPLE_FACTORS)
    ]
    windows = [
        kernels.name_expression("resample", dtype, layout, 3, "Triangle", kernels.chain(()), dtype, layout, "BoxWindow")
        for dtype, layout in itertools.product(["uint8", "float16", "float32", "float64"], LAYOUTS)
    ]
    fused = [
        kernels.name_expression(
            "resample",
            *(input_dtype, input_layout, channels, filter_, kernels.chain(CHANNEL_CHAINS[chain])),
            *(output_dtype, output_layout, part),
        )
        for input_dtype, input_layout, channels, output_layout, chain, output_dtype, filter_, part in covering(
            FUSED_RESAMPLE_FACTORS
        )
    ]
    return [*plain, *windows, *fused]


def blur_names():
    """Without ops, and with chains of them."""
    plain = [(dtype, *row, "none", dtype, layout) for dtype, *row, layout in covering(BLUR_FACTORS)]
    plain_u8 = [row for row in plain if row[0] == "uint8"]
    fused, fused_u8 = (
        [(*row[:3], *row[4:], row[3]) for row in covering(factors)] for factors in (FUSED_BLUR_FACTORS, BLUR_U8_FACTORS)
    )
    packed = [
        ("uint8", "Packed", channels, chain, dtype, "Packed")
        for channels in (2, 3, 4)
        for chain, dtype in [
            ("none", "uint8"),
            *zip(itertools.cycle(list(CHANNEL_CHAINS)[1:]), IMAGE_DTYPES, strict=False),
        ]
    ]
    return [
        kernels.name_expression(skeleton, *row[:3], kernels.chain(CHANNEL_CHAINS[row[3]]), *row[4:])
        for skeleton, rows in (
            ("gaussian_blur", [*plain, *fused]),
            ("gaussian_blur_u8", [*plain_u8, *fused_u8]),
            ("gaussian_blur_packed", packed),
        )
        for row in rows
    ]


def fused_names():
    fused = [
        warp_of(row, kernels.chain(CHAINS[row["chain"]]))
        for row in rows_of(FUSED_WARP_FACTORS) + rows_of(DISPLACED_WARP_FACTORS)
    ]
    rows = rows_of(WARP_WITH_MEAN_FACTORS) + rows_of(DISPLACED_WARP_WITH_MEAN_FACTORS)
    with_mean = [warp_with_mean(row, kernels.chain(BEFORE_MEAN_CHAINS[row["chain"]])) for row in rows]
    return list(dict.fromkeys([*fused, *with_mean]))


def rows_of(factors):
    return [dict(zip(factors, row, strict=True)) for row in covering(factors)]


def warp_of(row, chain, *epilogue):
    arguments = (row[name] for name in ("input_dtype", "input_layout", "channels", "geometry", "sampler", "border"))
    return kernels.name_expression(
        "warp_image", *arguments, chain, row["output_dtype"], row["output_layout"], *epilogue
    )


def warp_with_mean(row, chain):
    return warp_of({**row, "output_dtype": row["input_dtype"]}, chain, "StoreAndMean")


def user_names():
    """All users' ops in one chain per number of channels; Vignette in recipes, after a resample and before a mean."""
    structs = {c: [op.struct() for op in pixel_ops.USER_OPS if c in op.channels] for c in (1, 2, 3, 4)}
    pointwise = [
        kernels.name_expression(
            "pointwise", input_dtype, input_layout, c, kernels.chain(structs[c]), output_dtype, output_layout, c
        )
        for c, input_dtype, input_layout, output_dtype, output_layout in (
            (1, "uint8", "Planar", "uint8", "Planar"),
            (2, "float16", "Packed", "float32", "Strided"),
            (3, "uint8", "Packed", "float16", "Planar"),
            (4, "bfloat16", "Strided", "bfloat16", "Packed"),
            (3, "float64", "Planar", "float64", "Packed"),
        )
    ]
    vignette = pixel_ops.BY_NAME["Vignette"].struct()
    row = {**CROP, "input_layout": "Planar", "output_dtype": "float16", "output_layout": "Planar"}
    fused = [
        warp_of(row, kernels.chain((vignette, *JITTER_OPS))),
        warp_with_mean(row, kernels.chain([vignette, "JitterBeforeMean"])),
        kernels.name_expression("luma_mean", "uint8", "Planar", 3, kernels.chain([vignette])),
    ]
    return pointwise, fused


COVERING = covering_names()
FUSED = fused_names()
# Usual recipes: draws; a crop that is resized, flipped, jittered and normalized, in one pass or two; the slots of a
# policy, with their histograms; the sum of AugMix's branches.
CROP = {
    "input_dtype": "uint8",
    "channels": 3,
    "geometry": "Affine",
    "sampler": "Bilinear",
    "border": WINDOWED_BORDERS[1],
}
USUAL_RECIPES = [
    "cuaug::draw",
    *(
        name
        for layout in ("Planar", "Packed")
        for row in [{**CROP, "input_layout": layout, "output_layout": layout}]
        for name in (
            warp_of({**row, "output_dtype": "float16"}, kernels.chain(JITTER_OPS)),
            warp_of({**row, "output_dtype": "float32"}, kernels.chain(JITTER_OPS)),
            warp_with_mean(row, kernels.chain(["JitterBeforeMean"])),
            *(
                kernels.name_expression("pointwise", "uint8", layout, 3, kernels.chain(ops), "float16", "Planar", 3)
                for ops in (JITTER_OPS, AFTER_MEAN_OPS)
            ),
            *(
                warp_of(
                    {**row, "border": "Constant", "sampler": sampler, "output_dtype": output_dtype},
                    kernels.chain(chain),
                )
                for sampler in SAMPLE_OVERRIDES[:2]
                for output_dtype, chain in (("uint8", SLOT_OPS), ("float16", (*SLOT_OPS, "Rescale", "Normalize")))
            ),
            *(
                kernels.name_expression(
                    "resample", "uint8", layout, 3, "Triangle", kernels.chain(CHAINS["scaled"]), "float16", layout, part
                )
                for part in ("WholeBox", "BoxWindow")
            ),
            kernels.name_expression("histogram_lut", "uint8", layout, 3),
            kernels.name_expression("histogram_lut", "uint8", layout, 3, "BatchedLaunch"),
            warp_of(
                {**row, "border": "Constant", "sampler": SAMPLE_OVERRIDES[1], "output_dtype": "uint8"},
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
        row = {
            **CROP,
            "input_dtype": dtype,
            "output_dtype": dtype,
            "input_layout": ragged_layout,
            "output_layout": layout,
        }
        names.append(warp_of(row, kernels.chain(())))
        names.append(warp_of({**row, "border": "Constant"}, kernels.chain(())))
        names += [
            kernels.name_expression("resample", dtype, ragged_layout, 3, kind, kernels.chain(()), dtype, layout)
            for kind in (filter_, "Area")
        ]
        names += [
            kernels.name_expression(
                "resample", dtype, ragged_layout, 3, filter_, kernels.chain(ops), dtype, layout, part
            )
            for part, ops in (("BoxWindow", ()), ("BoxWindow", CHAINS["scaled"]), ("OwnSize", ()))
        ]
    names += [
        kernels.name_expression("place_images", dtype, row_lanes)
        for dtype, row_lanes in itertools.product(("uint8", "float16", "float32", "int64"), (8, 16, 32))
    ]
    label_row = {
        **CROP,
        "sampler": "Nearest",
        "border": "Edge",
        "input_layout": "Ragged<cuaug::Planar>",
        "output_layout": "Planar",
    }
    names += [
        warp_of({**label_row, "input_dtype": dtype, "output_dtype": dtype}, kernels.chain(()))
        for dtype in ("uint8", "int32", "int64")
    ]
    for layout in ("Planar", "Packed"):
        row = {**CROP, "input_layout": f"Ragged<cuaug::{layout}>", "output_layout": layout}
        names.append(warp_of({**row, "output_dtype": "float16"}, kernels.chain(JITTER_OPS)))
        names.append(warp_with_mean(row, kernels.chain(["JitterBeforeMean"])))
        names.append(
            warp_of({**row, "geometry": "Perspective", "border": "Edge", "output_dtype": "uint8"}, kernels.chain(()))
        )
    return names


RAGGED = ragged_names()
# Warps whose source boxes are staged raw, as they lie in memory.
RAW_STAGED = [
    warp_of(
        {**CROP, "input_dtype": dtype, "output_dtype": dtype, "channels": channels, "border": border}
        | {"input_layout": layout, "output_layout": layout},
        kernels.chain(()),
    )
    for dtype, layout, channels, border in [
        *itertools.product(
            [dtype for dtype in IMAGE_DTYPES if dtype != "float64"], ("Planar", "Packed"), (1, 2, 3, 4), ["Constant"]
        ),
        *covering(RAW_STAGED_BORDER_FACTORS),
    ]
    if (layout, channels) != ("Packed", 1)  # images of one channel are planar
]
# Outputs of at most 32x32 pixels. Warps of four channels have no small blocks (kernels/gpu/raw_box.cuh).
SMALL_OUTPUT = [
    name.replace(f", cuaug::{layout}>", f", cuaug::SmallOutput<cuaug::{layout}>>")
    for layout in ("Planar", "Packed")
    for name in RAW_STAGED
    if name.startswith("cuaug::warp_image<cuaug::uint8")
    and name.endswith(f"{layout}>")
    and "4, cuaug::Affine" not in name
]


def detection_names():
    """NMS, soft NMS, rotated IoU, and RoI pooling of each kind with its gradients: planar, and vectors of channels."""
    names = [
        kernels.name_expression(skeleton, box_type)
        for skeleton in ("nms_rank", "nms")
        for box_type in ("float64", "Rotated")
    ]
    names += [
        kernels.name_expression(skeleton, "float64") for skeleton in ("nms_small_overlap_mask", "nms_overlap_mask")
    ]
    names += ["cuaug::soft_nms", "cuaug::rotated_pairs", "cuaug::move_boxes"]
    names += [kernels.name_expression("upright_pairs", dtype) for dtype in ("float32", "float64")]
    for dtype, max_width in (("float16", 8), ("bfloat16", 1), ("float32", 4), ("float64", 2)):
        real = "cuaug::float64" if dtype == "float64" else "cuaug::float32"
        for vector_width in (0, max_width):
            names.append(kernels.name_expression("roi_average", dtype, vector_width))
            names += [
                kernels.name_expression("roi_by_point", dtype, bins, reduction, vector_width)
                for bins, reduction in (
                    ("RoiAlignBins", 0),
                    ("RoiAlignBins", 1),
                    ("RoiAlignBins", 2),
                    ("RoiPoolBins", 1),
                    ("RoiPoolBins", 2),
                    ("PsRoiPoolBins", 0),
                )
            ]
        all_bins = "RoiAlignBins", "RoiPoolBins", "PsRoiPoolBins"
        names += [kernels.name_expression("roi_regions", dtype, bins) for bins in all_bins]
        gathers = [
            f"SeparableGather<{real}>",
            *(f"PointGather<cuaug::{bins}<{real}>, 0>" for bins in ("RoiAlignBins", "PsRoiPoolBins")),
        ]
        gathers += [f"PointGather<cuaug::{bins}<{real}>, 1>" for bins in ("RoiAlignBins", "RoiPoolBins")]
        names += [kernels.name_expression("roi_backward_gather", dtype, gather) for gather in gathers]
        for channels_last in (0, 1):
            names.append(kernels.name_expression("roi_backward_separable", dtype, channels_last))
            names += [
                kernels.name_expression("roi_backward_scatter", dtype, bins, reduction, channels_last)
                for bins, reduction in (
                    ("RoiAlignBins", 0),
                    ("RoiAlignBins", 1),
                    ("RoiPoolBins", 1),
                    ("PsRoiPoolBins", 0),
                )
            ]
    return names


DETECTION = detection_names()
MATRICES = sorted({builder.kernel_and_grid(1, 1)[0] for builder in BUILDERS})
WARMUP = _warmup.warmup_names()
USUAL = [*WARMUP, *USUAL_RECIPES, "cuaug::copy_boxes"]
ALL_NAMES = [*USUAL, *COVERING, *FUSED, *RAGGED, *RAW_STAGED, *SMALL_OUTPUT, *DETECTION, *MATRICES]
ONE_OF_EACH_KERNEL = set({kernels.skeleton_of(name): name for name in reversed(ALL_NAMES)}.values())
