"""The loader's batches equal those of decoding every full image and running the recipe."""

import threading
import warnings

import numpy as np
import pytest
from helpers.compare import assert_equal
from helpers.loader import RECIPES, encoded_file, photo_parts
from helpers.loader_checks import ONE_LEVEL, cuaug_threads, expected_batch
from helpers.replace import replace_everywhere

import cuaug
import cuaug.io
from cuaug import transforms as T
from cuaug._codecs import other_formats
from cuaug.data import ImageFiles, Loader, epoch_order

pytestmark = pytest.mark.jpeg


@pytest.mark.parametrize("name", RECIPES)
def test_loader_batches_equal_full_decoding(files, name):
    recipe = T.Compose(RECIPES[name], seed=3)
    loader = Loader(files, 4, recipe, library="numpy", dct_scale=False)
    loader.epoch = 2
    loaded_ids = []
    for images, labels in loader:
        ids = np.arange(len(loaded_ids), len(loaded_ids) + len(images))
        expected = expected_batch(files, recipe, ids, 2)
        assert_equal(images, expected, tolerance=ONE_LEVEL)
        assert labels.tolist() == [files[i][1] for i in ids]
        loaded_ids += list(ids)
    assert len(loaded_ids) == len(files)


def test_loader_remainder_of_recipe_equals_full_decoding(files):
    """`after` keeps the draws of the whole recipe."""
    recipe = T.Compose([T.RandomInvert(), T.RandomResizedCrop(24), T.RandomHorizontalFlip()], seed=3).after(1)
    ((images, _),) = Loader(files, 23, recipe, library="numpy", dct_scale=False)
    assert_equal(images, expected_batch(files, recipe, range(23), 0), tolerance=ONE_LEVEL)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("batch_size", [1, 4, 50])
