"""tv_tensors in the targets of a loader and of `Collate`: boxes state their format, and masks need a key for masks."""

import numpy as np
import pytest
from helpers.targets import formatted

from cuaug import transforms as T
from cuaug.data import Collate, ImageFiles, Loader

pytestmark = pytest.mark.jpeg


@pytest.mark.parametrize("recipe_format", ["XYXY", "XYWH", "CXCYWH"])
@pytest.mark.parametrize("box_format", ["XYXY", "XYWH", "CXCYWH"])
def test_loader_and_collate_convert_bounding_boxes_to_the_format_of_the_recipe(files, tv, box_format, recipe_format):
    torch = pytest.importorskip("torch")
    edges = [[5.0, 6, 25, 36], [10, 8, 20, 30]]
    recipe = T.Compose([T.RandomResizedCrop(32)], 3, boxes=T.Boxes(recipe_format))
    boxes = tv.BoundingBoxes(torch.tensor(formatted(edges, box_format)), format=box_format, canvas_size=(60, 60))
    plain = formatted(edges, recipe_format).astype(np.float32)
    data = [data for data, _ in files[:2]]
    source, expected = (ImageFiles(data, targets=[{"boxes": value}] * 2) for value in (boxes, plain))
    ((_, results),), ((_, expected_results),) = (Loader(x, 2, recipe, library="numpy") for x in (source, expected))
    collate = Collate(recipe)
    collate.set_epoch(0)
    collated = collate([source[0], source[1]]).targets
    for result, same, other in zip(results, expected_results, collated, strict=True):
        np.testing.assert_allclose(result["boxes"], same["boxes"], atol=1e-4)
        np.testing.assert_allclose(other["boxes"].numpy(), same["boxes"], atol=1e-4)
        assert type(other["boxes"]) is torch.Tensor


def test_loader_refuses_rotated_bounding_boxes(files, tv):
    torch = pytest.importorskip("torch")
    boxes = tv.BoundingBoxes(torch.ones(2, 5), format="CXCYWHR", canvas_size=(60, 60))
    source = ImageFiles([files[0][0]], targets=[{"boxes": boxes}])
    with pytest.raises(ValueError, match="'boxes' in one of the formats XYXY, XYWH, CXCYWH, got CXCYWHR for image 0"):
        list(Loader(source, 1, [T.Resize((8, 8))], library="numpy"))


def test_loader_refuses_tv_tensors_under_other_keys(files, tv):
    """A recipe finds masks by their type; the loader finds them by their key."""
    torch = pytest.importorskip("torch")
    source = ImageFiles([files[0][0]], targets=[{"m": tv.Mask(torch.ones(40, 60, dtype=torch.uint8))}])
    with pytest.raises(ValueError, match=r"^targets must have masks under a key such as 'masks', got 'm' for image 0"):
        list(Loader(source, 1, [T.Resize((8, 8))], library="numpy"))
