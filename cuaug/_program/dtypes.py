"""The dtypes of images and of label masks, the size of an element, and the largest values of integer images."""

from __future__ import annotations

# Ops read and write IMAGE_DTYPES. The pixels of a label mask are moved unchanged.
IMAGE_DTYPES = ("uint8", "uint16", "int16", "float16", "bfloat16", "float32", "float64")
LABEL_DTYPES = ("bool", "uint8", "int16", "int32", "int64")
ITEM_SIZE = {
    "bool": 1,
    "uint8": 1,
    "int8": 1,
    "uint16": 2,
    "int16": 2,
    "float16": 2,
    "bfloat16": 2,
    "int32": 4,
    "float32": 4,
    "int64": 8,
    "float64": 8,
}
# Limits of a fill; beyond them it is refused. A fill is a float64, and the largest one below 2**63 is 2**63 - 2**10.
# Functions clamp the fill of other label dtypes.
LABEL_LIMITS = {"bool": (0, 1), "int32": (-(1 << 31), (1 << 31) - 1), "int64": (-(1 << 63), (1 << 63) - (1 << 10))}
MAX_VALUE = {"uint8": 255.0, "uint16": 65535.0, "int16": 32767.0}  # float images: 1
