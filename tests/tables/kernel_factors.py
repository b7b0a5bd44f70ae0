"""Factors of covering sets: for each kernel, the values of each template argument, by name.

Dtypes and layouts are those of the arrays that the kernel reads (input) and writes (output).
"""

from helpers.arrays import IMAGE_DTYPES

from cuaug._passes.op_chain import CHANNEL_OPS, MAX_CHANNEL_OPS
from cuaug._program.functors import struct_name
from tables.colors import FUNCTORS
from tables.covering import covering as covering_rows
from tables.warps import BORDERS, INTERPOLATIONS

LAYOUTS = ["Planar", "Packed", "Strided"]
WARP_FACTORS = {
    "input_dtype": [*IMAGE_DTYPES, "int32", "int64"],
    "output_dtype": [*IMAGE_DTYPES, "int32", "int64"],
    "input_layout": LAYOUTS,
    "output_layout": LAYOUTS,
    "channels": [1, 2, 3, 4],
    "geometry": ["Affine", "Perspective", "CoordinateMap", "CoordinateMap64"],
    "sampler": [struct_name(name) for name in INTERPOLATIONS],
    "border": [struct_name(name) for name in BORDERS],
}
RAW_STAGED_BORDER_FACTORS = {
    "input_dtype": [dtype for dtype in IMAGE_DTYPES if dtype != "float64"],
    "input_layout": ["Planar", "Packed"],
    "channels": [1, 2, 3, 4],
    "border": [border for border in WARP_FACTORS["border"] if border != "Constant"],
}
SAMPLE_OVERRIDES = [f"SampleOverride<cuaug::{sampler}>" for sampler in WARP_FACTORS["sampler"]]
WINDOWED_BORDERS = [f"WindowedBorder<cuaug::{border}>" for border in ("Constant", "Edge")]
FILTERS = ["Triangle", "CatmullRom", "Cubic75", "Lanczos3", "Lanczos4", "Area"]
CONVERSION_FACTORS = {
    "input_dtype": IMAGE_DTYPES,
    "output_dtype": IMAGE_DTYPES,
    "input_layout": LAYOUTS,
    "output_layout": LAYOUTS,
    "channels": [1, 2, 3, 4],
}
RESAMPLE_FACTORS = {**CONVERSION_FACTORS, "filter": FILTERS}
POINTWISE_FACTORS = {**CONVERSION_FACTORS, "op": FUNCTORS}
MIX_FACTORS = {
    "input_dtype": IMAGE_DTYPES,
    "input_layout": LAYOUTS,
    "output_layout": LAYOUTS,
    "channels": [1, 2, 3, 4],
    "mix": ["Mixup", "Cutmix"],
}
BLUR_FACTORS = {
    "input_dtype": IMAGE_DTYPES,
    "input_layout": LAYOUTS,
    "channels": [1, 2, 3, 4],
    "output_layout": LAYOUTS,
}
# Chains of ops that a blur or a resize applies before it stores.
CHANNEL_CHAINS = {
    "none": (),
    "scaled": ("Rescale",),
    "normalized": ("Normalize",),
    "solarized": ("Solarize", "Rescale", "Normalize"),
    "every op": tuple(sorted(CHANNEL_OPS)[:MAX_CHANNEL_OPS]),
}
FUSED_BLUR_FACTORS = {
    **BLUR_FACTORS,
    "input_dtype": ["uint8", "int16", "float16", "float32", "float64"],
    "chain": list(CHANNEL_CHAINS)[1:],
    "output_dtype": ["uint8", "float16", "float32"],
}
FUSED_RESAMPLE_FACTORS = {**FUSED_BLUR_FACTORS, "filter": FILTERS, "part": ["WholeBox", "BoxWindow"]}
BLUR_U8_FACTORS = {**FUSED_BLUR_FACTORS, "input_dtype": ["uint8"], "output_dtype": IMAGE_DTYPES}
JPEG_FACTORS = {**BLUR_FACTORS, "input_dtype": ["uint8"], "channels": [1, 3]}
MEAN_FACTORS = {"input_dtype": IMAGE_DTYPES, "input_layout": LAYOUTS, "channels": [1, 3]}
EXTREMES_FACTORS = {"input_dtype": IMAGE_DTYPES, "input_layout": LAYOUTS, "channels": [1, 2, 3, 4]}
LUT_FACTORS = {**BLUR_FACTORS, "input_dtype": ["uint8"]}
# Chains of ops after a resample, in a recipe's pass.
JITTER_OPS = ("ColorJitter", "RandomGrayscale", "Normalize")
AFTER_MEAN_OPS = ("JitterAfterMean", "RandomGrayscale", "Normalize")  # the previous pass has the ops before the mean
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
BLEND_FACTORS = {**BLUR_FACTORS, "chain": list(BLEND_CHAINS), "output_dtype": ["uint8", "float16", "float32"]}
FUSED_WARP_FACTORS = {
    **WARP_FACTORS,
    "input_dtype": IMAGE_DTYPES,
    "output_dtype": ["uint8", "float16", "bfloat16", "float32", "float64"],
    "geometry": ["Affine", "Perspective"],
    "sampler": [*WARP_FACTORS["sampler"], "Antialiased", *SAMPLE_OVERRIDES],
    "border": [*WARP_FACTORS["border"], *WINDOWED_BORDERS],
    "chain": list(CHAINS),
}
# Passes that apply the ops before a mean, and sum the mean.
BEFORE_MEAN_CHAINS = {
    "none": (),
    "first jitter": ("JitterBeforeMean",),
    "second jitter": ("ColorJitter", "RandomGrayscale", "JitterBeforeMean"),
}
WARP_WITH_MEAN_FACTORS = {
    **{name: values for name, values in FUSED_WARP_FACTORS.items() if name != "output_dtype"},
    "channels": [1, 3],
    "chain": list(BEFORE_MEAN_CHAINS),
}
# Warps by a displacement field.
DISPLACEMENT_FACTORS = {
    "geometry": ["CoordinateMap", "CoordinateMap64"],
    "sampler": ["Nearest", "Bilinear", "Bicubic"],
    "border": ["Constant"],
}
DISPLACED_WARP_FACTORS, DISPLACED_WARP_WITH_MEAN_FACTORS = (
    {**FUSED_WARP_FACTORS, **DISPLACEMENT_FACTORS},
    {**WARP_WITH_MEAN_FACTORS, **DISPLACEMENT_FACTORS},
)


def is_possible(row):
    """Whether cuaug uses this combination; a rule about a factor that the row lacks does not apply."""
    packed_single_channel = "Packed" in (row.get("input_layout"), row.get("output_layout")) and row.get("channels") == 1
    labels = {"int32", "int64"} & {row.get("input_dtype"), row.get("output_dtype")}
    converts_labels = (
        labels and ("input_dtype" in row and "output_dtype" in row) and row["input_dtype"] != row["output_dtype"]
    )
    lacks_colors = row.get("chain") in COLOR_CHAINS and row.get("channels") in (2, 4)
    # The antialiased sampler serves resizes alone: they read a window and repeat its edge.
    resize = {"geometry": "Affine", "border": "WindowedBorder<cuaug::Edge>"}
    required = resize if row.get("sampler") == "Antialiased" else {}
    if any(row.get(factor, value) != value for factor, value in required.items()):
        return False
    return (
        not packed_single_channel
        and not converts_labels
        and not lacks_colors
        and not (labels and row.get("sampler", "Nearest") != "Nearest")
    )


def covering(factors):
    return covering_rows(factors, is_possible)
