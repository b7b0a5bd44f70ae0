"""Shared by the laws of warps, colour ops and filters: a call of a row's op, and its comparison with the oracle."""

import cuaug
from helpers.arrays import SHAPE, default_layout, device_of, from_layout, images, to_layout
from helpers.compare import assert_equal, describe, to_numpy

BATCH = (SHAPE[0],)  # the leading axis of parameters with one entry per sample


def run(row, batch, parameters, **options):
    """Call the row's op. The row's own options are scaled to the range of the images' dtype."""
    _, _, dtype = describe(batch)
    return getattr(cuaug, row.op)(batch, **{**row.keywords(dtype), **parameters, **options})


def check(row, backend, dtype, leading=BATCH, shape=SHAPE, layout=None):
    """Compare one call with the oracle of the same values. Without a layout, the op uses its default."""
    axes, options = layout or default_layout(backend), {"layout": layout} if layout else {}
    batch, parameters = images(backend, dtype, axes, shape), row.parameters(leading, dtype)
    source = from_layout(to_numpy(batch), axes).astype(float)
    expected = to_layout(row.expected(source, parameters, dtype, leading), axes)
    assert_equal(
        run(row, batch, parameters, **options),
        expected,
        library=backend[0],
        device=device_of(backend),
        dtype=row.result_dtype(dtype),
        tolerance=row.tolerance(dtype),
    )
