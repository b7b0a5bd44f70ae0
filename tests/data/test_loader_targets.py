"""A loader moves boxes, masks and keypoints as a call of the recipe with the whole decoded image does."""

import io
import json
import tarfile

import numpy as np
import pytest
from helpers.compare import assert_equal
from helpers.loader import RECIPES
from helpers.loader_checks import ONE_LEVEL

import cuaug.io
from cuaug import transforms as T
from cuaug.data import Collate, ImageFiles, Loader, coco, voc

pytestmark = pytest.mark.jpeg

SAMPLES = 11
DETECTION = {
    **RECIPES,
    "crop and rotation": [T.RandomResizedCrop(48), T.RandomRotation(30), T.RandomHorizontalFlip()],
    "rotation of the whole image": [T.RandomRotation(30), T.Resize((40, 48))],
    "crop alone": [T.RandomResizedCrop((24, 40))],
    "random crop alone": [T.RandomCrop(48)],
    "crop and function": [T.RandomCrop(48), T.Lambda(lambda image: image), T.RandomRotation(30)],
}
FORMATS = {
    "XYXY": T.Boxes(),
    "XYWH": T.Boxes("XYWH", min_visibility=0.3),
    "CXCYWH": T.Boxes("CXCYWH", min_area=20),
    "compact": T.Boxes(min_visibility=0.2, compact=True),
}


def whole_image(files, i):
    return cuaug.io.decode_jpeg(files[i][0])


def target_of(files, i, keys=("boxes", "labels", "area", "keypoints", "name")):
    """A target with `i % 4` objects in the format XYXY."""
    rng, count = np.random.default_rng(i), i % 4
    height, width, _ = whole_image(files, i).shape
    corners = np.sort(rng.uniform(0, 1, (count, 2, 2)), 1).reshape(count, 4) * [width, height, width, height]
    target = {
        "boxes": corners.astype(np.float32),
        "labels": rng.integers(0, 9, count),
        "area": rng.uniform(1, 9, count),
        "keypoints": np.concatenate(
            [rng.uniform(0, 1, (count, 5, 2)) * [width, height], rng.integers(0, 3, (count, 5, 1))], 2
        ).astype(np.float32),
        "masks": rng.integers(0, 2, (count, height, width)).astype(np.uint8),
        "name": f"sample {i}",
    }
    return {key: target[key] for key in keys}


def expected_target(files, target, recipe, i, epoch):
    arrays = {key: value for key, value in target.items() if isinstance(value, np.ndarray)}
    _, (result,) = recipe(([whole_image(files, i)], [arrays]), ids=[i], step=epoch)
    return {**target, **result}


def assert_targets_equal(result, expected):
    assert result.keys() == expected.keys()
    for key, value in expected.items():
        if not isinstance(value, np.ndarray):
            assert result[key] == value
            continue
        assert result[key].shape == value.shape, key
        assert result[key].dtype == value.dtype, key
        np.testing.assert_allclose(result[key], value, atol=1e-3, rtol=1e-5, err_msg=key)


@pytest.mark.parametrize("dct_scale", [False, True])
@pytest.mark.parametrize("boxes", FORMATS)
@pytest.mark.parametrize("name", DETECTION)
def test_loader_targets_equal_recipe_of_whole_images(files, name, boxes, dct_scale):
    files = files[:SAMPLES]
    recipe = T.Compose(DETECTION[name], 3, boxes=FORMATS[boxes], keypoints=T.Keypoints(flip_pairs=[(0, 1)]))
    targets = [target_of(files, i) for i in range(SAMPLES)]
    source = ImageFiles([data for data, _ in files], targets=targets)
    loader = Loader(source, 4, recipe, library="numpy", dct_scale=dct_scale)
    loader.epoch = 2
    results = [target for _, batch_targets in loader for target in batch_targets]
    assert len(results) == SAMPLES
    for i, result in enumerate(results):
        assert_targets_equal(result, expected_target(files, targets[i], recipe, i, 2))


@pytest.mark.parametrize("name", ["crop and flip", "crop and rotation", "random crop", "validation"])
def test_loader_masks_equal_recipe_of_whole_images(files, name):
    files = files[:SAMPLES]
    recipe = T.Compose(DETECTION[name], 3)
    targets = [target_of(files, i, ("boxes", "masks")) for i in range(SAMPLES)]
    source = ImageFiles([data for data, _ in files], targets=targets)
    ids = []
    for batch in Loader(source, 4, recipe, shuffle=True, library="numpy"):
        for image, result, i in zip(batch.images, batch.targets, batch.ids.tolist(), strict=True):
            assert result["masks"].shape[1:] == image.shape[:2]
            assert_targets_equal(result, expected_target(files, targets[i], recipe, i, 0))
            assert_equal(image, recipe(whole_image(files, i)[None], ids=[i], step=0)[0], tolerance=ONE_LEVEL)
        ids += batch.ids.tolist()
    assert sorted(ids) == list(range(SAMPLES))


