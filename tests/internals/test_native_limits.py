"""The extension's loops have arrays of fixed sizes: a record beyond them is refused before the loop starts.

Python checks the same limits in public functions; these tests guard memory against any packed record.
"""

import re

import numpy as np
import pytest

from cuaug import _native as native
from cuaug._passes import blur_tiles, filters
from cuaug._program import detection_records, records
from cuaug._program.sources import KERNELS
from cuaug._program.user_ops import MAX_PARAMETERS

SIZE = 8
IMAGE = np.zeros((2, SIZE, SIZE, 3), np.uint8)
RESULT = np.empty_like(IMAGE)
STRIDES = {"n_stride": 3 * SIZE * SIZE, "t_stride": 0, "c_stride": 1, "y_stride": 3 * SIZE, "x_stride": 3}
BATCH = {
    **{f"in.{name}": stride for name, stride in STRIDES.items()},
    **{f"out.{name}": stride for name, stride in STRIDES.items()},
    "in.data": IMAGE.ctypes.data,
    "out.data": RESULT.ctypes.data,
    "samples": 2,
    "frames": 1,
    "channels": 3,
    **dict.fromkeys(("in_height", "in_width", "out_height", "out_width"), SIZE),
}


def record_bytes(record, **values):
    """A record of zeros with these fields. A float is repeated until it fills its field, an array of float64."""
    data = bytearray(record.size)
    for name, value in values.items():
        offset, size = record.offsets[name]
        if isinstance(value, float):
            data[offset : offset + size] = np.float64(value).tobytes() * (size // 8)
        else:
            data[offset : offset + size] = int(value).to_bytes(size, "little", signed=True)
    return bytes(data)


def image_record_bytes(record, **values):
    return record_bytes(record, **{**BATCH, **values})


def blur(width, height):
    kernel = {"kernel_width": width, "kernel_height": height, "tile_width": 8, "tile_height": 8, "value": 1.0}
    record = image_record_bytes(records.GAUSSIAN_BLUR, **kernel)
    return native.gaussian_blur(record, "uint8"), record


@pytest.mark.parametrize("size", [129, 1001, 128, 2, 0, -1, -127, 2**31 - 1])
def test_gaussian_blur_refuses_kernels_that_are_even_or_beyond_127_taps(size):
    for sizes in ((size, 3), (3, size)):
        with pytest.raises(ValueError, match="the record must have an odd kernel of at most 127 taps"):
            blur(*sizes)
    native.LoopSequence([(*blur(127, 1), ()), (*blur(1, 127), ())]).run(())


def test_loop_checks_every_record():
    """A loop is bound once and runs with the records of many calls."""
    loop, record = blur(3, 3)
    native.run(loop, record)
    wrong = image_record_bytes(records.GAUSSIAN_BLUR, kernel_width=129, kernel_height=3, tile_width=8, tile_height=8)
    for run in (lambda: native.run(loop, wrong), lambda: native.LoopSequence([(loop, wrong, ())])):
        with pytest.raises(ValueError, match="the record must have an odd kernel of at most 127 taps"):
            run()
    with pytest.raises(ValueError, match=r"the record has \d+ bytes, expected \d+"):
        native.run(loop, record[:-8])
    invert = native.pointwise(image_record_bytes(records.POINTWISE, channels=3), "uint8", "uint8", ["Invert"], 3)
    with pytest.raises(ValueError, match="as many channels as the result, unless both have at most 4"):
        native.run(invert, image_record_bytes(records.POINTWISE, channels=5))


@pytest.mark.parametrize("branches", [9, -1, 2**40])
def test_blend_rejects_more_than_8_branches(branches):
    with pytest.raises(ValueError, match="at most 8 branches"):
        native.blend(image_record_bytes(records.BLEND, branches=branches), "uint8")
    record = image_record_bytes(records.BLEND, branches=0)
    native.run(native.blend(record, "uint8"), record)


@pytest.mark.parametrize(("channels", "out_channels"), [(3, 5), (3, 0), (3, -1), (5, 3), (5, 4), (1, 2**31 - 1)])
def test_pointwise_rejects_other_channels_beyond_4(channels, out_channels):
    with pytest.raises(ValueError, match="as many channels as the result, unless both have at most 4"):
        native.pointwise(
            image_record_bytes(records.POINTWISE, channels=channels), "uint8", "uint8", ["Invert"], out_channels
        )


@pytest.mark.parametrize("make", [
    lambda data, ops: native.pointwise(data, "uint8", "uint8", ops, 3),
    lambda data, ops: native.luma_mean(data, "uint8", ops, False),
])  # fmt: skip
def test_chains_reject_more_than_128_ops_and_32_fields(make):
    data = image_record_bytes(records.POINTWISE)
    with pytest.raises(ValueError, match="a chain has at most 128 ops"):
        make(data, ["Invert"] * 129)
    for address, fields in ((0, 2), (1, 33), (1, -1)):
        with pytest.raises(ValueError, match="at most 32 fields"):
            make(data, [(address, fields)])
    make(data, ["Invert"] * 128)


@pytest.mark.parametrize("levels", [0, 9, -1])
def test_pooling_rejects_more_than_8_levels(levels):
    with pytest.raises(ValueError, match="1 to 8 levels"):
        native.pooling(record_bytes(detection_records.ROI, levels=levels, channels=1), "float32", "avg", False)


@pytest.mark.parametrize("move_count", [0, 5, -1])
def test_move_boxes_rejects_more_than_4_moves(move_count):
    with pytest.raises(ValueError, match="1 to 4 moves"):
        native.move_boxes(record_bytes(detection_records.MOVE_BOXES, move_count=move_count))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"input_count": 0, "item_size": 6}, "1 to 5 inputs"),
        ({"input_count": 6, "item_size": 6}, "1 to 5 inputs"),
        ({"input_count": 1, "item_size": 10}, "at most 9 numbers per item"),
        ({"input_count": 1, "item_size": -1}, "at most 9 numbers per item"),
    ],
)
def test_matrix_builders_reject_records_beyond_their_arrays(fields, message):
    with pytest.raises(ValueError, match=message):
        native.build_matrices(record_bytes(records.MATRIX_BUILDER, **fields), "ComposeAffine")


