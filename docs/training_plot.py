"""The plot of the training benchmark, an SVG: bars of images per second, a group for each number of processors."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape

WIDTH, LABEL_WIDTH, BAR_HEIGHT, GAP = 920, 260, 26, 8  # pixels
MAX_LENGTH = WIDTH - LABEL_WIDTH - 150  # leaves room for the numbers on the right of the bar
# The background is part of the picture: dark text on it is readable on dark pages, too.
STYLE = """\
    .heading { fill: #22303c; font-weight: bold }
    .label { fill: #22303c }
    .share { fill: #55626e }
    .step { fill: #98a4af }
    .cuaug { fill: #2f6fb5 }
    .other { fill: #c98a3c }"""


def plot(tables: list[dict[str, Any]], titles: dict[str, str]) -> str:
    """The picture of tables of ``benchmarks/training.py``; titles are by the name of a row, and choose the rows."""
    rates = [row["images_per_s"] for table in tables for row in table["rows"] if row["name"] in titles]
    lines, top = [], 20
    for table in tables:
        lines.append(f'  <text x="16" y="{top + 16}" class="heading">{table["cpus"]} processors</text>')
        top += 30
        for row in table["rows"]:
            if row["name"] in titles:
                lines += bar(row, titles[row["name"]], top, MAX_LENGTH * row["images_per_s"] / max(rates))
                top += BAR_HEIGHT + GAP
        top += 14
    title = f"ResNet-50 training on {tables[0]['device']}, images per second"
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" font-family="sans-serif" font-size="15">',
        f"  <title>{escape(title)}</title>",
        f"  <style>\n{STYLE}\n  </style>",
        f'  <rect width="{WIDTH}" height="{top}" rx="6" fill="#f6f8fa" />',
    ]
    return "\n".join([*head, *lines, "</svg>", ""])


def bar(row: dict[str, Any], title: str, top: int, length: float) -> list[str]:
    """A bar with its title on the left, and the rate and the share of the step on the right."""
    kind = "cuaug" if "cuaug" in row["name"] else "step" if row["share_of_step"] == 1 else "other"
    baseline = top + BAR_HEIGHT // 2 + 5
    return [
        f'  <text x="{LABEL_WIDTH - 12}" y="{baseline}" text-anchor="end" class="label">{escape(title)}</text>',
        f'  <rect x="{LABEL_WIDTH}" y="{top}" width="{length:.1f}" height="{BAR_HEIGHT}" rx="2" class="{kind}" />',
        f'  <text x="{LABEL_WIDTH + length + 8:.1f}" y="{baseline}" class="label">{row["images_per_s"]:,.0f}'
        f' <tspan class="share">({row["share_of_step"]:.0%})</tspan></text>',
    ]
