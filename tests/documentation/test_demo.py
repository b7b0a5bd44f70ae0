"""The script of `make demo` runs. It compares the results of cuaug with those of OpenCV before it times both."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

DEMO = Path(__file__).parents[2] / "notebooks" / "demo.py"


@pytest.mark.slow
def test_demo_writes_the_picture_and_times_cuaug_and_opencv(tmp_path):
    process = subprocess.run(
        [sys.executable, str(DEMO), "--cpu", "--out", str(tmp_path / "demo.png")],
        env=os.environ | {"PYTHONSAFEPATH": ""},  # the script imports others of its folder
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert process.returncode == 0, process.stdout + process.stderr
    assert re.search(r"^cuaug, CPU, \d+ threads? +[\d.]+ +[\d,]+$", process.stdout, re.M), process.stdout
    assert re.search(r"^OpenCV [\d.]+, \d+ threads? +[\d.]+ +[\d,]+$", process.stdout, re.M), process.stdout
    picture = np.asarray(Image.open(tmp_path / "demo.png").convert("RGB"))
    assert picture.shape[1] in range(1500, 1800)
    outlines = {"mask": (34, 211, 238), "first box": (250, 204, 21), "second box": (244, 114, 182)}
    for name, colour in outlines.items():
        assert (picture == colour).all(axis=2).sum() > 1000, name
