"""`Loader` with a dataset of the user's own: what it may return, and the messages for what it may not."""

import types

import numpy as np
import pytest
from helpers.compare import assert_equal
from helpers.loader import encoded_file

from cuaug import transforms as T
from cuaug.data import Collate, ImageFiles, Loader

pytestmark = pytest.mark.jpeg


class Encoded:
    """A dataset of encoded files. The argument `read` turns the list of their bytes into the method's result."""

    def __init__(self, files, labels=None, read=lambda data: data, **attributes):
        self.files, self.labels, self.read_with = files, labels, read
        vars(self).update(attributes)

    def __len__(self):
        return len(self.files)

    def name(self, index):
        return f"file {index}"

    def read(self, indices, threads):
        return self.read_with([self.files[i][0] for i in indices])


def labels_of(source, library="numpy"):
    return [labels for _, labels in Loader(source, 4, [T.Resize((8, 8))], library=library)]


def test_loader_labels_of_a_dataset_are_arrays_of_any_library_or_lists(files):
    torch = pytest.importorskip("torch")
    for labels in (np.arange(6), list(range(6)), tuple(range(6)), torch.arange(6)):
        for library in ("numpy", "torch"):
            assert [part.tolist() for part in labels_of(Encoded(files[:6], labels), library)] == [[0, 1, 2, 3], [4, 5]]
    assert labels_of(Encoded(files[:6])) == [None, None]
    assert labels_of(Encoded(files[:6], np.arange(6, dtype=np.int32)))[0].dtype == np.int32
    other_byte_order = np.arange(6, dtype=">i4")
    for library in ("numpy", "torch"):
        assert labels_of(Encoded(files[:6], other_byte_order), library)[1].tolist() == [4, 5]
    weights = labels_of(Encoded(files[:6], np.eye(6)))
    assert weights[1].tolist() == [[0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]


MEMBERS = "read, name, labels and a length, and target if it has targets"
DATASETS = {
    r"cuaug.data.Loader: source.labels must be real numbers of .*, one for each of 6 .*, got int64 of shape \(5,\)": {
        "labels": [0] * 5
    },
    "cuaug.data.Loader: source.labels must be real numbers of at most 64 bits, .*, got <U1 of shape": {
        "labels": ["a"] * 6
    },
    "cuaug.data.Loader: source.labels must be real numbers of at most 64 bits, .*, got (float|longdouble)": {
        "labels": np.zeros(6, np.longdouble)
    },
    f"cuaug.data.Loader: source must have {MEMBERS}, got one without target$": {"targets": [{"boxes": []}] * 6},
}


@pytest.mark.parametrize("message", DATASETS)
def test_loader_refuses_datasets_with_wrong_labels_or_without_target(files, message):
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        Loader(Encoded(files[:6], **DATASETS[message]), 4, [T.Resize((8, 8))])


def test_loader_refuses_a_dataset_without_samples():
    with pytest.raises(ValueError, match=r"^cuaug.data.Loader: source must have samples, got none$"):
        Loader(Encoded([]), 4, [T.Resize((8, 8))])


def test_loader_reads_at_least_one_image(files):
    """A dataset may combine what it reads, by `np.stack` for example."""
    sizes = []
    source = Encoded(files[:5], read=lambda data: sizes.append(len(data)) or data)
    cached = Loader(source, 2, [T.RandomResizedCrop(8)], cache="memory", library="numpy")
    assert [len(batch.ids) for _ in range(2) for batch in cached] == [2, 2, 1] * 2
    last_rank = Loader(source, 2, [T.RandomResizedCrop(8)], shard=(3, 4), seed=0, library="numpy")
    assert [len(batch.ids) for batch in last_rank] == [1]
    without_samples = Loader(source, 8, [T.RandomResizedCrop(8)], shard=(5, 6), seed=0, library="numpy")
    assert [len(batch.ids) for batch in without_samples] == [0]
    assert sizes == [2, 2, 1, 1]


def test_loader_names_the_members_that_a_dataset_lacks():
    source = types.SimpleNamespace(read=lambda indices, threads: [])
    with pytest.raises(TypeError, match=f"source must have {MEMBERS}, got one without name, labels, __len__$"):
        Loader(source, 4)


@pytest.mark.parametrize("cache", [None, "memory"])
@pytest.mark.parametrize("count", [1, 5])
def test_loader_read_returns_an_image_for_each_index(files, count, cache):
    source = Encoded(files[:4], read=lambda data: (data * 2)[:count])
    message = rf"^source.read must return an image for each of 4 indices, got {count}"
    with pytest.raises(ValueError, match=message):
        list(Loader(source, 4, [T.Resize((8, 8))], library="numpy", cache=cache))
    iterator = Encoded(files[:4], read=iter)
    assert len(list(Loader(iterator, 4, [T.Resize((8, 8))], library="numpy", cache=cache))) == 1


@pytest.mark.parametrize("as_buffer", [bytes, bytearray, memoryview, lambda data: np.frombuffer(data, np.uint8)])
def test_loader_cache_keeps_a_copy_of_every_buffer(files, as_buffer):
    memories = []

    def read(data):
        memories.append([bytearray(file) for file in data])
        return [as_buffer(memory) for memory in memories[-1]]

    loader = Loader(Encoded(files[:4], read=read), 2, [T.Resize((8, 8))], library="numpy", cache="memory")
    first = [batch.images for batch in loader]
    for memory in [memory for batch in memories for memory in batch]:
        memory[:] = bytes(len(memory))  # the dataset reuses it
    assert_equal(np.concatenate([batch.images for batch in loader]), np.concatenate(first))
    assert sum(map(len, memories)) == 4


def test_loader_and_collate_name_function_and_rule(files):
    source = ImageFiles([data for data, _ in files[:2]])
    with pytest.raises(TypeError, match=r"^cuaug.data.Loader: shuffle must be True or False, got 'no'"):
        Loader(source, 2, shuffle="no")
    with pytest.raises(TypeError, match=r"^cuaug.data.Loader: progress must be True or False, got 'no'"):
        Loader(source, 2, progress="no")
    with pytest.raises(TypeError, match=r"^cuaug.data.Loader.epoch: epoch must be an int, got 1.5"):
        Loader(source, 2).epoch = 1.5
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match=r"^cuaug.data.Collate.set_epoch: epoch must be at least 0, got -1"):
        Collate().set_epoch(-1)


