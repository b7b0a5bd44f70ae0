"""The loader: what it yields is what decoding everything and running the recipe would give."""

import inspect
import io as memory
import itertools
import os
import queue
import signal
import sys
import tarfile
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from helpers.child_process import ended, started
from helpers.compare import Tolerance, assert_equal
from helpers.loader import RECIPES, encoded, photographs
from helpers.replace import replace_everywhere
from helpers.thinning import thinned

import cuaug
import cuaug.io
from cuaug import transforms as T
from cuaug.__main__ import main
from cuaug._codecs import other_formats
from cuaug.data import Collate, ImageFiles, Loader, prefetch
from cuaug.data import epoch_order as _order
from cuaug.data.crops import alike
from cuaug.data.decode_regions import Boxes, covered
from cuaug.data.prefetch import Ahead

pytestmark = pytest.mark.jpeg

ROUNDED = Tolerance(1e-9, reason="pixels of at most 2000, rounded a few times")
ONE_LEVEL = Tolerance(absolute=1, reason="another order of roundings")


@pytest.fixture(scope="module")
def files():
    return [(encoded(image, subsampling=i % 3), i % 5) for i, image in enumerate(photographs(23))]


def whole(files, recipe, ids, epoch):
    """What the recipe makes of images that were decoded whole."""
    images = [cuaug.io.decode_jpeg(files[i][0]) for i in ids]
    return np.stack([recipe(image[None], ids=[int(i)], step=epoch)[0] for i, image in zip(ids, images, strict=True)])


@pytest.mark.parametrize("name", RECIPES)
def test_loader_batches_equal_full_decoding(files, name):
    recipe = T.Compose(RECIPES[name], seed=3)
    loader = Loader(files, 4, recipe, library="numpy", dct_scale=False)
    loader.epoch = 2
    seen = []
    for images, labels in loader:
        ids = np.arange(len(seen), len(seen) + len(images))
        expected = whole(files, recipe, ids, 2)
        assert_equal(images, expected, tolerance=ONE_LEVEL)
        assert labels.tolist() == [files[i][1] for i in ids]
        seen += list(ids)
    assert len(seen) == len(files)


def test_loader_recipe_after_draws_as_whole_recipe(files):
    recipe = T.Compose([T.RandomInvert(), T.RandomResizedCrop(24), T.RandomHorizontalFlip()], seed=3).after(1)
    ((images, _),) = Loader(files, 23, recipe, library="numpy", dct_scale=False)
    assert_equal(images, whole(files, recipe, range(23), 0), tolerance=ONE_LEVEL)


def test_loader_decodes_large_image_at_reduced_resolution():
    """One half of 300 is 150: the region that `Resize` needs; pixels are those of a decoder that halves."""
    image = next(photographs(1, 300, 301))
    file = encoded(image)
    ((images, labels),) = Loader([file], 1, [T.Resize((150, 150))], library="numpy")
    assert labels is None
    half = cuaug.io.decode_jpeg(file, scale=1 / 2)
    assert_equal(images, half[None], tolerance=ONE_LEVEL)
    plain = cuaug.resize(cuaug.io.decode_jpeg(file), (150, 150)).astype(int)
    apart = [np.abs(half[1:-1, 1:-1] - np.roll(plain, by, 1)[1:-1, 1:-1]).mean() for by in (-1, 0, 1)]
    assert apart[1] < min(apart[0], apart[2]) / 2


