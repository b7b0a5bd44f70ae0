"""The comparison of the test suite. It asserts library, device, dtype and shape first, then the values."""

import dataclasses

import numpy as np

TIE = 1e-5  # a value this near to a half is a tie: float32 resolves levels above 128 to 1.5e-5


@dataclasses.dataclass(frozen=True)
class Tolerance:
    """How far actual values may be from the expected ones.

    ``beyond`` is the largest share of values that may differ by more than ``absolute + relative * |expected|``, and
    ``exact`` the smallest share that must be equal, after rounding if the result is of integers. The share of exact
    values leaves out ties. They are frequent, because weights of a resize are ratios of small integers, and rounding
    errors decide how each is rounded, in float64 as in float32.
    """

    absolute: float = 0.0
    relative: float = 0.0
    exact: float = 0.0
    beyond: float = 0.0
    reason: str = ""


EXACT = Tolerance(exact=1.0, reason="the same arithmetic on the same values")


def describe(array):
    """Library, device (``cpu`` or ``cuda:1``) and dtype name of an array."""
    library = type(array).__module__.partition(".")[0]
    library = "jax" if library == "jaxlib" else library
    dtype = str(array.dtype).removeprefix("torch.")
    if library == "cupy":
        return library, f"cuda:{array.device.id}", dtype
    if library == "jax":
        (device,) = array.devices()
        return library, "cpu" if device.platform == "cpu" else f"cuda:{device.id}", dtype
    return library, str(getattr(array, "device", "cpu")), dtype


def to_numpy(array):
    """A host copy with the values of any library's array; bfloat16 becomes float32."""
    library, _, dtype = describe(array)
    if library == "torch":
        array = array.detach().cpu()
        return (array.float() if dtype == "bfloat16" else array).numpy().copy()
    if library == "cupy":
        array = array.get()
    array = np.array(array)
    return array.astype(np.float32) if dtype == "bfloat16" else array


def is_integer(dtype):
    return "int" in dtype or dtype == "bool"


def assert_equal(actual, expected, *, library=None, device=None, dtype=None, tolerance=EXACT):
    """Fail unless ``actual`` has the library, device and dtype, and ``expected``'s shape and values.

    ``expected`` is a NumPy array of real values. For an integer result they are rounded half to even and clamped; NaN
    becomes 0.
    The device is the CPU if only ``library`` and ``dtype`` are given. Without any of the three they are those of
    ``expected``, which may then be any library's array.
    """
    if library is None:
        assert device is dtype is None, "device and dtype are given without library"
        library, device, dtype = describe(expected)
    expected_kind = (library, device or "cpu", dtype)
    assert describe(actual) == expected_kind, f"got an array of {describe(actual)}, expected {expected_kind}"
    expected = to_numpy(expected)
    assert tuple(actual.shape) == expected.shape, f"got shape {tuple(actual.shape)}, expected {expected.shape}"
    actual = to_numpy(actual)
    if not actual.size:
        return
    tie = np.zeros(expected.shape, bool)
    if is_integer(dtype) and expected.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            tie = np.abs(expected % 1 - 0.5) < TIE
        low, high = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        expected = np.clip(np.rint(np.nan_to_num(expected, nan=0.0)), low, high)
    same = (actual == expected) | ((actual != actual) & (expected != expected))  # NaN equals NaN
    with np.errstate(invalid="ignore"):  # the difference of equal infinities
        error = np.abs(actual.astype(float) - expected.astype(float))
    error = np.where(same, 0.0, np.where(np.isnan(error), np.inf, error))
    magnitude = np.abs(np.where(np.isfinite(expected), expected, 0).astype(float))
    over = error > tolerance.absolute + tolerance.relative * magnitude
    worst = np.unravel_index(np.argmax(np.where(same, -1.0, error + over)), error.shape)
    exact = float(np.mean(same[~tie])) if not tie.all() else 1.0
    report = (
        f"worst at [{', '.join(map(str, worst))}] of {actual.shape}: got {actual[worst]}, expected {expected[worst]}, "
        f"difference {error[worst]:.6g}; {int(over.sum())} of {over.size} beyond tolerance, {exact:.4%} exact "
        f"but for {int(tie.sum())} ties; "
        f"{tolerance}"
    )
    assert over.mean() <= tolerance.beyond, report
    assert exact >= tolerance.exact, report