def test_loader_threads_and_batch_size_do_not_change_results(files, threads, batch_size):
    recipe = T.Compose(RECIPES["crop and flip"], seed=3)

    def images(**options):
        return np.concatenate(
            [batch.images for batch in Loader(files, transform=recipe, shuffle=True, library="numpy", **options)]
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
    size = 4  # of a batch of one rank
    order = epoch_order.sample_order(count, seed=3, epoch=1, shuffle=True)
    steps = epoch_order.batch_count(count, size, world, last)
    batches = [
        [epoch_order.rank_batch(order, i, size, rank, world, last) for i in range(steps)] for rank in range(world)
    ]
    ids = [i for rank in batches for part, valid in rank for i in part[:valid].tolist()]
    assert len(set(ids)) == len(ids) == (count // (size * world) * size * world if last == "drop" else count)
    for rank_parts in zip(*batches, strict=True):
        sizes = {len(part) for part, _ in rank_parts}
        assert max(sizes) - min(sizes) <= (last == "partial")
        assert sizes == {size} or last == "partial"
    union = [sorted(np.concatenate([rank[i][0] for rank in batches]).tolist()) for i in range(steps)]
    single_rank = [sorted(epoch_order.rank_batch(order, i, size * world, 0, 1, last)[0].tolist()) for i in range(steps)]
    assert union == single_rank


def test_loader_last_pad_fills_batch(files):
    *_, last = Loader(files, 10, RECIPES["crop and flip"], last="pad", library="numpy")
    assert last.ids.tolist() == [20, 21, 22, 0, 1, 2, 3, 4, 5, 6]
    assert last.valid.tolist() == [True] * 3 + [False] * 7
    assert len(last.images) == 10


def test_loader_decodes_other_formats_whole():
    images = list(photo_parts(3, 100, 120))
    mixed = [encoded_file(image, format=kind) for image, kind in zip(images, ("PNG", "JPEG", "BMP"), strict=True)]
    ((result, _),) = Loader(mixed, 3, [T.Resize((30, 30))], library="numpy")
    expected = np.concatenate([cuaug.resize(cuaug.io.decode_image(data)[None], (30, 30)) for data in mixed])
    assert_equal(result[[0, 2]], expected[[0, 2]])


def test_loader_equal_sizes_need_no_recipe():
    images = list(photo_parts(4, 64, 65))
    ((result, labels),) = Loader([encoded_file(image, format="PNG") for image in images], 4, library="numpy")
    assert labels is None
    assert_equal(result, np.stack(images))


def test_loader_different_sizes_need_recipe():
    with pytest.raises(ValueError, match="transform must bring all images to one size"):
        list(Loader([encoded_file(image) for image in photo_parts(3)], 3, [T.RandomHorizontalFlip()], library="numpy"))


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


@pytest.mark.parametrize(
    "transforms",
    [[T.RandomResizedCrop(24), T.RandomHorizontalFlip()], [T.RandomInvert(), T.Compose([T.Resize((20, 24))])]],
    ids=["crop", "no crop"],
)
def test_loader_runs_the_hooks_of_a_recipe(files, transforms):
    torch = pytest.importorskip("torch")
    recipe, seen = T.Compose(transforms, seed=3), []
    recipe.register_forward_pre_hook(lambda module, inputs: seen.append(len(inputs[0])))
    recipe.register_forward_hook(lambda module, inputs, result: ([255 - image for image in result[0]], result[1]))
    for batch_number, (images, _) in enumerate(Loader(files, 4, recipe, library="torch", dct_scale=False)):
        ids = np.arange(4 * batch_number, 4 * batch_number + len(images))
        expected = expected_batch(files, T.Compose(transforms, seed=3), ids, 0)
        assert_equal(images.permute(0, 2, 3, 1), 255 - torch.from_numpy(expected), tolerance=ONE_LEVEL)
    assert sum(seen) == len(files)


def test_loader_mixes_after_a_crop_with_hooks(files):
    """The recipe runs as a whole, with images of several sizes."""
    pytest.importorskip("torch")
    transforms = [T.RandomResizedCrop(24, antialias=False), T.CutMix(num_classes=30)]
    recipe, seen = T.Compose(transforms, seed=3), []
    recipe.register_forward_hook(lambda module, inputs, result: seen.append(len(result[0])))
    without_hooks = Loader(files, 4, T.Compose(transforms, seed=3), library="torch", dct_scale=False)
    for batch, expected in zip(Loader(files, 4, recipe, library="torch", dct_scale=False), without_hooks, strict=True):
        assert_equal(batch.images, expected.images, tolerance=ONE_LEVEL)
        assert_equal(batch.labels, expected.labels)
    assert sum(seen) == len(files)


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


@pytest.mark.parametrize("targets", ["none", "masks"])
@pytest.mark.parametrize(
    "recipe",
    [
        [T.CenterCrop(16)],
        [T.RandomHorizontalFlip(), T.Resize((20, 24))],
        [T.RandomAffine(20), T.Resize((20, 24)), T.ToDtype("float32", scale=True)],
        [T.RandomResizedCrop(16)],
        [T.RandomCrop(16), T.RandomPosterize(4)],
    ],
    ids=lambda recipe: type(recipe[0]).__name__,
)
def test_loader_torch_is_channels_last_in_memory(files, recipe, targets):
    torch = pytest.importorskip("torch")
    source = [data for data, _ in files[:6]]
    if targets == "masks":
        sizes = [header[:2] for header in cuaug.io.read_header(source)]
        source = ImageFiles(source, targets=[{"masks": np.zeros((1, *size), np.uint8)} for size in sizes])
    ((images, _),) = Loader(source, 6, recipe, seed=1)
    ((expected, _),) = Loader(source, 6, recipe, seed=1, library="numpy")
    assert images.is_contiguous(memory_format=torch.channels_last)
    assert_equal(images.numpy(), expected.transpose(0, 3, 1, 2))


def test_loader_jax_gives_the_arrays_of_numpy(files):
    jax = pytest.importorskip("jax")
    recipe = T.Compose([*RECIPES["crop and flip"], T.ToDtype("float32", scale=True)], seed=1)
    targets = [{"boxes": [[1, 2, 30, 40]] * (i % 3), "labels": [i] * (i % 3), "meta": (str(i), [i])} for i in range(23)]
    source = ImageFiles([data for data, _ in files], targets=targets)
    numpy_batches = list(Loader(source, 8, recipe, library="numpy"))
    for batch, expected in zip(Loader(source, 8, recipe, library="jax"), numpy_batches, strict=True):
        assert isinstance(batch.images, jax.Array)
        assert_equal(np.asarray(batch.images), expected.images)
        for target, expected_target in zip(batch.targets, expected.targets, strict=True):
            assert target["meta"] == expected_target["meta"]
            assert all(isinstance(target[key], jax.Array) for key in ("boxes", "labels", "valid"))
            assert_equal(np.asarray(target["boxes"]), expected_target["boxes"])
    ((_, labels),) = Loader(files, 23, recipe, library="jax")
    assert isinstance(labels, jax.Array)
    assert labels.tolist() == [label for _, label in files]
    large = [(data, 5_000_000_000) for data, _ in files[:1]]
    with pytest.raises(ValueError, match=r"integers must fit int32 .* without jax_enable_x64, got 5000000000: call"):
        list(Loader(large, 1, recipe, library="jax"))
    with pytest.raises(
        ValueError, match=r"^cuaug.data.Loader: device must be 'cpu', .*: library='jax' uses JAX's default"
    ):
        Loader(files, 8, device=jax.devices()[0])


def test_loader_takes_a_list_of_one_recipe_as_that_recipe(files):
    recipe = T.Compose([T.RandomCrop(16)], seed=5, boxes=T.Boxes("XYWH"))
    source = ImageFiles([data for data, _ in files[:4]], targets=[{"boxes": [[2, 3, 20, 10]]}] * 4)
    listed, single = (Loader(source, 4, transform, library="numpy") for transform in ([recipe], recipe))
    assert listed.seed == single.seed == 5
    for batch, expected in zip(listed, single, strict=True):
        assert_equal(batch.images, expected.images)
        assert [t["boxes"].tolist() for t in batch.targets] == [t["boxes"].tolist() for t in expected.targets]


def test_loader_returns_mixed_labels(files):
    recipe = T.Compose([T.RandomResizedCrop(16), T.MixUp(num_classes=5)], seed=1)
    batches = list(Loader(files, 6, recipe, library="numpy"))
    assert len(batches) == 4
    for batch in batches:
        params = recipe.draw(np.zeros((len(batch.ids), 20, 20, 3), np.uint8), ids=batch.ids, step=0)
        expected = T.mixed_labels(params, np.array([files[i][1] for i in batch.ids]))
        assert_equal(batch.labels, expected)
    assert any((batch.labels.max(1) < 1).any() for batch in batches)


def test_loader_leaves_warning_filters_alone(monkeypatch):
    """Filters belong to the process: a decoding thread that set and restored them would undo another's change."""
    before, decoding, resume = list(warnings.filters), threading.Event(), threading.Event()
    decode = other_formats.decode

    def decode_paused(file, *rest):
        return decode(PausedFile(file), *rest)

    class PausedFile:
        """A file whose data are read only after the test's thread has changed the filters."""

        def __init__(self, file):
            self.file = file

        def __getattr__(self, name):
            if name == "data":
                decoding.set()
                assert resume.wait(30)
            return getattr(self.file, name)

    replace_everywhere(monkeypatch, other_formats, "decode", decode_paused)
    loader = Loader([encoded_file(next(photo_parts(1)), format="PNG")], 1, [T.RandomResizedCrop(8)], library="numpy")
    thread = threading.Thread(target=lambda: list(loader))
    thread.start()
    assert decoding.wait(30)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        resume.set()
        thread.join(30)
        warnings.warn("seen", stacklevel=1)
    assert not thread.is_alive()
    assert len(caught) == 1
    assert warnings.filters == before


@pytest.mark.slow
def test_loader_max_pixels_none_lifts_limit():
    data = encoded_file(np.zeros((9000, 10000), bool), format="PNG")
    with pytest.raises(cuaug.DecodeError, match="more than the limit"):
        list(Loader([data], 1, [T.Resize((8, 8))], library="numpy"))
    ((images, _),) = Loader([data], 1, [T.Resize((8, 8))], library="numpy", max_pixels=None)
    assert images.max() == 0


def test_loader_recipe_error_is_raised(files):
    class Broken(T.RandomInvert):
        def write(self, recipe):
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        list(Loader(files, 4, [T.RandomResizedCrop(16), Broken()], library="numpy"))
    assert not cuaug_threads()


ERRORS = {
    "device must be 'cpu', or a GPU such as 'cuda' or 'cuda:1', got 'tpu'": {"device": "tpu"},
    "batch_size must be at least 1, got 0": {"batch_size": 0},
    "last must be one of 'drop', 'partial', 'pad', got 'keep'": {"last": "keep"},
    "on_error must be one of 'raise', 'skip', 'replace', got 'ignore'": {"on_error": "ignore"},
    "max_bad must be .*, got 2": {"max_bad": 2},
    "cache must be one of None, 'memory', got 'disk'": {"cache": "disk"},
    "shard must be .rank, ranks. with rank below ranks, got .2, 2.": {"shard": (2, 2), "seed": 1},
    "seed must be given where there are several ranks": {"shard": (0, 2)},
    "library must be one of None, 'torch', 'numpy', 'cupy', 'jax', got 'tensorflow'": {"library": "tensorflow"},
    "device must be 'cpu' for library 'jax': .* got 'cuda'": {"library": "jax", "device": "cuda"},
    "device must be 'cpu', or a GPU such as 'cuda' or 'cuda:1', got 2.5": {"device": 2.5},
    "max_pixels must be at least 1, got 0": {"max_pixels": 0},
    "prefetch must be at least 1, got 0": {"prefetch": 0},
    "threads must be at least 1, got 0": {"threads": 0},
    "last must be 'partial' or 'pad' for .* samples: 'drop' leaves no batch of 200": {
        "batch_size": 200,
        "last": "drop",
    },
    "seed must be at most 9223372036854775807": {"seed": 1 << 63},
    "library must be 'torch' or 'cupy' for device 'cuda:0', got 'numpy'": {"device": "cuda:0", "library": "numpy"},
    "device must be a GPU for library .cupy., got .cpu.": {"library": "cupy"},
}


@pytest.mark.parametrize("message", ERRORS)
def test_loader_errors_name_the_rule(files, message):
    with pytest.raises((TypeError, ValueError), match=f"^cuaug.data.Loader: {message}"):
        Loader(files, **{"batch_size": 2, **ERRORS[message]})


@pytest.mark.parametrize(("name", "value"), {"source": [b"x"], "seed": 1, "on_error": "skip"}.items())
def test_loader_refuses_to_assign_what_it_reads_once(files, name, value):
    """The recipe's draws and the pipeline would keep the old value."""
    with pytest.raises(AttributeError, match=f"{name}.*has no setter"):
        setattr(Loader(files, 4, seed=0), name, value)


def test_loader_progress_shows_throughput(files, capsys):
    pytest.importorskip("tqdm")
    loader = Loader(files, 8, RECIPES["crop and flip"], progress=True, library="numpy")
    assert len(list(loader)) == 3
    assert "img/s" in capsys.readouterr().err
    assert set(loader.clock.seconds) == {"read", "decode", "augment"}


def test_loader_takes_recipes_with_results_without_axes(files):
    """A scalar result, such as the weight of a user's own mix-up, is returned as it is."""
    recipe = [T.RandomResizedCrop(8), T.Lambda(lambda images: (images, np.float32(0.5).reshape(())))]
    (first, last) = Loader([data for data, _ in files[:3]], 2, recipe, library="numpy", seed=0)
    assert [len(batch.images[0]) for batch in (first, last)] == [2, 1]
    assert last.images[1] == 0.5
