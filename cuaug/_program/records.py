"""The records of kernels and CPU loops: C++ structs that Python packs, with their fields in C++'s order.

Each mirrors a struct of kernels/records, kernels/geometry or kernels/draws. The text of a kernel asserts the size of
its record, and a test compares the name, offset and size of every field with the extension's.
"""

from __future__ import annotations

from .detection_records import BOX_PAIRS, MOVE_BOXES, NMS, ROI, ROI_ARGMAX, ROI_BACKWARD, SOFT_NMS
from .names import skeleton_of, template_arguments
from .record import Record

# Structs that records contain.
BATCH_VIEW = Record(
    "BatchView", {"data": "P", "n_stride": "q", "t_stride": "q", "c_stride": "q", "y_stride": "q", "x_stride": "q"}
)
PARAMETER_TABLE = Record(
    "ParameterTable", {"data": "P", "n_stride": "q", "y_stride": "q", "x_stride": "q", "is_double": "q"}
)
FILL = Record("Fill", {"table": PARAMETER_TABLE, "value": "4d"})

# The beginning of each row of a ragged batch's table.
RAGGED_IMAGE = Record(
    "RaggedImage",
    {
        "data": "P",
        "c_stride": "q",
        "y_stride": "i",
        "x_stride": "i",
        "height": "i",
        "width": "i",
        "vector_elements": "i",
        "unused": "i",
    },
)

BATCH = Record(
    "BatchRecord",
    {
        "in": BATCH_VIEW,
        "out": BATCH_VIEW,
        "samples": "q",
        "frames": "i",
        "channels": "i",
        "in_height": "i",
        "in_width": "i",
        "out_height": "i",
        "out_width": "i",
        "in_vector_elements": "i",
        "out_vector_elements": "i",
    },
)
BATCH_WITH_FILL = Record("BatchWithFill", {"fill": FILL}, base=BATCH)

AFFINE = Record("Affine", {"matrix": PARAMETER_TABLE, "value": "6d", "inverse": "i", "half_pixel_centers": "i"})
PERSPECTIVE = Record(
    "Perspective", {"matrix": PARAMETER_TABLE, "value": "9d", "inverse": "i", "half_pixel_centers": "i"}
)
_COORDINATE_MAP: dict[str, str | Record | tuple[Record, int]] = {
    "map_x": PARAMETER_TABLE,
    "map_y": PARAMETER_TABLE,
    "scale_x": "d",
    "scale_y": "d",
    "scale_x_float32": "f",
    "scale_y_float32": "f",
    "relative_float32": "f",
    "relative": "i",
    "in_height": "i",
    "in_width": "i",
}
GEOMETRIES = {
    "Affine": AFFINE,
    "Perspective": PERSPECTIVE,
    "CoordinateMap": Record("CoordinateMap", _COORDINATE_MAP),
    "CoordinateMap64": Record("CoordinateMap64", _COORDINATE_MAP),
}

SAMPLE_OVERRIDE = Record(
    "SampleOverrideRecord", {"sharpness": PARAMETER_TABLE, "uses_lut": PARAMETER_TABLE, "lut": "P"}
)
REGION_COLUMN = Record("RegionColumn", {"region_rows": "i", "regions": "i"})
FAST_DIVISOR = Record("FastDivisor", {"factor": "I", "shift": "i"})
WARPS = {
    name: Record(
        f"WarpRecord<cuaug::{name}>",
        {
            "geometry": geometry,
            "window": PARAMETER_TABLE,
            "parameters": PARAMETER_TABLE,
            "partial_sums": PARAMETER_TABLE,
            "sample_override": SAMPLE_OVERRIDE,
            "full_width": REGION_COLUMN,
            "remainder": REGION_COLUMN,
            "slice_divisor": FAST_DIVISOR,
            "row_divisor": FAST_DIVISOR,
            "whole_regions": "I",
        },
        base=BATCH_WITH_FILL,
    )
    for name, geometry in GEOMETRIES.items()
}

RESAMPLE = Record(
    "ResampleRecord",
    {
        "box": PARAMETER_TABLE,
        "value": "4d",
        "op_parameters": PARAMETER_TABLE,
        "has_window": "i",
        "antialias": "i",
    },
    base=BATCH_WITH_FILL,
)
MAX_INLINE_VALUES = 12
MAX_OPS = 128  # in an op chain
POINTWISE = Record(
    "PointwiseRecord",
    {
        "parameters": PARAMETER_TABLE,
        "value": f"{MAX_INLINE_VALUES}d",
        "partial_sums": PARAMETER_TABLE,
        "partial_count": "i",
        "mean_column": "i",
    },
    base=BATCH,
)
MAX_BRANCHES = 8
BLEND = Record(
    "BlendRecord",
    {"branch": f"{MAX_BRANCHES}P", "remainder_fractions": PARAMETER_TABLE, "branches": "q"},
    base=POINTWISE,
)
LUT = Record(
    "LutRecord", {"table": "P", "table_n_stride": "q", "table_c_stride": "q", "table_x_stride": "q"}, base=BATCH
)
MAX_TAPS = 127
GAUSSIAN_BLUR = Record(
    "GaussianBlurRecord",
    {
        "sigma": PARAMETER_TABLE,
        "value": "2d",
        "op_parameters": PARAMETER_TABLE,
        "kernel_width": "i",
        "kernel_height": "i",
        "tile_width": "i",
        "tile_height": "i",
    },
    base=BATCH,
)