def test_loader_boxes_follow_reduced_resolution(files):
    """A smooth image: wherever a box is, and at whatever scale it is decoded, its pixels are the plane's."""
    y, x = np.mgrid[:400, :600]
    plane = np.stack([y / 400, x / 600, (x + y) / 1000], 2)
    file = encoded((plane * 255).round().astype("uint8"), subsampling=0, quality=100)
    recipe = T.Compose([T.RandomResizedCrop(16, antialias=False)], seed=1)
    for epoch in range(5):
        loader = Loader([file] * 8, 8, recipe, library="numpy")
        loader.epoch = epoch
        ((images, _),) = loader
        expected = whole([(file, 0)] * 8, recipe, range(8), epoch)
        error = images.astype(int) - expected
        assert np.abs(error).max() <= 6  # of what JPEG loses
        assert np.abs(error.mean((1, 2))).max() < 0.6  # a pixel at 1/8, half a pixel astray, would be 2.5 levels


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("batch_size", [1, 4, 50])
def test_loader_threads_and_batch_size_do_not_change_results(files, threads, batch_size):
    recipe = T.Compose(RECIPES["crop and flip"], seed=3)

    def images(**how):
        return np.concatenate(
            [batch.images for batch in Loader(files, transform=recipe, shuffle=True, library="numpy", **how)]
        )

    assert_equal(images(batch_size=batch_size, threads=threads, prefetch=threads), images(batch_size=7))


def test_loader_epochs_differ_and_repeat(files):
    def epochs(seed):
        loader = Loader(files, 8, RECIPES["crop and flip"], shuffle=True, seed=seed, library="numpy")
        return [np.concatenate([batch.ids for batch in loader]).tolist() for _ in range(3)]

    first = epochs(5)
    assert first == epochs(5)
    assert first != epochs(6)
    assert len({tuple(ids) for ids in first}) == 3
    assert all(sorted(ids) == list(range(len(files))) for ids in first)


