"""`ImageFiles`: folders, shards and lists of files."""

import pathlib
import pickle
import tarfile
from io import BytesIO

import numpy as np
import pytest
from helpers.compare import assert_equal
from helpers.loader import RECIPES

from cuaug.data import ImageFiles, Loader

pytestmark = pytest.mark.jpeg


def test_image_files_folders_are_classes(tmp_path, files):
    for i, (data, label) in enumerate(files):
        folder = tmp_path / "train" / f"class {label}" / "more"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{i:02}.JPG").write_bytes(data)
        (folder / "notes.txt").write_text("no image")
    source = ImageFiles(tmp_path / "train")
    assert source.classes == [f"class {i}" for i in range(5)]
    assert repr(source) == "ImageFiles(23 images, 5 classes)"
    expected = sorted((label, i) for i, (_, label) in enumerate(files))
    assert source.labels.tolist() == [label for label, _ in expected]
    assert [source[k][0] for k in range(23)] == [files[i][0] for _, i in expected]


def test_image_files_reads_shards_in_place(tmp_path, files):
    paths = []
    for shard in range(2):
        paths.append(tmp_path / f"{shard}.tar")
        with tarfile.open(paths[-1], "w") as tar:
            for i, (data, label) in enumerate(files[shard::2]):
                for name, content in ((f"./v1.0/{i:03}.jpg", data), (f"./v1.0/{i:03}.CLS", str(label).encode())):
                    member = tarfile.TarInfo(name)
                    member.size = len(content)
                    tar.addfile(member, BytesIO(content))
    source = ImageFiles(paths)
    expected = files[0::2] + files[1::2]
    assert [source[i][:2] for i in range(len(source))] == expected
    expected_images = np.concatenate(
        [b.images for b in Loader(expected, 5, RECIPES["crop and flip"], seed=2, library="numpy")]
    )
    images_of_shards = np.concatenate(
        [b.images for b in Loader(paths, 5, RECIPES["crop and flip"], seed=2, library="numpy")]
    )
    assert_equal(images_of_shards, expected_images)


def write_shard(path, *members):
    """Members are (name, content), or (name, name of the member to which it is a hard link)."""
    with tarfile.open(path, "w") as tar:
        for name, content in members:
            member = tarfile.TarInfo(name)
            if isinstance(content, bytes):
                member.size = len(content)
                tar.addfile(member, BytesIO(content))
            else:
                member.type, member.linkname = tarfile.LNKTYPE, content
                tar.addfile(member)
    return path


SHARDS = {
    "repeated names": (["0.jpg", "0.cls=1", "1.jpg", "1.cls=2", "0.jpg", "0.cls=7", "1.cls=8", "1.jpg"], [1, 2, 7, 8]),
    "images first": (["0.jpg", "1.jpg", "0.cls=1", "1.cls=2"], [1, 2]),
    "labels first": (["0.cls=1", "1.cls=2", "1.jpg", "0.jpg"], [2, 1]),
    "two images": (["0.left.jpg", "0.cls=3", "0.right.jpg", "1.jpg", "1.cls=4"], [3, 3, 4]),
}


@pytest.mark.parametrize("name", SHARDS)
def test_image_files_label_of_a_shard_is_that_beside_the_image(tmp_path, name):
    members, labels = SHARDS[name]
    pairs = [(member.partition("=")[0], member.partition("=")[2].encode()) for member in members]
    assert ImageFiles(write_shard(tmp_path / "x.tar", *pairs)).labels.tolist() == labels


def test_image_files_reads_hard_links_of_shards(tmp_path):
    members = [("a.jpg", b"first"), ("a.cls", b"1"), ("b.jpg", "a.jpg"), ("b.cls", "a.cls"), ("c.jpg", "b.jpg")]
    source = ImageFiles(write_shard(tmp_path / "x.tar", *members, ("a.jpg", b"second"), ("c.cls", b"2")), [1, 2, 3, 4])
    assert [source[i][0] for i in range(4)] == [b"first", b"first", b"first", b"second"]
    assert ImageFiles(write_shard(tmp_path / "y.tar", *members[:4])).labels.tolist() == [1, 1]


