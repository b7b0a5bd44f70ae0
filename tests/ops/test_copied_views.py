"""Views that cuaug copies before it reads them. As inputs they equal their copies; as `out` they are refused, because
the copy would be written.

Such views are torch's negated views and arrays of odd strides, which are no multiples of the element's size, as in
fields of structured arrays.
"""

import inspect

import numpy as np
import pytest
from helpers.arrays import noise, put
from helpers.compare import assert_equal, to_numpy
from tables.calls import CALLS, function_of
from tables.warps import MAIN_ROWS

import cuaug

torch = pytest.importorskip("torch")
WITH_OUT = [name for name in CALLS if "out" in inspect.signature(function_of(name)).parameters]
UINT8_OPS = {"equalize", "jpeg", "lut"}  # elements of one byte, of which every stride is a multiple
REFUSAL = "out must be writable in place: its strides must be whole elements"


def field(array):
    """The same values as the field of a structured array: each element has one more byte."""
    records = np.zeros(array.shape, [("tail", "u1"), ("values", array.dtype)])
    records["values"] = array
    return records["values"]


def negated(tensor):
    """The same values as a view with torch's negative bit."""
    view = torch._neg_view(-tensor)
    assert view.is_neg()
    return view


def arguments_of(name, convert=np.asarray, dtype=None):
    """The arguments of a call without those that `out` determines, with the images converted."""
    arguments = {key: value for key, value in CALLS[name].items() if key not in ("pin", "like")}
    if "images" in arguments:
        arguments["images"] = convert(arguments["images"] if dtype is None else arguments["images"].astype(dtype) / 255)
    if dtype is not None and "dtype" in arguments:
        arguments["dtype"] = dtype
    return arguments


@pytest.mark.parametrize("name", [name for name in WITH_OUT if not name.startswith("io.") and name not in UINT8_OPS])
def test_op_out_of_odd_strides_is_refused(name):
    function, arguments = function_of(name), arguments_of(name, dtype=np.float32)
    result = function(**arguments)
    out = field(np.full_like(result, 7))
    with pytest.raises(ValueError, match=REFUSAL):
        function(**arguments, out=out)
    assert (out == 7).all()
    assert_equal(function(**arguments, out=result.copy()), result)


@pytest.mark.parametrize("name", WITH_OUT)
def test_op_out_with_negative_bit_is_refused(name):
    function, arguments = function_of(name), arguments_of(name, torch.from_numpy)
    is_decoder = name.startswith("io.")
    result = function(**arguments, **({"like": "torch"} if is_decoder else {}))
    memory = torch.full_like(result, 7)
    with pytest.raises(ValueError, match=REFUSAL):
        function(**arguments, out=torch._neg_view(memory))
    assert (memory == 7).all()


@pytest.mark.parametrize("row", MAIN_ROWS, ids=str)
def test_op_reads_odd_strides_and_negated_views(row):
    parameters, batch = row.parameters(), noise(dtype="float32")
    call = getattr(cuaug, row.op)
    expected = call(batch, **row.options, **parameters)
    assert_equal(call(field(batch), **row.options, **parameters), expected)
    tensor = negated(torch.from_numpy(batch))
    assert_equal(to_numpy(call(tensor, **row.options, **parameters, layout="NHWC")), expected)


def test_op_dlpack_out_that_exports_a_copy_is_refused():
    class Exporter:
        """An array whose exporter copies, as the flag of its capsule says."""

        def __init__(self, array):
            self.array, self.shape = array, array.shape

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

        def __dlpack__(self, **arguments):
            return self.array.__dlpack__(**arguments, copy=True)

    batch, out = noise(), np.zeros_like(noise())
    assert_equal(cuaug.hflip(Exporter(batch)), batch[:, :, ::-1])
    with pytest.raises(ValueError, match=REFUSAL):
        cuaug.hflip(Exporter(batch), out=Exporter(out))
    assert not out.any()


@pytest.mark.parametrize("view", [field, lambda array: array[::-1]], ids=["field", "reversed"])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_op_reads_parameter_of_one_sample_with_any_stride(view, library):
    """NumPy calls an array of one entry contiguous whatever its stride is."""
    batch, factor = put(noise((1, 3, 17, 11), "float32"), (library, "cpu")), view(np.array([0.5]))
    for call in (
        lambda value: cuaug.adjust_brightness(batch, value, layout="NCHW"),
        lambda value: cuaug.gaussian_blur(batch, 3, value, layout="NCHW"),
        lambda value: cuaug.remap(batch, view(value[:, None, None]), value[:, None, None], layout="NCHW"),
        lambda value: cuaug.pad(batch, 1, value[None], layout="NCHW"),
    ):
        assert_equal(call(factor), call(factor.copy()))


def test_roi_align_gradient_of_negated_view():
    """Autograd gives `backward` the negated view as it is; the copy that cuaug reads must live until it is read."""
    regions = torch.tensor([[0, 1.0, 1, 6, 6]])
    features = torch.from_numpy(noise((1, 2, 8, 8), "float32")).requires_grad_()
    gradient = torch.from_numpy(noise((1, 2, 300, 300), "float32"))  # memory of this size is unmapped when it is freed
    for mode in ("avg", "max"):
        actual, expected = (
            torch.autograd.grad(cuaug.roi_align(features, regions, 300, mode=mode), features, each)[0]
            for each in (negated(gradient), gradient)
        )
        assert_equal(actual, expected)


def test_op_rejects_cupy_array_of_odd_strides():
    """The strides are no whole elements. No GPU: a stand-in has the attributes of a CuPy array that are read."""

    class Memory:
        ptr, device_id = 64, 0

    attributes = {"shape": (4, 5), "strides": (25, 5), "dtype": np.dtype("f4"), "data": Memory()}
    array = type("ndarray", (), {"__module__": "cupy", **attributes})()
    with pytest.raises(ValueError, match=r"cuaug\.hflip: a CuPy array must have strides of whole .*float32.*\(25, 5\)"):
        cuaug.hflip(array)
