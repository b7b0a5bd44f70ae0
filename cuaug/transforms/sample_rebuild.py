"""Puts results in place of their targets, in copies of the sample's containers."""

from __future__ import annotations

import collections
import copy
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from typing import Any

from .._arrays.tv_tensors import wrap_like
from .sample_kinds import KINDS, KINDS_IN_LISTS, VALID_PREFIX, VALUE_KINDS
from .sample_pillow import image_like
from .sample_target import REMOVED, Crops, GatheredValues, Path, Target, UnstackedBatch


def set_target(results: dict[Any, Any], target: Target, value: Any, sizes: Sequence[tuple[int, int]]) -> None:
    """Record a target's result in nested dicts of results.

    Their keys are a path in the list ``[sample]``: 0, then the target's path in the sample. The path is empty if the
    sample itself is the target.

    `sizes`: (H, W) of each sample's canvas.
    """
    values = _values_by_path(target, value, sizes) if target.paths else []
    for path, path_value in zip(target.paths, values, strict=True):
        set_path(results, (0, *path), path_value)


class _InnerResults(dict[Any, Any]):
    """The results inside one container; a result itself may be a plain dict."""


def set_path(results: dict[Any, Any], path: Path, value: Any) -> None:
    """Record a result in nested dicts of results."""
    for key in path[:-1]:
        results = results.setdefault(key, _InnerResults())
    results[path[-1]] = value


def rebuild(node: Any, results: dict[Any, Any]) -> Any:
    """A copy of the container, with entries from `results`, nested alike.

    The copy has the container's type, but is a dict if `_copied_entries` makes one. `REMOVED` entries are left out.
    """
    entries = _copied_entries(node)
    is_named = isinstance(node, tuple) and hasattr(node, "_fields")
    for key, result in results.items():
        index = entry_index(node, key) if is_named else key
        entries[index] = rebuild(node[index], result) if type(result) is _InnerResults else result
    for index in sorted((key for key, result in results.items() if result is REMOVED), reverse=True):
        del entries[index]
    if isinstance(node, tuple):
        return node._make(entries) if hasattr(node, "_make") else tuple(entries)
    return entries


def with_entries(node: Sequence[Any], entries: Sequence[Any]) -> Any:
    """A copy of a list or tuple with other entries, as many as it has."""
    return rebuild(node, dict(enumerate(entries)))


def _copied_entries(node: Any) -> Any:
    """The entries of a container in a mutable copy.

    A dict in place of an immutable mapping, and of a mapping of a user's class without `__copy__`: `copy.copy` would
    share the attribute that keeps the entries.
    """
    if type(node) is dict or type(node) is list:  # to save time
        return node.copy()
    if isinstance(node, tuple):
        return list(node)
    is_copied = isinstance(node, (dict, list)) or (isinstance(node, MutableMapping) and hasattr(node, "__copy__"))
    return copy.copy(node) if is_copied else dict(node)


def with_copied_containers(node: Any) -> Any:
    """The sample with copies of all its containers, at every depth; the values in them are the same."""
    is_container = isinstance(node, (Mapping, list, tuple))
    results = {key: with_copied_containers(value) for key, value in entries_of(node)}
    return rebuild(node, results) if is_container else node


def validity_paths(box_paths: Iterable[Path]) -> dict[Path, Path]:
    """The path of the validity mask of each array of boxes in a sample.

    The key is "valid" for boxes under a key of `KINDS` and for the only boxes in their container; for others it is
    `VALID_PREFIX` and the key of the boxes.
    """
    paths = dict.fromkeys(box_paths)
    if len(paths) == 1:  # to save time
        return {path: (*path[:-1], "valid") for path in paths}
    counts = collections.Counter(path[:-1] for path in paths)
    take_plain_key = (KINDS.get(path[-1]) == "boxes" or counts[path[:-1]] == 1 for path in paths)
    return {
        path: (*path[:-1], "valid" if takes_plain_key else f"{VALID_PREFIX}{path[-1]}")
        for path, takes_plain_key in zip(paths, take_plain_key, strict=True)
    }


def validity_target(sample: Any, boxes: Target, paths: Sequence[Path]) -> Target:
    """A target for the validity mask of these boxes, at these paths.

    It has no paths if the boxes are not in dicts, or if the dicts have the key already. Raises ValueError if only some
    of the samples have the key.
    """
    containers = [value_at(sample, path[:-1]) for path in paths]
    are_dicts = all(isinstance(node, Mapping) for node in containers)
    have_key = {path[-1] in node for path, node in zip(paths, containers, strict=True)} if are_dicts else set()
    if len(have_key) > 1:
        raise ValueError(f"samples must all have the key {paths[0][-1]!r} beside their boxes, or none of them")
    return new_validity_target(boxes, tuple(paths) if have_key == {False} else ())


