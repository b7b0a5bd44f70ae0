"""Values in calls of other libraries: literals of the file, and the functions that the rows of `_equivalents` use."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from .. import _option_names
from ..transforms import ranges

UNKNOWN: Any = object()  # the value is not a literal
_PILLOW_CONSTANTS = {
    **{name.upper(): name for name in _option_names.PILLOW_INTERPOLATIONS.values()},
    "NONE": "nearest",  # this name and those below are of old versions of Pillow
    "ANTIALIAS": "lanczos",
    "LINEAR": "bilinear",
    "CUBIC": "bicubic",
}
_ARITHMETIC = (
    ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.UnaryOp, ast.USub, ast.UAdd, ast.BinOp, ast.Add, ast.Sub, ast.Div,
    ast.Load,
)  # fmt: skip


def literal(node: ast.expr) -> Any:
    """The value of literals and arithmetic with +, - and /; of ``cv2.NAME`` the name; else `UNKNOWN`."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "cv2":
        return node.attr
    if not all(isinstance(entry, _ARITHMETIC) for entry in ast.walk(node)):
        return UNKNOWN
    try:
        return eval(compile(ast.Expression(node), "<literal>", "eval"), {"__builtins__": {}})
    except (ArithmeticError, TypeError):
        return UNKNOWN


def text(value: Any) -> str:
    """Python text of a value; floats have 6 digits, strings double quotes."""
    if isinstance(value, float):
        return repr(float(f"{value:.6g}")) if math.isfinite(value) else f'float("{value}")'
    if isinstance(value, str):
        return f'"{value}"' if value.isprintable() and not {'"', "\\"} & {*value} else repr(value)
    if isinstance(value, tuple):
        return f"({', '.join(text(entry) for entry in value)}{',' if len(value) == 1 else ''})"
    return f"[{', '.join(text(entry) for entry in value)}]" if isinstance(value, list) else repr(value)


def pillow_interpolation(node: ast.expr, path: str) -> str | None:
    """The interpolation for Pillow's number or ``Image.NAME``; "" if cuaug lacks it; None for nodes that may stay.

    `path`: the dotted path of the node, without the aliases of the file.
    """
    value = literal(node)
    if isinstance(value, int):
        return _option_names.PILLOW_INTERPOLATIONS.get(value, "")
    if re.search(r"\bInterpolationMode\.(BOX|HAMMING)$", path):
        return ""
    constant = re.fullmatch(r"(?:PIL\.)?Image\.(?:Resampling\.)?([A-Z]+)", path)
    return _PILLOW_CONSTANTS.get(constant[1], "") if constant else None


def _by_type(node: ast.expr) -> dict[str, ast.expr]:
    """The entries of torchvision's dict by type, or of a defaultdict, by the names of the types and "others"."""
    entries = dict[str, ast.expr]()
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "defaultdict" and node.args:
        if isinstance(node.args[0], ast.Lambda):
            entries["others"] = node.args[0].body
        node = node.args[1] if len(node.args) > 1 else ast.Dict([], [])
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None:
                entries[ast.unparse(key).rpartition(".")[2].strip("'")] = value
    return entries


def casts_others(node: ast.expr) -> bool:
    """Whether a dict by type has a dtype for other types than images and masks."""
    entries = _by_type(node)
    others = [entries[name] for name in ("BoundingBoxes", "KeyPoints", "others") if name in entries]
    return any(literal(entry) is not None for entry in others)


def refused_mask_fill(node: ast.expr) -> str:
    """Why cuaug refuses the value for masks of a `fill` that is a dict by type; "" if it does not."""
    entries = _by_type(node)
    name = "Mask" if "Mask" in entries else "others"
    value = literal(entries[name]) if name in entries else None
    try:
        if value is not UNKNOWN:
            ranges.fill({"images": 0, "masks": value})
    except (TypeError, ValueError) as error:
        return str(error)
    return ""


def _pair(value: Any) -> tuple[Any, Any]:
    if not isinstance(value, (tuple, list)):  # a dict by axis, for example
        raise TypeError("a pair is a tuple or a list")
    low, high = value
    return low, high


def around(value: Any, center: float = 0) -> tuple[Any, Any]:
    """(center - x, center + x) of a number; a pair stays."""
    return (center - value, center + value) if isinstance(value, (int, float)) else _pair(value)


def up_to(value: Any) -> tuple[Any, Any]:
    """(0, x) of a number; a pair stays."""
    return (0, value) if isinstance(value, (int, float)) else _pair(value)


def constant(value: Any) -> tuple[Any, Any]:
    """(x, x) of a number; a pair stays."""
    return (value, value) if isinstance(value, (int, float)) else _pair(value)


def negate(value: Any) -> tuple[Any, Any]:
    """(-high, -low): Affine of Albumentations rotates counter-clockwise, `RandomAffine` clockwise."""
    low, high = _pair(value)
    return 0 - high, 0 - low  # 0.0, not -0.0


def above_zero(value: Any) -> tuple[Any, Any]:
    """The range of a sigma, without 0, which cuaug refuses: from 0.001, which changes no pixel."""
    low, high = _pair(value)
    return max(low, 0.001), high


def ratio(value: Any, divisor: float) -> tuple[float, float]:
    low, high = _pair(value)
    return low / divisor, high / divisor


def factors(value: Any, divisor: float = 1.0) -> tuple[float, float]:
    """The range of a factor 1 + x / divisor, with x in (low, high), or in -x..x for a number x; at least 0."""
    low, high = around(value)
    return max(0.0, 1 + low / divisor), 1 + high / divisor


def largest(value: Any) -> Any:
    return max(abs(entry) for entry in around(value))


def mean(value: Any) -> float:
    return sum(constant(value)) / 2


def mean_bits(value: Any) -> int:
    """The mean of kornia's range of bits; a number x stands for the range x..8."""
    return math.floor(mean((value, 8) if isinstance(value, (int, float)) else value) + 0.5)


def products(a: Any, b: Any) -> tuple[float, float]:
    return a[0] * b[0], a[1] * b[1]


def reverse(value: Any) -> Any:
    """(x, y) of (y, x); a number stays."""
    return value if isinstance(value, int) else tuple(reversed(value))


def kernel_size(blur_limit: Any, sigma_limit: Any) -> int:
    """The largest kernel size; if the limit is 0, the size for the largest sigma."""
    return int(largest(blur_limit)) or 2 * int(3.5 * largest(sigma_limit)) + 1


def _option(value: Any, advice: Mapping[Any, str]) -> str:
    """The last name in quotes of an advice such as 'pass "edge"'."""
    key = value.lower() if isinstance(value, str) else value
    return advice[key].split('"')[-2] if key in advice else str(key)


def border(name: Any) -> str:
    return _option(name, _option_names.BORDERS)


def box_format(name: str) -> str:
    if "multiply" in _option_names.BOX_FORMATS.get(name, ""):
        raise ValueError("boxes are in pixels: multiply them by (W, H, W, H)")
    return _option(name, _option_names.BOX_FORMATS)


def cv2_interpolation(flag: Any) -> str:
    return _option_names.CV2_INTERPOLATIONS.get(flag) or _option(flag, _option_names.INTERPOLATIONS)


HELPERS: Mapping[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        above_zero, around, border, box_format, constant, cv2_interpolation, factors, kernel_size, largest, mean,
        mean_bits, negate, products, ratio, reverse, up_to,
    )
}  # fmt: skip
