"""Runs the notebooks and writes them with their outputs: ``python notebooks/execute.py``. Needs ``cuaug[test]``.

Pictures are stored as small JPEG files. A notebook that the reader runs shows them in full quality.
"""

from __future__ import annotations

import base64
import io
from pathlib import Path

import nbclient
import nbformat
from PIL import Image

NOTEBOOKS = sorted(Path(__file__).resolve().parent.glob("*.ipynb"))
WIDTH, QUALITY = 590, 56  # all pictures together stay within the limit of tests/documentation/test_notebooks.py


def execute(path: Path) -> nbformat.NotebookNode:
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", record_timing=False, resources={"metadata": {"path": path.parent}}
    ).execute()
    return notebook


def shrink_pictures(notebook: nbformat.NotebookNode) -> None:
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if png := output.get("data", {}).pop("image/png", None):
                output.data["image/jpeg"] = to_small_jpeg(png)


def to_small_jpeg(png: str) -> str:
    picture = Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB")
    picture.thumbnail((WIDTH, picture.height), Image.Resampling.LANCZOS)
    memory = io.BytesIO()
    picture.save(memory, "JPEG", quality=QUALITY, optimize=True)
    return base64.b64encode(memory.getvalue()).decode()


def main() -> None:
    for path in NOTEBOOKS:
        notebook = execute(path)
        shrink_pictures(notebook)
        notebook.metadata.language_info = {"name": "python"}  # without the version of this Python
        nbformat.write(notebook, path)


if __name__ == "__main__":
    main()
