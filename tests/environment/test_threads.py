"""Threads of calls on the CPU: when they start, a process that may start no more of them, and errors in several."""

import sys
import threading

import pytest
from helpers.child_process import python

from cuaug._host.threads import parallel_map

# A limit on memory makes starting threads fail: they need stacks. (A limit on processes does not hold for root.)
NO_THREADS = """
import io, os, resource
import numpy as np
from PIL import Image
import cuaug
from cuaug import io as cio

def encoded_png(image):
    file = io.BytesIO()
    Image.fromarray(image).save(file, "PNG")
    return file.getvalue()

images = np.random.default_rng(0).integers(0, 256, (16, 64, 64, 3), np.uint8)
jpegs, pngs = cio.encode_jpeg(images), [encoded_png(image) for image in images]
calls = {
    "hflip": lambda: cuaug.hflip(images),
    "gaussian_blur": lambda: cuaug.gaussian_blur(images, 5),
    "decode_jpeg": lambda: cio.decode_jpeg(jpegs),
    "decode_image": lambda: cio.decode_image(pngs),
}
cuaug.set_num_threads(1)
expected = {name: call() for name, call in calls.items()}
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (6 << 20),) * 2)
cuaug.set_num_threads(8)
for name, call in calls.items():
    for _ in range(2):
        assert np.array_equal(call(), expected[name]), name
print(len(os.listdir("/proc/self/task")))
"""


@pytest.mark.jpeg
@pytest.mark.alone
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_set_num_threads_more_than_the_process_may_start():
    threads = int(python(NO_THREADS, timeout=60, OPENBLAS_NUM_THREADS="1")[0])
    assert threads < 8  # the limit was in force


# `threads_started(call)`: the number of threads that `call` starts. The loops start theirs when they need them.
STARTED_THREADS = """
import os
import numpy as np
import cuaug
from cuaug import transforms as T

cuaug.set_num_threads(3)

def threads_started(call):
    threads_before = len(os.listdir("/proc/self/task"))
    call()
    return len(os.listdir("/proc/self/task")) - threads_before
"""

RAGGED_RESIZE = """
resize = T.Compose([T.Resize((48, 48))])
small = [np.zeros((height, height + 1, 3), np.uint8) for height in range(20, 40)]
for image in small:  # after some sizes, single images are ragged batches of one
    assert threads_started(lambda: resize(image)) == 0
assert threads_started(lambda: resize(small[:2])) == 0
assert threads_started(lambda: resize(np.zeros((150, 151, 3), np.uint8))) == 2
"""

ROI_GRADIENT = """
import torch

def pooled_sum(height):
    features = torch.zeros((2, 64, height, 100), requires_grad=True)
    return cuaug.roi_align(features, torch.tensor([[1.0, 2, 2, 9, 9]]), 2).sum()

torch.set_num_threads(1)
torch.zeros(1, requires_grad=True).sum().backward()  # starts torch's own threads
assert threads_started(pooled_sum(2).backward) == 0
assert threads_started(pooled_sum(30).backward) == 2
"""


@pytest.mark.alone
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_compose_starts_threads_for_large_images_of_a_ragged_batch():
    """Large and small are the images, not the results, which have one size."""
    python(STARTED_THREADS + RAGGED_RESIZE, OPENBLAS_NUM_THREADS="1")


@pytest.mark.alone
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_roi_align_backward_starts_threads_for_large_feature_maps():
    """A region has few values, but all gradients of the maps are written."""
    pytest.importorskip("torch")
    python(STARTED_THREADS + ROI_GRADIENT, OPENBLAS_NUM_THREADS="1")


def test_decode_image_is_interrupted_although_another_file_fails():
    """`parallel_map`, which decodes files: Ctrl-C is not lost when an earlier item fails, too."""
    all_started = threading.Barrier(3)

    def work(item):
        all_started.wait(30)
        raise item

    items = [ValueError("first"), KeyboardInterrupt(), ValueError("last")]
    with pytest.raises(KeyboardInterrupt):
        parallel_map(work, items, 3)
    with pytest.raises(ValueError, match="first"):
        parallel_map(work, [items[0], items[2], items[2]], 3)
