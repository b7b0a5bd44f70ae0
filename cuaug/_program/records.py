"""Which record each kernel takes, and the bytes that are packed for it: its text asserts that they are as many."""

from __future__ import annotations

from .._codecs import nvjpeg as _engine
from .._detection import nms as _nms
from .._detection import roi as _roi
from .._detection import rotated_iou as _rotated
from .._detection import soft_nms as _soft_nms
from .._fusion import draw_kernel as _draws
from .._passes import image_passes as _pass
from .names import skeleton_of

_RECORDS = {
    **_pass.RECORDS,
    "draw": ("Draw", _draws.RECORD.size),
    "cut": ("Cut", _engine.RECORD.size),
    **dict.fromkeys(_nms.KERNELS, ("Nms", _nms.RECORD.size)),
    **dict.fromkeys(("roi_average", "roi_spread"), ("Pooling", _roi.RECORD.size)),
    **dict.fromkeys(("roi", "roi_scatter"), ("PoolingPlaces", _roi.RECORD.size + _roi.PLACES.size)),
    **dict.fromkeys(("roi_regions", "roi_back"), ("PoolingBack", _roi.RECORD.size + _roi.PLACES.size + _roi.BACK.size)),
    "soft_nms": ("SoftNms", _soft_nms.RECORD.size),
    "rotated_pairs": ("RotatedIou", _rotated.RECORD.size),
}


def record_of(name: str) -> tuple[str, int]:
    """The C++ type of a kernel's argument, and the bytes that are packed for it here."""
    skeleton = skeleton_of(name)
    if skeleton == "warp":
        record = f"Warp<{name.split(', ')[3]}>"
        size = _pass.WARPS[record]
    else:
        record, size = _RECORDS[skeleton]
    return f"cuaug::{record}", size
