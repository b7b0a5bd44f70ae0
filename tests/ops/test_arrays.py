"""Arrays of every library as arguments and results, and the ownership of their memory."""

import ctypes
import gc
import hashlib
import subprocess
import sys
import warnings
from typing import ClassVar

import numpy as np
import pytest
from helpers.arrays import (
    IMAGE_DTYPES,
    MASK_DTYPES,
    REVERSED_VIEWS,
    SHAPE,
    VIEWS,
    Exporter,
    every_backend,
    images,
    noise,
    put,
)
from helpers.compare import assert_equal, describe, to_numpy

import cuaug
from cuaug._arrays import capsule as capsule_module
from cuaug._arrays.registry import library_of

torch = pytest.importorskip("torch")

BATCH = noise()
FLIPPED = np.ascontiguousarray(BATCH[:, :, ::-1])


class RecordingExporter(Exporter):
    """Records the options of each export."""

    def __init__(self, array, versioned=True):
        super().__init__(array)
        self.versioned, self.export_options = versioned, []

    def __dlpack__(self, **options):
        self.export_options.append(options)
        if not self.versioned and "max_version" in options:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        return super().__dlpack__(**options)


@every_backend
def test_op_result_has_library_and_device_of_images(backend):
    batch = images(backend, layout="NHWC")
    result = cuaug.hflip(batch, layout="NHWC")
    assert type(result) is type(batch)
    assert_equal(to_numpy(result), FLIPPED)
    assert describe(result) == describe(batch)


@pytest.mark.parametrize("versioned", [True, False])
@pytest.mark.parametrize("make", [lambda: BATCH.copy(), lambda: torch.from_numpy(BATCH.copy())])
def test_op_accepts_dlpack_objects(make, versioned):
    exporter = RecordingExporter(make(), versioned)
    result = cuaug.hflip(exporter, layout="NHWC")
    assert exporter.export_options
    assert_equal(np.from_dlpack(result), FLIPPED)


def test_op_accepts_dlpack_objects_as_parameters():
    factors, matrices = np.array([0.5, 1.0, 1.5], np.float32), np.tile(np.eye(2, 3), (3, 1, 1))
    assert_equal(cuaug.adjust_brightness(BATCH, Exporter(factors)), cuaug.adjust_brightness(BATCH, factors))
    assert_equal(cuaug.warp_affine(BATCH, Exporter(matrices)), cuaug.warp_affine(BATCH, matrices))


@every_backend
@pytest.mark.parametrize("view", [*VIEWS, *REVERSED_VIEWS])
def test_describe_equals_dlpack(view, backend):
    """The fast path reads attributes; its description equals that of the DLPack exchange."""
    if view in REVERSED_VIEWS and backend[0] == "cupy":
        pytest.skip("CuPy 14.2 exports negative strides as huge ones; cuaug refuses those")
    if view in REVERSED_VIEWS and backend[0] == "torch":
        pytest.skip("torch has no negative strides")
    for dtype in dict.fromkeys([*IMAGE_DTYPES, *MASK_DTYPES]):
        if (dtype == "bfloat16" and backend[0] != "torch") or (backend[0] == "jax" and dtype in ("float64", "int64")):
            continue
        array = {**VIEWS, **REVERSED_VIEWS}[view](images(backend, dtype, "NHWC", (6, 20, 23, 3)))
        library = library_of(type(array))
        device = 0 if backend[1] == "cuda" else -1
        by_attributes, by_dlpack = (
            library.describe(array),
            capsule_module.import_array(array, library.current_stream(device) if device >= 0 else None),
        )
        assert (by_attributes.pointer, tuple(by_attributes.shape)) == (by_dlpack.pointer, by_dlpack.shape)
        assert by_attributes.dtype == by_dlpack.dtype
        assert by_attributes.device == by_dlpack.device == device
        strides = [
            [stride for stride, extent in zip(description.strides, description.shape, strict=True) if extent > 1]
            for description in (by_attributes, by_dlpack)
        ]  # an axis of one element may have any stride
        assert strides[0] == strides[1]


def test_op_dlpack_host_array_is_exported_without_stream():
    exporter = RecordingExporter(BATCH.copy())
    cuaug.hflip(exporter)
    assert exporter.export_options
    assert all(options.get("stream") is None for options in exporter.export_options)


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
DESTRUCTOR = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)  # takes an address: the capsule is no longer an object


