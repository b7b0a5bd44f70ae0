"""A batch is divided between nvJPEG and the CPU. A fake nvJPEG engine decodes on the CPU, and fails on chosen files."""

import ctypes
from io import BytesIO

import numpy as np
import pytest
from helpers.loader import encoded_file, photo_parts
from PIL import Image

import cuaug
from cuaug import io
from cuaug._codecs import jpeg_headers, limits, nvjpeg
from cuaug._host import extension
from cuaug.data import Loader
from cuaug.data.decode_threads import DecodeThreads
from cuaug.data.decoding import DecodeSettings, EncodedImages, SlotLayout
from cuaug.data.work_splitter import CostModel, InFlightBatch, WorkSplitter

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.jpeg


class FakeEngine:
    """Records the files of each batch. It fails on the files of `fails`; if `decodes` is False, it writes no image."""

    def __init__(self, fails=(), decodes=True):
        self.batches, self.fails, self.decodes = [], fails, decodes

    def begin(self, request, library):
        data = [request.files[i] for i in request.indices]
        for file, (top, left, height, width), (address, pitch) in zip(
            data, request.boxes.tolist(), request.destinations.tolist(), strict=True
        ):
            if not self.decodes or file in self.fails:
                continue
            box = io.decode_and_crop_jpeg(file, top, left, height, width)
            for y, row in enumerate(np.ascontiguousarray(box)):
                ctypes.memmove(address + y * pitch, row.ctypes.data, row.nbytes)
        self.batches.append(data)
        self.failed = [k for k, file in enumerate(data) if file in self.fails]
        return self

    def finish(self):
        return 0.0, self.failed


SETTINGS = DecodeSettings(threads=DecodeThreads(2), strict=True, dct_scale=True, limits=limits.limits_of())


def encoded_photos(count=9):
    return [encoded_file(image, subsampling=i % 3) for i, image in enumerate(photo_parts(count))]


class FakePinnedMemory:
    def take(self, size):
        return torch.full((size,), 99, dtype=torch.uint8)

    def copy_to_slots(self, memory, copies):
        for offset, destination, pitch, destination_pitch, rows, row_bytes in copies.tolist():
            for y in range(rows):
                source = memory.data_ptr() + offset + y * pitch
                ctypes.memmove(destination + y * destination_pitch, source, row_bytes)


def whole_image_regions(sizes, divisor=1):
    """Denominator of the scale, top, left, height, width. [N, 5]"""
    return np.concatenate([np.full_like(sizes[:, :1], divisor), np.zeros_like(sizes), sizes], 1)


