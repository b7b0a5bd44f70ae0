"""Some samples of a batch: taken out of its structure, and put back with other values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .._arrays import convert
from .._arrays.convert import dtype_name
from .._arrays.registry import library_of
from .._arrays.tv_tensors import without_type, wrap_like
from .sample_kinds import is_array, is_plain_sequence, named_fields
from .sample_leaves import leaves_of
from .sample_rebuild import rebuild, set_path, value_at, with_copied_containers, with_entries
from .sample_search import list_path
from .sample_target import Path, UnstackedBatch, path_text
from .video_lists import check_no_list_of_videos


def samples_at(sample: Any, count: int, indices: Sequence[int]) -> Any:
    """The batch with these of its `count` samples only, in copies of all containers.

    Values without an entry per sample stay as they are.
    """
    results: dict[Any, Any] = {}
    for path, _ in _entries_by_sample(sample, count):
        value = value_at(sample, path)
        entries = [value[i] for i in indices]
        set_path(results, (0, *path), _joined(entries, value))
    # Copies: `_check_shared_values` skips identical objects, so a change inside of a shared container would be missed.
    return with_copied_containers(rebuild([sample], results)[0])


def with_samples(sample: Any, count: int, indices: Sequence[int], changed: Any) -> Any:
    """The batch of `count` samples with the samples of another batch in place of those at the indices.

    Raises:
        ValueError: The other batch has another structure, or arrays of another shape or dtype, or changes a value that
            all samples share.
    """
    results: dict[Any, Any] = {}
    entries_by_sample = dict(_entries_by_sample(sample, count))
    for path, kind in entries_by_sample.items():
        value = value_at(sample, path)
        try:
            new_value = value_at(changed, path)
        except (KeyError, IndexError, TypeError) as error:
            raise ValueError(f"must return the structure of its argument, which has {kind} at {path_text(path)}") from (
                error
            )
        _check_alike(kind, value, new_value, len(indices))
        entries = list(value)
        for index, entry in zip(indices, new_value, strict=True):
            entries[index] = entry
        set_path(results, (0, *path), _joined(entries, value) if is_array(value) else with_entries(value, entries))
    _check_shared_values(sample, changed, entries_by_sample)
    return rebuild([sample], results)[0]


def unstacked(sample: Any, count: int) -> Any:
    """The batch of `count` samples with lists of images and of masks in place of their arrays."""
    results: dict[Any, Any] = {}
    for path, kind in _entries_by_sample(sample, count):
        value = value_at(sample, path)
        if kind in ("images", "masks") and is_array(value):
            entries = UnstackedBatch(wrap_like(without_type(entry), value) for entry in value)
            if kind == "images":
                check_no_list_of_videos(entries, path)
            set_path(results, (0, *path), entries)
    return rebuild([sample], results)[0]


def _entries_by_sample(sample: Any, count: int) -> Iterator[tuple[Path, str]]:
    """The path of each array and list that has an entry for each sample, and the kind of what it holds."""
    kinds: dict[Path, str] = {}
    # If there is one sample, a gathered leaf has a single path, in which `list_path` cannot find the sample's index:
    # such leaves are skipped. Only `unstacked` is called with one sample, and it replaces arrays only.
    leaves = [leaf for leaf in leaves_of(sample) if count > 1 or not leaf.gathered]
    for path, kind in sorted(((list_path(leaf), leaf.kind) for leaf in leaves), key=lambda entry: len(entry[0])):
        if any(path[:length] in kinds for length in range(len(path))):  # the leaf is in the entry of one sample
            continue
        value = value_at(sample, path)
        has_entries = value.ndim > 0 if is_array(value) else is_plain_sequence(value)
        if has_entries and len(value) == count:
            kinds.setdefault(path, kind)
    yield from kinds.items()


def _joined(entries: list[Any], like: Any) -> Any:
    """Entries of samples as an array, a tuple or a list, as the value `like` is."""
    if is_array(like):
        stacked = convert.namespace(like).stack([without_type(entry) for entry in entries])
        return wrap_like(stacked, like)
    if isinstance(like, UnstackedBatch):
        return UnstackedBatch(entries)
    return tuple(entries) if isinstance(like, tuple) else entries


def _check_alike(kind: str, value: Any, new_value: Any, count: int) -> None:
    unit = ""
    if is_array(value):
        expected, result = _form(value), _form(new_value)
        if expected == result:
            expected, result, unit = str(count), str(len(new_value)), " samples"
    else:
        # The arrays of an `UnstackedBatch` may have become a batch.
        is_list = is_plain_sequence(new_value) or (isinstance(value, UnstackedBatch) and is_array(new_value))
        expected, result = f"a list of {count}", f"a list of {len(new_value)}" if is_list else ""
    if expected != result:
        change = f"from {expected}{unit} to {result or type(new_value).__name__}"
        raise ValueError(f"must not change the {kind} of some samples only, {change}")


def _form(value: Any) -> str:
    """The library, dtype and shape of a sample's entry in an array; empty for other values."""
    library = library_of(type(value))
    return "" if library is None else f"{library.name} {dtype_name(value.dtype)} {tuple(value.shape[1:])}"


def _check_shared_values(value: Any, new_value: Any, excluded: Collection[Path], path: Path = ()) -> None:
    """Raises for a new, missing or changed value outside of the excluded paths: all samples share such values."""
    if path in excluded or value is new_value:
        return
    entries, new_entries = _entries(value), _entries(new_value)
    if entries is None or new_entries is None or isinstance(value, list) is not isinstance(new_value, list):
        if entries is not new_entries or not _is_equal(value, new_value):
            raise ValueError(
                f"must not change {path_text(path)} for some samples only, as all samples share this value: only "
                "images, masks, boxes, keypoints and labels have an entry per sample"
            )
        return
    for verb, keys, others in (("add", new_entries, entries), ("remove", entries, new_entries)):
        for key in keys:
            if key not in others:
                place = f"{path_text((*path, key))} for some samples only"
                raise ValueError(f"must not {verb} {place}: {verb} it for all samples, in a function before or after")
    for key, entry in entries.items():
        _check_shared_values(entry, new_entries[key], excluded, (*path, key))


def _entries(value: Any) -> Mapping[Any, Any] | None:
    """The entries of a container by key or index; None for other values."""
    if isinstance(value, (list, tuple)):
        return named_fields(value) or dict(enumerate(value))
    return value if isinstance(value, Mapping) else None


def _is_equal(value: Any, new_value: Any) -> bool:
    """Whether two values are known to be equal, or both NaN. Arrays of a device are not read."""
    if type(value) is not type(new_value) or _form(value) != _form(new_value):
        return False
    if getattr(value, "shape", None) != getattr(new_value, "shape", None):
        return False
    if is_array(value) and not (convert.is_host(value) and convert.is_host(new_value)):
        return False
    try:
        is_equal, both_are_nan = value == new_value, (value != value) & (new_value != new_value)
        return bool(np.all(np.asarray(is_equal | both_are_nan)))
    except Exception:  # of a comparison that the value's class does not allow
        return False
