"""Checks of the arguments of public functions, and their error messages.

A message names the function, the parameter, the rule and the value. Checks raise it without the function's name, which
`prefix_errors` adds once.
"""

from __future__ import annotations

import enum
import functools
import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar, get_args

import numpy as np

from . import _missing_names, _option_names
from ._integers import float_value, has_positions, integer_value, is_overflow_of_user_code
from ._program.dtypes import IMAGE_DTYPES, LABEL_DTYPES, MAX_VALUE
from ._value_text import value_text
from .typing import InterpolationName, Layout

P = ParamSpec("P")
R = TypeVar("R")

LAYOUTS = get_args(Layout)
MAX_INT64 = (1 << 63) - 1
SIDE_LIMIT = 1 << 30  # image sides are less than this; `coordinate_limit` of kernels/geometry/tile_map.cuh
MAX_RESULT_PIXELS = 1 << 28  # 16,384 x 16,384; 0.8 GB of uint8 RGB for each sample


class DecodeError(ValueError):
    """Encoded data that cannot be decoded.

    Attributes:
        index: Position in the list that was given, from 0; 0 for a single file. Loader and Collate: the sample's id.
        source: The file's path; None if bytes were given. Loader and Collate: the sample's name.
        reason: Why the data cannot be decoded.
    """

    def __init__(self, message: str, index: int = 0, source: str | None = None, reason: str = "") -> None:
        super().__init__(message)
        self.index: int = index
        self.source: str | None = source
        self.reason: str = reason or message


class ImageTooLarge(DecodeError):
    """Encoded data that declares more pixels, scans or memory than the limits allow."""


class UnsupportedImage(DecodeError):
    """Encoded data of a format or variant that cuaug does not decode."""


class BackendError(RuntimeError):
    """A GPU, its software, a compiler, the extension or an optional package is missing, or cannot be used here."""


def prefix_errors(function: Callable[P, R]) -> Callable[P, R]:
    """Decorates a public function: errors of its checks begin with the name under which users import it."""
    *packages, _ = function.__module__.split(".")
    public_packages = itertools.takewhile(lambda package: not package.startswith("_"), packages)
    name = ".".join([*public_packages, function.__qualname__.partition(".__")[0]])  # "Boxes" for Boxes.__post_init__

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError, OverflowError, FileNotFoundError, IsADirectoryError) as error:
            # `args` do not change the text of a UnicodeError, nor of the system's errors, which name the file.
            has_own_text = isinstance(error, UnicodeError) or getattr(error, "errno", None) is not None
            message = str(error)
            if message.startswith("cuaug.") or has_own_text or is_overflow_of_user_code(error):
                raise
            if isinstance(error, OverflowError):  # a Python int that no float can represent
                raise ValueError(f"{name}: {error}") from None
            error.args = (f"{name}: {message}{_missing_names.argument_hint(function, message, args, kwargs)}",)
            raise

    return call


def prefix_message(error: Exception, prefix: str) -> None:
    """Puts a name before an error's message. A new error would show the user two tracebacks for one mistake."""
    error.args = (f"{prefix}: {error}",)


def array_hint(value: Any) -> str:
    """The end of a message about a value that is not an array: how to get an array from it."""
    if isinstance(value, (list, tuple)):
        return ": stack arrays of one size, or pass the list to a transform, as in T.Resize((224, 224))(images)"
    return ": read a file with cuaug.io.decode_image" if isinstance(value, (str, bytes, os.PathLike)) else ""


def one_of(
    parameter: str, value: Any, allowed: Sequence[str | None], advice: Mapping[Any, str] = MappingProxyType({})
) -> None:
    if not isinstance(value, (str, type(None))) or value not in allowed:
        hint = _option_names.value_hint(value, allowed, advice)
        raise ValueError(f"{parameter} must be one of {', '.join(map(repr, allowed))}, got {value_text(value)}{hint}")