@pytest.mark.parametrize("count", [0, 1, 7, 24, 25, 31])
@pytest.mark.parametrize("world", [1, 2, 5])
@pytest.mark.parametrize("last", ["drop", "partial", "pad"])
def test_loader_ranks_share_an_epoch(count, world, last):
    turn = _order.order(count, 4, 1, True)
    steps = _order.batches(count, 4, world, last)
    taken = [[_order.batch(turn, i, 4, rank, world, last) for i in range(steps)] for rank in range(world)]
    ids = [i for rank in taken for part, valid in rank for i in part[:valid].tolist()]
    assert len(set(ids)) == len(ids) == (count // (4 * world) * 4 * world if last == "drop" else count)
    for parts in zip(*taken, strict=True):
        sizes = {len(part) for part, _ in parts}
        assert max(sizes) - min(sizes) <= (last == "partial")
        assert sizes == {4} or last == "partial"
    together = [sorted(np.concatenate([rank[i][0] for rank in taken]).tolist()) for i in range(steps)]
    alone = [sorted(_order.batch(turn, i, 4 * world, 0, 1, last)[0].tolist()) for i in range(steps)]
    assert together == alone


def test_loader_state_dict_resumes(files):
    def loader():
        return Loader(files, 3, T.Compose(RECIPES["crop and flip"], seed=1), shuffle=True, library="numpy", prefetch=4)

    first = loader()
    first.epoch = 4
    taken, state, rest = [], None, []
    for batch in first:
        (taken if state is None else rest).append(batch)
        if len(taken) == 3 and state is None:
            state = first.state_dict()
    assert state == {"seed": 1, "epoch": 4, "samples": 9}
    second = loader()
    second.load_state_dict(state)
    again = list(second)
    assert [batch.ids.tolist() for batch in again] == [batch.ids.tolist() for batch in rest]
    for batch, expected in zip(again, rest, strict=True):
        assert_equal(batch.images, expected.images)
    assert second.state_dict() == {"seed": 1, "epoch": 5, "samples": 0}
    with pytest.raises(ValueError, match=r"seed must be 1, got 2"):
        second.load_state_dict({"seed": 2, "epoch": 0, "samples": 0})
    with pytest.raises(ValueError, match=r"must divide the 9 samples that have been taken, got 2 \* 1"):
        Loader(files, 2, seed=1, library="numpy").load_state_dict(state)


def test_loader_iterators_are_independent(files):
    files = files * 10
    loader = Loader(files, 4, T.Compose(RECIPES["crop and flip"], seed=1), library="numpy")
    expected = list(loader), list(loader)
    loader.epoch = 0
    for batches in zip(loader, loader, *expected, strict=True):
        assert_equal(batches[0].images, batches[2].images)
        assert_equal(batches[1].images, batches[3].images)


def test_loader_set_epoch_is_next(files):
    loader = Loader(files, 4, T.Compose(RECIPES["crop and flip"], seed=1), library="numpy")
    for _ in loader:
        loader.epoch = 7
    assert loader.state_dict() == {"seed": 1, "epoch": 7, "samples": 0}


@pytest.mark.parametrize("interpolation", ["bilinear", "bicubic", "lanczos"])
@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize(
    "recipe",
    [
        lambda **how: [T.Resize((24, 29), **how)],
        lambda **how: [T.Resize(64, **how), T.CenterCrop(56)],
        lambda **how: [T.Resize(24, **how), T.CenterCrop(24)],
        lambda **how: [T.RandomResizedCrop((29, 24), **how)],
    ],
)
def test_loader_decode_box_equals_recipe_box(recipe, antialias, interpolation):
    """Larger and smaller ones than the result, in one batch: no pixel of a neighbour or of what lay in memory."""
    rng = np.random.default_rng(0)
    sizes = [(1, 1), (1, 50), (40, 1), (30, 30), (450, 450), *rng.integers(8, 200, (20, 2)).tolist()]
    images = [rng.integers(128, 256, (*size, 3), "uint8") for size in sizes]
    recipe = T.Compose(recipe(interpolation=interpolation, antialias=antialias), seed=4)
    source = [encoded(image, format="PNG") for image in images]
    ((made, _),) = Loader(source, len(images), recipe, library="numpy")
    expected = [recipe(image[None], ids=[i], step=0)[0] for i, image in enumerate(images)]
    assert_equal(made, np.stack(expected), tolerance=ONE_LEVEL)


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """2,000 files: 100 corrupt, 20 missing, 10 bombs."""
    folder = tmp_path_factory.mktemp("damaged")
    good = [encoded(image) for image in photographs(20)]
    paths, bad = [folder / f"{i}.jpg" for i in range(2000)], {}
    for i, path in enumerate(paths):
        data = bytearray(good[i % 20])
        if i % 20 == 7:
            data, bad[i] = data[: len(data) // 2], "corrupt"
        elif i % 100 == 33:
            bad[i] = "missing"
            continue
        elif i % 200 == 150:
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
    taken = list(loader)
    assert len(taken) == len(loader) == 125
    assert sorted(i for batch in taken for i in batch.ids.tolist()) == sorted({*range(2000)} - {*bad})
    assert all(len(batch.images) == len(batch.ids) and batch.valid.all() for batch in taken)
    assert sorted(loader.bad) == sorted(bad)
    for i, kind in bad.items():
        assert {"missing": "No such file", "bomb": "pixels", "corrupt": "premature"}[kind].lower() in loader.bad[
            i
        ].lower()


def test_scan_names_bad_files(damaged, tmp_path, capsys):
    paths, bad = damaged
    assert main(["scan", str(paths[0].parent), "--output", str(tmp_path / "bad.txt")]) == 1
    said = capsys.readouterr().out.splitlines()
    there = {str(path) for i, path in enumerate(paths) if i in bad and bad[i] != "missing"}
    assert {line.partition(": ")[0] for line in said[:-1]} == there
    assert {*(tmp_path / "bad.txt").read_text().splitlines()} == there
    assert said[-1].startswith(f"{len(there)} of 1980 images are bad")
    assert main(["scan", str(tmp_path / "nothing")]) == 2
    assert "source must be a folder" in capsys.readouterr().err


def test_loader_on_error_replace_substitutes(damaged):
    paths, bad = damaged
    seen = []
    for batch in Loader(paths, 16, RECIPES["crop and flip"], on_error="replace", max_bad=None, seed=1, library="numpy"):
        assert len(batch.images) == 16
        assert not {*batch.ids.tolist()} & {*bad}
        for place in np.flatnonzero(~batch.valid):
            same = np.flatnonzero(batch.ids == batch.ids[place])
            assert batch.valid[same].sum() == 1
            assert_equal(batch.images[place], batch.images[same[0]])
        seen += batch.valid.tolist()
    assert [i for i, valid in enumerate(seen) if not valid] == sorted(bad)


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_loader_image_smaller_than_crop_is_bad(kind):
    small = encoded(np.zeros((30, 60, 3), np.uint8), format=kind)
    large = encoded(np.full((50, 60, 3), 7, np.uint8), format=kind)
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


def test_loader_last_pad_fills_batch(files):
    *_, last = Loader(files, 10, RECIPES["crop and flip"], last="pad", library="numpy")
    assert last.ids.tolist() == [20, 21, 22, 0, 1, 2, 3, 4, 5, 6]
    assert last.valid.tolist() == [True] * 3 + [False] * 7
    assert len(last.images) == 10


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
    names = []
    for shard in range(2):
        names.append(tmp_path / f"{shard}.tar")
        with tarfile.open(names[-1], "w") as tar:
            for i, (data, label) in enumerate(files[shard::2]):
                for name, content in ((f"./v1.0/{i:03}.jpg", data), (f"./v1.0/{i:03}.CLS", str(label).encode())):
                    member = tarfile.TarInfo(name)
                    member.size = len(content)
                    tar.addfile(member, memory.BytesIO(content))
    source = ImageFiles(names)
    expected = files[0::2] + files[1::2]
    assert [source[i][:2] for i in range(len(source))] == expected
    plain = np.concatenate([b.images for b in Loader(expected, 5, RECIPES["crop and flip"], seed=2, library="numpy")])
    tarred = np.concatenate([b.images for b in Loader(names, 5, RECIPES["crop and flip"], seed=2, library="numpy")])
    assert_equal(tarred, plain)


def test_loader_decode_region_covers_box_at_lowest_resolution():
    rng = np.random.default_rng(20261121)
    sizes = rng.integers(1, 2000, (4000, 2))
    extent = rng.uniform(0.01, 1, sizes.shape) * sizes
    extent[::3] = np.maximum(np.rint(extent[::3]), 1)
    corner = rng.uniform(0, 1, sizes.shape) * (sizes - extent)
    corner[::2] = np.where(rng.random(corner[::2].shape) < 0.5, 0, (sizes - extent)[::2])
    wanted, scalable = rng.integers(1, 200, sizes.shape), rng.random(len(sizes)) < 0.8
    regions, within = covered(Boxes(np.concatenate([corner, extent], 1), wanted, 0 * sizes), sizes, scalable)
    scale, first, count = regions[:, :1], regions[:, 1:3], regions[:, 3:]
    fits = [(extent >= by * wanted).all(1) & scalable for by in (2, 4, 8)]
    assert scale[:, 0].tolist() == np.select(fits[::-1], [8, 4, 2], 1).tolist()
    assert {*scale[:, 0].tolist()} == {1, 2, 4, 8}
    assert (first == np.minimum(corner // scale, -(-sizes // scale) - 1)).all()
    assert (first + count == np.clip(np.ceil((corner + extent) / scale), first + 1, -(-sizes // scale))).all()
    assert_equal(within[:, :2] + first, corner / scale, tolerance=ROUNDED)
    assert_equal(within[:, 2:], extent / scale, tolerance=ROUNDED)
    assert (within[:, :2] + within[:, 2:] <= count).all()


def test_loader_slots_waste_little_memory():
    """A tall and a wide image in one batch would need slots as tall and as wide."""
    tall, wide = np.zeros((6000, 16, 3), "uint8"), np.zeros((16, 6000, 3), "uint8")
    extents = np.array([[60_000, 100], [100, 60_000]] * 16)
    groups = alike(extents, np.zeros_like(extents))
    assert sorted(np.concatenate(groups).tolist()) == list(range(32))
    assert sum(len(group) * extents[group].max(0).prod() for group in groups) * 3 < 1 << 30
    files = [encoded(image + np.uint8(10 * i)) for i, image in enumerate([tall, wide] * 8)]
    ((images, _),) = Loader(files, 16, [T.Resize((8, 8))], library="numpy")
    assert np.abs(images.astype(int) - 10 * np.arange(16)[:, None, None, None]).max() <= 1


def test_image_files_names_invalid_shard(tmp_path):
    (tmp_path / "x.tar").write_bytes(b"\x1f\x8bjunk" * 200)
    with pytest.raises(ValueError, match=r"x\.tar must be an uncompressed tar file"):
        ImageFiles(tmp_path / "x.tar")


def test_loader_decodes_other_formats_whole(tmp_path):
    images = list(photographs(3, 100, 120))
    mixed = [encoded(image, format=kind) for image, kind in zip(images, ("PNG", "JPEG", "BMP"), strict=True)]
    ((made, _),) = Loader(mixed, 3, [T.Resize((30, 30))], library="numpy")
    expected = np.concatenate([cuaug.resize(cuaug.io.decode_image(data)[None], (30, 30)) for data in mixed])
    assert_equal(made[[0, 2]], expected[[0, 2]])


def test_loader_equal_sizes_need_no_recipe():
    images = list(photographs(4, 64, 65))
    ((made, labels),) = Loader([encoded(image, format="PNG") for image in images], 4, library="numpy")
    assert labels is None
    assert_equal(made, np.stack(images))


def test_loader_different_sizes_need_recipe():
    with pytest.raises(ValueError, match="transform must bring all images to one size"):
        list(Loader([encoded(image) for image in photographs(3)], 3, [T.RandomHorizontalFlip()], library="numpy"))


def test_loader_cache_reads_each_file_once(tmp_path, files):
    paths = [tmp_path / f"{i}.jpg" for i in range(5)]
    for path, (data, _) in zip(paths, files, strict=False):
        path.write_bytes(data)
    loader = Loader(paths, 2, RECIPES["crop and flip"], cache="memory", library="numpy", seed=1)
    first = [batch.images for batch in loader]
    for path in paths:
        path.unlink()
    loader.epoch = 0
    for again, expected in zip(loader, first, strict=True):
        assert_equal(again.images, expected)


def test_loader_torch_is_channels_first(files):
    torch = pytest.importorskip("torch")
    recipe = [*RECIPES["crop and flip"], T.ToDtype("float32", scale=True), T.Normalize([0.5] * 3, [0.5] * 3)]
    arrays = list(Loader(files, 8, recipe, seed=1, library="numpy"))
    for batch, expected in zip(Loader(files, 8, recipe, seed=1), arrays, strict=True):
        images, labels = batch
        assert isinstance(images, torch.Tensor)
        assert images.is_contiguous(memory_format=torch.channels_last)
        assert_equal(images.numpy(), expected.images.transpose(0, 3, 1, 2))
        assert labels.tolist() == expected.labels.tolist()


def test_loader_returns_mixed_labels(files):
    recipe = T.Compose([T.RandomResizedCrop(16), T.MixUp(num_classes=5)], seed=1)
    for images, labels in Loader(files, 6, recipe, library="numpy"):
        assert labels.shape == (len(images), 5)
        np.testing.assert_allclose(labels.sum(1), 1, rtol=1e-6)


@pytest.mark.alone
def test_collate_killed_worker_ends_data_loader(files):
    """As torch does it, with whichever error comes first; nothing is left behind."""
    pytest.importorskip("torch")
    program = f"""
import os, signal
from torch.utils.data import DataLoader
from cuaug import transforms as T
from cuaug.data import Collate, ImageFiles
source, collate = ImageFiles([{files[0][0]!r}] * 100000), Collate([T.RandomResizedCrop(32)])
iterator = iter(DataLoader(source, 2, collate_fn=collate, num_workers=2))
next(iterator)
print(*(worker.pid for worker in iterator._workers), flush=True)
os.kill(iterator._workers[0].pid, signal.SIGKILL)
for batch in iterator:
    pass
"""
    child = started(program)
    workers = [int(pid) for pid in child.stdout.readline().split()]
    _, warned = child.communicate(timeout=60)
    assert child.returncode != 0
    assert "Error" in warned
    assert len(workers) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def ours():
    return [thread for thread in threading.enumerate() if thread.name.startswith("cuaug")]


@pytest.mark.alone
def test_loader_abandoned_leaves_no_thread(files):
    loader = Loader(files * 20, 2, RECIPES["crop and flip"], library="numpy", prefetch=3)
    for count, _ in enumerate(loader):
        if count == 2:
            break
    assert not ours()
    iterator = iter(loader)
    next(iterator)
    assert ours()
    del iterator
    assert not ours()


@pytest.mark.alone
@pytest.mark.parametrize("end", ["", "cycle = [it]; cycle.append(cycle)", "raise SystemExit(0)"])
def test_loader_process_may_exit_while_running(end):
    program = f"""
import numpy as np
from cuaug import io, transforms as T
from cuaug.data import Loader
file = io.encode_jpeg(np.random.default_rng(0).integers(0, 255, (400, 400, 3), "uint8"))
it = iter(Loader([file] * 2000, 8, [T.RandomResizedCrop(224)], library="numpy"))
next(it)
{end}
"""
    for _ in range(3):
        ended(started(program))


@pytest.mark.alone
def test_loader_fork_raises_in_child():
    program = """
import os
import numpy as np
from cuaug import BackendError, io, transforms as T
from cuaug.data import Loader
file = io.encode_jpeg(np.zeros((64, 64, 3), "uint8"))
it = iter(Loader([file] * 200, 8, [T.RandomResizedCrop(32)], library="numpy"))
next(it)
child = os.fork()
if child == 0:
    try:
        next(it)
    except BackendError as error:
        os._exit(7)
    os._exit(1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert ended(started(program))[0] == "7"


def test_image_files_ignores_cyclic_links(tmp_path, files):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "1.jpg").write_bytes(files[0][0])
    (tmp_path / "a" / "loop").symlink_to(tmp_path / "a")
    (tmp_path / "a" / "b" / "loop").symlink_to(tmp_path / "a")
    assert len(ImageFiles(tmp_path)) == 1


def test_loader_leaves_warning_filters_alone(monkeypatch):
    """They belong to the process: a decoding thread that set and restored them would undo what another has set."""
    before, decoding, go_on = list(warnings.filters), threading.Event(), threading.Event()
    decode = other_formats.decode

    def decode_between(file, *rest):
        return decode(BetweenReads(file), *rest)

    class BetweenReads:
        """A file whose data are read while the filters of the test's thread are changed."""

        def __init__(self, file):
            self.file = file

        def __getattr__(self, name):
            if name == "data":
                decoding.set()
                assert go_on.wait(30)
            return getattr(self.file, name)

    replace_everywhere(monkeypatch, other_formats, "decode", decode_between)
    loader = Loader([encoded(next(photographs(1)), format="PNG")], 1, [T.RandomResizedCrop(8)], library="numpy")
    thread = threading.Thread(target=lambda: list(loader))
    thread.start()
    assert decoding.wait(30)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        go_on.set()
        thread.join(30)
        warnings.warn("seen", stacklevel=1)
    assert not thread.is_alive()
    assert len(caught) == 1
    assert warnings.filters == before


def test_loader_max_pixels_none_lifts_limit():
    data = encoded(np.zeros((9000, 10000), bool), format="PNG")
    with pytest.raises(cuaug.DecodeError, match="more than the limit"):
        list(Loader([data], 1, [T.Resize((8, 8))], library="numpy"))
    ((images, _),) = Loader([data], 1, [T.Resize((8, 8))], library="numpy", max_pixels=None)
    assert images.max() == 0


def test_loader_batch_survives_pin_memory(files):
    """What torch's `pin_memory` does with a tuple."""
    batch = next(iter(Loader(files, 4, RECIPES["crop and flip"], library="numpy")))
    images, labels = type(batch)(each for each in batch)
    assert images is batch.images
    assert labels is batch.labels


def test_collate_missing_file_is_bad_file(files, tmp_path):
    pytest.importorskip("torch")
    source = ImageFiles([files[0], (tmp_path / "nothing.jpg", 2)])
    collate = Collate(RECIPES["crop and flip"], on_error="skip")
    assert collate([source[0], source[1]]).ids.tolist() == [0]
    with pytest.raises(cuaug.DecodeError, match=r"nothing\.jpg: No such file"):
        Collate(RECIPES["crop and flip"])([source[1]])


def test_loader_recipe_error_is_raised(files):
    class Broken(T.RandomInvert):
        def write(self, recipe):
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        list(Loader(files, 4, [T.RandomResizedCrop(16), Broken()], library="numpy"))
    assert not ours()


@pytest.mark.alone
def test_loader_interrupt_at_any_step_ends_iteration():
    """One where a lock has just been taken, and `with` does not know of it, would leave both threads waiting."""
    found, files = [], {inspect.getfile(module) for module in (prefetch, threading, queue)}

    def take(step):
        batches, seen = iter(Ahead(itertools.count(), 2, "cuaug-test")), 0

        def interrupt(frame, event, argument):
            nonlocal seen
            code = frame.f_code
            if code.co_filename in files and (event == "line" or (event == "return" and code.co_name != "__iter__")):
                seen += 1
                if seen == step:
                    sys.settrace(None)
                    raise KeyboardInterrupt
            return interrupt

        next(batches)
        sys.settrace(interrupt)
        try:
            found.append(next(batches))
        except KeyboardInterrupt:
            found.append("interrupted")
        finally:
            sys.settrace(None)
            batches.close()

    for step in itertools.count(1):
        taker = threading.Thread(target=take, args=(step,), daemon=True)
        taker.start()
        taker.join(10)
        assert not taker.is_alive(), f"after {step} steps"
        if found[-1] != "interrupted":
            break
    assert found.count("interrupted") >= 4
    assert not ours()


@pytest.mark.alone
def test_loader_interrupt_ends_iteration():
    program = """
import signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell runs this in the background
import numpy as np
from PIL import Image
import io
from cuaug import transforms as T
from cuaug.data import Loader
out = io.BytesIO()
Image.fromarray(np.random.default_rng(0).integers(0, 255, (300, 300, 3), "uint8")).save(out, "JPEG")
try:
    for number, batch in enumerate(Loader([out.getvalue()] * 100000, 8, [T.RandomResizedCrop(64)], library="numpy")):
        if number == 2:
            print("ready", flush=True)
except KeyboardInterrupt:
    print([t.name for t in threading.enumerate() if t.name.startswith("cuaug")])
"""
    child = started(program)
    assert child.stdout.readline().strip() == "ready"
    child.send_signal(signal.SIGINT)
    said, warned = child.communicate(timeout=60)
    assert (child.returncode, said.strip()) == (0, "[]"), warned


@pytest.mark.alone
def test_loader_memory_stays_flat(files):
    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    loader = Loader(files * 8, 32, RECIPES["crop and flip"], shuffle=True, library="numpy")
    for epoch in range(50):
        for _ in loader:
            pass
        if epoch == 3:
            before = resident()
    assert resident() - before < 32 << 20


ERRORS = {
    "device must be 'cpu', or a GPU such as 'cuda' or 'cuda:1', got 'tpu'": {"device": "tpu"},
    "batch_size must be at least 1, got 0": {"batch_size": 0},
    "last must be one of 'drop', 'partial', 'pad', got 'keep'": {"last": "keep"},
    "on_error must be one of 'raise', 'skip', 'replace', got 'ignore'": {"on_error": "ignore"},
    "max_bad must be .*, got 2": {"max_bad": 2},
    "cache must be one of None, 'memory', got 'disk'": {"cache": "disk"},
    "shard must be .rank, ranks. with rank below ranks, got .2, 2.": {"shard": (2, 2), "seed": 1},
    "seed must be given where there are several ranks": {"shard": (0, 2)},
    "library must be one of None, 'torch', 'numpy', 'cupy', got 'jax'": {"library": "jax"},
    "max_pixels must be at least 1, got 0": {"max_pixels": 0},
    "prefetch must be at least 1, got 0": {"prefetch": 0},
    "threads must be at least 1, got 0": {"threads": 0},
    "seed must be at most 9223372036854775807": {"seed": 1 << 63},
    "library must be 'torch' or 'cupy' for device 'cuda:0', got 'numpy'": {"device": "cuda:0", "library": "numpy"},
    "device must be a GPU for library .cupy., got .cpu.": {"library": "cupy"},
}


@pytest.mark.parametrize("message", ERRORS)
def test_loader_errors_name_the_rule(files, message):
    with pytest.raises((TypeError, ValueError), match=f"^cuaug.Loader: {message}"):
        Loader(files, **{"batch_size": 2, **ERRORS[message]})


SOURCES = {
    "labels must be one for each of 2 images, got 1": ([b"a", b"b"], [1]),
    "labels must be given for all images or for none, image 1 has none": ([(b"a", 1), b"b"], None),
    "source must hold images .* got none from \\[\\]": ([], None),
}


@pytest.mark.parametrize("message", SOURCES)
def test_image_files_errors_name_the_rule(message):
    with pytest.raises(ValueError, match=f"^cuaug.ImageFiles: {message}"):
        ImageFiles(*SOURCES[message])


def test_image_files_names_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"source must be a folder or a \.tar file, got .*nothing"):
        ImageFiles(tmp_path / "nothing")


def test_loader_progress_shows_throughput(files, capsys):
    pytest.importorskip("tqdm")
    loader = Loader(files, 8, RECIPES["crop and flip"], progress=True, library="numpy")
    assert len(list(loader)) == 3
    assert "img/s" in capsys.readouterr().err
    assert set(loader.clock.seconds) == {"read", "decode", "augment"}


@pytest.mark.alone
@pytest.mark.filterwarnings(
    "ignore:.*fork"
)  # of JAX and of Python, which are right: but the workers use neither's threads
@pytest.mark.parametrize(
    ("workers", "context", "persistent"),
    thinned(
        [
            (*kind, persistent)
            for kind in ((0, None), (1, "fork"), (2, "fork"), (2, "forkserver"), (2, "spawn"))
            for persistent in (False, True)
        ],
        lambda workers, context, persistent: workers == 0 or (context == "fork" and persistent == (workers == 2)),
    ),
)
def test_collate_in_workers_equals_loader(files, workers, context, persistent):
    torch_data = pytest.importorskip("torch.utils.data")
    recipe = T.Compose(RECIPES["crop and flip"], seed=9)
    collate = Collate(recipe)
    kept = persistent and workers > 0
    how = {"num_workers": workers, "multiprocessing_context": context, "persistent_workers": kept}
    loader = torch_data.DataLoader(ImageFiles(files), 6, collate_fn=collate, **how)
    own = Loader(files, 6, recipe)
    for epoch in range(3):
        collate.set_epoch(epoch)
        for batch, expected in zip(loader, own, strict=True):
            assert isinstance(batch, type(expected))
            assert_equal(batch.images, expected.images)
            assert batch.labels.tolist() == expected.labels.tolist()
            assert batch.ids.tolist() == expected.ids.tolist()


def test_image_files_rejects_null_character_in_path(tmp_path):
    (tmp_path / "a.jpg").write_bytes(b"data")
    with pytest.raises(ValueError, match="without null characters"):
        ImageFiles([f"{tmp_path}/a.jpg\0b.jpg"])
