"""The examples run from end to end, and end with the result that they promise."""

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
    """What a script prints."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=EXAMPLES,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_example_train_learns_from_files():
    said = run("train.py", "--epochs", "3")
    before, after = (int(share) for share in re.findall(r"(\d+)%", said))
    assert before < 40
    assert after > 85
    assert "five crops of china are classified as china, china, china, china, china" in said


def test_example_crops_only_equal_pixels():
    said = run("jpeg_crops.py", "--images", "48")
    assert re.search(r"crop only \d+ images/s, complete image \d+: \d\.\d\dx, equal pixels", said)


@pytest.mark.slow
def test_example_faces_are_aligned():
    said = run("face_alignment.py", "--batch", "8")
    apart, after, before = (float(n) for n in re.findall(r"(\d+\.\d+) (?:px|levels|before)", said))
    assert apart < 5
    assert after < before / 10


@pytest.mark.slow
def test_example_ranks_share_an_epoch():
    said = run("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "ranks.py")
    assert "rank 0 of 2: 27 samples in 4 steps" in said
    assert "rank 1 of 2: 27 samples in 4 steps" in said
    assert "all 54 samples were seen once" in said


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="needs ray[data], a large package that CI does without"
)
def test_example_ray_preprocesses_a_folder():
    assert "60 images of 96x96" in run("preprocess_ray.py")
