"""Other libraries' names for the values of options, and what to pass in their place: for messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# The key is a name in lower case, or the number of a constant of cv2.
BORDERS: Mapping[Any, str] = {
    0: 'cv2.BORDER_CONSTANT is "constant"',
    1: 'cv2.BORDER_REPLICATE is "edge"',
    2: 'cv2.BORDER_REFLECT is "symmetric"',
    3: 'cv2.BORDER_WRAP is "wrap"',
    4: 'cv2.BORDER_REFLECT_101 is "reflect"',
    **dict.fromkeys(("border_constant", "zeros"), 'pass "constant"'),
    **dict.fromkeys(("border", "border_replicate", "clamp", "nearest", "replicate"), 'pass "edge"'),
    **dict.fromkeys(("border_reflect", "reflection"), 'pass "symmetric"'),
    **dict.fromkeys(("border_reflect101", "border_reflect_101", "reflect101", "reflect_101"), 'pass "reflect"'),
    **dict.fromkeys(("border_wrap", "circular", "grid-wrap", "periodic", "repeat"), 'pass "wrap"'),
}
INTERPOLATIONS: Mapping[Any, str] = {
    "inter_nearest": 'pass "nearest"',
    **dict.fromkeys(("inter_linear", "linear"), 'pass "bilinear"'),
    **dict.fromkeys(("cubic", "inter_cubic"), 'pass "bicubic"'),
    **dict.fromkeys(("inter_lanczos4", "lanczos4"), 'pass "lanczos"'),
    "inter_area": 'pass "area" to cuaug.resize',
}
# The numbers of Pillow and cv2, whose meaning depends on the library: for ``python -m cuaug migrate``.
PILLOW_INTERPOLATIONS: Mapping[int, str] = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic"}
CV2_INTERPOLATIONS: Mapping[int, str] = {0: "nearest", 1: "bilinear", 2: "bicubic", 3: "area", 4: "lanczos"}
_IN_PIXELS = ", and boxes in pixels: multiply them by (W, H, W, H)"
BOX_FORMATS: Mapping[str, str] = {
    "coco": 'pass "XYWH"',
    "pascal_voc": 'pass "XYXY"',
    **dict.fromkeys(("albumentations", "xyxyn"), f'pass "XYXY"{_IN_PIXELS}'),
    "xywhn": f'pass "XYWH"{_IN_PIXELS}',
    **dict.fromkeys(("yolo", "cxcywhn"), f'pass "CXCYWH"{_IN_PIXELS}'),
}


def value_hint(value: Any, allowed: Iterable[str | None], advice: Mapping[Any, str]) -> str:
    """The end of the message about a value that is not allowed: the allowed value that differs in case, or advice."""
    names = {name.lower(): f"pass {name!r}" for name in allowed if name is not None}
    key = value.lower() if isinstance(value, str) else value
    text = {**advice, **names}.get(key) if type(key) in (int, str) else None
    return f": {text}" if text else ""
