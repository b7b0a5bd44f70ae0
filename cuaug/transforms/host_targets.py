"""Boxes and keypoints on the host as NumPy arrays, for operations on small arrays.

NumPy takes half the time of torch. JAX would compile each operation for each shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._arrays import convert
from .._arrays.jax_library import JaxLibrary
from .._arrays.numpy_library import NUMPY
from .._arrays.registry import library_of
from .._arrays.torch_library import TorchLibrary
from .sample_structure import ParsedSample

_KINDS = ("boxes", "keypoints", "valid")


def in_own_libraries(parsed: ParsedSample, results: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """The results for the targets of `parsed`; NumPy arrays are converted to the libraries of their targets."""
    converted = dict(results)
    for kind in _KINDS:
        targets = parsed.validity_targets if kind == "valid" else parsed.targets_of(kind)
        if kind in results:
            converted[kind] = [
                in_library_of(target.value, values) for target, values in zip(targets, results[kind], strict=True)
            ]
    return converted


def numpy_view(value: Any) -> Any:
    """A host array of torch or JAX in NumPy, or a list of them.

    Other values stay as they are, and so do arrays of bfloat16 and tensors with a gradient.
    """
    if isinstance(value, list):
        return [numpy_view(entry) for entry in value]
    library = library_of(type(value))
    if isinstance(library, TorchLibrary):
        is_viewed = value.is_cpu and not value.requires_grad and value.dtype is not library.torch.bfloat16
        return value.resolve_neg().numpy() if is_viewed else value
    is_viewed = isinstance(library, JaxLibrary) and convert.is_host(value)
    return convert.host_array("value", value, None) if is_viewed and value.dtype != "bfloat16" else value


def numpy_view_of_jax(value: Any) -> Any:
    """As `numpy_view`, if an entry is of JAX; else the value. For functions that read the memory of tensors."""
    for entry in value if isinstance(value, list) else [value]:
        if isinstance(library_of(type(entry)), JaxLibrary):
            return numpy_view(value)
    return value


def in_library_of(like: Any, values: Any) -> Any:
    """Converts a result that was computed from `numpy_view(like)` to the library of `like`.

    If `like` is of NumPy, every result becomes an array of NumPy; other results stay as they are if they are not NumPy
    arrays. Each entry of a list is in the library of its entry of `like`.
    """
    if isinstance(values, list):
        examples = like if isinstance(like, list) else [like] * len(values)
        return [in_library_of(*entry) for entry in zip(examples, values, strict=True)]
    if type(values) is type(like):
        return values
    example = like[0] if isinstance(like, list) and like else like
    library = library_of(type(example))
    if library is NUMPY:
        return numpy_view(values)
    if isinstance(library, TorchLibrary) and isinstance(values, np.ndarray):
        return library.from_numpy(values, -1)
    is_jax = isinstance(library, JaxLibrary) and isinstance(values, np.ndarray)
    return convert.asarray(values, like=example, dtype=convert.dtype_name(values.dtype)) if is_jax else values
