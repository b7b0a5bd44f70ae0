"""Threads of calls on the CPU: a process that may start no more of them, and errors in several."""

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
