"""The picture of demo.py: a row of photographs for each call, above them the recipe, below them the times."""

from __future__ import annotations

import matplotlib as mpl
from demo_photographs import SIDE
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

INK, GREY, MASK = "#1d2430", "#66707f", "#22d3ee"
BOXES = ("#facc15", "#f472b6")
# Lengths in pixels; a pitch is the distance from one photograph, or bar, to the next.
GAP, MARGIN, LABEL_WIDTH = 8, 20, 80
PITCH = SIDE + GAP
HEADER_HEIGHT, BAR_PITCH, SPACE = 300, 30, 20


def draw(rows, recipe, times, work):
    """Rows of (images, masks, boxes): the first is before the recipe, the others are results of calls."""
    count = len(rows[0][0])
    width = MARGIN + LABEL_WIDTH + count * PITCH + MARGIN - GAP
    bottom = HEADER_HEIGHT + SPACE + len(rows) * PITCH
    height = bottom + 60 + len(times) * BAR_PITCH + SPACE
    mpl.rcParams["font.family"] = "DejaVu Sans"
    sheet = Figure(figsize=(width / 100, height / 100), facecolor="white")
    canvas = sheet.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))  # pixels from the top left corner
    canvas.set_axis_off()

    canvas.text(MARGIN, 50, "cuaug", fontsize=26, fontweight="bold", color=INK)
    canvas.text(
        MARGIN + 132, 50, "one recipe; every image has its own draws; its boxes and mask follow", fontsize=15,
        color=GREY,
    )  # fmt: skip
    canvas.text(MARGIN, 80, recipe, fontsize=12.5, color=INK, family="DejaVu Sans Mono", va="top", linespacing=1.3)
    for number, row in enumerate(rows):
        top = HEADER_HEIGHT + number * PITCH + (SPACE if number else 0)
        label = f"call {number}" if number else "before"
        canvas.text(MARGIN, top + SIDE / 2, label, fontsize=14, fontweight="bold", color=INK, va="center")
        for index, (image, mask, boxes) in enumerate(zip(*row, strict=True)):
            draw_sample(canvas, image, mask, boxes, MARGIN + LABEL_WIDTH + index * PITCH, top)
    draw_times(canvas, times, work, bottom + 34)
    canvas.set(xlim=(0, width), ylim=(height, 0))  # imshow has changed the limits
    return sheet


def draw_sample(canvas, image, mask, boxes, left, top):
    """A photograph at (left, top), pixel for pixel, with its mask and boxes."""
    area = left, left + SIDE, top + SIDE, top
    canvas.imshow(image, extent=area, interpolation="none", aspect="auto")
    x, y = [left + i + 0.5 for i in range(SIDE)], [top + i + 0.5 for i in range(SIDE)]
    if mask.any():
        canvas.contourf(x, y, mask, levels=[0.5, 1.5], colors=[MASK], alpha=0.3)
        canvas.contour(x, y, mask, levels=[0.5], colors=[MASK], linewidths=1.6)
    for (x1, y1, x2, y2), colour in zip(boxes, BOXES, strict=True):
        if x2 > x1 and y2 > y1:
            canvas.add_patch(Rectangle((left + x1, top + y1), x2 - x1, y2 - y1, fill=False, edgecolor=colour, lw=2.2))


def draw_times(canvas, times, work, top):
    """A bar for each time."""
    left, longest = MARGIN + LABEL_WIDTH + 300, 1000
    canvas.text(MARGIN + LABEL_WIDTH, top, f"Milliseconds for {work}", fontsize=14, fontweight="bold", color=INK)
    for index, (name, ms) in enumerate(times.items()):
        y, length = top + 20 + index * BAR_PITCH, longest * ms / max(times.values())
        canvas.text(MARGIN + LABEL_WIDTH, y + 16, name, fontsize=13, color=INK)
        colour = "#2f6fb5" if name.startswith("cuaug") else "#98a4af"
        canvas.add_patch(Rectangle((left, y), length, BAR_PITCH - 8, facecolor=colour))
        canvas.text(left + length + 10, y + 16, f"{ms:.3g}", fontsize=13, color=INK)
