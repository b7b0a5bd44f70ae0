"""Damaged and malicious files: the decoder returns an array or raises a DecodeError."""

import gc
import pickle
import threading
import weakref

import numpy as np
import pytest
from helpers.child_process import python, python_after_import
from helpers.jpeg import (
    MUTATORS,
    SEED,
    base_files,
    encoded,
    encoded_by_pillow,
    random_part,
)
from helpers.jpeg_fuzz import FOUR_MEGAPIXELS, check_allowed, count_outcomes
from helpers.jpeg_writer import marker_bombs
from helpers.thinning import thinned

import cuaug
from cuaug import io as cio
from cuaug._codecs.decode import CpuDecoder

pytestmark = pytest.mark.jpeg


@pytest.mark.parametrize(
    ("part", "count"), thinned([(4, 2_000), *((part, 5_000) for part in range(4))], lambda part, count: part == 4)
)
def test_decode_jpeg_mutated_files_decode_or_raise(part, count):
    """tests/fuzz decodes a million of them."""
    outcomes = count_outcomes(SEED + part, count)
    # The mutations reach every outcome: none is rare.
    assert min(outcomes[name] for name in ("array", "array, strict", "DecodeError", "ImageTooLarge")) > count // 100, (
        outcomes
    )


SMALL = {
    "baseline": lambda photo: encoded(photo, "420", quality=50),
    "444": lambda photo: encoded(photo, "444", quality=50),
    "progressive": lambda photo: encoded(photo, "420", quality=50, progressive=True),
    "restarts": lambda photo: encoded(photo, "422", quality=50, restart=2),
    "gray": lambda photo: encoded_by_pillow(photo, "L", quality=50),
    "cmyk": lambda photo: encoded_by_pillow(photo, "CMYK", quality=50),
}


@pytest.mark.parametrize("kind", SMALL)
def test_decode_jpeg_rejects_truncation(kind):
    file = SMALL[kind](random_part(np.random.default_rng(SEED), 56, 72))
    size = cio.read_header(file)[:2]
    assert len(file) <= 6_000
    assert file.endswith(b"\xff\xd9")
    for end in range(len(file) - 1):  # the file without its last byte still decodes
        with pytest.raises(cuaug.DecodeError):
            cio.decode_jpeg(file[:end])
        try:
            decoded_size = cio.decode_jpeg(file[:end], strict=False).shape[:2]
        except ValueError as error:
            check_allowed(error)
        else:
            assert decoded_size == size


BOMBS = """
import resource
import numpy as np
import cuaug.io as cio, cuaug
from helpers.jpeg import with_declared_size, encoded, frame_offset, with_byte

photo = np.zeros((64, 64, 3), np.uint8)
files = {"baseline": encoded(photo), "progressive": encoded(photo, progressive=True)}
def claim(kind, *size):
    file = with_declared_size(files.get(kind, files["baseline"]), *size)
    return with_byte(file, frame_offset(file) + 1, 0xC9) if kind == "arithmetic" else file

sizes = [(65535, 65535), (65500, 65500), (32000, 32000), (16384, 1), (1, 65535), (0, 100), (100, 0)]
[cio.decode_jpeg(files["baseline"]) for _ in range(3)]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
tried = 0
for kind in ("baseline", "progressive", "arithmetic"):
    for size in sizes:
        for call in (cio.decode_jpeg, lambda data: cio.decode_and_crop_jpeg(data, 0, 0, 1, 1)):
            tried += 1
            try:
                call(claim(kind, *size))
            except cuaug.DecodeError as error:
                reason = error.reason
                large = isinstance(error, cuaug.ImageTooLarge)
            else:
                # Small enough for the limits. The crop needs only the first rows, and a decoder of arithmetic coding
                # reads zeros after the end of the data.
                assert (call is not cio.decode_jpeg or kind == "arithmetic") and size == (16384, 1), (kind, size)
                continue
            assert large == (max(size) >= 32000 and min(size) > 0), (kind, size, reason)
print(tried, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.alone
def test_decode_jpeg_rejects_claimed_sizes():
    """Decoding the declared sizes would take two seconds and gigabytes each."""
    tried, kilobytes = python(BOMBS, timeout=60)[0].split()
    assert int(tried) == 42
    assert int(kilobytes) < 16 << 10


MARKERS = """
import numpy as np
import cuaug.io as cio
from helpers.jpeg import encoded_by_pillow, with_segments
from helpers.jpeg_writer import marker_bombs
file = encoded_by_pillow(np.zeros((16, 16, 3), np.uint8))
filled = with_segments(file, *marker_bombs()[{kind!r}])
assert cio.read_header(filled)[:2] == (16, 16)
assert np.array_equal(cio.decode_jpeg(filled), cio.decode_jpeg(file))
"""


@pytest.mark.parametrize("kind", marker_bombs())
def test_decode_jpeg_many_markers_take_linear_time(kind):
    """Comparing each pair of 100,000 markers would take minutes."""
    python_after_import(["helpers.jpeg"], MARKERS.format(kind=kind), timeout=60)


MEMORY = """
import resource
import numpy as np
import cuaug.io as cio, cuaug
from helpers.jpeg import with_declared_size, encoded
file = with_declared_size(encoded(np.zeros((64, 64, 3), np.uint8), progressive=True), 8000, 10000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    cio.decode_jpeg(file, max_memory=64 << 20, strict=False)
except cuaug.ImageTooLarge as error:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, error.reason)
"""


@pytest.mark.alone
def test_decode_jpeg_limits_memory_of_progressive_files():
    kilobytes, _, reason = python(MEMORY)[0].partition(" ")
    assert int(kilobytes) < 96 << 10
    assert "240000000 bytes of memory, more than the limit of 67108864" in reason


LEAK = """
import numpy as np, psutil
import cuaug.io as cio, cuaug
from helpers.jpeg import SEED, encoded_by_pillow, encoded, photographs
rng = np.random.default_rng(SEED)
photo = np.tile(photographs()[0], (4, 4, 1))
whole = [encoded(photo), encoded(photo, progressive=True)]
whole += [encoded_by_pillow(photo, mode) for mode in ("CMYK", "L")]
files = [file[: rng.integers(700, 6_000)] for file in whole * 13][:50]
def rounds(count):
    for _ in range(count):
        for file in files:
            try:
                cio.decode_jpeg(file)
            except cuaug.DecodeError:
                continue
            raise AssertionError("decoded")
    return psutil.Process().memory_info().rss
