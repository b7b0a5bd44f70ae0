"""The calls of nvJPEG, with Python functions in its place: no GPU is needed."""

import ctypes
import sys

import numpy as np
import pytest

from cuaug._codecs import nvjpeg
from cuaug._codecs.copy_boxes import consecutive_layout
from cuaug._host import extension

pytestmark = pytest.mark.jpeg

SET_CONTEXT = SYNCHRONIZE_EVENT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
RECORD_EVENT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
INITIALIZE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_int)
POINTERS = ctypes.POINTER(ctypes.c_void_p)
DECODE = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, POINTERS, ctypes.POINTER(ctypes.c_size_t), POINTERS, ctypes.c_void_p
)
# nvjpeg.h
NVJPEG_STATUS_BAD_JPEG = 3
NVJPEG_OUTPUT_RGBI = 5
CONTEXT, HANDLE, STATE, STREAM, EVENT = 11, 22, 33, 44, 55  # the functions below get these numbers, in place of handles


def address_of(function):
    return ctypes.cast(function, ctypes.c_void_p).value


class Library:
    """Decodes a file to its own bytes, and fails for a batch with a file that begins with "bad"."""

    def __init__(self, context_status=0, decode_status=0):
        self.batches, self.observed, self.decode_status = [], set(), decode_status
        self.set_context = SET_CONTEXT(lambda context: self.observed.add(context) or context_status)
        self.record = RECORD_EVENT(lambda event, stream: self.observed.add(("recorded", event, stream)) or 0)
        self.synchronize = SYNCHRONIZE_EVENT(lambda event: self.observed.add(("waited for", event)) or 0)
        self.initialize = INITIALIZE(self.on_initialize)
        self.decode = DECODE(self.on_decode)

    def on_initialize(self, handle, state, images, threads, output_format):
        self.batches.append(images)
        self.observed |= {handle, state, (threads, output_format)}
        return 0

    def on_decode(self, handle, state, data, lengths, images, stream):
        files = [ctypes.string_at(data[i], lengths[i]) for i in range(self.batches[-1])]
        if self.decode_status:
            return self.decode_status
        if any(file.startswith(b"bad") for file in files):
            return NVJPEG_STATUS_BAD_JPEG
        for i, file in enumerate(files):
            planes = images[8 * i : 8 * i + 8]  # four addresses, four pitches
            assert planes[1:4] == planes[5:8] == [None] * 3
            for y in range(2):
                ctypes.memmove(planes[0] + y * planes[4], file, len(file))
        self.observed.add(("stream", stream))
        return 0

    def run(self, files, pitch=16):
        memory = np.zeros((len(files), 2, pitch), np.uint8)
        images = [(i, memory[i].ctypes.data, pitch) for i in range(len(files))]
        _, failed = self.begin(files, images, memory).wait()
        return memory, failed

    def begin(self, files, images, memory):
        driver = [address_of(function) for function in (self.set_context, self.record, self.synchronize)]
        library = [address_of(function) for function in (self.initialize, self.decode)]
        files, images = extension.extension().EncodedFiles(files), np.array(images, np.int64).reshape(-1, 3)
        pending = extension.extension().nvjpeg_decode(
            files, images, memory, (*driver, CONTEXT), tuple(library), HANDLE, STATE, STREAM, EVENT
        )
        pending.start()
        return pending


def test_nvjpeg_batch_is_one_call():
    library = Library()
    files = [b"a", b"bc", b"def\0g"]
    memory, failed = library.run(files)
    assert failed == []
    assert library.batches == [3]
    threads_and_format = 1, NVJPEG_OUTPUT_RGBI
    events = {("stream", STREAM), ("recorded", EVENT, STREAM), ("waited for", EVENT)}
    assert library.observed == {CONTEXT, HANDLE, STATE, threads_and_format, *events}
    for rows, file in zip(memory, files, strict=True):
        assert all(row.tobytes() == file.ljust(16, b"\0") for row in rows)