class CapsuleExporter:
    """An exporter of hand-made unversioned capsules that counts the calls of their deleters."""

    class Tensor(ctypes.Structure):
        _fields_ = [
            ("data", ctypes.c_void_p),
            ("device_type", ctypes.c_int32),
            ("device_id", ctypes.c_int32),
            ("ndim", ctypes.c_int32),
            ("code", ctypes.c_uint8),
            ("bits", ctypes.c_uint8),
            ("lanes", ctypes.c_uint16),
            ("shape", ctypes.POINTER(ctypes.c_int64)),
            ("strides", ctypes.POINTER(ctypes.c_int64)),
            ("byte_offset", ctypes.c_uint64),
            ("context", ctypes.c_void_p),
            ("deleter", DELETER),
        ]

    callbacks: ClassVar[list] = []  # a capsule may be collected after everything else, so its callbacks stay alive

    def __init__(self, array, device=(1, 0), offset=0, lanes=1):
        self.array, self.device, self.tensors = array, device, []
        self.offset, self.lanes = offset, lanes
        deletions = self.deletions = []
        is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(
            ("PyCapsule_IsValid", ctypes.pythonapi)
        )

        def count_deletion(_):
            deletions.append(True)

        def destroy(capsule):
            """The consumer that renamed the capsule calls the deleter; otherwise the capsule does."""
            if is_valid(capsule, b"dltensor"):
                count_deletion(None)

        self.deleter, self.destructor = DELETER(count_deletion), DESTRUCTOR(destroy)
        self.callbacks.append((self.deleter, self.destructor, self.tensors))

    @property
    def deletion_count(self):
        return len(self.deletions)

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        shape = (ctypes.c_int64 * self.array.ndim)(*self.array.shape)
        data = self.array.ctypes.data - self.offset
        code, lanes = (1 if self.array.dtype.kind == "u" else 2), self.lanes
        tensor = self.Tensor(
            data,
            *self.device,
            self.array.ndim,
            code,
            8 * self.array.itemsize,
            lanes,
            shape,
            None,
            self.offset,
            None,
            self.deleter,
        )  # strides NULL: contiguous, as before DLPack 1.2
        self.tensors.append((tensor, shape))
        new_capsule = ctypes.pythonapi.PyCapsule_New
        new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, DESTRUCTOR]
        return new_capsule(ctypes.addressof(tensor), b"dltensor", self.destructor)


@pytest.mark.parametrize("offset", [0, 64])
def test_op_dlpack_capsule_is_released_once(offset):
    exporter = CapsuleExporter(BATCH.copy(), offset=offset)
    for calls in range(1, 4):
        assert_equal(np.from_dlpack(cuaug.hflip(exporter)), FLIPPED)
        gc.collect()
        assert exporter.deletion_count == len(exporter.tensors) >= calls


@pytest.mark.parametrize("name", ["PyCapsule_IsValid", "PyCapsule_GetPointer"])
def test_op_dlpack_leaves_types_of_pythonapi(name, monkeypatch):
    """`ctypes.pythonapi` has one function object for all libraries of the process."""
    function = getattr(ctypes.pythonapi, name)
    monkeypatch.setattr(function, "restype", ctypes.c_uint8)
    cuaug.hflip(CapsuleExporter(BATCH.copy()))
    assert function.restype is ctypes.c_uint8


def test_op_dlpack_failed_call_releases_memory():
    exporter = CapsuleExporter(BATCH.copy())
    with pytest.raises(ValueError, match="flip"):
        cuaug.hflip(exporter, [True] * 9)
    gc.collect()
    assert exporter.deletion_count == len(exporter.tensors)


@pytest.mark.parametrize(
    ("device", "lanes"), [((8, 0), 1), ((10, 0), 1), ((7, 0), 1), ((1, 0), 4)], ids=["Metal", "ROCm", "Vulkan", "lanes"]
)
def test_op_rejects_unreadable_memory(device, lanes):
    with pytest.raises(TypeError, match=r"^cuaug\.hflip: .*DLPack"):
        cuaug.hflip(CapsuleExporter(BATCH.copy(), device, lanes=lanes))


@every_backend
def test_op_input_may_be_freed_before_result(backend):
    results = [cuaug.hflip(images(backend, layout="NHWC"), layout="NHWC") for _ in range(20)]
    gc.collect()
    later_arrays = [put(np.full(SHAPE, n % 251, np.uint8), backend) for n in range(200)]
    for result in results:
        assert_equal(to_numpy(result), FLIPPED)
    assert len(later_arrays) == 200