def interpolation(value: Any, allowed: Sequence[str]) -> InterpolationName:
    """The name of an interpolation, from its name or a member of torchvision's or Pillow's enumeration."""
    name = value
    if isinstance(value, enum.Enum):
        name = value.name.lower().replace("_", "-")
    elif isinstance(value, int):
        raise TypeError(
            f"interpolation must be a name such as 'bilinear', got {value_text(value)}: "
            "the numbers of Pillow and OpenCV differ, 2 is bilinear in one and bicubic in the other"
        )
    if isinstance(name, str) and name == "nearest-exact":
        name = "nearest"
    one_of("interpolation", name, allowed, _option_names.INTERPOLATIONS)
    return name


def integer(parameter: str, value: Any, min_value: int, max_value: int | None = None) -> int:
    """An int in a range; see `integer_value`."""
    number = integer_value(parameter, value)
    if number < min_value:
        raise ValueError(f"{parameter} must be at least {min_value}, got {value_text(number)}")
    if max_value is not None and number > max_value:
        raise ValueError(f"{parameter} must be at most {max_value}, got {value_text(number)}")
    return number


def seed(value: Any) -> int:
    """0 to 2**63 - 1."""
    return integer("seed", value, 0, MAX_INT64)


def step(value: Any) -> int:
    """0 to 2**63 - 1."""
    return integer("step", value, 0, MAX_INT64)


def epoch(value: Any) -> int:
    """0 to 2**63 - 1: draws use it as their step."""
    return integer("epoch", value, 0, MAX_INT64)


def number(parameter: str, value: Any, min_value: float, max_value: float = np.inf) -> None:
    """A Python or NumPy number in a range; not a bool, not an array."""
    if type(value) is not float and (
        isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating))
    ):
        raise TypeError(f"{parameter} must be a number, got {value_text(value)}")
    if not min_value <= float_value(parameter, value) <= max_value:
        raise ValueError(_out_of_range(parameter, value, min_value, max_value))


def boolean(parameter: str, value: Any) -> bool:
    if value is not False and value is not True and not isinstance(value, np.bool_):
        raise TypeError(f"{parameter} must be True or False, got {value_text(value)}")
    return bool(value)


def size(parameter: str, value: Any) -> tuple[int, int]:
    """(H, W), both at least 1."""
    if not has_positions(value) or len(value) != 2:
        raise ValueError(f"{parameter} must be (H, W), got {value_text(value)}")
    height, width = integer(parameter, value[0], 1), integer(parameter, value[1], 1)
    if max(height, width) >= SIDE_LIMIT:
        raise ValueError(f"{parameter} must be below 2**30, got {value_text((height, width))}")
    return height, width


def result_size(result: tuple[int, int], input_size: tuple[int, int]) -> None:
    """(H, W) of a result or an intermediate: at most `MAX_RESULT_PIXELS` pixels, or as many as the images have."""
    height, width = size("the result's size", result)
    if height * width > max(MAX_RESULT_PIXELS, input_size[0] * input_size[1]):
        limit = f"{MAX_RESULT_PIXELS} pixels, or not more than the images have"
        raise ValueError(f"the result's size must be at most {limit}, got {(height, width)}")


def class_count(value: Any) -> int:
    return integer("num_classes", value, 1, 1 << 20)  # mixed labels hold a float32 for each sample and class


def dtypes(input_dtype: str, output_dtype: str, interpolation: str) -> None:
    """Labels are moved unchanged: only by "nearest", and without conversion."""
    if input_dtype not in IMAGE_DTYPES and input_dtype not in LABEL_DTYPES:
        supported = ", ".join(dict.fromkeys(IMAGE_DTYPES + LABEL_DTYPES))
        raise TypeError(f"images must be one of {supported}, got {input_dtype}")
    if output_dtype not in IMAGE_DTYPES and output_dtype not in LABEL_DTYPES:
        raise TypeError(f"dtype must be one of {', '.join(IMAGE_DTYPES)}, got {output_dtype}")
    for dtype in (input_dtype, output_dtype):
        if dtype not in IMAGE_DTYPES and (interpolation != "nearest" or input_dtype != output_dtype):
            raise TypeError(
                f"{dtype} holds labels: interpolation must be 'nearest' and dtype that of the images, {input_dtype}, "
                f"got {value_text(interpolation)} and {output_dtype}: convert images to uint8 or float32"
            )


