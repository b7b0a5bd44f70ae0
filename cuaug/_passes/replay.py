"""Replays calls of functions: the second call with arguments of one kind is recorded as a plan that later calls run."""

from __future__ import annotations

import enum
import functools
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from .._arrays.autograd import is_compiling
from .._arrays.protocol import Library
from .._arrays.recording_library import FIRST_ARRAY, RecordingLibrary
from .._arrays.registry import library_of
from .._arrays.symbolic_array import SymbolicArray
from .recording import ARGUMENTS, IMAGES, LaunchPlan, plan_of

P = ParamSpec("P")
R = TypeVar("R")

_MAX_PLANS = 1024  # per function
_MAX_KIND_LENGTH = 96  # entries; a number in a list or tuple adds two
_PLAIN_TYPES = frozenset([int, float, bool, str, type(None)])
_OPTION_TYPES = type, enum.Enum, np.dtype, np.generic
_UNKNOWN, _SEEN_ONCE = object(), object()
_caches: list[dict[Any, Any]] = []


class _Call(NamedTuple):
    """The arguments of a call: their kind, and the addresses of the arrays."""

    kind: tuple[Any, ...]  # all that its launches depend on, except addresses
    library: Library
    pointers: list[int]  # of the images, then of the other arrays


def replayed(function: Callable[P, R]) -> Callable[P, R]:
    """Decorates a function of images whose only effect is a new array, computed by passes from its arguments alone.

    Calls are of one kind if their arrays have equal types, dtypes, shapes, strides and devices, their images equal
    alignment, and their other arguments equal values. A replayed call describes its arrays, allocates the result and
    launches what was recorded. Calls that cannot be recorded, such as those that compute with parameters on a device
    before they launch a pass, run the function.
    """
    plans: dict[Any, Any] = {}
    _caches.append(plans)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        described = _describe_call(args, kwargs)
        if described is None:
            return function(*args, **kwargs)
        kind, library, pointers = described
        plan = plans.get(kind, _UNKNOWN)
        if plan is _SEEN_ONCE:
            plan = plans[kind] = _record(function, library, args, kwargs)
        if isinstance(plan, LaunchPlan):
            replayed_result: R = plan(library, pointers[0], pointers[1:])
            return replayed_result
        result = function(*args, **kwargs)
        if plan is _UNKNOWN:  # kinds of calls that raise an error are not kept
            if len(plans) >= _MAX_PLANS:
                plans.clear()
            plans[kind] = _SEEN_ONCE
        return result

    return call


def _describe_call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Call | None:
    """None if the call cannot be replayed."""
    if not args or kwargs.get("out") is not None or is_compiling():
        return None
    library = library_of(type(args[0]))
    key_and_pointer = None if library is None else library.key_and_pointer(args[0])
    if library is None or key_and_pointer is None:
        return None
    images_key, images_pointer = key_and_pointer
    pointers, kind = [images_pointer], [type(args[0]), images_key, images_pointer % 16, *kwargs]
    for value in (*args[1:], *kwargs.values()):
        if type(value) in _PLAIN_TYPES:
            kind += type(value), value or repr(value)  # 0.0 == -0.0, but their signs differ
        elif type(value) in (list, tuple):
            if not _add_numbers(kind, value):
                return None
        elif library_of(type(value)) is library:
            key_and_pointer = library.key_and_pointer(value)
            if key_and_pointer is None or len(pointers) > FIRST_ARRAY - ARGUMENTS:
                return None
            array_key, pointer = key_and_pointer
            kind.append(array_key)
            pointers.append(pointer)
        elif type(value).__hash__ is None:
            return None
        elif isinstance(value, _OPTION_TYPES) or type(value).__name__ == "dtype":  # torch's dtype
            kind += type(value), value or repr(value)  # members of different IntEnums are equal if their numbers are
        else:
            return None
    return _Call(tuple(kind), library, pointers)


def _add_numbers(kind: list[Any], values: Sequence[Any]) -> bool:
    """Adds plain values, or nested lists of them, to a kind. False if there are too many, or other values."""
    kind += type(values), "("
    if len(kind) + 2 * len(values) > _MAX_KIND_LENGTH:  # before the loop: a list may be long, or contain itself
        return False
    for value in values:
        if type(value) in _PLAIN_TYPES:
            kind += type(value), value or repr(value)
        elif type(value) not in (list, tuple) or not _add_numbers(kind, value):
            return False
    kind.append(")")
    return True


def _record(
    function: Callable[..., Any], library: Library, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> LaunchPlan | None:
    """The plan of the call; None if it cannot be replayed."""
    recording = RecordingLibrary(library)
    count = 0

    def symbolic(value: Any) -> Any:
        nonlocal count
        if library_of(type(value)) is not library:
            return value
        pointer, shape, strides, dtype, device, *_ = library.describe(value)
        if count and device < 0:
            raise ValueError("the values of host arrays are copied to records")
        index, addend = (ARGUMENTS + count - 1, 0) if count else (IMAGES, pointer % 16)
        count += 1
        return SymbolicArray(recording, index, shape, strides, dtype, device, addend=addend)

    try:
        symbolic_args = [symbolic(value) for value in args]  # before the keywords, as in `_describe_call`
        result = function(*symbolic_args, **{name: symbolic(value) for name, value in kwargs.items()})
    except Exception:  # any: the function's call, which follows, raises the user's own errors
        return None
    plan = plan_of(recording, result)
    return None if plan is None or plan.constants else plan


def forget_plans() -> None:
    """A forked child must not use its parent's CUDA context; the functions themselves refuse to."""
    for plans in _caches:
        plans.clear()


os.register_at_fork(after_in_child=forget_plans)
