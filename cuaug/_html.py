"""Tables for notebooks, as HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence


def table(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table. The texts are escaped; their line breaks are kept."""
    lines = [f"<caption>{_escaped(caption)}</caption>", _row("th", header), *(_row("td", row) for row in rows)]
    return "<table>\n" + "\n".join(lines) + "\n</table>"


def _row(cell: str, texts: Sequence[str]) -> str:
    return "<tr>" + "".join(f'<{cell} style="text-align: left">{_escaped(text)}</{cell}>' for text in texts) + "</tr>"


def _escaped(text: str) -> str:
    return html.escape(text).replace("\n", "<br>")
