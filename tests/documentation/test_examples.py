"""The examples run, and print the results that they promise."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.child_process import ROOT

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.jpeg

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*arguments):
    """The output of a script."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    # The examples import each other: a safe path, with which the tests may run, would hide their folder.
    environment = os.environ | {"PYTHONPATH": path, "PYTHONSAFEPATH": "", "OMP_NUM_THREADS": "1"}
    process = subprocess.run(
        [sys.executable, *arguments],
        cwd=EXAMPLES,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


@pytest.mark.slow
def test_example_train_learns_from_files():
    message = run("train.py", "--epochs", "3")
    before, after = (int(share) for share in re.findall(r"(\d+)%", message))
    assert before < 40
    assert after > 85
    assert "five crops of china are classified as china, china, china, china, china" in message


def test_example_crops_only_equal_pixels():
    message = run("jpeg_crops.py", "--images", "48")
    assert re.search(r"crop only \d+ images/s, complete image \d+: \d\.\d\dx, equal pixels", message)


@pytest.mark.slow
def test_example_detection_learns_boxes():
    message = run("detection.py")
    before, after = (
        float(iou) for iou in re.findall(r"epoch \d: mean IoU (\d\.\d\d) with the boxes of \['cat'\]", message)
    )
    assert after > 0.22
    assert after > before + 0.05


@pytest.mark.slow
def test_example_faces_are_aligned():
    message = run("face_alignment.py", "--batch", "8")
    distance, after, before = (float(n) for n in re.findall(r"(\d+\.\d+) (?:px|levels|before)", message))
    assert distance < 5
    assert after < before / 10


@pytest.mark.slow
def test_example_ranks_share_an_epoch():
    message = run("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "ranks.py")
    assert "rank 0 of 2: 27 samples in 4 steps" in message
    assert "rank 1 of 2: 27 samples in 4 steps" in message
    assert "all 54 samples were seen once" in message


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="needs ray[data], a large package that CI does without"
)
def test_example_ray_preprocesses_a_folder():
    assert "60 images of 96x96" in run("preprocess_ray.py")
