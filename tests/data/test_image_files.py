"""`ImageFiles`: folders, shards and lists of files."""

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
