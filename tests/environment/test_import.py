"""``import cuaug`` loads NumPy and few modules of the standard library, and does not initialize a GPU."""

import pytest
from helpers.child_process import python

import cuaug


def test_import_brings_numpy_and_the_standard_library_alone():
    program = """
import sys, numpy
before = set(sys.modules)
import cuaug
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(sorted(new - set(sys.stdlib_module_names) - {"cuaug", "numpy"}))
"""
    assert python(program)[0] == "[]"


def test_import_loads_few_modules():
    """The limits leave room: with Python 3.11, about 120 of cuaug, and 15 beyond those that `import numpy` loads."""
    program = """
import sys, numpy
before = set(sys.modules)
import cuaug
new = set(sys.modules) - before
print(len([name for name in new if name.startswith("cuaug")]), len([n for n in new if not n.startswith("cuaug")]))
"""
    cuaug_count, other_count = map(int, python(program)[0].split())
    assert cuaug_count <= 140
    assert other_count <= 20


def test_is_available_false_without_gpu_and_error_says_why():
    program = """
import numpy, cuaug
assert cuaug.is_available() is False
assert cuaug.hflip(numpy.eye(3, dtype="u1")[None, ..., None]).shape == (1, 3, 3, 1)
class OnDevice:
    def __dlpack_device__(self):
        return 2, 0
    def __dlpack__(self, **options):
        raise RuntimeError("not reached")
try:
    cuaug.hflip(OnDevice())
except cuaug.BackendError as error:
    print(error)
"""
    message, _ = python(program, CUDA_VISIBLE_DEVICES="-1")
    assert "driver" in message or "GPU" in message, message


def test_version_is_that_of_the_installed_package():
    if cuaug.info()["cuaug"] is None:
        pytest.skip("cuaug runs from its source tree, not installed")
    assert cuaug.__version__ == cuaug.info()["cuaug"]
