"""What ``import cuaug`` costs and does: NumPy alone, quickly, without a GPU in sight."""

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


@pytest.mark.alone
def test_import_takes_less_than_100_ms_over_numpy(tmp_path):
    """Of the thread that imports (those that NumPy's BLAS starts spin for a while), the best of several, and with
    bytecode, which the first of them writes where the environment forbids it and which an installed package has."""
    program = "import numpy, time; t = time.thread_time(); import cuaug; print(time.thread_time() - t)"
    bytecode = {"PYTHONDONTWRITEBYTECODE": None, "PYTHONPYCACHEPREFIX": str(tmp_path)}
    best = min(float(python(program, **bytecode)[0]) for _ in range(8))
    assert best < 0.1, f"{best * 1e3:.0f} ms"


def test_without_a_gpu_the_cpu_works_and_a_gpu_request_says_what_is_missing():
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


def test_every_public_name_is_listed_and_has_a_docstring():
    for name in cuaug.__all__:
        thing = getattr(cuaug, name)
        assert not callable(thing) or thing.__doc__, name
    assert set(cuaug.__all__) <= set(dir(cuaug))
