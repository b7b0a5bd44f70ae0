"""The records of kernels and CPU loops: C++ structs that Python packs. Fields are named here once, in C++'s order.

Each mirrors a struct of kernels/records. The text of a kernel asserts the size of its record, and a test compares every
field's name, offset and size with the extension's.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from .names import skeleton_of, template_arguments


class Record:
    """A C++ struct. A field is a format of `struct` ("P", "4d"), a record, or a record and a count for an array of it.

    Attributes:
        name: Of the struct in namespace cuaug, with its template arguments.
        offsets: Offset and bytes of each field; "in.data" is field `data` of the record `in`.
        call_values: Offsets of the fields that may differ between calls of one recorded launch: the pointers, and those
            that `varying` names. Each has 8 bytes.
    """

    def __init__(
        self,
        name: str,
        fields: Mapping[str, str | Record | tuple[Record, int]],
        base: Record | None = None,
        varying: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.offsets: dict[str, tuple[int, int]] = dict(base.offsets) if base else {}
        self.call_values: tuple[int, ...] = base.call_values if base else ()
        self._format: str = base._format if base else ""
        for field, kind in fields.items():
            if isinstance(kind, tuple):
                for i in range(kind[1]):
                    self._append(f"{field}[{i}]", kind[0], varying)
            else:
                self._append(field, kind, varying)
        whole = struct.Struct(self._format + "0q")  # C++ pads a struct's end to its alignment
        self.pack, self.size = whole.pack, whole.size
        # The fields behind those of the base alone.
        self.pack_derived = struct.Struct(self._format[len(base._format) :] + "0q").pack if base else self.pack

    def _append(self, field: str, kind: str | Record, varying: tuple[str, ...]) -> None:
        text = kind._format if isinstance(kind, Record) else kind
        end = struct.calcsize(self._format + text)
        begin = end - struct.calcsize(text)
        if isinstance(kind, Record):
            for inner, (offset, size) in kind.offsets.items():
                self.offsets[f"{field}.{inner}"] = begin + offset, size
            self.call_values += tuple(begin + offset for offset in kind.call_values)
        else:
            self.offsets[field] = begin, end - begin
            if kind.endswith("P"):
                self.call_values += tuple(range(begin, end, 8))
            elif field in varying:
                self.call_values += (begin,)
        self._format += text

    def packed_by(self, grouped: str) -> struct.Struct:
        """A packer of the same bytes that takes some neighbouring fields as one string of bytes."""
        packer = struct.Struct(grouped)
        assert packer.size == self.size, (self.name, packer.size, self.size)
        return packer


# Parts of records.
BATCH_VIEW = Record("View", {"data": "P", "n": "q", "t": "q", "c": "q", "y": "q", "x": "q"})
PARAMETER_TABLE = Record("Table", {"data": "P", "n": "q", "y": "q", "x": "q", "is_double": "q"})
FILL = Record("Fill", {"table": PARAMETER_TABLE, "value": "4d"})
TYPED_ARRAY = Record("Numbers", {"data": "P", "n": "q", "k": "q", "x": "q", "kind": "q"})
FEATURE_MAP = Record("Maps", {"data": "P", "n": "q", "c": "q", "y": "q", "x": "q"})

# A row of the table that a ragged batch points to.
RAGGED_IMAGE = Record(
    "OneImage",
    {"data": "P", "c": "q", "y": "i", "x": "i", "height": "i", "width": "i", "aligned": "i", "unused": "i"},
)

BATCH = Record(
    "Batch",
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
        "in_aligned": "i",
        "out_aligned": "i",
    },
)
BATCH_WITH_FILL = Record("Filled", {"fill": FILL}, base=BATCH)

AFFINE = Record("Affine", {"matrix": PARAMETER_TABLE, "value": "6d", "inverse": "i", "corner": "i"})
PERSPECTIVE = Record("Perspective", {"matrix": PARAMETER_TABLE, "value": "9d", "inverse": "i", "corner": "i"})
_COORDINATE_MAP: dict[str, str | Record | tuple[Record, int]] = {
    "map_x": PARAMETER_TABLE,
    "map_y": PARAMETER_TABLE,
    "scale_x": "d",
    "scale_y": "d",
    "unit_x": "f",
    "unit_y": "f",
    "step": "f",
    "relative": "i",
    "in_height": "i",
    "in_width": "i",
}
GEOMETRIES = {
    "Affine": AFFINE,
    "Perspective": PERSPECTIVE,
    "Grid": Record("Grid", _COORDINATE_MAP),
    "WideGrid": Record("WideGrid", _COORDINATE_MAP),
}

SAMPLE_OVERRIDE = Record("Retouch", {"sharpness": PARAMETER_TABLE, "relevelling": PARAMETER_TABLE, "levels": "P"})
REGION_COLUMN = Record("Stack", {"rows": "i", "down": "i"})
FAST_DIVISOR = Record("Divisor", {"factor": "I", "shift": "i"})
WARPS = {
    name: Record(
        f"Warp<cuaug::{name}>",
        {
            "geometry": geometry,
            "window": PARAMETER_TABLE,
            "parameters": PARAMETER_TABLE,
            "parts": PARAMETER_TABLE,
            "retouch": SAMPLE_OVERRIDE,
            "wide": REGION_COLUMN,
            "narrow": REGION_COLUMN,
            "by_slice": FAST_DIVISOR,
            "by_across": FAST_DIVISOR,
            "unhalved": "I",
        },
        base=BATCH_WITH_FILL,
    )
    for name, geometry in GEOMETRIES.items()
}

RESAMPLE = Record(
    "Resample", {"box": PARAMETER_TABLE, "value": "4d", "turns": "i", "antialias": "i"}, base=BATCH_WITH_FILL
)
MAX_INLINE_VALUES = 12
MAX_OPS = 128  # of a chain
POINTWISE = Record(
    "Pointwise",
    {
        "parameters": PARAMETER_TABLE,
        "value": f"{MAX_INLINE_VALUES}d",
        "parts": PARAMETER_TABLE,
        "part_count": "i",
        "part_column": "i",
    },
    base=BATCH,
)
MAX_BRANCHES = 8
BLEND = Record("Blend", {"branch": f"{MAX_BRANCHES}P", "shares": PARAMETER_TABLE, "branches": "q"}, base=POINTWISE)
LUT = Record("Lut", {"table": "P", "table_n": "q", "table_c": "q", "table_x": "q"}, base=BATCH)
MAX_TAPS = 127
GAUSSIAN_BLUR = Record(
    "GaussianBlur",
    {
        "sigma": PARAMETER_TABLE,
        "value": "2d",
        "kernel_width": "i",
        "kernel_height": "i",
        "tile_width": "i",
        "tile_height": "i",
    },
    base=BATCH,
)

DRAW = Record(
    "Draw",
    {
        "program": "P",
        "table": "P",
        "ids": "P",
        "own": "P",
        "replays": "P",
        "seed": "q",
        "step": "q",
        "first_id": "q",
        "samples": "q",
        "own_stride": "q",
        "length": "i",
        "columns": "i",
        "drawn": "i",
        "staged": "i",
    },
    varying=("seed", "step", "first_id"),
)
# The head of one instruction of a program of draws; its arguments follow as float64.
INSTRUCTION = Record(
    "Instruction",
    {"kind": "i", "position": "i", "index": "i", "gate": "i", "column": "i", "own": "i", "gate_value": "d"},
)

COPY_BOXES = Record("Cut", {"pieces": "P"})

NMS = Record(
    "Nms",
    {
        "boxes": TYPED_ARRAY,
        "scores": TYPED_ARRAY,
        "classes": TYPED_ARRAY,
        "counts": TYPED_ARRAY,
        "out": "P",
        "found": "P",
        "keys": "P",
        "candidates": "P",
        "published": "P",
        "kept": "P",
        "state": "P",
        "samples": "q",
        "iou_threshold": "d",
        "score_threshold": "d",
        "count": "i",
        "most": "i",
        "has_score_threshold": "i",
        "index_bytes": "i",
        "rotated": "i",
        "own_words": "i",
    },
)
SOFT_NMS = Record(
    "SoftNms",
    {
        "boxes": TYPED_ARRAY,
        "scores": TYPED_ARRAY,
        "counts": TYPED_ARRAY,
        "out": "P",
        "decayed": "P",
        "found": "P",
        "numbers": "P",
        "index": "P",
        "samples": "q",
        "iou_threshold": "d",
        "sigma": "d",
        "score_threshold": "d",
        "count": "i",
        "most": "i",
        "gaussian": "i",
        "index_bytes": "i",
    },
)
ROTATED_IOU = Record(
    "RotatedIou",
    {"a": TYPED_ARRAY, "b": TYPED_ARRAY, "out": "P", "samples": "q", "p": "q", "q": "q", "float64": "i"},
)

ROI_LEVEL = Record(
    "PoolingLevel",
    {
        "values": FEATURE_MAP,
        "gradients": FEATURE_MAP,
        "height": "i",
        "width": "i",
        "scale": "d",
        "least_area": "d",
    },
)
MAX_LEVELS = 8
ROI = Record(
    "Pooling",
    {
        "level": (ROI_LEVEL, MAX_LEVELS),
        "rois": TYPED_ARRAY,
        "pooled": FEATURE_MAP,
        "count": "q",
        "levels": "i",
        "samples": "i",
        "channels": "i",
        "out_height": "i",
        "out_width": "i",
        "sampling": "i",
        "aligned": "i",
        "rotated": "i",
    },
)
ROI_ARGMAX = Record("PoolingPlaces", {"places": FEATURE_MAP, "short_places": "q"}, base=ROI)
ROI_BACKWARD = Record("PoolingBack", {"bounds": "P", "shapes": "P"}, base=ROI_ARGMAX)

_BY_KERNEL = {
    **dict.fromkeys(("pointwise", "luma_mean", "mix", "adjust_sharpness", "extremes", "relevel"), POINTWISE),
    "resample": RESAMPLE,
    "lut": LUT,
    "gaussian_blur": GAUSSIAN_BLUR,
    "blend": BLEND,
    "draw": DRAW,
    "cut": COPY_BOXES,
    **dict.fromkeys(("nms_few_hits", "nms_few_settle", "nms_hits", "nms_settle", "nms_sort", "nms_rank", "nms"), NMS),
    "soft_nms": SOFT_NMS,
    "rotated_pairs": ROTATED_IOU,
    **dict.fromkeys(("roi_average", "roi_spread"), ROI),
    **dict.fromkeys(("roi", "roi_scatter"), ROI_ARGMAX),
    **dict.fromkeys(("roi_regions", "roi_back"), ROI_BACKWARD),
}


def record_of(kernel: str) -> Record:
    """The record of the kernel with this name expression. A warp's depends on its geometry."""
    skeleton = skeleton_of(kernel)
    if skeleton == "warp":
        return next(WARPS[argument] for argument in template_arguments(kernel) if argument in WARPS)
    return _BY_KERNEL[skeleton]