def new_validity_target(boxes: Target, paths: tuple[Path, ...]) -> Target:
    """A target for the validity mask of these boxes. Its value is that of the boxes, until a result replaces it."""
    # The plain arrays as `original`, not the tv_tensors: `_in_type_of` would wrap a mask as BoundingBoxes.
    original = boxes.value[0] if boxes.sample_axis_added else boxes.value
    if isinstance(boxes.original, GatheredValues):
        entries = zip(original, boxes.original, strict=True)
        original = GatheredValues([array] if isinstance(entry, (list, tuple)) else array for array, entry in entries)
    return Target("valid", boxes.value, paths, original, boxes.format, boxes.layout, boxes.sample_axis_added)


def _values_by_path(target: Target, value: Any, sizes: Sequence[tuple[int, int]]) -> list[Any]:
    """The value for each of the target's paths."""
    original = target.original
    if target.kind in VALUE_KINDS and value is target.value:  # not transformed: entries of any number and type
        return list(original) if isinstance(original, GatheredValues) else [original]
    if target.sample_axis_added:
        return [_in_type_of(value[0], original, sizes[0])]
    if isinstance(original, GatheredValues):
        in_type = _in_list_of if target.kind in KINDS_IN_LISTS else _in_type_of
        return [in_type(*entry) for entry in zip(value, original, sizes, strict=True)]
    if isinstance(value, UnstackedBatch):
        examples = original if isinstance(original, (list, tuple)) else [original] * len(value)
        return [UnstackedBatch(_in_type_of(*entry) for entry in zip(value, examples, sizes, strict=True))]
    if isinstance(original, (list, tuple)) and isinstance(value, (list, tuple)):
        entries = [_in_type_of(*entry) for entry in zip(value, original, sizes, strict=True)]
        return [with_entries(original, entries)]
    example = original[0] if isinstance(original, (list, tuple)) and len(original) else original
    return [_in_type_of(value, example, sizes[0] if sizes else (0, 0))]


def _in_type_of(result: Any, example: Any, size: tuple[int, int]) -> Any:
    """The result as a tv_tensor or an image of Pillow, if the example is one. `size`: (H, W) of its canvas."""
    return result if result is REMOVED else wrap_like(image_like(result, example), example, size)


def _in_list_of(result: Any, example: Any, size: tuple[int, int]) -> Any:
    """As `_in_type_of`; if the example is a list or tuple of one array, the result is in one, too."""
    if not isinstance(example, (list, tuple)):
        return _in_type_of(result, example, size)
    return with_entries(example, [_in_list_of(result, example[0], size)])


def with_plain_containers(node: Any) -> Any:
    """The sample with tuples in place of `Crops` and lists in place of `UnstackedBatch`, as users get it."""
    results = {
        key: new
        for key, value in entries_of(node)
        if isinstance(value, (dict, list, tuple, Mapping)) and (new := with_plain_containers(value)) is not value
    }
    node = rebuild(node, results) if results else node
    return tuple(node) if isinstance(node, Crops) else list(node) if isinstance(node, UnstackedBatch) else node


def with_containers_of(node: Any, example: Any) -> Any:
    """The sample with the `Crops` and `UnstackedBatch` of an example, where it has tuples and lists of equal length."""
    results = {}
    for key, inner_example in entries_of(example):
        try:
            value = value_at(node, (key,))
        except (KeyError, IndexError, TypeError):  # another structure
            continue
        new = with_containers_of(value, inner_example)
        if new is not value:
            results[key] = new
    node = rebuild(node, results) if results else node
    for plain_type, container in ((tuple, Crops), (list, UnstackedBatch)):
        if isinstance(example, container) and type(node) is plain_type and len(node) == len(example):
            return container(node)
    return node


def entries_of(node: Any) -> Iterable[tuple[Any, Any]]:
    """The entries of a container, but not of a list of numbers."""
    if isinstance(node, Mapping):
        return node.items()
    is_searched = isinstance(node, (list, tuple)) and not (node and isinstance(node[0], (int, float)))
    return enumerate(node) if is_searched else ()


def value_at(node: Any, path: Path) -> Any:
    """The entry of nested containers at a path. A TypeError if another value is in the place of a container."""
    for key in path:
        if not isinstance(node, (Mapping, list, tuple)):  # a tensor may take the key as an index
            raise TypeError(f"no container, got {type(node).__name__}")
        node = node[entry_index(node, key)]
    return node


def entry_index(node: Any, key: Any) -> Any:
    """The key, or the position of a namedtuple's field."""
    fields = getattr(node, "_fields", ()) if isinstance(node, tuple) else ()
    return fields.index(key) if key in fields else key
