"""Annotation files of COCO and Pascal VOC become targets; malformed ones are named with their field."""

import itertools
import json
import pickle

import numpy as np
import pytest
from helpers.annotations import COCO, write_annotations
from tables.untrusted import mutations

from cuaug import transforms as T
from cuaug.data import coco, voc

VOC = """<annotation><filename>{name}.jpg</filename>
<object><name>dog</name><difficult>1</difficult>
<part><name>head</name><bndbox><xmin>2</xmin><ymin>2</ymin><xmax>3</xmax><ymax>3</ymax></bndbox></part>
<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>30</xmax><ymax>40.5</ymax></bndbox></object>
<object><name>cat</name><bndbox><xmin>5</xmin><ymin>6</ymin><xmax>7</xmax><ymax>8</ymax></bndbox></object>
</annotation>"""


def test_coco_gives_targets_by_file_name(tmp_path):
    targets = pickle.loads(pickle.dumps(coco(write_annotations(tmp_path, COCO))))
    assert targets.classes == ["person", "dog"]
    target = targets("train2017/a.jpg")
    assert target["image_id"] == 7
    expected = {
        "boxes": (np.float32, [[1, 2, 11, 22], [0, 0, 5, 5]]),
        "labels": (np.int64, [1, 0]),
        "area": (np.float32, [150.5, 25]),
        "iscrowd": (np.int64, [0, 1]),
        "keypoints": (np.float32, [[[3, 4, 2], [5, 6, 1]], [[0, 0, 0], [1, 1, 2]]]),
    }
    assert target.keys() == {"image_id", *expected}
    for key, (dtype, value) in expected.items():
        assert target[key].dtype == dtype
        assert target[key].tolist() == value
    empty = targets("b.jpg")
    assert empty["image_id"] == 3
    assert empty["boxes"].shape == (0, 4)
    assert empty["keypoints"].shape == (0, 2, 3)
    with pytest.raises(ValueError, match=r"instances.json has no image 'train2017/c.jpg'"):
        targets("train2017/c.jpg")
    with pytest.raises(TypeError, match=r"coco needs images with a path, got image 3"):
        targets(3)


COCO_ERRORS = {
    r"instances.json must be JSON": "{",
    r"instances.json must be a dict with the list 'images', got None": {},
    r"annotations\[0\]\['bbox'\] of .*instances.json must be 4 finite numbers, got \[1, 2\]": (
        "annotations",
        0,
        "bbox",
        [1, 2],
    ),
    r"annotations\[1\]\['category_id'\] of .*instances.json must be the id of a category, got 5": (
        "annotations",
        1,
        "category_id",
        5,
    ),
    r"annotations\[1\]\['image_id'\] of .*instances.json must be the id of an image, got 'x'": (
        "annotations",
        1,
        "image_id",
        "x",
    ),
    r"instances.json must be a dict with the list 'images', got \[1, 2\]": [1, 2],
    r"images\[1\]\['id'\] of .*instances.json must be another one than that of images\[0\], got 7": (
        "images",
        1,
        "id",
        7,
    ),
    r"images\[1\]\['file_name'\] of .*instances.json must be another one than that of images\[0\], got 'a.jpg'": (
        "images",
        1,
        "file_name",
        "./a.jpg",
    ),
    r"categories\[1\]\['id'\] of .*instances.json must be another one than that of categories\[0\], got 1": (
        "categories",
        0,
        "id",
        1,
    ),
    r"annotations\[1\]\['keypoints'\] of .*instances.json must be 6 finite numbers, got \[1, 2, 2\]": (
        "annotations",
        1,
        "keypoints",
        [1, 2, 2],
    ),
    r"annotations\[0\]\['bbox'\] of .*instances.json must be x, y, width and height, neither .* negative, got \[1.0,": (
        "annotations",
        0,
        "bbox",
        [1, 2, 10, -1],
    ),
}


@pytest.mark.parametrize("message", COCO_ERRORS)
def test_coco_names_file_and_field(tmp_path, message):
    content = COCO_ERRORS[message]
    if isinstance(content, tuple):
        key, index, field, value = content
        content = json.loads(json.dumps(COCO))
        content[key][index][field] = value
    with pytest.raises(ValueError, match=r"^cuaug.data.coco: .*" + message):
        coco(write_annotations(tmp_path, content))