def decode_into_slots(files, engine, divisor=1, groups=None):
    """The decoded images, at 1 / divisor of their sizes, and the encoded ones with their errors."""
    encoded = EncodedImages(files, SETTINGS)
    sizes = -(-encoded.sizes // divisor)
    slots = SlotLayout(encoded, whole_image_regions(sizes, divisor), groups or [np.arange(len(files))])
    memory = torch.full((slots.size,), 99, dtype=torch.uint8)
    InFlightBatch(WorkSplitter(engine), slots, memory, FakePinnedMemory()).finish()
    result = {
        i: slot
        for group, views in zip(slots.groups, slots.group_arrays(memory), strict=True)
        for i, slot in zip(group, views, strict=True)
    }
    return [result[i][:h, :w].numpy() for i, (h, w) in enumerate(sizes.tolist())], encoded


@pytest.mark.parametrize("count", [1, 2, 9])
def test_loader_decoders_fill_every_slot(count):
    files, engine = encoded_photos(count), FakeEngine()
    images, _ = decode_into_slots(files, engine)
    for image, file in zip(images, files, strict=True):
        np.testing.assert_array_equal(image, io.decode_jpeg(file))
    assert 0 < len(engine.batches[0]) <= max(1, count - 1)


def test_loader_decoders_take_groups_in_one_call():
    files, engine = encoded_photos(9), FakeEngine()
    groups = [np.array(indices) for indices in ([4, 1], [8], [0, 2, 3, 7, 5], [6])]
    images, _ = decode_into_slots(files, engine, groups=groups)
    for image, file in zip(images, files, strict=True):
        np.testing.assert_array_equal(image, io.decode_jpeg(file))
    assert len(engine.batches) == 1
    assert 0 < len(engine.batches[0]) < 9


def test_loader_decoders_skip_bad_headers_on_engine():
    encoded = EncodedImages(encoded_photos(4), SETTINGS)
    encoded.bad[1] = "too small"
    assert encoded.decodable_by_engine(whole_image_regions(encoded.sizes)).tolist() == [True, False, True, True]


def test_loader_decoders_fall_back_to_cpu():
    files = encoded_photos()
    engine = FakeEngine(fails=files[3:])
    images, batch = decode_into_slots(files, engine)
    # The engine's indices count within its request; in the batch, the same indices are other images.
    assert {files[k] for k in engine.failed} != {engine.batches[0][k] for k in engine.failed}
    for image, file in zip(images, files, strict=True):
        np.testing.assert_array_equal(image, io.decode_jpeg(file))
    assert not batch.bad


def test_loader_decoders_name_undecodable_files():
    files = encoded_photos()
    files[0] = files[0][:200] + bytes(100) + files[0][300:]
    files[5] = b"\xff\xd8\xff\xe0nothing"
    engine = FakeEngine(fails=files[:1], decodes=False)
    _, batch = decode_into_slots(files, engine)
    assert sorted(batch.bad) == [0, 5]


def test_loader_decoders_keep_unsupported_files_on_cpu():
    files = encoded_photos(6)
    image = next(iter(photo_parts(1)))
    files[0] = io.encode_jpeg(image, progressive=True)
    files[1] = io.encode_jpeg(image, subsampling="gray")
    files[2] = files[2] + b"more"
    engine = FakeEngine()
    images, _ = decode_into_slots(files, engine)
    for file, decoded in zip(files, images, strict=True):
        np.testing.assert_array_equal(decoded, io.decode_jpeg(file))
    assert not {*files[:3]} & {*engine.batches[0]}
    engine = FakeEngine()
    decode_into_slots(encoded_photos(4), engine, divisor=2)
    assert not engine.batches


def settled_split(engine, cpu):
    """Split of the last of 60 batches, as (indices of the engine's images, ratios of costs, seconds).

    The ratio of an image is its CPU cost divided by its engine cost. The seconds are those of the engine and the CPU.

    A unit of cost takes ``engine`` and ``cpu`` microseconds. A batch starts when the second batch before it has ended.
    """
    splitter, random = WorkSplitter(FakeEngine()), np.random.default_rng(0)
    started, finished = [0.0, 0.0], np.zeros(2)
    for _ in range(60):
        on_cpu, on_engine = random.uniform(0.2, 2, (2, 256))
        chosen = splitter.select_for_engine(np.ones(256, bool), on_cpu, on_engine)
        costs = np.array([on_engine[chosen].sum(), np.delete(on_cpu, chosen).sum()])
        seconds = costs * (engine, cpu) * 1e-6
        finished = np.maximum(finished, started[-2]) + seconds
        splitter.engine_model.update(costs[0], started[-2], finished[0])
        splitter.cpu_model.update(costs[1], started[-2], finished[1])
        started.append(finished.max())
    return chosen, on_cpu / on_engine, seconds


COSTS = [(25.0, 75.0), (75.0, 75.0), (200.0, 100.0), (1.0, 10_000.0), (10_000.0, 1.0)]


@pytest.mark.parametrize(("engine", "cpu"), COSTS)
def test_loader_engine_gets_images_that_save_most_time(engine, cpu):
    chosen, saved, _ = settled_split(engine, cpu)
    assert saved[chosen].min() >= np.delete(saved, chosen).max()


@pytest.mark.parametrize(("engine", "cpu"), COSTS[:3])
def test_loader_engine_and_cpu_take_equally_long(engine, cpu):
    chosen, _, seconds = settled_split(engine, cpu)
    assert 16 < len(chosen) < 240
    assert seconds[0] == pytest.approx(seconds[1], rel=0.05)


@pytest.mark.parametrize(("engine", "cpu", "count"), [(*COSTS[3], 240), (*COSTS[4], 16)])
def test_loader_slower_decoder_keeps_a_sixteenth(engine, cpu, count):
    """Without any images its cost would never be measured again."""
    assert len(settled_split(engine, cpu)[0]) == count


def test_loader_small_batch_hardly_changes_cost_model():
    """In a batch of few images, the last of an epoch or one of bad files, most of the time is start-up."""
    splitter = WorkSplitter(FakeEngine())
    for model, seconds in ((splitter.engine_model, 1e-10), (splitter.cpu_model, 1e-9)):
        for i in range(20):
            model.update(5e7, i, i + 5e7 * seconds)
        model.update(2e5, 30, 30.003)
        assert model.seconds_per_unit < 2 * seconds
        model.update(0.1, 40, 40 + 1e-5)
        assert model.seconds_per_unit < 2 * seconds
    assert WorkSplitter(None).cpu_model.seconds_per_unit > 0


def test_loader_engine_leaves_some_images_to_cpu():
    splitter, costs = WorkSplitter(FakeEngine()), np.ones((2, 32))
    decodable = np.arange(32) % 2 == 0
    splitter.cpu_model, splitter.engine_model = CostModel(1.0), CostModel(1e-9)
    assert sorted(splitter.select_for_engine(decodable, *costs)) == np.flatnonzero(decodable).tolist()
    assert len(splitter.select_for_engine(np.ones(32, bool), *costs)) == 30
    assert len(splitter.select_for_engine(~np.ones(32, bool), *costs)) == 0
    assert len(WorkSplitter(None).select_for_engine(decodable, *costs)) == 0


def test_loader_decode_cost_depends_on_region():
    files = encoded_photos(4)
    encoded = EncodedImages(files, SETTINGS)
    height, width = encoded.sizes.T
    full_regions = whole_image_regions(encoded.sizes)
    on_cpu, on_engine = encoded.decode_costs(full_regions)
    np.testing.assert_allclose(on_cpu, [len(file) for file in files] + height * width / 5)
    assert on_engine.tolist() == (height * width).tolist()
    upper, lower = full_regions.copy(), full_regions.copy()
    upper[:, 3] //= 2
    lower[:, 1], lower[:, 3] = height - height // 2, height // 2
    assert (encoded.decode_costs(upper)[0] < 0.6 * on_cpu).all()
    assert (encoded.decode_costs(lower)[0] > encoded.decode_costs(upper)[0]).all()


@pytest.mark.parametrize(("options", "message"), [({"decoder": "gpu"}, "decoder"), ({"decoder": "hybrid"}, "'cpu'")])
def test_loader_rejects_unknown_decoder_and_hybrid_on_cpu(options, message):
    with pytest.raises(ValueError, match=message):
        Loader(encoded_photos(2), 2, **options)


def test_decode_jpeg_device_needs_gpu():
    if cuaug.is_available():
        pytest.skip("this machine has a GPU")
    with pytest.raises(cuaug.BackendError, match=r"CuPy|driver"):
        io.decode_jpeg(encoded_photos(1)[0], device="cuda")


@pytest.mark.parametrize("device", ["gpu", "cuda:x", 1.5, "1", True])
def test_decode_jpeg_rejects_unknown_device(device):
    with pytest.raises(ValueError, match="device"):
        io.decode_jpeg(encoded_photos(1)[0], device=device)


def test_decode_jpeg_rejects_device_beside_out():
    with pytest.raises(ValueError, match="device"):
        io.decode_jpeg(encoded_photos(1)[0], device="cuda", out=np.empty((1, 1, 3), np.uint8))


def test_loader_engine_takes_complete_baseline_colour_files():
    image = next(iter(photo_parts(1)))
    cmyk = BytesIO()
    Image.fromarray(image).convert("CMYK").save(cmyk, "JPEG")
    files = {
        encoded_file(image): True,
        encoded_file(image, subsampling=0): True,
        encoded_file(image, subsampling=1): True,
        io.encode_jpeg(image, subsampling="440"): True,
        io.encode_jpeg(image, subsampling="411"): False,
        io.encode_jpeg(image, subsampling="gray"): False,
        encoded_file(image, progressive=True): False,
        cmyk.getvalue(): False,
        encoded_file(image)[:-1]: False,
        encoded_file(image) + b"more": False,
        b"\xff\xd8\xff\xd9": False,
        b"": False,
    }
    headers, failed = jpeg_headers.read(extension.jpeg_extension().EncodedFiles([*files]), limits.limits_of())
    assert [index for index, _, _ in failed] == [10, 11]
    assert nvjpeg.can_decode(headers).tolist() == [*files.values()]
