"""Files that do not decode: the loader raises, skips or replaces them, and a scan finds them."""

import numpy as np
import pytest
from helpers.compare import assert_equal
from helpers.loader import RECIPES, encoded_file, photo_parts

import cuaug
import cuaug.io
from cuaug import transforms as T
from cuaug.__main__ import main
from cuaug.data import Collate, ImageFiles, Loader

pytestmark = pytest.mark.jpeg


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """2,000 files: 100 corrupt, 20 missing, 10 decompression bombs."""
    folder = tmp_path_factory.mktemp("damaged")
    good = [encoded_file(image) for image in photo_parts(20)]
    paths, bad = [folder / f"{i}.jpg" for i in range(2000)], {}
    for i, path in enumerate(paths):
        data = bytearray(good[i % 20])
        if i % 20 == 7:
            data, bad[i] = data[: len(data) // 2], "corrupt"
        elif i % 100 == 33:
            bad[i] = "missing"
            continue
        elif i % 200 == 150:
            # The frame header then declares 65,500 rows and columns.
            at = data.index(b"\xff\xc0")
            data[at + 5 : at + 9] = b"\xff\xdc\xff\xdc"
            bad[i] = "bomb"
        path.write_bytes(data)
    return paths, bad


def test_loader_on_error_raise_names_index_and_path(damaged):
    paths, bad = damaged
    with pytest.raises(cuaug.DecodeError, match=rf"image 7 \(.*{paths[7].name}\)") as caught:
        list(Loader(paths, 16, RECIPES["crop and flip"], library="numpy"))
    assert (caught.value.index, caught.value.source) == (min(bad), str(paths[7]))


def test_loader_on_error_skip_lists_bad_files(damaged):
    paths, bad = damaged
    loader = Loader(paths, 16, RECIPES["crop and flip"], on_error="skip", max_bad=None, library="numpy")
    batches = list(loader)
    assert len(batches) == len(loader) == 125
    assert sorted(i for batch in batches for i in batch.ids.tolist()) == sorted({*range(2000)} - {*bad})
    assert all(len(batch.images) == len(batch.ids) and batch.valid.all() for batch in batches)
    assert sorted(loader.bad) == sorted(bad)
    for i, kind in bad.items():
        reason = {"missing": "no such file", "bomb": "pixels", "corrupt": "premature"}[kind]
        assert reason in loader.bad[i].lower()


def test_scan_names_bad_files(damaged, tmp_path, capsys):
    paths, bad = damaged
    assert main(["scan", str(paths[0].parent), "--output", str(tmp_path / "bad.txt")]) == 1
    message = capsys.readouterr().out.splitlines()
    bad_paths = {str(path) for i, path in enumerate(paths) if i in bad and bad[i] != "missing"}
    assert {line.partition(": ")[0] for line in message[:-1]} == bad_paths
    assert {*(tmp_path / "bad.txt").read_text().splitlines()} == bad_paths
    assert message[-1].startswith(f"{len(bad_paths)} of 1980 images are bad")
    assert main(["scan", str(tmp_path / "nothing")]) == 2
    assert "source must be a folder" in capsys.readouterr().err


def test_loader_on_error_replace_substitutes(damaged):
    paths, bad = damaged
    valid_flags = []
    for batch in Loader(paths, 16, RECIPES["crop and flip"], on_error="replace", max_bad=None, seed=1, library="numpy"):
        assert len(batch.images) == 16
        assert not {*batch.ids.tolist()} & {*bad}
        for index in np.flatnonzero(~batch.valid):
            (replacement,) = np.flatnonzero((batch.ids == batch.ids[index]) & batch.valid)
            assert_equal(batch.images[index], batch.images[replacement])
        valid_flags += batch.valid.tolist()
    assert [i for i, valid in enumerate(valid_flags) if not valid] == sorted(bad)


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_loader_image_smaller_than_crop_is_bad(kind):
    small = encoded_file(np.zeros((30, 60, 3), np.uint8), format=kind)
    large = encoded_file(np.full((50, 60, 3), 7, np.uint8), format=kind)
    loader = Loader([small, large], 2, [T.RandomCrop(48)], on_error="skip", max_bad=None, library="numpy")
    (batch,) = loader
    assert batch.ids.tolist() == [1]
    assert np.abs(batch.images.astype(int) - 7).max() <= 1
    assert loader.bad == {0: "its size (30, 60) is below (48, 48)"}


@pytest.mark.parametrize("recipe", [[T.RandomResizedCrop(16)], [T.RandomHorizontalFlip()], []])
def test_loader_batch_may_be_all_bad(recipe):
    bad = [b"\xff\xd8\xff", b""]
    (batch,) = Loader(bad, 2, recipe, on_error="skip", max_bad=None, library="numpy")
    assert batch.ids.tolist() == []
    assert len(batch.images) == 0
    with pytest.raises(cuaug.DecodeError, match="no image of a batch can be decoded; image 0"):
        list(Loader(bad, 2, recipe, on_error="replace", max_bad=None, library="numpy"))


def test_loader_max_bad_ends_iteration(damaged):
    paths, _ = damaged
    with pytest.raises(cuaug.DecodeError, match=r"of 2000 images cannot be decoded, more than max_bad=0.01:\n.*7\.jpg"):
        list(Loader(paths, 16, RECIPES["crop and flip"], on_error="skip", library="numpy"))


@pytest.mark.parametrize(("bad", "is_refused"), [([0, 4, 8, 12], False), ([0, 4, 8, 12, 16], True)])
def test_loader_max_bad_compares_the_bad_files_of_a_rank_with_all_files(files, bad, is_refused):
    source = [b"" if i in bad else files[i % 5][0] for i in range(200)]
    options = {"on_error": "skip", "max_bad": 0.02, "shard": (0, 4), "seed": 0, "library": "numpy"}
    loader = Loader(source, 10, [T.RandomResizedCrop(8)], **options)
    if is_refused:
        with pytest.raises(cuaug.DecodeError, match=r"^5 of 200 images cannot be decoded, more than max_bad=0.02"):
            list(loader)
    else:
        assert len(list(loader)) == 5


def test_collate_missing_file_is_bad_file(files, tmp_path):
    pytest.importorskip("torch")
    source = ImageFiles([files[0], (tmp_path / "nothing.jpg", 2)])
    collate = Collate(RECIPES["crop and flip"], on_error="skip")
    collate.set_epoch(0)
    assert collate([source[0], source[1]]).ids.tolist() == [0]
    with pytest.raises(cuaug.DecodeError, match=r"nothing\.jpg: No such file"):
        Collate(RECIPES["crop and flip"])([source[1]])


@pytest.mark.alone
@pytest.mark.filterwarnings("ignore:.*fork")
def test_collate_error_of_a_worker_ends_with_its_message(files):
    """torch raises an error of the same type with the worker's traceback as message. Attributes are lost."""
    torch_data = pytest.importorskip("torch.utils.data")
    source = ImageFiles([files[0], (b"bad", 2)])
    with pytest.raises(cuaug.DecodeError) as direct:
        Collate(RECIPES["crop and flip"])([source[1]])
    loader = torch_data.DataLoader(source, 2, collate_fn=Collate(RECIPES["crop and flip"]), num_workers=1)
    with pytest.raises(cuaug.DecodeError, match=r"^Caught DecodeError in DataLoader worker process 0") as caught:
        list(loader)
    assert str(caught.value).rstrip().endswith("image 1 (sample 1): " + direct.value.reason)
    assert caught.value.index == 0  # the default, in place of 1