DRAW = Record(
    "DrawRecord",
    {
        "program": "P",
        "table": "P",
        "ids": "P",
        "sample_arguments": "P",
        "replays": "P",
        "seed": "q",
        "step": "q",
        "first_id": "q",
        "samples": "q",
        "sample_arguments_stride": "q",
        "length": "i",
        "table_stride": "i",
        "drawn_columns": "i",
        "fits_in_shared": "i",
    },
    call_values=("seed", "step", "first_id"),
)
# The head of an instruction in a program of draws; its arguments follow as float64.
INSTRUCTION = Record(
    "Instruction",
    {
        "opcode": "i",
        "position": "i",
        "index": "i",
        "gate_column": "i",
        "column": "i",
        "sample_arguments": "i",
        "gate_value": "d",
    },
)

SAMPLE_NUMBERS = Record("SampleNumbers", {"table": PARAMETER_TABLE, "value": "9d", "rows": "q"})
MAX_BUILDER_INPUTS = 5
MATRIX_BUILDER = Record(
    "MatrixBuilderRecord",
    {
        "input": (SAMPLE_NUMBERS, MAX_BUILDER_INPUTS),
        "out": "P",
        "failures": "P",
        "samples": "q",
        "items": "q",
        "points": "q",
        "error_bound": "d",
        "item_size": "i",
        "is_double": "i",
        "option": "i",
        "input_count": "i",
    },
)

COPY_BOXES = Record("CopyBoxesRecord", {"copies": "P"})
_IMAGE_PLACEMENT = Record(
    "ImagePlacement",
    {
        "from": "P",
        "to": "P",
        **dict.fromkeys(("from_pitch", "from_plane", "rows", "bytes", "top", "left", "to_rows", "to_bytes"), "q"),
    },
)
PLACE_IMAGES = Record(
    "PlaceImagesRecord",
    {
        "placements": "P",
        "first": _IMAGE_PLACEMENT,
        **dict.fromkeys(("from_n_stride", "from_t_stride", "to_n_stride", "to_t_stride"), "q"),
        "fill": FILL,
        **dict.fromkeys(("frames", "planes", "pixel_channels", "unused"), "i"),
    },
)

_BY_KERNEL = {
    **dict.fromkeys(
        ("pointwise", "luma_mean", "mix", "adjust_sharpness", "channel_min_max", "histogram_lut", "jpeg"), POINTWISE
    ),
    "resample": RESAMPLE,
    "lut": LUT,
    "gaussian_blur": GAUSSIAN_BLUR,
    "gaussian_blur_u8": GAUSSIAN_BLUR,
    "gaussian_blur_packed": GAUSSIAN_BLUR,
    "blend": BLEND,
    "draw": DRAW,
    "copy_boxes": COPY_BOXES,
    "place_images": PLACE_IMAGES,
    **dict.fromkeys(
        (
            "nms_small_overlap_mask",
            "nms_small_resolve",
            "nms_overlap_mask",
            "nms_resolve",
            "nms_sort",
            "nms_rank",
            "nms",
        ),
        NMS,
    ),
    "soft_nms": SOFT_NMS,
    **dict.fromkeys(("build_matrices", "estimate_affine"), MATRIX_BUILDER),
    **dict.fromkeys(("rotated_pairs", "upright_pairs"), BOX_PAIRS),
    "move_boxes": MOVE_BOXES,
    **dict.fromkeys(("roi_average", "roi_backward_separable"), ROI),
    **dict.fromkeys(("roi_by_point", "roi_backward_scatter"), ROI_ARGMAX),
    **dict.fromkeys(("roi_regions", "roi_backward_gather"), ROI_BACKWARD),
}


def record_of(kernel: str) -> Record:
    """The record of the kernel with this name expression; a warp's depends on its geometry."""
    skeleton = skeleton_of(kernel)
    if skeleton == "warp_image":
        return next(WARPS[argument] for argument in template_arguments(kernel) if argument in WARPS)
    return _BY_KERNEL[skeleton]
