"""Masks of `coco`: polygons and runs, as pycocotools decodes them."""

import json

import numpy as np
import pytest
from helpers.annotations import COCO, write_annotations

from cuaug.data import coco


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of pycocotools
def test_coco_masks_equal_polygons_and_runs(tmp_path):
    path = write_annotations(tmp_path, COCO)
    try:
        import pycocotools.mask  # noqa: F401
    except ImportError:
        with pytest.raises(RuntimeError, match=r"^masks=True needs pycocotools: pip install pycocotools"):
            coco(path, masks=True)
        pytest.skip("pycocotools is not installed")
    masks = coco(path, masks=True)("a.jpg")["masks"]
    assert masks.shape == (2, 40, 50)
    assert masks.dtype == np.uint8
    expected = np.zeros((2, 40, 50), np.uint8)
    expected[0, 2:22, 1:11] = 1
    expected[1, :, 0] = 1  # 40 pixels, column by column
    assert np.array_equal(masks, expected)
    assert coco(path, masks=True)("b.jpg")["masks"].shape == (0, 30, 20)


SEGMENTATIONS = {
    r"a polygon has x and y of three or more points, numbers in -1e6..1e6": [
        *([], [[1, 2, 3, 4]], [[None] * 6], [[1] * 7], [["a"] * 6], [[1, 2, 1e9, 2, 11, 22]])
    ],
    r"runs have 'size' and 'counts', got": [None, "x", {}, {"counts": [2000]}],
    r"a run has at most 64 bits": [{"counts": "o" * 1_000_000, "size": [40, 50]}],
    r"the runs must have 2000 pixels, those of the image": [
        {"counts": counts, "size": [40, 50]} for counts in ([10, 20, 30], [0, 2001], [-1, 2001], [0.5, 1999.5], "")
    ],
    r"the last run has no end": [{"counts": counts, "size": [40, 50]} for counts in ("PPP", "`n1P")],
}


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of pycocotools
@pytest.mark.parametrize("message", SEGMENTATIONS)
def test_coco_refuses_segmentations_that_are_no_masks(tmp_path, message):
    """pycocotools returns memory that it has not written for runs of fewer pixels than the image has."""
    pytest.importorskip("pycocotools.mask")
    for value in SEGMENTATIONS[message]:
        content = json.loads(json.dumps(COCO))
        content["annotations"] = [{**content["annotations"][0], "segmentation": value}]
        image = next(entry for entry in content["images"] if entry["id"] == content["annotations"][0]["image_id"])
        targets = coco(write_annotations(tmp_path, content), masks=True)
        with pytest.raises(ValueError, match=f"instances.json must have polygons or runs as 'segmentation': {message}"):
            targets(image["file_name"])


def test_coco_refuses_images_without_pixels(tmp_path):
    pytest.importorskip("pycocotools.mask")
    for key in ("height", "width"):
        content = json.loads(json.dumps(COCO))
        content["images"][1][key] = 0
        with pytest.raises(ValueError, match=rf"images\[1\]\['{key}'\] of .*instances.json must be at least 1, got 0"):
            coco(write_annotations(tmp_path, content), masks=True)


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of pycocotools
def test_coco_reads_compressed_runs_as_pycocotools(tmp_path):
    """Runs of many lengths.

    From the fourth on, the text stores the difference from the run two before, which is negative for a shorter run.
    """
    coco_masks = pytest.importorskip("pycocotools.mask")
    content = json.loads(json.dumps(COCO))
    for seed in range(20):
        rng = np.random.default_rng(seed)
        mask = (np.kron(rng.random((40 // 4, 50 // 5)), np.ones((4, 5))) > rng.random()).astype(np.uint8)
        mask ^= (rng.random(mask.shape) < 0.05 * (seed % 3)).astype(np.uint8)
        runs = coco_masks.encode(np.asfortranarray(mask))
        segmentation = {"size": runs["size"], "counts": runs["counts"].decode()}
        content["annotations"] = [{**COCO["annotations"][0], "segmentation": segmentation}]
        name = next(e["file_name"] for e in content["images"] if e["id"] == content["annotations"][0]["image_id"])
        assert np.array_equal(coco(write_annotations(tmp_path, content), masks=True)(name)["masks"], mask[None])