def test_collate_takes_samples_in_lists(files):
    torch = pytest.importorskip("torch")
    collate = Collate([T.Resize((8, 8))], seed=0)
    samples = [(data, label, i) for i, (data, label) in enumerate(files[:3])]
    assert torch.equal(collate([list(sample) for sample in samples]).images, collate(samples).images)


TARGETS = {"dicts": {"boxes": [[1, 2, 30, 40]], "labels": [3]}, "integers": 3, "none": None}


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("kind", TARGETS)
def test_loader_targets_of_a_rank_without_samples_have_the_type_of_the_others(files, kind, library):
    pytest.importorskip(library)
    source = ImageFiles([data for data, _ in files[:3]], targets=[TARGETS[kind]] * 3)
    types = []
    for rank in (0, 3):
        loader = Loader(source, 1, [T.RandomResizedCrop(8)], seed=0, shard=(rank, 4), library=library)
        ((images, targets),) = loader
        assert len(images) == (rank == 0)
        assert targets is None or len(targets) == len(images)
        types.append(type(targets))
    assert types[0] is types[1]


RECIPES_OF_EMPTY_BATCHES = {
    "no transform": [],
    "flip": [T.RandomHorizontalFlip()],
    "padded crop": [T.RandomCrop(32, padding=4), T.RandomHorizontalFlip()],
    "flip and crop": [T.RandomHorizontalFlip(), T.RandomCrop(16)],
    "several crops": [T.FiveCrop(24)],
    "function": [T.RandomResizedCrop(8), T.Lambda(lambda images: images - images.max())],
    "mixed labels": [T.RandomResizedCrop(8), T.MixUp(num_classes=5)],
    "mixed labels of padded crops": [T.RandomCrop(32, padding=4), T.CutMix(num_classes=5)],
}


def shapes_and_dtypes(value):
    """Those of each array of a batch; shapes without the axis of the samples."""
    if isinstance(value, tuple):
        return [shapes_and_dtypes(entry) for entry in value]
    return value if value is None else (tuple(value.shape[1:]), value.dtype)


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("name", RECIPES_OF_EMPTY_BATCHES)
def test_loader_batch_without_samples_is_like_the_others(name, library):
    pytest.importorskip(library)
    files = [(encoded_file(np.full((40, 48, 3), 9 * i, np.uint8)), i) for i in range(5)]
    ranks = [Loader(files, 2, RECIPES_OF_EMPTY_BATCHES[name], shard=(i, 2), seed=0, library=library) for i in range(2)]
    (_, partial), (full, empty) = ranks
    assert (len(full.ids), len(partial.ids), len(empty.ids), len(empty.labels)) == (2, 1, 0, 0)
    assert shapes_and_dtypes(tuple(empty)) == shapes_and_dtypes(tuple(partial)) == shapes_and_dtypes(tuple(full))
    first_batch = iter(Loader(files[:1], 2, RECIPES_OF_EMPTY_BATCHES[name], shard=(1, 2), seed=0, library=library))
    images = next(first_batch).images
    assert all(len(array) == 0 for array in (images if isinstance(images, tuple) else [images]))


def test_collate_batch_of_bad_images_is_like_the_others():
    pytest.importorskip("torch")
    data = encoded_file(np.zeros((40, 48, 3), np.uint8))
    for bad_first in (False, True):
        collate = Collate([T.RandomCrop(32, padding=4), T.MixUp(num_classes=5)], seed=0, on_error="skip")
        collate.set_epoch(0)
        batches = [collate([(b"bad" if is_bad else data, 3, 0)]) for is_bad in (bad_first, not bad_first)]
        assert sorted(len(batch.images) for batch in batches) == [0, 1]
        assert shapes_and_dtypes(tuple(batches[0])) == shapes_and_dtypes(tuple(batches[1]))


NEED_OR_REFUSE_BOXES = {
    "boxes are needed": [T.RandomIoUCrop(), T.Resize((8, 8))],
    "boxes are refused": [T.ElasticTransform(), T.Resize((8, 8))],
}


@pytest.mark.parametrize("name", NEED_OR_REFUSE_BOXES)
def test_loader_first_batch_without_samples_may_have_dicts(name):
    source = ImageFiles([encoded_file(np.zeros((40, 48, 3), np.uint8))], targets=[{}])
    ((images, targets),) = Loader(source, 1, NEED_OR_REFUSE_BOXES[name], seed=0, shard=(1, 2), library="numpy")
    assert (images.shape, targets) == ((0, 8, 8, 3), [])


def test_image_files_takes_one_index(files):
    source = ImageFiles([data for data, _ in files[:3]])
    assert source[np.int64(-1)][2] == 2
    with pytest.raises(TypeError, match="'slice' object cannot be interpreted as an integer"):
        source[:2]
    with pytest.raises(IndexError):
        source[3]
