"""The records of kernels and CPU loops for boxes and regions of interest; records.py has all other records."""

from __future__ import annotations

from .record import Record

TYPED_ARRAY = Record("TypedArray", {"data": "P", "n_stride": "q", "k_stride": "q", "x_stride": "q", "dtype_code": "q"})
FEATURE_MAP = Record("FeatureMap", {"data": "P", "n_stride": "q", "c_stride": "q", "y_stride": "q", "x_stride": "q"})

NMS = Record(
    "NmsRecord",
    {
        "boxes": TYPED_ARRAY,
        "scores": TYPED_ARRAY,
        "classes": TYPED_ARRAY,
        "counts": TYPED_ARRAY,
        "out": "P",
        "out_counts": "P",
        "keys": "P",
        "ranked_boxes": "P",
        "decisions": "P",
        "kept": "P",
        "block_counts": "P",
        "samples": "q",
        "iou_threshold": "d",
        "score_threshold": "d",
        "count": "i",
        "max_output": "i",
        "has_score_threshold": "i",
        "index_bytes": "i",
        "rotated": "i",
        "words_per_block": "i",
    },
)
SOFT_NMS = Record(
    "SoftNmsRecord",
    {
        "boxes": TYPED_ARRAY,
        "scores": TYPED_ARRAY,
        "counts": TYPED_ARRAY,
        "out": "P",
        "out_scores": "P",
        "out_counts": "P",
        "workspace": "P",
        "index": "P",
        "samples": "q",
        "iou_threshold": "d",
        "sigma": "d",
        "score_threshold": "d",
        "count": "i",
        "max_output": "i",
        "gaussian": "i",
        "index_bytes": "i",
    },
)
BOX_PAIRS = Record(
    "BoxPairsRecord",
    {
        "a": TYPED_ARRAY,
        "b": TYPED_ARRAY,
        "out": "P",
        "samples": "q",
        "p": "q",
        "q": "q",
        "eps": "d",
        "kind": "i",
        "out_is_float64": "i",
    },
)

BOX_MOVE = Record(
    "BoxMove",
    {
        "matrices": TYPED_ARRAY,
        "source_boxes": TYPED_ARRAY,
        "canvases": TYPED_ARRAY,
        "canvas": "4d",
        "is_affine": "i",
        "is_scale_and_shift": "i",
    },
)
MAX_BOX_MOVES = 4
MOVE_BOXES = Record(
    "MoveBoxesRecord",
    {
        "move": (BOX_MOVE, MAX_BOX_MOVES),
        "boxes": TYPED_ARRAY,
        "row_samples": "P",
        "given_valid": TYPED_ARRAY,
        "out": "P",
        "valid": "P",
        "rows": "q",
        "boxes_per_row": "q",
        "min_area": "d",
        "min_visibility": "d",
        "move_count": "i",
        "format": "i",
    },
)

ROI_LEVEL = Record(
    "RoiLevel",
    {
        "values": FEATURE_MAP,
        "gradients": FEATURE_MAP,
        "height": "i",
        "width": "i",
        "scale": "d",
        "min_area": "d",
    },
)
MAX_LEVELS = 8
ROI = Record(
    "RoiRecord",
    {
        "level": (ROI_LEVEL, MAX_LEVELS),
        "rois": TYPED_ARRAY,
        "pooled": FEATURE_MAP,
        "count": "q",
        "bin_stride": "q",
        "levels": "i",
        "samples": "i",
        "channels": "i",
        "out_height": "i",
        "out_width": "i",
        "sampling_ratio": "i",
        "aligned": "i",
        "rotated": "i",
    },
)
ROI_ARGMAX = Record("RoiArgmaxRecord", {"argmax": FEATURE_MAP, "argmax_is_int32": "q"}, base=ROI)
ROI_BACKWARD = Record("RoiBackwardRecord", {"bounds": "P", "bins": "P"}, base=ROI_ARGMAX)