def image_dtype(dtype: str) -> None:
    """Not a label dtype: for functions that compute pixels instead of moving them."""
    if dtype not in IMAGE_DTYPES:
        raise TypeError(f"images must be one of {', '.join(IMAGE_DTYPES)}, got {dtype}")


def uint8(dtype: str) -> None:
    if dtype != "uint8":
        raise TypeError(f"images must be uint8, got {dtype}")


def extents(axes: str, shape: Sequence[int]) -> None:
    """Only N and T may be empty; every axis but N is below 2**30."""
    for axis, extent in zip(axes, shape, strict=True):
        if extent == 0 and axis not in "NT":
            raise ValueError(f"images must not be empty along {axis}, got shape {tuple(shape)} as {axes}")
        if axis != "N" and extent >= SIDE_LIMIT:
            raise ValueError(f"images must have {axis} below 2**30, got shape {tuple(shape)} as {axes}")


def in_range(parameter: str, value: Any, min_value: float, max_value: float = np.inf) -> None:
    """Python and NumPy values only: arrays of other libraries are not read, even if they are on the host."""
    if type(value) in (int, float):
        is_allowed = min_value <= value <= max_value
    else:
        is_allowed = not _is_python_or_numpy(value) or bool(
            np.all(np.asarray(value) >= min_value) and np.all(np.asarray(value) <= max_value)
        )
    if not is_allowed:
        raise ValueError(_out_of_range(parameter, value, min_value, max_value))


def _out_of_range(parameter: str, value: Any, min_value: float, max_value: float) -> str:
    rule = f"at least {min_value}" if max_value == np.inf else f"in {min_value}..{max_value}"
    return f"{parameter} must be {rule}, got {value_text(value)}"


def positive(parameter: str, value: Any) -> None:
    """Python and NumPy values only."""
    is_positive = True
    if type(value) in (int, float):  # without the microseconds of NumPy
        is_positive = value > 0
    elif _is_python_or_numpy(value):
        is_positive = bool(np.all(np.asarray(value) > 0))
    if not is_positive:
        raise ValueError(f"{parameter} must be greater than 0, got {value_text(value)}")


def divisor(parameter: str, value: Any, dtype: str) -> None:
    """`value` is a result of `parameter_column`; device arrays are not read."""
    minimum: float = 2.0 ** (-1022 if dtype == "float64" else -126)  # smallest normal: 1 / subnormal is inf on a GPU
    if isinstance(value, (float, np.ndarray)) and not _all((value >= minimum) | (value <= -minimum)):
        rule = f"must not be 0, nor closer to 0 than {minimum:.3g} for {dtype} images"
        raise ValueError(f"{parameter} {rule}, got {value_text(value)}")


def scaled_statistic(parameter: str, value: Any, dtype: str) -> None:
    """A mean or a standard deviation of images that are scaled to 0..1 if they hold integers (int16: -1..1).

    The limit is 2, not 1, because `normalize` may be called with numbers that are no statistics. `value` is a result
    of `parameter_column`; device arrays are not read.
    """
    if dtype not in MAX_VALUE or not isinstance(value, (float, np.ndarray)):
        return
    if not (_all(value <= 2) and _all(value >= -2)):
        raise ValueError(
            f"{parameter} must be in -2..2 for {dtype} images, which are scaled to 0..1 first, "
            f"got {np.asarray(value).tolist()}: pass {parameter} / {MAX_VALUE[dtype]:.0f}"
        )


def _all(condition: Any) -> bool:
    """`np.all`, without its microseconds for one number."""
    return bool(np.all(condition) if getattr(condition, "ndim", 0) else condition)


def _is_python_or_numpy(value: Any) -> bool:
    return isinstance(value, (int, float, list, tuple, np.ndarray, np.generic))


