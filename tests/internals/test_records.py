"""Every record that Python packs has the layout of its C++ struct. Guards the parameters of every kernel and loop."""

import pytest

from cuaug import _native as native
from cuaug._codecs.jpeg_headers import HEADER, REGION_COLUMNS
from cuaug._detection.roi_kernels import BINS_BYTES, BOUNDS_BYTES
from cuaug._program import detection_records, records

LAYOUT = native.record_layout()
DETECTION = detection_records.NMS, detection_records.SOFT_NMS, detection_records.BOX_PAIRS
RECORDS = {
    value.name.replace("cuaug::", ""): value
    for entry in (*vars(records).values(), *vars(detection_records).values())
    for value in (entry.values() if isinstance(entry, dict) else [entry])
    if isinstance(value, records.Record)
}


def test_records_of_python_are_structs_of_the_extension():
    assert set(RECORDS) <= set(LAYOUT)


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_record_fields_have_the_offsets_and_sizes_of_the_struct(name):
    assert RECORDS[name].offsets == LAYOUT[name]


def test_jpeg_header_rows_have_the_layout_of_the_struct():
    offsets = {name: (offset, dtype.itemsize) for name, (dtype, offset, *_) in HEADER.fields.items()}
    assert offsets.pop("size") == (0, 16)
    assert {"height": (0, 8), "width": (8, 8), **offsets} == LAYOUT["jpeg::Header"]


# The arrays of int64 that Python gives to the extension and to a kernel, with their columns in Python's order.
ROWS = {
    "RegionToDecode": ["file", "scale", "top", "left", "height", "width", "address", "pitch"],
    "NvjpegImage": ["file", "address", "pitch"],
    "BoxCopy": ["from", "to", "from_pitch", "to_pitch", "rows", "bytes"],
    "ImagePlacement": ["from", "to", "from_pitch", "from_plane", "rows", "bytes", "top", "left", "to_rows", "to_bytes"],
    "jpeg::Box": ["top", "left", "height", "width"],
    "jpeg::Size": ["height", "width"],
    "jpeg::DecodeRegion": ["scale", "top", "left", "height", "width"],
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_of_int64_have_the_layout_of_the_struct(name):
    assert [*LAYOUT[name].items()] == [(column, (8 * i, 8)) for i, column in enumerate(ROWS[name])]


def test_regions_to_decode_have_the_columns_of_the_struct():
    assert len(ROWS["RegionToDecode"]) == REGION_COLUMNS


@pytest.mark.parametrize(("name", "size"), [("RegionBounds", BOUNDS_BYTES), ("StoredBins", BINS_BYTES)])
def test_scratch_memory_of_roi_has_the_size_of_the_struct(name, size):
    assert max(offset + field_size for offset, field_size in LAYOUT[name].values()) == size


def test_matrix_parameters_are_the_geometries_without_their_names():
    assert LAYOUT["MatrixParameter<2>"] == LAYOUT["Affine"]
    assert LAYOUT["MatrixParameter<3>"] == LAYOUT["Perspective"]


def test_every_struct_is_compared():
    matrices = {"MatrixParameter<2>", "MatrixParameter<3>"}
    assert set(LAYOUT) == {*RECORDS, *ROWS, *matrices, "jpeg::Header", "RegionBounds", "StoredBins"}


@pytest.mark.parametrize("record", DETECTION, ids=lambda record: record.name)
def test_record_packer_of_spans_packs_the_same_bytes(record):
    names = list(record.offsets)
    values = list(range(1, len(names) + 1))
    arrays = [name.removesuffix(".n_stride") for name in names if name.endswith(".n_stride")]
    spans = [(f"{array}.n_stride", f"{array}.dtype_code") for array in arrays] + [(names[-2], names[-1])]
    arguments, ends = [], dict(spans)
    for i, name in enumerate(names):
        if name in ends:
            last = names.index(ends[name])
            arguments.append(record.span_packer(name, ends[name]).pack(*values[i : last + 1]))
        elif not any(names.index(first) < i <= names.index(last) for first, last in spans):
            arguments.append(values[i])
    assert record.packer(*spans).pack(*arguments) == record.pack(*values)