def test_loader_targets_function_is_called_with_the_path(files, tmp_path):
    paths = [tmp_path / f"{i}.jpg" for i in range(3)]
    for path, (data, _) in zip(paths, files, strict=False):
        path.write_bytes(data)
    names = []

    def label(name):
        names.append(name)
        return len(names)

    ((_, labels),) = Loader(ImageFiles(paths, targets=label), 3, [T.Resize((8, 8))], library="numpy")
    assert names == [str(path) for path in paths]
    assert labels.dtype == np.int64
    assert labels.tolist() == [1, 2, 3]
    in_memory = ImageFiles([data for data, _ in files[:3]], targets=lambda index: 10 * index)
    assert [in_memory[i][1] for i in range(3)] == [0, 10, 20]


@pytest.mark.parametrize("on_error", ["skip", "replace"])
def test_loader_targets_follow_bad_files(files, on_error):
    files = files[:6]
    recipe = T.Compose(DETECTION["crop and flip"], 3)
    targets = [target_of(files, i) for i in range(6)]
    data = [data if i != 2 else b"damaged" for i, (data, _) in enumerate(files)]
    loader = Loader(ImageFiles(data, targets=targets), 4, recipe, library="numpy", on_error=on_error, last="pad")
    ids = []
    for batch in loader:
        ids.append(batch.ids.tolist())
        assert len(batch.targets) == len(batch.images) == len(batch.ids)
        for i, target in zip(batch.ids.tolist(), batch.targets, strict=True):
            assert_targets_equal(target, expected_target(files, targets[i], recipe, i, 0))
    assert ids == ([[0, 1, 3], [4, 5, 0, 1]] if on_error == "skip" else [[0, 1, 0, 3], [4, 5, 0, 1]])  # 0, 1: padding


def test_loader_targets_with_only_bad_files_are_empty():
    loader = Loader(
        ImageFiles([b"bad", b"worse"], targets=[{"boxes": np.zeros((0, 4))}] * 2),
        2,
        [T.RandomResizedCrop(8)],
        library="numpy",
        on_error="skip",
        max_bad=None,
    )
    ((images, targets),) = loader
    assert len(images) == 0
    assert targets == []


def test_loader_targets_of_torch_are_views_of_one_block(files):
    torch = pytest.importorskip("torch")
    files = files[:4]
    recipe = T.Compose([T.RandomResizedCrop(32), T.RandomHorizontalFlip()], 3)
    keys = ("boxes", "labels", "area", "name")
    targets = [target_of(files, i, keys) for i in range(4)]
    source = ImageFiles([data for data, _ in files], targets=targets)
    ((_, results),) = Loader(source, 4, recipe, library="torch")
    assert all(isinstance(target["boxes"], torch.Tensor) for target in results)
    pointers = {target["area"].untyped_storage().data_ptr() for target in results}
    assert len(pointers) == 1
    for i, result in zip(range(4), results, strict=True):
        arrays = {key: value.numpy() if isinstance(value, torch.Tensor) else value for key, value in result.items()}
        assert_targets_equal(arrays, expected_target(files, targets[i], recipe, i, 0))


@pytest.mark.filterwarnings("ignore:.*fork")  # JAX, if another test has imported it, warns of its threads
@pytest.mark.parametrize("workers", [0, pytest.param(1, marks=pytest.mark.alone)])
def test_collate_targets_equal_those_of_a_loader(files, workers):
    data = pytest.importorskip("torch.utils.data")
    recipe = T.Compose(DETECTION["crop and rotation"], 3)
    source = ImageFiles([data for data, _ in files[:4]], targets=[target_of(files, i) for i in range(4)])
    collate = Collate(recipe)
    collate.set_epoch(0)
    batches = list(data.DataLoader(source, 2, collate_fn=collate, num_workers=workers))
    for batch, expected in zip(batches, Loader(source, 2, recipe, library="torch"), strict=True):
        for target, expected_target in zip(batch.targets, expected.targets, strict=True):
            assert target.keys() == expected_target.keys()
            assert target["name"] == expected_target["name"]
            for key in ("boxes", "labels", "area", "keypoints", "valid"):
                assert_equal(target[key], expected_target[key])


