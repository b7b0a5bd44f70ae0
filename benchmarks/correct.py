"""Compares a row with the float64 reference before the row is timed."""

from __future__ import annotations

import numpy as np
from helpers.compare import Tolerance, assert_equal
from tables import warp_reference as reference
from work import Work

MAX_VALUE = {"uint8": 255.0}
FLOAT = "the accuracy that README states, for images in 0..1, plus the rounding of the dtype"
TOLERANCES = {
    "uint8": Tolerance(absolute=1, exact=0.995, reason="the accuracy that README states"),
    "float16": Tolerance(absolute=1e-4, relative=2**-11, reason=FLOAT),
    "bfloat16": Tolerance(absolute=1e-4, relative=2**-8, reason=FLOAT),
    "float32": Tolerance(absolute=1e-4, reason=FLOAT),
}
POISON = 171, 84


def fault(work: Work) -> str:
    """The row's fault, or "". The output is filled with two poisons in turn: a value that is not written differs."""
    contender, results = work.contender(), []
    for poison in POISON:
        work.outputs[0][...] = poison
        result = contender.run(0)
        results.append(result.clone() if work.device == "cuda" else result.copy())
    if not bool((results[0] == results[1]).all()):
        return f"two runs differ in {int((results[0] != results[1]).sum())} values: not written, or a race"
    try:
        for n in sorted({0, work.samples // 2, work.samples - 1}):
            assert contender.sample is not None
            actual = contender.sample(results[0], n)
            assert_equal(actual, expected(work, n), library="numpy", dtype=str(actual.dtype), tolerance=tolerance(work))
    except AssertionError as error:
        return f"sample {n}: {error}"
    return ""


def expected(work: Work, n: int) -> np.ndarray:
    """The reference's sample n, in stored values. [H, W, C]"""
    if n not in work.expected:
        options = {name: value for name, value in work.arguments_of_sample(n).items() if name != "dtype"}
        image = work.sample_copier(work.row.layout)(work.inputs[0], n).astype(float)
        work.expected[n] = np.asarray(getattr(reference, work.row.op)(image, **options))
    return work.expected[n]


def difference(work: Work, image: np.ndarray) -> float:
    """Mean absolute difference of a peer's sample 0 from the reference, scaled to 0..1."""
    reference_image = expected(work, 0) / MAX_VALUE.get(work.row.dtype, 1.0)
    peer_image = image.reshape(reference_image.shape) / MAX_VALUE.get(str(image.dtype), 1.0)
    return float(np.abs(peer_image - reference_image).mean())


def tolerance(work: Work) -> Tolerance:
    row = work.row
    dtype = row.options.get("dtype", row.dtype)
    if row.op in ("hflip", "crop", "pad"):
        return Tolerance(exact=1.0, reason="pixels are copied")
    if row.interpolation == "nearest":
        return Tolerance(absolute=MAX_VALUE.get(dtype, 1.0), exact=0.999, reason="a position within 1e-5 of a tie")
    if dtype != row.dtype:
        return Tolerance(absolute=255e-4, relative=2**-11, reason="uint8 levels, unscaled, in " + dtype)
    return TOLERANCES[dtype]