def test_coco_takes_keypoints_by_category(tmp_path):
    """An object of a category with fewer keypoints than another category has zeros after its own keypoints."""
    content = json.loads(json.dumps(COCO))
    content["categories"][0]["keypoints"] = ["tail"]
    content["annotations"][0]["keypoints"] = [3, 4, 2]
    keypoints = coco(write_annotations(tmp_path, content))("a.jpg")["keypoints"]
    assert keypoints.tolist() == [[[3, 4, 2], [0, 0, 0]], [[0, 0, 0], [1, 1, 2]]]
    content["annotations"][0]["keypoints"] = [3, 4, 2, 5, 6, 1]
    with pytest.raises(ValueError, match=r"annotations\[0\]\['keypoints'\] of .* must be 3 finite numbers, got"):
        coco(write_annotations(tmp_path, content))


def test_coco_takes_objects_with_an_empty_list_of_keypoints(tmp_path):
    content = json.loads(json.dumps(COCO))
    content["annotations"][1]["keypoints"] = []
    keypoints = coco(write_annotations(tmp_path, content))("a.jpg")["keypoints"]
    del content["annotations"][1]["keypoints"]
    assert keypoints.tolist() == coco(write_annotations(tmp_path, content))("a.jpg")["keypoints"].tolist()


def test_coco_takes_categories_with_equal_names(tmp_path):
    content = json.loads(json.dumps(COCO))
    content["categories"][0]["name"] = "person"
    targets = coco(write_annotations(tmp_path, content))
    assert targets.classes == ["person", "person"]
    assert targets("a.jpg")["labels"].tolist() == [1, 0]


@pytest.mark.slow
def test_coco_raises_no_error_but_value_error_for_mutated_files(tmp_path):
    """Every 23rd mutation; some are valid files."""
    errors = []
    for _, content in itertools.islice(mutations(COCO), None, None, 23):
        try:
            path = write_annotations(tmp_path, content)
        except (TypeError, ValueError, RecursionError):  # JSON cannot hold the content
            continue
        try:
            coco(path)("a.jpg")
        except ValueError as error:
            errors.append(str(error))
    assert len(errors) > 20
    assert all("instances.json" in error for error in errors)


def test_voc_gives_targets_by_stem(tmp_path):
    (tmp_path / "a.xml").write_text(VOC.format(name="a"))
    targets = voc(tmp_path)
    assert targets.classes[11] == "dog"
    target = targets("JPEGImages/a.jpg")
    assert target["boxes"].dtype == np.float32
    assert target["boxes"].tolist() == [[0, 1, 30, 40.5], [4, 5, 7, 8]]
    assert target["labels"].tolist() == [11, 7]
    assert target["difficult"].tolist() == [1, 0]
    assert voc(tmp_path, classes=["cat", "dog"])("a.jpg")["labels"].tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"a.xml has the class 'dog', which classes= does not name"):
        voc(tmp_path, classes=["cat"])("a.jpg")


VOC_ERRORS = {
    "a.xml must be XML": "<annotation>",
    "a.xml must have the root element 'annotation', got 'html'": "<html><body>404</body></html>",
    "a.xml must not declare a document type": '<!DOCTYPE a [<!ENTITY e "dog">]><annotation>&e;</annotation>',
    "a.xml must have numbers as 'xmax' of each object, got None": VOC.replace("<xmax>30</xmax>", ""),
    "a.xml must have numbers as 'ymin' of each object, got 'nan'": VOC.replace("<ymin>6<", "<ymin>nan<"),
    "a.xml must have a 'name' in each object": VOC.replace("<name>cat</name>", ""),
    "a.xml must have 0 or 1 as 'difficult', got 'x'": VOC.replace("<difficult>1", "<difficult>x"),
}


def test_annotations_shorten_long_values_in_messages(tmp_path):
    for old in ("<name>cat", "<difficult>1", "<xmax>30"):
        (tmp_path / "a.xml").write_text(VOC.replace(old, old + "x" * 1000))
        with pytest.raises(ValueError, match="xxx") as error:
            voc(tmp_path)("a.jpg")
        assert len(str(error.value)) < 350
    (tmp_path / "a.json").write_text(json.dumps(COCO))
    for annotations in (voc(tmp_path), coco(tmp_path / "a.json")):
        with pytest.raises(TypeError, match="with a path, got image") as error:
            annotations(b"x" * 1000)
        assert len(str(error.value)) < 350