INVALID_SHARDS = {
    r"0\.cls: invalid literal": [("0.jpg", b""), ("0.cls", b"x")],
    r"0\.cls: labels must be integers of 64 bits, got 99": [("0.jpg", b""), ("0.cls", b"9" * 20)],
    r"0\.CLS is a second label of one image": [("0.jpg", b""), ("0.cls", b"1"), ("0.CLS", b"2")],
    "0 has two labels that are not beside an image": [("0.cls", b"1"), ("1.jpg", b""), ("0.cls", b"2")],
    r"0\.jpg is a link to 1\.jpg, which is not an earlier member": [("0.jpg", "1.jpg"), ("1.jpg", b"")],
}


@pytest.mark.parametrize("message", INVALID_SHARDS)
def test_image_files_names_invalid_member_of_shard(tmp_path, message):
    path = write_shard(tmp_path / "x.tar", *INVALID_SHARDS[message])
    with pytest.raises(ValueError, match=rf"x\.tar must be an uncompressed tar file of images .*: {message}"):
        ImageFiles(path)


def test_image_files_names_shard_that_is_a_folder(tmp_path):
    (tmp_path / "x.tar").mkdir()
    with pytest.raises(
        FileNotFoundError, match=r"source must be existing \.tar files, got .*x\.tar', which is no file"
    ):
        ImageFiles(tmp_path / "x.tar")


def test_image_files_names_invalid_shard(tmp_path):
    (tmp_path / "x.tar").write_bytes(b"\x1f\x8bjunk" * 200)
    with pytest.raises(ValueError, match=r"x\.tar must be an uncompressed tar file"):
        ImageFiles(tmp_path / "x.tar")


def test_image_files_ignores_cyclic_links(tmp_path, files):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "1.jpg").write_bytes(files[0][0])
    (tmp_path / "a" / "loop").symlink_to(tmp_path / "a")
    (tmp_path / "a" / "b" / "loop").symlink_to(tmp_path / "a")
    assert len(ImageFiles(tmp_path)) == 1


INVALID_LABELS = {
    "labels must be integers, got 1.5": ([b"a"], [1.5]),
    "labels must be integers, got '3'": ([(b"a", "3")], None),
    "labels must be integers, got None": ([b"a"], [None]),
    "labels must be integers of 64 bits, got 9223372036854775808": ([b"a"], [1 << 63]),
    "labels must be a list of integers, got 3": ([b"a"], 3),
    "labels must be a list of integers, got {1, 2}": ([b"a", b"b"], {1, 2}),
    "labels must be a list of integers, got {0: 1}": ([b"a"], {0: 1}),
}


@pytest.mark.parametrize("message", INVALID_LABELS)
def test_image_files_refuses_labels_that_are_no_integers(message):
    with pytest.raises((TypeError, ValueError), match=f"^cuaug.data.ImageFiles: {message}"):
        ImageFiles(*INVALID_LABELS[message])


def test_image_files_labels_may_be_bools():
    assert ImageFiles([b"a", b"b"], np.array([True, False])).labels.tolist() == [1, 0]


@pytest.mark.parametrize("source", [{"a.jpg": 1}, {"a.jpg", "b.jpg"}, frozenset([b"a"])])
def test_image_files_refuses_dicts_and_sets(source):
    """The labels of a dict would be ignored; the order of a set differs between processes."""
    with pytest.raises(TypeError, match=r"^cuaug\.data\.ImageFiles: source must be a folder, .*, or a list of paths"):
        ImageFiles(source)
    assert len(ImageFiles({"a.jpg": 1}.keys())) == len(ImageFiles({"a.jpg": 1}.items())) == 1


def test_image_files_extensions_ignore_case_and_must_be_a_list(tmp_path):
    for name in ("a.JPG", "b.png", "notes.log"):
        (tmp_path / name).write_bytes(b"")
    assert len(ImageFiles(tmp_path, extensions=[".jPg"])) == 1
    with pytest.raises(TypeError, match=r"^cuaug.data.ImageFiles: extensions must be a list such as .*, got 'jpg'"):
        ImageFiles(tmp_path, extensions="jpg")


