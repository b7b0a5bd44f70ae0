"""The compiled extension: instruction sets, threads, forks, the interpreter's lock, and rejected records.

Results do not depend on the CPU, on threads or on forks, and no call blocks Python.
"""

import importlib.machinery
import os
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest
from helpers.arrays import noise, seeded
from helpers.child_process import python
from helpers.compare import Tolerance, assert_equal
from helpers.gil import releases_gil
from numpy.testing import assert_array_equal
from tables.warps import INTERPOLATIONS, RESIZE_INTERPOLATIONS

import cuaug
from cuaug import _native as native
from cuaug._arrays.images import describe_images
from cuaug._passes import pointwise
from cuaug._passes.parameters import NULL_ARRAY, SampleParameters
from cuaug._program import records

MATRIX = np.array([[0.9, 0.3, -2.0], [-0.25, 1.1, 1.0]])
FUSED = Tolerance(1.0, reason="a fused multiply-add rounds once: a value beside a tie falls to its other side")
FLOAT = Tolerance(2e-5, reason="float32 coordinates, rounded once or twice")


@pytest.fixture(autouse=True)
def restored_settings():
    isa = native.instruction_set()
    yield
    native.set_instruction_set(isa)
    native.set_threads(0)


def warp(images, **options):
    return cuaug.warp_affine(images, MATRIX, border="reflect", **options)


def results_of_isas(make):
    """Results of `make` under each instruction set, the baseline first."""
    results = {}
    for isa in native.instruction_sets():
        native.set_instruction_set(isa)
        assert native.instruction_set() == isa
        results[isa] = make()
    return results


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float16", "float32", "float64"])
@pytest.mark.parametrize("interpolation", [i for i in INTERPOLATIONS if i != "nearest"])
def test_extension_instruction_sets_agree(dtype, interpolation):
    images = noise((2, 70, 83, 3), dtype)
    scale = 65535 if dtype in ("uint16", "int16") else 1
    half = Tolerance(1e-3, reason="neighbouring float16 numbers")
    tolerance = {"float16": half, "float32": FLOAT, "float64": FLOAT}.get(dtype, FUSED)
    if scale > 1:
        tolerance = Tolerance(1 + 1e-4 * scale, reason="float32 coordinates, in levels of 65535")
    calls = [lambda: warp(images, interpolation=interpolation)]
    if interpolation in RESIZE_INTERPOLATIONS:
        calls.append(lambda: cuaug.resize(images, (31, 29), interpolation))
    for make in calls:
        baseline, *others = results_of_isas(make).values()
        for other in others:
            assert_equal(other, baseline, tolerance=tolerance)


def test_extension_nearest_moves_bits_under_every_instruction_set():
    images = noise((2, 70, 83, 3), "int64") * 2**40 + 1  # float64 cannot hold these
    results = results_of_isas(lambda: warp(images, interpolation="nearest"))
    for result in results.values():
        assert np.isin(result, images).all()
        assert_array_equal(result, results[native.instruction_sets()[0]])


@pytest.mark.parametrize("width", [*range(1, 40), 256, 300])
def test_extension_packed_bytes_of_every_width(width):
    """After an identity op on all channels, the loop writes up to the last byte and not beyond."""
    levels = np.array([-np.inf, -1e30, -0.5, 0, 0.5, 1.5, 2.5, 3.25, 127.5, 254.5, 254.51, 255.5, 1e30, np.inf, np.nan])
    values = seeded(width).choice(np.append(levels, np.arange(256)), (1, 3, width, 3))
    scaled = np.float32(values / 255)
    expected = np.nan_to_num(np.rint(np.clip(scaled * np.float32(255), 0, 255)))
    image, identity = describe_images(scaled), SampleParameters(NULL_ARRAY, (0.0,))

    def make():
        padded = np.full((1, 3, width + 3, 3), 77, np.uint8)
        pointwise.pointwise(image, ("RandomGrayscale",), identity, "uint8", padded[:, :, :width])
        return padded

    for padded in results_of_isas(make).values():
        assert_array_equal(padded[:, :, :width], expected)
        assert (padded[:, :, width:] == 77).all()


def test_extension_half_precision_equals_numpy():
    bits = np.arange(65536, dtype=np.uint16)
    halves = bits.view(np.float16).reshape(1, 256, 256, 1)
    # Every float16, the midpoints, and their neighbours: rounding, subnormals, overflow.
    with np.errstate(over="ignore", invalid="ignore"):
        middles = np.concatenate([np.nextafter(halves.astype(np.float32), np.float32(s)) for s in (-np.inf, np.inf)])
        up = np.nextafter(halves, np.float16(np.inf)).astype(np.float32)
        middles = np.concatenate([middles, (halves.astype(np.float32) + up) / 2])
        expected = middles.astype(np.float16)
    for widened in results_of_isas(lambda: cuaug.crop(halves, 0, 0, 256, 256, dtype="float32")).values():
        assert_array_equal(widened, halves.astype(np.float32))
    for narrowed in results_of_isas(lambda: cuaug.crop(middles, 0, 0, 256, 256, dtype="float16")).values():
        assert_array_equal(narrowed, expected)


def test_set_num_threads_does_not_change_results():
    images = noise((5, 150, 131, 3))
    native.set_threads(1)
    expected = warp(images), cuaug.resize(images, (64, 65))
    for threads in (2, 3, 16):
        native.set_threads(threads)
        assert native.threads() == threads
        assert_array_equal(warp(images), expected[0])
        assert_array_equal(cuaug.resize(images, (64, 65)), expected[1])
    native.set_threads(0)
    assert native.threads() == len(os.sched_getaffinity(0))


