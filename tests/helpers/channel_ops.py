"""Chains of ops that a GPU's kernel of a blur or a resize applies before it stores, against a pass of their own."""

import numpy as np

from cuaug._passes import parameters
from cuaug._passes.op_chain import NO_OPS, OpChain, apply_ops_after
from helpers.arrays import seeded
from helpers.compare import Tolerance, assert_equal

CHAINS = [  # of ops, and the dtype of the result
    (("Rescale",), "float16"),
    (("Solarize", "Rescale", "Normalize"), "float32"),
    (("AdjustBrightness", "Invert"), "uint8"),
]


def chain_and_parameters(names, samples, channels):
    """A chain with parameters that differ by sample and by channel."""
    random = seeded(names, samples, channels)
    columns = {
        "Rescale": (),
        "Invert": (),
        "AdjustBrightness": [random.uniform(0.5, 1.5, samples)],
        "Solarize": [random.uniform(0, 255, samples)],
        "Normalize": [*random.uniform(0, 1, (channels, samples)), *random.uniform(0.1, 1, (channels, samples))],
    }
    rows = np.array([column for name in names for column in columns[name]]).reshape(-1, samples).T.copy()
    table = parameters.StridedArray(rows.ctypes.data, rows.shape[1], 0, 1, 1, rows)
    return OpChain(names, table)


def assert_ops_equal_second_pass(run, images, names, dtype):
    """``run(dtype, ops)`` runs the emulated kernel on these images; without ops, the CPU applies them afterwards."""
    ops = chain_and_parameters(names, images.samples, images.channels)
    result = run(None, NO_OPS)
    expected = apply_ops_after(images._replace(device=-1), result, ops, dtype, None, parameters.NULL_ARRAY)
    actual = run(dtype, ops)
    tolerance = Tolerance(absolute=1, exact=0.999, reason="a value that is nearly a tie may be rounded either way")
    if dtype != "uint8":
        relative = {"float16": 2**-10, "float32": 1e-6, "float64": 1e-6}[dtype]
        tolerance = Tolerance(absolute=3e-6, relative=relative, reason="float32 arithmetic; rounding to the dtype")
    assert_equal(actual, expected, library="numpy", dtype=dtype, tolerance=tolerance)
