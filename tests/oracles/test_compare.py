"""The comparison fails for one planted difference of every kind, and for nothing else."""

import numpy as np
import pytest
from helpers.compare import Tolerance, assert_equal

torch = pytest.importorskip("torch")
IMAGE = np.random.default_rng(20261120).integers(0, 256, (3, 17, 11, 3), np.uint8)


def changed(array, value, at=(2, 5, 7, 1)):
    array = array.copy()
    array[at] = value
    return array


def test_assert_equal_accepts_equal_arrays():
    assert_equal(IMAGE, IMAGE)
    assert_equal(torch.from_numpy(IMAGE), IMAGE, library="torch", dtype="uint8")
    assert_equal(IMAGE, IMAGE + 0.3, library="numpy", dtype="uint8")
    assert_equal(torch.from_numpy(IMAGE).bfloat16(), IMAGE.astype(float), library="torch", dtype="bfloat16")
    assert_equal(np.array([np.nan, np.inf, -np.inf]), np.array([np.nan, np.inf, -np.inf]))
    assert_equal(IMAGE[:0], IMAGE[:0])


@pytest.mark.parametrize(
    ("actual", "expected", "message"),
    [
        (torch.from_numpy(IMAGE), IMAGE, "('torch', 'cpu', 'uint8'), expected ('numpy'"),
        (torch.empty(3, 17, 11, 3, dtype=torch.uint8, device="meta"), torch.from_numpy(IMAGE), "'meta'"),
        (IMAGE.astype(np.int16), IMAGE, "'int16'"),
        (IMAGE[:2], IMAGE, "got shape (2, 17, 11, 3), expected (3, 17, 11, 3)"),
        (IMAGE[:1], IMAGE, "got shape"),
        (changed(IMAGE, IMAGE[2, 5, 7, 1] ^ 1), IMAGE, "worst at [2, 5, 7, 1]"),
        (changed(IMAGE / 255, np.nan), IMAGE / 255, "difference inf"),
        (IMAGE / 255, changed(IMAGE / 255, np.nan), "difference inf"),
        (changed(IMAGE / 255, np.inf), IMAGE / 255, "difference inf"),
        (IMAGE / 255, changed(IMAGE / 255, np.inf), "difference inf"),
        (np.array([2**60]), np.array([2**60 + 1]), "0.0000% exact"),
    ],
)
def test_assert_equal_finds_planted_difference(actual, expected, message):
    with pytest.raises(AssertionError) as failure:
        assert_equal(actual, expected, tolerance=Tolerance(absolute=0, relative=0.0, exact=1.0))
    assert message in str(failure.value)


@pytest.mark.parametrize(
    ("tolerance", "difference", "share", "passes"),
    [
        (Tolerance(absolute=1), 1, 1.0, True),
        (Tolerance(absolute=1), 2, 0.01, False),
        (Tolerance(absolute=1, exact=0.995), 1, 0.003, True),
        (Tolerance(absolute=1, exact=0.995), 1, 0.01, False),
        (Tolerance(relative=0.01), 0.5, 1.0, False),
        (Tolerance(relative=0.6), 0.5, 1.0, True),
        (Tolerance(absolute=1, beyond=0.005), 7, 0.004, True),
        (Tolerance(absolute=1, beyond=0.005), 7, 0.006, False),
    ],
)
def test_assert_equal_tolerance_and_shares(tolerance, difference, share, passes):
    expected = np.ones(1000)
    actual = expected + np.where(np.arange(1000) < 1000 * share, difference, 0)
    if passes:
        assert_equal(actual, expected, tolerance=tolerance)
    else:
        with pytest.raises(AssertionError, match="beyond tolerance"):
            assert_equal(actual, expected, tolerance=tolerance)


@pytest.mark.parametrize("kind", [{"device": "cpu"}, {"dtype": "uint8"}], ids=str)
def test_assert_equal_refuses_device_and_dtype_without_library(kind):
    with pytest.raises(AssertionError, match="device and dtype are given without library"):
        assert_equal(IMAGE, IMAGE, **kind)


def test_assert_equal_rounds_and_clamps_for_integers():
    expected = np.array([-3.0, 0.5, 1.5, 254.6, 300.0])
    assert_equal(np.array([0, 0, 2, 255, 255], np.uint8), expected, library="numpy", dtype="uint8")
    with pytest.raises(AssertionError, match=r"worst at \[1\]"):
        assert_equal(np.array([0, 1, 2, 255, 255], np.uint8), expected, library="numpy", dtype="uint8")


def test_assert_equal_exact_share_leaves_out_ties():
    ties, rest = np.arange(10) + 0.5, np.arange(90) + 0.25
    expected, tolerance = np.concatenate([ties, rest]), Tolerance(absolute=1, exact=1.0)
    up = np.concatenate([np.ceil(ties), np.rint(rest)]).astype(np.uint8)
    assert_equal(up, expected, library="numpy", dtype="uint8", tolerance=tolerance)
    for at, value in ((0, 2), (99, 90)):  # a tie two levels off, another value one level off
        with pytest.raises(AssertionError, match="but for 10 ties"):
            assert_equal(changed(up, value, at), expected, library="numpy", dtype="uint8", tolerance=tolerance)


def test_assert_equal_compares_bfloat16_by_value():
    with pytest.raises(AssertionError, match=r"got 2\.0, expected 1\.0"):
        assert_equal(torch.full((3,), 2.0).bfloat16(), np.ones(3), library="torch", dtype="bfloat16")