@pytest.mark.parametrize("bad", [[0], [6], [3, 4], [0, 1, 2, 3, 4, 5, 6], []])
def test_nvjpeg_finds_failures_and_decodes_the_others(bad):
    files = [b"bad" if i in bad else f"file {i}".encode() for i in range(7)]
    memory, failed = Library().run(files)
    assert failed == bad
    for i, rows in enumerate(memory):
        assert rows[1].any() == (i not in bad)


def test_nvjpeg_no_files_no_call():
    library = Library()
    assert library.run([])[1] == []
    assert library.batches == []


def test_nvjpeg_context_error():
    with pytest.raises(RuntimeError, match="cuCtxSetCurrent returned 201"):
        Library(context_status=201).run([b"a"])


@pytest.mark.parametrize("status", [1, 5, 6, 7, 8])
def test_nvjpeg_library_error(status):
    library = Library(decode_status=status)
    with pytest.raises(RuntimeError, match=f"nvjpegDecodeBatched returned {status}"):
        library.run([b"a", b"b"])
    assert library.batches == [2]
    # The GPU may still write images of earlier calls: their memory must not be freed before.
    assert ("waited for", EVENT) in library.observed


@pytest.mark.parametrize("index", [-1, 1, 2**40])
def test_nvjpeg_rejects_missing_file(index):
    with pytest.raises(IndexError, match=f"1 files, and none at {index}"):
        Library().begin([b"a"], [(index, 0, 0)], None)


def test_nvjpeg_rejects_file_without_image():
    with pytest.raises(ValueError, match="file 1 has no image"):
        Library().begin([b"a", "no such file"], [(0, 0, 0), (1, 0, 0)], None)


def test_nvjpeg_rejects_none_as_files():
    with pytest.raises(TypeError, match="incompatible function arguments"):
        extension.extension().nvjpeg_decode(None, np.zeros((1, 3), np.int64), None, (0,) * 4, (0, 0), 0, 0, 0, 0)


def test_nvjpeg_rejects_wrong_tables():
    files = extension.extension().EncodedFiles([b"a"])
    for images in (np.zeros((1, 2), np.int64), np.zeros((1, 3), np.int32), np.zeros((2, 6), np.int64)[:, ::2]):
        with pytest.raises(ValueError, match="rows of 24 bytes"):
            extension.extension().nvjpeg_decode(files, images, None, (0, 0, 0, 0), (0, 0), 0, 0, 0, 0)


def test_nvjpeg_dropped_work_finishes_first():
    library = Library()
    memory = np.zeros((1, 2, 16), np.uint8)
    references = sys.getrefcount(memory)  # the number differs between Python versions
    pending = library.begin([b"done"], [(0, memory.ctypes.data, 16)], memory)
    assert sys.getrefcount(memory) == references + 1
    del pending
    assert sys.getrefcount(memory) == references
    assert memory[0, 0].tobytes().startswith(b"done")


def test_nvjpeg_chunks_fit_memory(monkeypatch):
    monkeypatch.setattr(nvjpeg, "_CHUNK_BYTES", 100)
    chunks = list(nvjpeg._split_by_memory(np.array([60, 40, 1, 300, 99, 2, 2])))
    assert chunks == [slice(0, 2), slice(2, 3), slice(3, 4), slice(4, 5), slice(5, 7)]
    assert list(nvjpeg._split_by_memory(np.array([], np.int64))) == []


def test_nvjpeg_images_do_not_overlap():
    sizes = np.array([[10, 7], [1, 1], [300, 500]])
    layout = consecutive_layout(sizes)
    assert layout[:, 1].tolist() == [21, 3, 1500]
    assert layout[0, 0] == 0
    assert (layout[:, 0] % 256 == 0).all()
    assert (np.diff(layout[:, 0]) >= 3 * sizes[:-1].prod(1)).all()
