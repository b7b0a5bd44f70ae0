"""`leaves_of`: the leaves of a sample, found once for all samples of one structure and then read at the same paths."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from typing import Any, NamedTuple

from .._arrays.dlpack_library import DLPACK
from .._arrays.pillow_library import PILLOW
from .._arrays.registry import library_of
from .sample_kinds import is_ambiguous_tuple
from .sample_pillow import pixels_of, with_pixels
from .sample_rebuild import entry_index
from .sample_search import Leaf, find_leaves
from .sample_target import GatheredValues, Path

_MAX_STRUCTURES = 256
_SCALAR_TYPES = frozenset((int, float, bool, str, type(None)))
_KEY_TYPES = frozenset((str, int))


class _LeafPaths(NamedTuple):
    """Where a leaf is in each sample of a structure."""

    kind: str
    paths: tuple[Path, ...]
    index_paths: tuple[Path, ...]  # with positions in place of the names of a namedtuple's fields
    is_gathered: bool


_leaves_by_structure: dict[Any, tuple[_LeafPaths, ...] | None] = {}  # None: each call searches the sample


def leaves_of(sample: Any, any_mode: bool = False) -> list[Leaf]:
    """The images and targets of a sample, by the rules of `parse_sample`; pixels in place of images of Pillow.

    `any_mode`: as in `with_pixels`.
    """
    return leaves_of_structure(sample, structure_of(sample), any_mode)


def leaves_of_structure(sample: Any, structure: Any, any_mode: bool = False) -> list[Leaf]:
    """As `leaves_of`. `structure`: `structure_of` this sample."""
    if structure is None:
        return find_leaves(with_pixels(sample, any_mode))
    key = any_mode, structure
    leaf_paths = _leaves_by_structure.get(key)
    if leaf_paths is not None:
        return [_read(sample, leaf, any_mode) for leaf in leaf_paths]
    leaves = find_leaves(with_pixels(sample, any_mode))
    if key not in _leaves_by_structure:
        add_structure(_leaves_by_structure, key, _paths_of_leaves(sample, leaves))
    return leaves


def add_structure(cache: dict[Any, Any], key: Any, value: Any) -> None:
    """Adds an entry, after the removal of the oldest ones if there are `_MAX_STRUCTURES`."""
    while len(cache) >= _MAX_STRUCTURES:
        cache.pop(next(iter(list(cache)), None), None)  # a list, as other threads may add entries
    cache[key] = value


def structure_of(sample: Any) -> Any:
    """What decides which leaves a sample has, as a key; None if they depend on more than types, keys and lengths."""
    if is_ambiguous_tuple(sample):
        return None
    try:
        return _structure(sample)
    except _NoStructureError:
        return None


class _NoStructureError(Exception):
    """The leaves depend on more than the types in the sample."""


def _structure(node: Any) -> Any:
    """What decides which leaves a sample has: types, keys, lengths, and axes and dtypes of arrays.

    Lists of numbers and texts are alike whatever their length, unless they are empty.
    """
    node_type = type(node)
    library = library_of(node_type)
    if library is DLPACK:
        raise _NoStructureError
    if library is not None:
        return (node_type, node.mode) if library is PILLOW else (node_type, node.ndim, node.dtype)
    if isinstance(node, dict):
        if not _KEY_TYPES.issuperset(map(type, node)):  # other keys may be equal but have other names
            raise _NoStructureError
        return node_type, *node, *map(_structure, node.values())
    if isinstance(node, (list, tuple)):
        entry_types = frozenset(map(type, node))
        if entry_types <= _SCALAR_TYPES and not hasattr(node_type, "_fields"):
            return node_type, entry_types
        entries = tuple(map(_structure, node))
        are_equal = bool(entries) and all(entry == entries[0] for entry in entries)
        # Equal entries are stored once, so that the key of a long list is short.
        return (node_type, len(entries), entries[0]) if are_equal else (node_type, entries)
    if isinstance(node, Mapping):  # it may make its values when they are read
        raise _NoStructureError
    return node_type


def _paths_of_leaves(sample: Any, leaves: list[Leaf]) -> tuple[_LeafPaths, ...] | None:
    """Where the leaves of the sample are; None if values that are not in the sample were made for them."""
    results = []
    for leaf in leaves:
        index_paths = tuple(index_path(sample, path) for path in leaf.paths)
        found = leaf.value if leaf.gathered else [leaf.value]
        for path, value in zip(index_paths, found, strict=True):
            original = _value_at(sample, path)
            if original is not value and library_of(type(original)) is not PILLOW:
                return None
        results.append(_LeafPaths(leaf.kind, leaf.paths, index_paths, leaf.gathered))
    return tuple(results)


def index_path(sample: Any, path: Path) -> Path:
    """The path with positions in place of the names of a namedtuple's fields."""
    indices, node = [], sample
    for key in path:
        indices.append(entry_index(node, key))
        node = node[indices[-1]]
    return tuple(indices)


def _value_at(sample: Any, index_path: Path) -> Any:
    return functools.reduce(operator.getitem, index_path, sample)


def _read(sample: Any, leaf: _LeafPaths, any_mode: bool) -> Leaf:
    values = [_value_at(sample, path) for path in leaf.index_paths]
    for i, value in enumerate(values):
        if library_of(type(value)) is PILLOW:
            values[i] = pixels_of(value, leaf.paths[i], any_mode)
    return Leaf(leaf.kind, leaf.paths, GatheredValues(values) if leaf.is_gathered else values[0])