def test_op_parameter_may_be_temporary():
    for _ in range(50):
        result = cuaug.warp_affine(BATCH, torch.tensor([[1.0, 0, 0], [0, 1, 0]]).clone())
        assert_equal(result, BATCH)


def check_hflip(array, expected=FLIPPED):
    before = hashlib.sha256(to_numpy(array).tobytes()).digest()
    result = cuaug.hflip(array, layout="NHWC")
    assert_equal(to_numpy(result), expected)
    assert hashlib.sha256(to_numpy(array).tobytes()).digest() == before
    return result


def test_op_accepts_read_only_numpy():
    array = BATCH.copy()
    array.flags.writeable = False
    assert check_hflip(array).flags.writeable


def test_op_accepts_result_of_broadcast_arrays_without_warning():
    """NumPy warns when `flags.writeable` of the array is read. cuaug takes it as read-only, as NumPy will later."""
    shared = np.broadcast_arrays(BATCH[:1], BATCH)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_hflip(shared, np.broadcast_to(FLIPPED[:1], BATCH.shape))
        with pytest.raises(TypeError, match="out must be a writable numpy array"):
            cuaug.hflip(BATCH, out=shared)


def test_op_accepts_memory_map(tmp_path):
    path = tmp_path / "batch.npy"
    np.save(path, BATCH)
    assert type(check_hflip(np.load(path, mmap_mode="r"))) is np.ndarray


def test_op_accepts_subclass_of_ndarray():
    class Subclass(np.ndarray):
        pass

    assert type(check_hflip(BATCH.view(Subclass))) is np.ndarray


def test_op_rejects_other_byte_order():
    swapped = noise(dtype="uint16").astype(">u2")
    with pytest.raises(TypeError, match=r"hflip: >u2 has another byte order: pass array\.astype"):
        cuaug.hflip(swapped)


@pytest.mark.parametrize("tail", ["u1", "u2"])
def test_op_accepts_field_of_structured_array(tail):
    """With a tail of one byte, the strides are no multiple of the element's size: the op must copy."""
    values = noise(dtype="uint16")
    records = np.zeros(SHAPE, dtype=[("value", "u2"), ("tail", tail)])
    records["value"] = values
    check_hflip(records["value"], values[:, :, ::-1])


def test_op_accepts_jax_array():
    jnp = pytest.importorskip("jax.numpy")
    check_hflip(jnp.asarray(BATCH))


def test_op_accepts_torch_parameter():
    assert type(check_hflip(torch.nn.Parameter(torch.from_numpy(BATCH), requires_grad=False))) is torch.Tensor


def test_op_rejects_torch_tensor_that_requires_grad():
    """Warps have no gradients: the call raises instead of detaching silently."""
    batch = torch.rand(3, 3, 17, 11, requires_grad=True)
    with pytest.raises(TypeError, match=r"requires_grad|detach"):
        cuaug.hflip(batch)
    with torch.no_grad():
        assert not cuaug.hflip(batch).requires_grad


def test_op_accepts_tensor_of_inference_mode():
    with torch.inference_mode():
        check_hflip(torch.from_numpy(BATCH))


def test_op_imports_no_library():
    program = (
        "import sys, numpy, cuaug;"
        "cuaug.warp_affine(numpy.zeros((2, 8, 8, 3), 'u1'), numpy.eye(3));"
        "print(sorted({'torch', 'cupy', 'jax', 'cv2', 'scipy'} & set(sys.modules)))"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert process.stdout.strip() == "[]"


@pytest.mark.parametrize("dtype", ["uint8", "float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("channels_last", [False, True])
def test_to_dtype_large_torch_result_has_strides_of_images(dtype, channels_last):
    """Large torch results lie in memory of the buffer pool: they have torch's strides, and are writable."""
    batch = torch.from_numpy(np.random.default_rng(0).integers(0, 255, (3, 3, 700, 800), "uint8"))
    batch = batch.contiguous(memory_format=torch.channels_last if channels_last else torch.contiguous_format)
    result = cuaug.to_dtype(batch, dtype, scale=True)
    expected = batch if dtype == "uint8" else (batch.double() / 255).to(getattr(torch, dtype))
    assert result.dtype == expected.dtype
    assert result.stride() == batch.stride()
    # The dtype's step near 1; bytes are scaled in float32.
    tolerance = {"uint8": 0, "float16": 2**-11, "bfloat16": 2**-8, "float32": 2**-23, "float64": 2**-23}[dtype]
    assert (result.double() - expected.double()).abs().max() <= tolerance
    result.fill_(1)
    assert (result == 1).all()