@pytest.mark.parametrize("field", ["frames", "channels", "out_height", "out_width", "samples"])
@pytest.mark.parametrize("make", [
    lambda field: native.histogram_lut(image_record_bytes(records.POINTWISE, **field), "uint8"),
    lambda field: native.resample(image_record_bytes(records.RESAMPLE, **field), "uint8", "uint8", "Triangle"),
    lambda field: native.warp_image(
        image_record_bytes(records.WARPS["Affine"], **field), "uint8", "uint8", "Affine", "Bilinear", "Edge"
    ),
])  # fmt: skip
def test_loops_reject_records_without_pixels(make, field):
    with pytest.raises(ValueError, match="the record must have"):
        make({field: -1})


@pytest.mark.parametrize(
    ("file", "name", "python_value"),
    [
        ("kernels/records/gaussian_blur.cuh", "max_taps", records.MAX_TAPS),
        ("kernels/gpu/gaussian_digits.cuh", "max_mma_radius", filters.MAX_MMA_TAPS // 2),
        ("kernels/gpu/gaussian_digits.cuh", "max_mma_distance", blur_tiles.MAX_MMA_DISTANCE),
        ("kernels/records/blend.cuh", "max_branches", records.MAX_BRANCHES),
        ("kernels/records/roi.cuh", "max_levels", detection_records.MAX_LEVELS),
        ("kernels/records/move_boxes.cuh", "max_box_moves", detection_records.MAX_BOX_MOVES),
        ("kernels/records/matrix_builder.cuh", "max_builder_inputs", records.MAX_BUILDER_INPUTS),
        ("cpu/loops/loops.hpp", "max_ops", records.MAX_OPS),
        ("cpu/loops/loops.hpp", "max_op_params", MAX_PARAMETERS + 2),
    ],
)
def test_limits_are_those_of_the_loops(file, name, python_value):
    match = re.search(rf"\b{name} = (\d+)\b", (KERNELS.parent / file).read_text())
    assert match
    assert int(match[1]) == python_value