before = rounds(20)
print((rounds(100) - before) >> 10)
"""


@pytest.mark.alone
@pytest.mark.slow
def test_decode_jpeg_errors_leak_nothing():
    pytest.importorskip("psutil")
    assert int(python(LEAK)[0]) < 32 << 10  # KiB; 16 KB for the 2,048 row pointers of each decode would be 80 MB


def test_decode_jpeg_error_is_freed_without_garbage_collection():
    file = encoded(random_part(np.random.default_rng(SEED), 300, 400))[:2_000]
    errors = []
    gc.disable()
    try:
        for _ in range(2):
            try:
                cio.decode_jpeg(file)
            except cuaug.DecodeError as error:
                errors.append(weakref.ref(error))
        assert [error() for error in errors] == [None, None]
    finally:
        gc.enable()


def test_decode_jpeg_rejects_short_data():
    rng = np.random.default_rng(SEED)
    for length in range(17):
        for number in range(32):
            data = rng.bytes(length)
            data = b"\xff\xd8\xff"[:length] + data[3:] if number % 2 else data
            for call in (cio.decode_jpeg, cio.read_header, cio.decode_image):
                with pytest.raises(cuaug.DecodeError):
                    call(data)


BAD = [-1, -(2**31), -(2**63), 2**31, 2**63, 2**64, 10**30]


@pytest.mark.parametrize("value", [*BAD, float("nan"), 1.0, True, None, "3"], ids=repr)
@pytest.mark.parametrize("side", ["top", "left", "height", "width"])
def test_decode_and_crop_jpeg_checks_box_before_decoding(monkeypatch, value, side):
    file = encoded(np.zeros((40, 50, 3), np.uint8))
    monkeypatch.setattr(CpuDecoder, "decode", lambda *arguments: pytest.fail("the decoder was reached"))
    box = {"top": 1, "left": 1, "height": 5, "width": 5, side: value}
    with pytest.raises(ValueError if value in BAD else TypeError, match=rf"cuaug\.io\.decode_and_crop_jpeg: .*{side}"):
        cio.decode_and_crop_jpeg(file, **box)


@pytest.mark.parametrize(
    "box",
    [(0, 0, 41, 50), (0, 0, 40, 51), (40, 0, 1, 1), (0, 50, 1, 1), (39, 49, 2, 1), (0, 0, 0, 5), (0, 0, 5, 0)],
)
def test_decode_and_crop_jpeg_rejects_box_outside_image(box):
    file = encoded(np.zeros((40, 50, 3), np.uint8))
    with pytest.raises(ValueError, match=r"within the image of 40x50|at least 1") as raised:
        cio.decode_and_crop_jpeg(file, *box)
    assert not isinstance(raised.value, cuaug.DecodeError)


def test_decode_jpeg_limits():
    file = encoded(np.zeros((40, 50, 3), np.uint8))
    for limit, words in (
        ({"max_pixels": 1_999}, "40x50 pixels, more than the limit of 1999"),
        ({"max_side": 49}, "40x50 pixels, a side longer than the limit of 49"),
        ({"max_bytes": 100}, f"{len(file)} bytes, more than the limit of 100"),
    ):
        for call in (cio.read_header, cio.decode_jpeg, cio.decode_image):
            with pytest.raises(cuaug.ImageTooLarge, match=words):
                call(file, **limit)
    assert cio.decode_jpeg(file, max_pixels=2_000, max_side=50, max_bytes=None, max_memory=None).shape == (40, 50, 3)


def test_decode_jpeg_threads_equal_one():
    """Eight threads decode valid and damaged files at once, one file per call."""
    rng = np.random.default_rng(SEED)
    mutators = list(MUTATORS.values())
    files = [base_files()[i % 21] if i % 2 else mutators[i % 7](rng, base_files()[i % 21]) for i in range(500)]

    def result(file):
        try:
            return cio.decode_jpeg(file, strict=False, max_pixels=FOUR_MEGAPIXELS).tobytes()
        except cuaug.DecodeError as error:
            return error.reason

    expected = [hash(result(file)) for file in files]
    results = [[0] * len(files) for _ in range(8)]

    def work(number):
        for step in range(len(files)):
            index = (step + 61 * number) % len(files)
            results[number][index] = hash(result(files[index]))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert results == [expected] * 8


def test_decode_jpeg_list_names_first_failure(tmp_path):
    good = encoded(np.zeros((16, 16, 3), np.uint8))
    path = tmp_path / "cut.jpg"
    path.write_bytes(good[:200])
    with pytest.raises(cuaug.DecodeError, match=r"cuaug.io.decode_jpeg: image 2 \('.*cut.jpg'\): ") as raised:
        cio.decode_jpeg([good, good, path, b""])
    assert (raised.value.index, raised.value.source) == (2, str(path))
    again = pickle.loads(pickle.dumps(raised.value))
    assert (type(again), again.index, again.source, again.reason, str(again)) == (
        cuaug.DecodeError, 2, str(path), raised.value.reason, str(raised.value),
    )  # fmt: skip
