"""Six photographs of one size, with two boxes and a mask each."""

from __future__ import annotations

import numpy as np
from skimage import data
from skimage.draw import polygon2mask
from sklearn.datasets import load_sample_image

import cuaug

SIDE = 256
NAMES = ["astronaut", "chelsea", "coffee", "rocket", "china", "flower"]
# The square that is cut out of each photograph: left edge and side, in its pixels.
SQUARES = {
    "astronaut": (50, 420), "chelsea": (75, 300), "coffee": (120, 400), "rocket": (180, 427), "china": (140, 427),
    "flower": (100, 427),
}  # fmt: skip
# Read off the squares by hand, in pixels of SIDE: edges of two boxes, and the corners (x, y) of the mask's polygons.
BOXES = {
    "astronaut": [(64, 8, 154, 117), (188, 0, 254, 177)],
    "chelsea": [(50, 71, 122, 128), (187, 92, 232, 140)],
    "coffee": [(34, 11, 186, 156), (127, 150, 184, 210)],
    "rocket": [(74, 73, 96, 246), (155, 73, 176, 244)],
    "china": [(0, 17, 123, 250), (110, 196, 164, 236)],
    "flower": [(42, 51, 206, 216), (110, 224, 208, 256)],
}


def ellipse(x, y, width, height):
    """Points on the ellipse around the centre (x, y). [40, 2]"""
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    return np.stack([x + width / 2 * np.cos(angle), y + height / 2 * np.sin(angle)], axis=1)


POLYGONS = {
    "astronaut": [[
        (68, 34), (86, 14), (109, 8), (137, 16), (153, 43), (151, 69), (134, 83), (133, 94), (154, 109), (157, 137),
        (177, 154), (189, 206), (166, 220), (150, 255), (0, 255), (0, 177), (17, 154), (40, 131), (46, 103), (74, 90),
        (79, 74), (64, 57),
    ]],
    "chelsea": [ellipse(85, 99, 68, 52), ellipse(210, 117, 42, 46)],
    "coffee": [[
        (34, 60), (43, 34), (71, 17), (110, 11), (150, 17), (177, 35), (185, 60), (178, 91), (166, 123), (146, 143),
        (114, 154), (86, 150), (62, 133), (46, 103),
    ]],
    "rocket": [[(81, 80), (86, 75), (90, 80), (93, 94), (93, 245), (76, 245), (77, 94)]],
    "china": [[
        (34, 18), (45, 18), (48, 40), (71, 62), (109, 71), (104, 81), (93, 86), (91, 98), (114, 109), (94, 114),
        (98, 146), (123, 151), (103, 163), (102, 189), (120, 215), (97, 228), (97, 250), (62, 250), (34, 226), (0, 229),
        (0, 57), (26, 43),
    ]],
    "flower": [ellipse(124, 133, 164, 164)],
}  # fmt: skip


def load():
    """Photographs, masks and boxes. [N, SIDE, SIDE, 3], [N, SIDE, SIDE], [N, 2, 4]"""
    photos = [load_sample_image(f"{n}.jpg") if n in ("china", "flower") else getattr(data, n)() for n in NAMES]
    squares = [
        cuaug.resized_crop(photo, 0, left, side, side, (SIDE, SIDE), antialias=True)
        for photo, (left, side) in zip(photos, (SQUARES[name] for name in NAMES), strict=True)
    ]
    return np.stack(squares), np.stack([mask(name) for name in NAMES]), np.float32([BOXES[name] for name in NAMES])


def mask(name):
    parts = [polygon2mask((SIDE, SIDE), np.asarray(polygon)[:, ::-1]) for polygon in POLYGONS[name]]
    return np.any(parts, axis=0).astype(np.uint8)
