"""Which record each kernel takes, and the bytes that are packed for it: its text asserts that they are as many."""

from __future__ import annotations

from . import _draws, _engine, _nms, _pass, _roi, _rotated, _soft_nms
from ._names import skeleton_of

_RECORDS = {
    **_pass.RECORDS,
    "draw": ("DrawRecord", _draws.RECORD.size),
    "copy_boxes": ("CopyBoxesRecord", _engine.RECORD.size),
    **dict.fromkeys(_nms.KERNELS, ("NmsRecord", _nms.RECORD.size)),
    **dict.fromkeys(("roi_average", "roi_backward_separable"), ("RoiRecord", _roi.RECORD.size)),
    **dict.fromkeys(
        ("roi_by_sample", "roi_backward_scatter"), ("RoiArgmaxRecord", _roi.RECORD.size + _roi.PLACES.size)
    ),
    **dict.fromkeys(
        ("roi_regions", "roi_backward_gather"),
        ("RoiBackwardRecord", _roi.RECORD.size + _roi.PLACES.size + _roi.BACK.size),
    ),
    "soft_nms": ("SoftNmsRecord", _soft_nms.RECORD.size),
    "rotated_pairs": ("RotatedIouRecord", _rotated.RECORD.size),
}


def record_of(name: str) -> tuple[str, int]:
    """The C++ type of a kernel's argument, and the bytes that are packed for it here."""
    skeleton = skeleton_of(name)
    if skeleton == "warp_image":
        record = f"WarpRecord<{name.split(', ')[3]}>"
        size = _pass.WARPS[record]
    else:
        record, size = _RECORDS[skeleton]
    return f"cuaug::{record}", size
