"""The loader on a GPU: its batches equal those of the CPU, and are ready on the consumer's stream."""

import pytest
from helpers.compare import EXACT, Tolerance, assert_equal
from helpers.loader import RECIPES, encoded_file, photo_parts

import cuaug
from cuaug import transforms as T
from cuaug.data import Loader

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.gpu, pytest.mark.jpeg]

ONE_LEVEL = Tolerance(absolute=1, exact=0.9, reason="a GPU resizes with fixed-point coordinates")
TWO_LEVELS = Tolerance(
    absolute=2, exact=0.9, reason="as ONE_LEVEL; few of nvJPEG's values differ by a level, which a filter may enlarge"
)


@pytest.fixture(scope="module")
def files():
    return [(encoded_file(image, subsampling=i % 3), i % 5) for i, image in enumerate(photo_parts(40))]


@pytest.mark.parametrize("name", RECIPES)
def test_loader_gpu_equals_cpu(files, name):
    recipe = T.Compose(RECIPES[name], seed=2)
    on_gpu = list(Loader(files, 7, recipe, device="cuda", shuffle=True))
    on_cpu = list(Loader(files, 7, recipe, device="cpu", shuffle=True, library="torch"))
    for batch, expected in zip(on_gpu, on_cpu, strict=True):
        assert batch.images.device.type == batch.labels.device.type == "cuda"
        assert batch.labels.tolist() == expected.labels.tolist()
        tolerance = EXACT if name == "random crop" else ONE_LEVEL  # the CPU decodes for both, and nothing is resized
        assert_equal(batch.images.cpu(), expected.images, tolerance=tolerance)


@pytest.mark.parametrize("name", RECIPES)
def test_loader_hybrid_equals_cpu(files, name):
    recipe = T.Compose(RECIPES[name], seed=2)
    loader = Loader(files, 7, recipe, device="cuda", shuffle=True, decoder="hybrid")
    for _epoch in range(3):
        on_cpu = Loader(files, 7, recipe, device="cpu", shuffle=True, library="torch")
        on_cpu.epoch = loader.epoch
        for batch, expected in zip(loader, on_cpu, strict=True):
            assert batch.labels.tolist() == expected.labels.tolist()
            assert_equal(batch.images.cpu(), expected.images, tolerance=TWO_LEVELS)


@pytest.mark.parametrize("on_side_stream", [False, True])
def test_loader_gpu_batches_complete_under_load(files, on_side_stream):
    """The consumer's stream is busy before it reads a batch: the batch is not overwritten meanwhile."""
    recipe = T.Compose(RECIPES["crop and flip"], seed=2)
    expected = [batch.images for batch in Loader(files, 5, recipe, library="torch")]
    stream = torch.cuda.Stream() if on_side_stream else torch.cuda.current_stream()
    first_epoch, sums, load = [], [], torch.randn(2048, 2048, device="cuda")
    with torch.cuda.stream(stream):
        for epoch in range(5):
            loader = Loader(files, 5, recipe, device="cuda", prefetch=3)
            for batch in loader:
                for _ in range(10):
                    load = torch.tanh(load @ load)
                sums.append(batch.images.double().sum())
                if epoch == 0:
                    first_epoch.append(batch.images.clone())
                del batch
    torch.cuda.synchronize()
    totals = torch.stack(sums).cpu().reshape(5, -1)
    assert (totals == totals[0]).all()
    for images, expected_images in zip(first_epoch, expected, strict=True):
        assert_equal(images.cpu(), expected_images, tolerance=ONE_LEVEL)


def test_loader_gpu_mixes_labels_on_device(files):
    recipe = [T.RandomResizedCrop(16), T.ToDtype("float32", scale=True), T.MixUp(num_classes=5)]
    on_host = list(Loader(files, 8, recipe, library="torch", seed=1))  # tests/data/test_loader.py compares these
    tolerance = Tolerance(absolute=1e-5, reason="float32 draws of two devices")
    for batch, expected in zip(Loader(files, 8, recipe, device="cuda:0", seed=1), on_host, strict=True):
        assert batch.images.is_cuda
        assert batch.labels.is_cuda
        assert_equal(batch.labels.cpu(), expected.labels, tolerance=tolerance)


@pytest.mark.parametrize("on_side_stream", [False, True])
def test_loader_gpu_cupy_batches(files, on_side_stream):
    cupy = pytest.importorskip("cupy")
    recipe = T.Compose(RECIPES["crop and flip"], seed=2)
    expected = [(batch.images, batch.labels) for batch in Loader(files, 7, recipe, library="torch")]
    load = cupy.ones(1 << 26, cupy.float32)  # keeps the stream busy; needs neither cuBLAS nor cuRAND
    with cupy.cuda.Stream(non_blocking=True) if on_side_stream else cupy.cuda.Stream.null:
        for _epoch in range(3):
            batches = []
            for images, labels in Loader(files, 7, recipe, device="cuda", library="cupy"):
                for _ in range(15):
                    cupy.tanh(load, out=load)
                assert type(images) is type(labels) is cupy.ndarray
                batches.append((images + 0, labels))  # a copy on the busy stream, before the images are freed
                del images
            for (images, labels), (expected_images, expected_labels) in zip(batches, expected, strict=True):
                assert_equal(torch.from_numpy(images.get()).permute(0, 3, 1, 2), expected_images, tolerance=ONE_LEVEL)
                assert labels.get().tolist() == expected_labels.tolist()


def test_loader_gpu_cupy_several_crops(files):
    cupy = pytest.importorskip("cupy")
    recipe = [T.Resize((32, 32)), T.FiveCrop(24)]
    expected = next(iter(Loader(files, 40, recipe, device="cuda", library="torch"))).images
    ((images, _),) = Loader(files, 40, recipe, device="cuda", library="cupy")
    assert type(images) is tuple
    for crops, expected_crops in zip(images, expected, strict=True):
        assert type(crops) is cupy.ndarray
        assert_equal(torch.from_numpy(crops.get()).permute(0, 3, 1, 2), expected_crops.cpu())


def test_loader_gpu_epoch_may_be_abandoned(files):
    recipe = T.Compose(RECIPES["crop and flip"], seed=2)
    loader = Loader(files * 5, 20, recipe, device="cuda", decoder="hybrid")
    batches = [batch.images for batch in loader]
    for _ in range(20):
        loader.epoch = 0
        first_batch = next(iter(loader))
        assert_equal(first_batch.images.cpu(), batches[0].cpu(), tolerance=TWO_LEVELS)
    loader.epoch = 0
    again = [batch.images for batch in loader]
    for images, expected in zip(again, batches, strict=True):
        assert_equal(images.cpu(), expected.cpu(), tolerance=TWO_LEVELS)


def test_loader_gpu_on_error_replace(files):
    broken = [*files[:5], (b"\xff\xd8\xff\xe0nothing", 1), *files[5:9]]
    (batch,) = Loader(broken, 10, RECIPES["crop and flip"], device="cuda", on_error="replace", max_bad=None)
    assert batch.valid.tolist() == [True] * 5 + [False] + [True] * 4
    (replacement,) = (i for i, sample_id in enumerate(batch.ids.tolist()) if sample_id == batch.ids[5] and i != 5)
    assert torch.equal(batch.images[5], batch.images[replacement])


def test_loader_gpu_rejects_missing_device(files):
    with pytest.raises(cuaug.BackendError, match="cuda"):
        Loader(files, 2, device="cuda:99")