@pytest.mark.parametrize("message", VOC_ERRORS)
def test_voc_names_file_and_field(tmp_path, message):
    (tmp_path / "a.xml").write_text(VOC_ERRORS[message])
    with pytest.raises(ValueError, match=message):
        voc(tmp_path)("a.jpg")


def test_voc_refuses_a_document_type_in_every_encoding(tmp_path):
    text = VOC_ERRORS["a.xml must not declare a document type"]
    (tmp_path / "a.xml").write_bytes(('<?xml version="1.0" encoding="UTF-16"?>' + text).encode("utf-16"))
    with pytest.raises(ValueError, match=r"a.xml must not declare a document type"):
        voc(tmp_path)("a.jpg")


def test_voc_missing_folder_and_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^cuaug.data.voc: folder must exist"):
        voc(tmp_path / "missing")
    with pytest.raises(ValueError, match=r"has no annotation 'b.xml'"):
        voc(tmp_path)("b.jpg")


@pytest.mark.parametrize("source", ["coco", "voc"])
def test_annotations_are_copies_with_boxes_that_state_their_format(tmp_path, source):
    if source == "voc":
        (tmp_path / "a.xml").write_text(VOC.format(name="a"))
    targets = coco(write_annotations(tmp_path, COCO)) if source == "coco" else voc(tmp_path)
    target, image = targets("a.jpg"), np.zeros((40, 50, 3), np.uint8)
    expected = {key: np.array(target[key]) for key in ("boxes", "labels")}
    for given in (target["boxes"], pickle.loads(pickle.dumps(target["boxes"]))):
        _, moved = T.Compose([T.RandomHorizontalFlip(p=1.0)], boxes=T.Boxes("XYWH"))(image, {"boxes": given})
        left, top, right, bottom = np.minimum(expected["boxes"], [50, 40, 50, 40]).T
        assert type(moved["boxes"]) is np.ndarray
        assert moved["boxes"].tolist() == np.stack([50 - right, top, right - left, bottom - top], 1).tolist()
    target["boxes"][:] = 0
    target["labels"] += 1
    for key, value in expected.items():
        assert targets("a.jpg")[key].tolist() == value.tolist()


def test_coco_finds_names_of_every_form_of_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = json.loads(json.dumps(COCO))
    for name in ("./a.jpg", "train//a.jpg", str(tmp_path / "a.jpg")):
        content["images"][0]["file_name"] = name
        assert (
            coco(write_annotations(tmp_path, content))("train/a.jpg" if "train" in name else "a.jpg")["image_id"] == 7
        )
    (tmp_path / "code").mkdir()
    monkeypatch.chdir(tmp_path / "code")
    content["images"][0]["file_name"] = "../a.jpg"
    targets = coco(write_annotations(tmp_path, content))
    assert targets("../a.jpg")["image_id"] == targets(tmp_path / "a.jpg")["image_id"] == 7


WRONG_ARGUMENTS = {
    "cuaug.data.coco: path must be a path, got int": lambda folder: coco(3),
    "cuaug.data.coco: masks must be True or False, got 'yes'": lambda folder: coco(folder / "a.json", masks="yes"),
    "cuaug.data.voc: folder must be a path, got NoneType": lambda folder: voc(None),
    "cuaug.data.voc: classes must be a list of names, in the order of their labels, got 'cat'": lambda folder: voc(
        folder, classes="cat"
    ),
    "cuaug.data.voc: classes must be a list of names, in the order of their labels, got 3": lambda folder: voc(
        folder, classes=3
    ),
    "cuaug.data.voc: classes must be a list of names, in the order of their labels, got {'cat'}": lambda folder: voc(
        folder, classes={"cat"}
    ),
    "cuaug.data.voc: classes must be a list of names, in the order of their labels, got {'cat': 7}": lambda folder: voc(
        folder, classes={"cat": 7}
    ),
    r"cuaug.data.voc: classes must be different names, got \['cat', 'cat'\]": lambda folder: voc(
        folder, classes=["cat", "cat"]
    ),
    r"cuaug.data.voc: classes must be different names, got \[1, 2\]": lambda folder: voc(folder, classes=[1, 2]),
}


@pytest.mark.parametrize("message", WRONG_ARGUMENTS)
def test_annotations_refuse_wrong_arguments(tmp_path, message):
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        WRONG_ARGUMENTS[message](tmp_path)