def test_loader_targets_do_not_change_those_of_the_user(files):
    targets = [target_of(files, i) for i in range(4)]
    copies = [{key: np.copy(value) for key, value in target.items()} for target in targets]
    source = ImageFiles([data for data, _ in files[:4]], targets=targets)
    ((_, results),) = Loader(source, 4, library="numpy", transform=[T.RandomCrop(40)])
    for result in results:
        for value in (result["boxes"], result["labels"]):
            value[...] = 77
    for target, copy in zip(targets, copies, strict=True):
        assert all(np.array_equal(target[key], copy[key]) for key in target)


SOURCES = ["coco", "voc", "a function of coco's", "BoundingBoxes"]


def targets_that_state_their_format(source, tmp_path, paths):
    """Each image has the box (8, 4, 40, 24) in the format XYXY."""
    if source == "voc":
        box = "<bndbox><xmin>9</xmin><ymin>5</ymin><xmax>40</xmax><ymax>24</ymax></bndbox>"
        for path in paths:
            text = f"<annotation><object><name>cat</name>{box}</object></annotation>"
            (tmp_path / f"{path.stem}.xml").write_text(text)
        return voc(tmp_path)
    if source == "BoundingBoxes":
        torch, tv = pytest.importorskip("torch"), pytest.importorskip("torchvision.tv_tensors")
        boxes = tv.BoundingBoxes(torch.tensor([[24.0, 14, 32, 20]]), format="CXCYWH", canvas_size=(60, 60))
        return [{"boxes": boxes, "labels": [0]}] * len(paths)
    content = {
        "images": [{"id": i, "file_name": path.name} for i, path in enumerate(paths)],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [{"image_id": i, "category_id": 1, "bbox": [8, 4, 32, 20]} for i, _ in enumerate(paths)],
    }
    (tmp_path / "instances.json").write_text(json.dumps(content))
    read = coco(tmp_path / "instances.json")
    if source == "coco":
        return read

    def visible(path):
        target = read(path)
        is_object = target["iscrowd"] == 0
        return {"boxes": target["boxes"][is_object], "labels": target["labels"][is_object] + 1}

    return visible


@pytest.mark.parametrize("collates", [False, True], ids=["Loader", "Collate"])
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("box_format", ["XYXY", "XYWH", "CXCYWH"])
def test_loader_converts_boxes_that_state_their_format(files, tmp_path, source, box_format, collates):
    paths = [tmp_path / f"{i}.jpg" for i in range(2)]
    for path, (data, _) in zip(paths, files, strict=False):
        path.write_bytes(data)
    images = ImageFiles(paths, targets=targets_that_state_their_format(source, tmp_path, paths))
    recipe = T.Compose(
        [T.RandomResizedCrop(32, scale=(0.9, 1)), T.RandomHorizontalFlip()], 5, boxes=T.Boxes(box_format)
    )
    if collates:
        collate = Collate(recipe)
        collate.set_epoch(0)
        targets = collate([images[0], images[1]]).targets
    else:
        ((_, targets),) = Loader(images, 2, recipe, library="numpy")
    box = {"XYXY": (8.0, 4, 40, 24), "XYWH": (8.0, 4, 32, 20), "CXCYWH": (24.0, 14, 32, 20)}[box_format]
    for i, target in zip(range(2), targets, strict=True):
        given = {"boxes": np.array([box], np.float32)}
        expected = expected_target(files, given, recipe, i, 0)["boxes"]
        np.testing.assert_allclose(np.asarray(target["boxes"]), expected, atol=1e-3)