def test_extension_calls_from_many_threads():
    native.set_threads(3)
    batches = [noise((4, 90, 97, 3), seed=seed) for seed in range(6)]
    expected = [warp(batch) for batch in batches]
    wrong = []

    def call(i):
        for _ in range(20):
            if not np.array_equal(warp(batches[i]), expected[i]):
                wrong.append(i)

    callers = [threading.Thread(target=call, args=(i,)) for i in range(len(batches))]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


@pytest.mark.alone
def test_extension_releases_the_gil_during_a_call():
    images = noise((16, 512, 512, 3))
    assert releases_gil(lambda: warp(images, interpolation="lanczos"))


FORKS = """
import os, signal, threading, warnings
import numpy, cuaug
from cuaug import _native

warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 on: fork beside threads, which is the point
images = numpy.random.default_rng(0).integers(0, 256, (4, 120, 130, 3), numpy.uint8)
warp = lambda: cuaug.warp_affine(images, [[0.9, 0.3, -2.0], [-0.25, 1.1, 1.0]], border="reflect")
_native.set_threads(4)
expected, stop = warp(), threading.Event()

def keep_busy():
    while not stop.is_set():
        warp()

busy = threading.Thread(target=keep_busy)
busy.start()
try:
    for _ in range(30):
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # ends the process if it hangs
            os._exit(0 if numpy.array_equal(warp(), expected) else 1)
        assert os.waitpid(child, 0)[1] == 0
finally:
    stop.set()
    busy.join()
assert numpy.array_equal(warp(), expected)
print("30 children")
"""


@pytest.mark.alone
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_extension_forked_child_starts_its_own_threads():
    """The program runs in a child process, because JAX warns at every fork once it is imported."""
    message, _ = python(FORKS)
    assert message == "30 children"


def test_child_process_imports_the_tested_extension():
    extension, _ = python("from cuaug import _native; print(_native.__file__)")
    assert extension == native.__file__


def test_extension_errors_name_the_argument():
    names = ("uint8", "uint8", "Affine", "Bilinear", "Constant")
    with pytest.raises(ValueError, match="record has 3 bytes, expected"):
        native.warp_image(b"abc", *names)
    for position, (name, kind) in enumerate(
        [("half", "dtype"), ("half", "dtype"), ("Shear", "geometry"), ("Cubic", "sampler"), ("Zero", "border")]
    ):
        with pytest.raises(ValueError, match=f"{kind} '{name}'"):
            native.warp_image(b"", *names[:position], name, *names[position + 1 :])
    with pytest.raises(ValueError, match="dtype 'int32' can be moved with Nearest"):
        native.warp_image(b"", "int32", "int32", "Affine", "Bilinear", "Constant")
    with pytest.raises(ValueError, match="dtype 'int64' can be moved with Nearest"):
        native.warp_image(b"", "int64", "float32", "Affine", "Nearest", "Constant")
    with pytest.raises(ValueError, match="filter 'Box'"):
        native.resample(b"", "uint8", "uint8", "Box")
    with pytest.raises(ValueError, match="record has 0 bytes, expected"):
        native.resample(b"", "uint8", "uint8", "Triangle")
    for loop in (native.adjust_sharpness, native.histogram_lut, native.channel_min_max, native.lut):
        with pytest.raises(ValueError, match="record has 3 bytes, expected"):
            loop(b"abc", "uint8")
        with pytest.raises(ValueError, match="dtype 'int64' can be moved with Nearest"):
            loop(b"abc", "int64")
    with pytest.raises(ValueError, match="record has 3 bytes, expected"):
        native.build_matrices(b"abc", "InvertAffine")
    with pytest.raises(ValueError, match="matrix builder 'Invert' is not known"):
        native.build_matrices(bytes(records.MATRIX_BUILDER.size - 4) + b"\1\0\0\0", "Invert")
    for chain, message in (
        (["Blur"], "op 'Blur'"),
        ([(0, 2)], "a user's op has an address"),
        ([(8, 33)], "at most 32 fields"),
    ):
        for loop in (
            lambda c: native.pointwise(b"", "uint8", "uint8", c, 3),
            lambda c: native.luma_mean(b"", "uint8", c, False),
        ):
            with pytest.raises(ValueError, match=message):
                loop(chain)
    with pytest.raises(ValueError, match="'x86-64-v9' is not among"):
        native.set_instruction_set("x86-64-v9")
    with pytest.raises(ValueError, match="positive"):
        native.set_threads(-1)


def test_compiler_flags_are_those_of_each_instruction_set():
    flags = results_of_isas(lambda: native.compiler_flags().split())
    assert all("-ffp-contract=fast" in options for options in flags.values())
    assert "-O3" in flags[native.instruction_sets()[-1]]
    assert len({tuple(options) for options in flags.values()}) == len(native.instruction_sets())


def test_extension_has_room_for_more_functors():
    """One more border adds 80 kB. `make wheel` limits the compressed size."""
    size, limit = Path(native.__file__).stat().st_size, 6 << 20
    assert size < limit, f"{size} bytes, {size - limit} over the limit"


@pytest.mark.skipif(not native.__file__.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES)), reason="not a file")
def test_extension_exports_one_symbol():
    try:
        listed = subprocess.run(["nm", "-D", "--defined-only", native.__file__], capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("no nm here")
    assert [line.split()[-1] for line in listed.stdout.splitlines()] == ["PyInit__native"]