INVALID_ARGUMENTS = {
    "labels must be one for each of 2 images, got 1": ([b"a", b"b"], [1]),
    "labels must be given for all images or for none, image 1 has none": ([(b"a", 1), b"b"], None),
    "source must hold images .* got none from \\[\\]": ([], None),
}


@pytest.mark.parametrize("message", INVALID_ARGUMENTS)
def test_image_files_errors_name_the_rule(message):
    with pytest.raises(ValueError, match=f"^cuaug.data.ImageFiles: {message}"):
        ImageFiles(*INVALID_ARGUMENTS[message])


def test_image_files_names_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"source must be a folder or a \.tar file, got .*nothing"):
        ImageFiles(tmp_path / "nothing")


def test_image_files_rejects_null_character_in_path(tmp_path):
    (tmp_path / "a.jpg").write_bytes(b"data")
    with pytest.raises(ValueError, match="without null characters"):
        ImageFiles([f"{tmp_path}/a.jpg\0b.jpg"])


@pytest.fixture
def photos(tmp_path):
    """A folder with the images a/0.jpg and b/0.jpg."""
    for name in ("a", "b"):
        (tmp_path / "photos" / name).mkdir(parents=True)
        (tmp_path / "photos" / name / "0.jpg").write_bytes(b"")
    return tmp_path / "photos"


MAPPINGS = {
    "names with folders": {"a/0.jpg": 3, "b/0.jpg": 5},
    "paths": {pathlib.Path("photos/a/0.jpg"): 3, pathlib.Path("b/0.jpg"): 5},
    "names after ./": {"./a/0.jpg": 3, "b//0.jpg": 5},
    "the longest name that matches": {"0.jpg": 3, "b/0.jpg": 5, "c/0.jpg": 7},
}


@pytest.mark.parametrize("name", MAPPINGS)
def test_image_files_targets_by_file_name(photos, name):
    files = pickle.loads(pickle.dumps(ImageFiles(photos, targets=MAPPINGS[name])))
    assert [files.target(i) for i in range(2)] == [3, 5]
    assert files[1][1] == 5


def test_image_files_targets_by_index():
    assert ImageFiles([b"x", b"y"], targets={1: 5, 0: 3}).target(1) == 5


def test_image_files_names_the_file_without_target(photos):
    rule = "^cuaug.data.ImageFiles: targets must have the end of its path, .*, as a key for each image"
    with pytest.raises(ValueError, match=rf"{rule}, not for .*/b/0.jpg, got 'a/0.jpg', '1.jpg'"):
        ImageFiles(photos, targets={"a/0.jpg": 3, "1.jpg": 5})
    with pytest.raises(ValueError, match=rf"{rule}, not for .*/a/0.jpg, got 0, 1"):
        ImageFiles(photos, targets={0: 3, 1: 5})
    with pytest.raises(
        ValueError, match=r"^cuaug.data.ImageFiles: targets must have its index as a key .*, not for image 1"
    ):
        ImageFiles([b"x", b"y"], targets={0: 3})


def test_image_files_refuses_targets_for_some_images_only(photos):
    with pytest.raises(ValueError, match=r"^cuaug.data.ImageFiles: targets must be given .*, got None for image 1: "):
        ImageFiles([b"x", b"y"], targets=[3, None])
    assert ImageFiles([b"x", b"y"], targets=[None, None]).targets is None
    files = ImageFiles(photos, targets=lambda path: None)
    with pytest.raises(ValueError, match=r"^targets must be given for all images, got None for .*a/0.jpg"):
        files.target(0)


def test_image_files_finds_absolute_keys_of_a_relative_source(photos, monkeypatch):
    monkeypatch.chdir(photos.parent)
    targets = {str(photos / name / "0.jpg"): number for number, name in enumerate("ab")}
    assert [ImageFiles("photos", targets=targets).target(i) for i in range(2)] == [0, 1]
