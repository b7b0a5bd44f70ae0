"""Boxes and keypoints on the host as NumPy arrays, whose small operations take half the time of torch's.

JAX would compile each of them for each shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._arrays import convert
from .._arrays.jax_library import JaxLibrary
from .._arrays.registry import library_of
from .._arrays.torch_library import TorchLibrary
from .sample_structure import ParsedSample
from .sample_target import Target

_KINDS = ("boxes", "keypoints", "valid")


def with_numpy(parsed: ParsedSample) -> ParsedSample:
    """The sample with views of boxes and keypoints. Arrays on a device, of bfloat16, and those with a gradient stay."""

    def viewed(target: Target) -> Target:
        is_viewed = target.kind in ("boxes", "keypoints")
        return target._replace(value=numpy_view(target.value)) if is_viewed else target

    return parsed.with_targets(map(viewed, parsed.targets))


def in_own_libraries(parsed: ParsedSample, results: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Results for the targets of `parsed`, with those that are NumPy arrays in the libraries of their targets."""
    converted = dict(results)
    for kind in _KINDS:
        targets = parsed.validity_targets if kind == "valid" else parsed.targets_of(kind)
        if kind in results:
            converted[kind] = [
                in_library_of(target.value, values) for target, values in zip(targets, results[kind], strict=True)
            ]
    return converted


def numpy_view(value: Any) -> Any:
    """A host array of torch or JAX in NumPy; other values, and a tensor with a gradient, as they are."""
    if isinstance(value, list):
        return [numpy_view(entry) for entry in value]
    library = library_of(type(value))
    if not isinstance(library, (TorchLibrary, JaxLibrary)) or not convert.is_host(value):
        return value
    if convert.dtype_name(value.dtype) == "bfloat16" or (isinstance(library, TorchLibrary) and value.requires_grad):
        return value
    return convert.host_array("value", value, None)


def in_library_of(like: Any, values: Any) -> Any:
    """Converts a result that was computed from `numpy_view(like)` to the library of `like`.

    Other values stay as they are. Each entry of a list is in the library of its entry of `like`.
    """
    if isinstance(values, list):
        examples = like if isinstance(like, list) else [like] * len(values)
        return [in_library_of(*entry) for entry in zip(examples, values, strict=True)]
    example = like[0] if isinstance(like, list) and like else like
    library = library_of(type(example))
    if isinstance(library, TorchLibrary) and isinstance(values, np.ndarray):
        return library.from_numpy(values, -1)
    is_jax = isinstance(library, JaxLibrary) and isinstance(values, np.ndarray)
    return convert.asarray(values, like=example, dtype=convert.dtype_name(values.dtype)) if is_jax else values