BAD_TARGETS = {
    r"targets must have 'boxes' of shape \[B, 4\], got \(3,\) for image 0": {"boxes": np.zeros(3)},
    r"targets must have 'keypoints' of shape .*, got \(2, 4\) for image 0": {"keypoints": np.zeros((2, 4))},
    r"targets must have 'labels' for each of the 2 boxes, got 3 for image 0": {
        "boxes": np.zeros((2, 4)),
        "labels": [1, 2, 3],
    },
    r"targets must have 'labels' for each of the 1 boxes, got 2 for image 0": {
        "boxes": [[1, 2, 3, 4]],
        "labels": ["a", "b"],
    },
    r"targets must have 'valid' for each of the 1 boxes, got 2 for image 0": {
        "boxes": [[1, 2, 3, 4]],
        "valid": [True, False],
    },
    r"targets must have integers of 64 bits as 'labels', got 9223372036854775813 for image 0": {
        "labels": np.array([2**63 + 5], np.uint64)
    },
    r"a masked array has values that are not valid: .*, as 'boxes' for image 0": {"boxes": np.ma.zeros((1, 4))},
    r"targets must not have 'image', the image is the file's, for image 0": {"image": np.zeros((2, 2))},
    r"targets must be dicts, or integers, got 'cat' for image 0": "cat",
    r"targets must have rows of numbers as 'boxes', got \[\['a', 'a', 'a', 'a'\]\] for image 0": {"boxes": [["a"] * 4]},
    r"targets must have rows of numbers as 'boxes', got \[\[1, 2\], \[3\]\] for image 0": {"boxes": [[1, 2], [3]]},
    r"targets must be dicts, or integers of 64 bits, got 9223372036854775808 for image 0": 1 << 63,
    r"targets must all be dicts or all be integers, got int for image 1": None,
}


@pytest.mark.parametrize("message", BAD_TARGETS)
def test_loader_refuses_bad_targets(files, message):
    bad = BAD_TARGETS[message]
    targets = [bad] * 2 if bad is not None else [{"boxes": np.zeros((0, 4))}, 3]
    source = ImageFiles([data for data, _ in files[:2]], targets=targets)
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        list(Loader(source, 2, [T.Resize((8, 8))], library="numpy"))


def test_image_files_refuses_targets_of_another_number():
    with pytest.raises(ValueError, match=r"^cuaug.data.ImageFiles: targets must be one for each of 2 images, got 1"):
        ImageFiles([b"a", b"b"], targets=[1])
    with pytest.raises(ValueError, match=r"^cuaug.data.ImageFiles: labels must not be given beside targets"):
        ImageFiles([b"a"], labels=[1], targets=[1])
    with pytest.raises(
        TypeError, match=r"^cuaug.data.ImageFiles: targets must be a function, a dict or a seq.*, got int"
    ):
        ImageFiles([b"a"], targets=1)


def test_loader_targets_continue_from_a_state(files):
    targets = [{"boxes": np.array([[1.0, 1, 20, 20 + i]]), "labels": np.array([i])} for i in range(9)]
    source = ImageFiles([data for data, _ in files[:9]], targets=targets)

    def loader():
        return Loader(source, 3, T.Compose(DETECTION["crop and flip"], 1), shuffle=True, library="numpy")

    first = loader()
    iterator = iter(first)
    next(iterator)
    state, second = first.state_dict(), loader()
    second.load_state_dict(state)
    batches, expected_batches = list(second), list(iterator)
    assert len(batches) == 2
    for batch, expected in zip(batches, expected_batches, strict=True):
        for i, target, other in zip(batch.ids.tolist(), batch.targets, expected.targets, strict=True):
            assert target["labels"].tolist() == [i]
            assert_targets_equal(target, other)


def test_loader_targets_of_a_shard(files, tmp_path):
    """A function gets the index of the image; `.cls` files give way to targets."""
    shard = tmp_path / "shard.tar"
    with tarfile.open(shard, "w") as tar:
        for i, (data, _) in enumerate(files[:3]):
            for name, content in ((f"{i}.jpg", data), (f"{i}.cls", b"7")):
                member = tarfile.TarInfo(name)
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    recipe = T.Compose(DETECTION["crop and flip"], 3)
    targets = [target_of(files, i) for i in range(3)]
    for given in (targets, lambda index: targets[index]):
        ((_, results),) = Loader(ImageFiles(shard, targets=given), 3, recipe, library="numpy")
        for i, result in zip(range(3), results, strict=True):
            assert_targets_equal(result, expected_target(files, targets[i], recipe, i, 0))


def test_loader_compact_removes_difficult_with_the_boxes(files):
    """`difficult` is an entry of VOC targets that an evaluation reads beside the boxes."""
    boxes = np.array([[0, 0, 3, 3], [0, 0, 500, 500], [1, 1, 2, 2]], np.float32)
    target = {"boxes": boxes, "labels": np.array([4, 5, 6]), "difficult": np.array([0, 1, 0])}
    recipe = T.Compose([T.CenterCrop(40)], boxes=T.Boxes(compact=True))
    ((_, (result,)),) = Loader(ImageFiles([files[0][0]], targets=[target]), 1, recipe, library="numpy")
    assert result["labels"].tolist() == [5]
    assert result["difficult"].tolist() == [1]
    assert recipe({"image": np.zeros((60, 60, 3), np.uint8), **target})["difficult"].tolist() == [1]