def channels(count: int, *allowed: int) -> None:
    if count not in allowed:
        raise ValueError(f"images must have {' or '.join(map(str, allowed))} channels, got {count}")


def one_or_per_sample(parameter: str, count: int, expected: int) -> None:
    if count != 1:
        per_sample(parameter, count, expected, "1 or ")


def per_sample(parameter: str, count: int, expected: int, alternative: str = "", remedy: str = "") -> None:
    if count != expected:
        allowed = "1 entry" if expected == 1 else f"{alternative}{expected} entries"
        raise ValueError(f"{parameter} must hold {allowed}, one per sample, got {count}{remedy}")


def shape(parameter: str, value: Any, expected: Sequence[int | None]) -> None:
    """An array of this shape; None allows any extent."""
    actual = getattr(value, "shape", None)
    if actual is None:
        raise TypeError(f"{parameter} must be an array, got {type(value).__name__}")
    if len(actual) != len(expected) or any(n not in (None, m) for n, m in zip(expected, actual, strict=True)):
        text = ", ".join("*" if n is None else str(n) for n in expected)
        raise ValueError(f"{parameter} must have shape [{text}], got {list(actual)}")


def class_indices(parameter: str, values: Any, is_label: np.ndarray) -> None:
    """Class indices `values` [N] on the host. `is_label` [N, classes]: whether index n is class c; one True per row."""
    samples, class_count = is_label.shape
    if np.count_nonzero(is_label) != samples:
        rule = f"whole numbers in 0..{class_count - 1} (num_classes is {class_count})"
        _check_samples(parameter, rule, values, np.asarray(~is_label.any(axis=1)))


def whole_numbers(parameter: str, value: Any, max_value: int) -> None:
    """From 0 on. Python and NumPy values only: arrays of other libraries are not read, even if they are on the host."""
    if type(value) is float:
        is_allowed = 0 <= value <= max_value and value.is_integer()
    else:
        is_allowed = not _is_python_or_numpy(value) or bool(
            np.all((value >= 0) & (value <= max_value) & (value == np.rint(value)))
        )
    if not is_allowed:
        raise ValueError(f"{parameter} must hold whole numbers in 0..{max_value}, got {value_text(value)}")


def matrices(parameter: str, values: np.ndarray, rows: int) -> None:
    """Host matrices: finite and invertible; if `rows` is 2, a third row must be 0 0 1. [N, 2, 3] or [N, 3, 3]"""
    flat = values.reshape(len(values), 3 * values.shape[1])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        reciprocal = 1 / _determinant(flat.T, rows)
        if not np.isfinite(flat.sum() + reciprocal.sum()):  # one reduction if all are valid
            _check_samples(parameter, "finite", values, ~np.isfinite(flat).all(axis=1))
            _check_samples(parameter, "invertible", values, ~np.isfinite(reciprocal))
    if rows == 2 and flat.shape[1] == 9:
        rule = "affine, with a last row of 0 0 1 (warp_perspective takes any other)"
        _check_samples(parameter, rule, values, (flat[:, 6:] != (0, 0, 1)).any(axis=1))


def _determinant(m: np.ndarray, rows: int) -> np.ndarray:
    """The determinant of the leading `rows` x `rows` part of flattened matrices of three columns. [6 or 9, N]"""
    if rows == 2:
        return np.asarray(m[0] * m[4] - m[1] * m[3])
    cofactors = m[4] * m[8] - m[5] * m[7], m[5] * m[6] - m[3] * m[8], m[3] * m[7] - m[4] * m[6]
    return np.asarray(m[0] * cofactors[0] + m[1] * cofactors[1] + m[2] * cofactors[2])


def _check_samples(parameter: str, rule: str, values: Any, invalid: np.ndarray) -> None:
    if invalid.any():
        sample = int(np.argmax(invalid))
        raise ValueError(f"{parameter} must be {rule}, sample {sample} is {values[sample].tolist()}")
