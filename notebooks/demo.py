"""Warp real photographs, write a before/after sheet to demo.png, and print how a loop over OpenCV compares.

Runs on the GPU through CuPy, or without a GPU on the CPU through NumPy. The calls are the same.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from functools import partial
from pathlib import Path

import cv2
import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from skimage import data
from sklearn.datasets import load_sample_image

import cuaug

SIZE = 224
BATCH = 64
CANVAS = (232, 236, 241)

# Left eye, right eye and mouth, read off the two photographs by hand, (x, y) in pixels.
FACES = {"astronaut": [(203, 100), (247, 102), (225, 147)], "chelsea": [(172, 111), (314, 129), (257, 264)]}
TEMPLATE = np.float32([(64, 88), (160, 88), (112, 187)])
# The tilt, scale and shift of each portrait before its alignment: degrees, distance of the eyes in pixels, (x, y).
POSES = [
    ("astronaut", -24, 40, (8, -6)), ("chelsea", 0, 66, (14, -4)), ("astronaut", 32, 52, (-20, 22)),
    ("chelsea", 28, 52, (-16, 12)), ("astronaut", 8, 30, (26, -30)), ("chelsea", -38, 60, (16, 6)),
]  # fmt: skip
# One affine warp per photograph: degrees, (x, y) translation, scale, (x, y) shear in degrees.
WARPS = [
    (15, (0, 0), 1.0, (0, 0)), (-30, (10, 0), 0.8, (0, 0)), (0, (0, 0), 0.9, (22, 0)),
    (0, (0, 12), 1.5, (0, 0)), (55, (0, 0), 0.75, (0, 0)), (-12, (0, 0), 1.15, (0, -14)),
]  # fmt: skip
# One perspective per photograph: destinations of the corners in 0..1 of the image, clockwise from the top left.
CORNERS = [
    ((0.22, 0.08), (0.78, 0.08), (1, 1), (0, 1)), ((0, 0), (1, 0.2), (1, 0.8), (0, 1)),
    ((0, 0.2), (1, 0), (1, 1), (0, 0.8)), ((0.1, 0), (0.9, 0.1), (0.8, 1), (0, 0.85)),
    ((0, 0), (1, 0), (0.8, 0.95), (0.2, 0.95)), ((0.2, 0.05), (1, 0.15), (0.85, 0.9), (0, 1)),
]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo.png"))
    parser.add_argument("--cpu", action="store_true", help="use the CPU even if there is a GPU")
    options = parser.parse_args()
    if cuaug.is_available() and not options.cpu:
        import cupy as xp

        device = cuaug.info()["gpus"][0]["name"]
    else:
        xp, device = np, f"CPU, {os.cpu_count()} cores"

    photos = load_photos()
    names = ["astronaut", "chelsea", "coffee", "rocket", "china", "flower"]
    batch = xp.stack([cuaug.resize(square(xp.asarray(photos[name])), (SIZE, SIZE)) for name in names])
    rows = [*align(photos, xp), *warp(batch, names)]
    draw(rows, f"on {device}").savefig(options.out, dpi=100)
    print(f"wrote {options.out}: {len(rows)} rows of photographs, warped on {device}\n")
    compare(xp.concatenate([batch] * (BATCH // len(batch) + 1))[:BATCH], xp, device)


def load_photos():
    photos = {name: getattr(data, name)() for name in ("astronaut", "chelsea", "coffee", "rocket")}
    return photos | {name: load_sample_image(f"{name}.jpg") for name in ("china", "flower")}


def square(photo):
    """The largest centred square."""
    side = min(photo.shape[:2])
    return cuaug.center_crop(photo, (side, side))


def align(photos, xp):
    """Tilt two portraits in three ways each, then align the landmarks of all six to one template."""
    tilted, landmarks = [], []
    for name, degrees, new_eye_distance, shift in POSES:
        source = np.float32(FACES[name])
        center, eye_distance = source.mean(axis=0), np.linalg.norm(source[1] - source[0])
        pose = cuaug.get_rotation_matrix(degrees, new_eye_distance / eye_distance, center=center)
        pose[:, 2] += (SIZE / 2 - 0.5, SIZE / 2 - 0.5) - center + np.float32(shift)
        photo = xp.asarray(photos[name])
        tilted.append(cuaug.warp_affine(photo, pose, (SIZE, SIZE), interpolation="bicubic", fill=CANVAS))
        landmarks.append(cuaug.transform_points(source, pose))
    before, points = xp.stack(tilted), np.stack(landmarks)

    matrices = cuaug.estimate_affine(points, TEMPLATE, kind="similarity")
    after = cuaug.warp_affine(before, matrices, interpolation="bicubic", fill=CANVAS)

    aligned = cuaug.transform_points(points, matrices)
    residual = np.linalg.norm(aligned - TEMPLATE, axis=-1).mean(axis=-1)
    rotations = np.degrees(np.arctan2(matrices[:, 1, 0], matrices[:, 0, 0]))
    zooms = np.hypot(matrices[:, 0, 0], matrices[:, 1, 0])
    return [
        ("Landmark alignment", "portraits with three landmarks each", before, points, [name for name, *_ in POSES]),
        ("", 'M = estimate_affine(points, template, kind="similarity");  warp_affine(batch, M)', after, aligned,
         [f"rotated {t:.0f}°, ×{z:.2f}, {r:.1f} px off" for t, z, r in zip(rotations, zooms, residual, strict=True)]),
    ]  # fmt: skip


def warp(batch, names):
    """Warp every photograph of the batch by its own matrix."""
    angles, translations, scales, shears = (np.float32(column) for column in zip(*WARPS, strict=True))
    affine = cuaug.affine_matrix(angles, translations, scales, shears, center=(SIZE / 2, SIZE / 2))
    image_corners = np.float32([(0, 0), (1, 0), (1, 1), (0, 1)]) * (SIZE - 1)
    homography = cuaug.get_perspective_transform(image_corners, np.float32(CORNERS) * (SIZE - 1))
    return [
        ("One matrix per sample", "the batch", batch, None, names),
        ("", 'warp_affine(batch, M): one call, border="constant"', cuaug.warp_affine(batch, affine, fill=CANVAS), None,
         [caption(*row) for row in WARPS]),
        ("", 'the same matrices, border="reflect"', cuaug.warp_affine(batch, affine, border="reflect"), None, None),
        ("", "warp_perspective(batch, M): one call", cuaug.warp_perspective(batch, homography, fill=CANVAS), None,
         None),
    ]  # fmt: skip


def caption(angle, translation, scale, shear):
    parts = [f"{angle:+d}°" if angle else "", f"×{scale:.2f}" if scale != 1 else ""]
    parts += [f"shear {s:+d}°" for s in shear if s] + [f"moved {translation}" if any(translation) else ""]
    return ", ".join(part for part in parts if part)


def draw(rows, device):
    """A contact sheet: one row of photographs per step, with its call above and a caption under each photograph."""
    ink, grey, gap, left, cell = "#1d2430", "#66707f", 10, 40, SIZE
    heights = [cell + 34 + (44 if heading else 0) + (20 if captions else 0) for heading, _, _, _, captions in rows]
    width, height = 2 * left + 6 * cell + 5 * gap, sum(heights) + 110
    sheet = Figure(figsize=(width / 100, height / 100), facecolor="white")
    mpl.rcParams["font.family"] = "DejaVu Sans"

    def text(x, y, words, **style):
        sheet.text(x / width, 1 - y / height, words, va="baseline", color=style.pop("color", ink), **style)

    text(left, 52, "cuaug", fontsize=25, fontweight="bold")
    text(left + 132, 52, f"batched warps of real photographs, {device}", fontsize=14, color=grey)
    top = 84
    for heading, call, images, points, captions in rows:
        if heading:
            text(left, top + 24, heading, fontsize=15, fontweight="bold")
            top += 44
        text(left, top + 10, call, fontsize=9.5, color=grey, family="DejaVu Sans Mono")
        top += 20
        for index, image in enumerate(to_numpy(images)):
            x = left + index * (cell + gap)
            axes = sheet.add_axes((x / width, 1 - (top + cell) / height, cell / width, cell / height))
            axes.imshow(image, interpolation="none")
            axes.set_axis_off()
            if points is not None:
                for (px, py), colour in zip(points[index], ("#38bdf8", "#facc15", "#f472b6"), strict=True):
                    axes.plot(px, py, "o", ms=6, mfc=colour, mec="white", mew=1.2)
            if captions:
                text(x + cell / 2, top + cell + 15, captions[index], fontsize=9, ha="center")
        top += cell + 14 + (20 if captions else 0)
    return sheet


def compare(batch, xp, device):
    """Time each warp of the batch against a loop over cv2, and print the largest difference of any value."""
    rng = np.random.default_rng(20261120)
    angles, scales = rng.uniform(-45, 45, len(batch)), rng.uniform(0.7, 1.3, len(batch))
    affine = np.float32(cuaug.get_rotation_matrix(angles, scales, center=(SIZE / 2 - 0.5, SIZE / 2 - 0.5)))
    tilt = np.tile(np.eye(3, dtype=np.float32), (len(batch), 1, 1))
    tilt[:, 2, :2] = rng.uniform(-5e-4, 5e-4, (len(batch), 2))
    homography = np.float32(cuaug.compose_affine(affine, tilt))
    host = to_numpy(batch)
    print(f"{len(batch)} photographs of {SIZE} x {SIZE} x 3 uint8, one matrix per sample")
    print(f"cuaug on {device}; cv2 {cv2.__version__}, one image after the other, on {cv2.getNumThreads()} threads\n")
    print(f"{'':30}{'cuaug':>9}{'cv2 loop':>12}{'ratio':>11}   largest difference")
    for cuaug_warp, cv2_warp, matrices, interpolation, flag in [
        (cuaug.warp_affine, cv2.warpAffine, affine, "bilinear", cv2.INTER_LINEAR),
        (cuaug.warp_affine, cv2.warpAffine, affine, "bicubic", cv2.INTER_CUBIC),
        (cuaug.warp_perspective, cv2.warpPerspective, homography, "bilinear", cv2.INTER_LINEAR),
    ]:
        cuaug_ms, result = timed(partial(cuaug_warp, batch, xp.asarray(matrices), interpolation=interpolation), xp)
        cv2_ms, expected = timed(partial(loop, cv2_warp, host, matrices, flag), np)
        difference = np.abs(to_numpy(result).astype(int) - expected)
        print(
            f"{cuaug_warp.__name__ + ', ' + interpolation:30}{cuaug_ms:>6.2f} ms"
            f"{cv2_ms:>9.2f} ms{cv2_ms / cuaug_ms:>9.1f} x"
            f"   {difference.max()} of 255; {(difference == 0).mean():.2%} equal"
        )


def loop(warp, images, matrices, flag):
    return np.stack([warp(i, m, (SIZE, SIZE), flags=flag) for i, m in zip(images, matrices, strict=True)])


def timed(call, xp, seconds=0.5):
    """Median milliseconds of a call, synchronised with the device, and its result."""
    wait = (lambda: None) if xp is np else xp.cuda.get_current_stream().synchronize
    result = call()
    wait()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        wait()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times), result


def to_numpy(array):
    return array.get() if hasattr(array, "get") else array


if __name__ == "__main__":
    main()
