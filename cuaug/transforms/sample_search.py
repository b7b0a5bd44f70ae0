"""Finds the images and targets in a sample: by type, by key, and by position."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .._arrays.tv_tensors import is_video, tv_kind
from .sample_kinds import (
    KEYS_WITHOUT_KIND,
    KINDS,
    VALID_PREFIX,
    VALUE_KINDS,
    is_ambiguous_tuple,
    is_array,
    is_image_array,
    is_image_list,
    is_plain_sequence,
    is_scalar_or_text,
    named_fields,
)
from .sample_numbers import LISTED_KINDS, ListedNumbers, empty_masks, listed_numbers
from .sample_target import Crops, GatheredValues, Path, UnstackedBatch, path_text

_MAX_AXES = {"images": 3, "masks": 3, "boxes": 2}  # of one sample
_SHAPES = {  # of one sample
    "images": "[H, W] or with channels",
    "masks": "[H, W] or [B, H, W]",
    "boxes": "[B, 4], rotated ones [B, 5] or [B, 8]",
    "keypoints": "[P, 2 or 3] or [B, P, 2 or 3]",
    "valid": "[B]",
}


class Leaf(NamedTuple):
    """An image or target: an array or a list of arrays at one path, or gathered arrays at one path per sample."""

    kind: str
    paths: tuple[Path, ...]
    value: Any

    @property
    def gathered(self) -> bool:
        return isinstance(self.value, GatheredValues)


def find_leaves(sample: Any) -> list[Leaf]:
    if isinstance(sample, Crops):
        return _search_sequence(sample, (), None)
    if is_image_array(sample) or is_image_list(sample):
        if is_ambiguous_tuple(sample):
            other = next(i for i, entry in enumerate(sample) if entry.shape != sample[0].shape)
            raise ValueError(f"{_ambiguity(sample[other], (other,))}; images of several shapes are passed in a list")
        return [Leaf("images", ((),), sample)]
    if not is_plain_sequence(sample) or not len(sample):
        return _search(sample, ())
    if _has_crops(sample) if isinstance(sample[0], Crops) else is_image_array(sample[0]) or is_image_list(sample[0]):
        return _search_pair(sample, ())
    if all(_is_single_pair(entry) for entry in sample):
        return _gather([_search_pair(entry, (i,)) for i, entry in enumerate(sample)], ())
    return _search(sample, ())


def _is_single_pair(entry: Any) -> bool:
    """(image, labels, ...) of one sample."""
    if isinstance(entry, Crops) or not is_plain_sequence(entry) or not len(entry):
        return False
    image = _first_crop(entry[0]) if _has_crops(entry) else entry[0]
    return is_image_array(image) and bool(image.ndim <= (4 if is_video(image) else 3))


def _has_crops(sample: Sequence[Any]) -> bool:
    """Whether this is (crops, labels, ...)."""
    return isinstance(sample[0], Crops) and not all(isinstance(entry, Crops) for entry in sample)


def _first_crop(value: Any) -> Any:
    return _first_crop(value[0]) if isinstance(value, Crops) else value


def _search_pair(sample: Sequence[Any], path: Path) -> list[Leaf]:
    """Finds images and labels by position, in (images, labels, ...)."""
    images, leaves = sample[0], [Leaf("images", ((*path, 0),), sample[0])]
    if isinstance(images, Crops):
        images, leaves = _first_crop(images), _search(images, (*path, 0))
    # Labels may be [N, classes] for a batch or a list of images, [classes] for one image, a number for an image [H, W].
    max_label_axes = min(images.ndim - 2, 2) if is_array(images) else 2
    # As in torchvision: if the images are tv_tensors, arrays of other types are not masks, boxes or images.
    are_typed = tv_kind(images if is_array(images) else images[0]) is not None
    for i, value in enumerate(sample[1:], 1):
        entries = value if is_plain_sequence(value) else [value]
        inner = _search(value, (*path, i))
        if inner or any(named_fields(entry) is not None for entry in entries):
            leaves += inner
            continue
        max_axes = min(max_label_axes, 1) if is_plain_sequence(value) else max_label_axes
        array = next((entry for entry in entries if is_array(entry) and entry.ndim > max_axes), None)
        if array is not None:
            if are_typed:
                continue
            raise ValueError(_ambiguity(array, (*path, i)))
        if i == 1 and value is not None:
            leaves.append(Leaf("labels", ((*path, i),), value))
    return leaves


def _ambiguity(array: Any, path: Path) -> str:
    return (
        f"an array of shape {tuple(array.shape)} at {path_text(path)} could be masks, boxes or other images: "
        "name it, as in {'images': ..., 'masks': ...}"
    )


def _search(node: Any, path: Path, kind: str | None = None) -> list[Leaf]:
    """Finds by type, then by key. `kind`: the kind that the node's key implies."""
    type_kind = tv_kind(node)
    if type_kind is not None:
        return [Leaf(type_kind, (path,), node)]
    fields = named_fields(node)
    if fields is not None:
        # A dict under a key such as "labels" may be a detection target: its fields without a kind are no labels.
        return _search_fields(fields, path, None if kind in VALUE_KINDS else kind)
    if kind is not None and is_array(node):
        return [Leaf(kind, (path,), node)]
    if isinstance(node, (list, tuple)):
        return _search_sequence(node, path, kind)
    if kind in VALUE_KINDS and node is not None:
        return [Leaf(kind, (path,), node)]
    if kind is not None and not is_scalar_or_text(node):
        raise TypeError(f"{kind} at {path_text(path)} must be an array, or a list of arrays, got {type(node).__name__}")
    return []


def _search_fields(fields: Mapping[Any, Any], path: Path, outer_kind: str | None) -> list[Leaf]:
    """Finds in the fields of a dict. `outer_kind`: the kind that the key of the dict implies.

    If the keys of the fields, except "valid", imply no kind, the fields have `outer_kind`: masks may be a dict of
    masks. If one of them implies a kind, the dict is a detection target, and its other fields have no kind.
    """
    kinds = {key: KINDS.get(key) if isinstance(key, str) else None for key in fields}
    outer_kind = None if set(kinds.values()) - {None, "valid"} else outer_kind
    if outer_kind not in (None, "boxes"):  # here "valid" is an ordinary key, such as a class
        kinds = dict.fromkeys(fields)
    validity_keys = {
        f"{VALID_PREFIX}{key}"
        for key, value in fields.items()
        if f"{VALID_PREFIX}{key}" in fields and kinds[key] is None and _are_boxes(value, outer_kind)
    }
    leaves: list[Leaf] = []
    first_keys: dict[str, Any] = {}
    for key, value in fields.items():
        kind = "valid" if key in validity_keys else kinds[key]
        inner = _search(value, (*path, key), kind or (None if key in KEYS_WITHOUT_KIND else outer_kind))
        is_found = key not in validity_keys and any(leaf.kind == kind for leaf in inner)
        if kind is not None and is_found and first_keys.setdefault(kind, key) != key:
            first, second = path_text((*path, first_keys[kind])), path_text((*path, key))
            raise ValueError(f"{kind} are both {first} and {second}: rename one")
        leaves += inner
    return leaves


def _are_boxes(value: Any, kind: str | None) -> bool:
    """Whether the value under a key of this kind is one array of boxes, or a list of them."""
    entries = value if isinstance(value, (list, tuple)) and value else [value]
    return kind == "boxes" or {tv_kind(entry) for entry in entries} == {"boxes"}


def _search_sequence(node: Sequence[Any], path: Path, kind: str | None) -> list[Leaf]:
    if isinstance(node, Crops):
        return _chain([_search(crop, (*path, i), "images") for i, crop in enumerate(node)])  # may be `Crops`, too
    if node and all(isinstance(entry, Crops) for entry in node):
        return _gather([_search_sequence(entry, (*path, i), kind) for i, entry in enumerate(node)], path)
    type_kinds = {tv_kind(entry) for entry in node}
    common_kind = type_kinds.pop() if len(type_kinds) == 1 else None
    if common_kind is not None:
        return [Leaf(common_kind, (path,), node)]
    have_fields = [named_fields(entry) is not None for entry in node]
    if any(have_fields):
        leaves_by_entry = [_search(entry, (*path, i), kind) for i, entry in enumerate(node)]
        return _gather(leaves_by_entry, path) if all(have_fields) else _chain(leaves_by_entry)
    if kind == "masks":
        if not node:
            return [Leaf(kind, (path,), empty_masks())]
        are_empty = [isinstance(entry, (list, tuple)) and not entry for entry in node]
        if any(are_empty):
            node = [empty_masks() if is_empty else entry for entry, is_empty in zip(node, are_empty, strict=True)]
    are_arrays = all(is_array(entry) for entry in node)
    if kind in LISTED_KINDS and not (node and are_arrays):
        numbers = listed_numbers(node, kind)
        if numbers is not None:
            return [Leaf(kind, (path,), numbers)]
    if kind in VALUE_KINDS or (kind is not None and are_arrays):
        return [Leaf(kind, (path,), node)]
    if kind is not None:
        other = next(entry for entry in node if not is_array(entry))
        rule = (
            "an array, a list of arrays, or rows of numbers"
            if kind in LISTED_KINDS
            else "an array, or a list of arrays"
        )
        raise TypeError(f"{kind} at {path_text(path)} must be {rule}, got a list of {type(other).__name__}")
    return _chain([_search(entry, (*path, i)) for i, entry in enumerate(node)])


def _chain(leaves_by_entry: list[list[Leaf]]) -> list[Leaf]:
    return list(itertools.chain.from_iterable(leaves_by_entry))


def _gather(leaves_by_entry: list[list[Leaf]], path: Path) -> list[Leaf]:
    """Joins the leaves of the entries of the sequence at `path`. Each entry is one sample, unless it holds a batch.

    Leaves at the same path within their entries, such as entry[0] or entry["masks"], become one leaf. Entries that hold
    batches, and no single image, are several images and targets of the same samples: their leaves are returned.
    """
    leaves = _chain(leaves_by_entry)
    if any(map(_is_batch, leaves)) and not any(leaf.kind == "images" and _is_of_one_sample(leaf) for leaf in leaves):
        return leaves
    targets = [[(leaf.kind, leaf.paths[0][len(path) + 1 :]) for leaf in entry] for entry in leaves_by_entry]
    differing = next((i for i, entry in enumerate(targets) if entry != targets[0]), None)
    if differing is not None:
        names = [", ".join(path_text(relative) for _, relative in targets[i]) or "nothing" for i in (0, differing)]
        raise ValueError(
            f"samples must have the same targets, got {names[0]} in sample 0 and {names[1]} in sample {differing}: "
            "use an empty array for a target without entries"
        )
    return _chain([_gather_target(group) for group in zip(*leaves_by_entry, strict=True)])


def _gather_target(group: Sequence[Leaf]) -> list[Leaf]:
    """Joins the leaves of one target, one from each sample. Masks in lists become a leaf for each index."""
    kind = group[0].kind
    if kind == "masks" and not all(is_array(leaf.value) for leaf in group):
        masks_by_sample = [split_masks(leaf) for leaf in group]
        _check_mask_counts(group, [len(masks) for masks in masks_by_sample])
        return _chain([_gather_target(masks) for masks in zip(*masks_by_sample, strict=True)])
    other = next((leaf for leaf in group if not _is_of_one_sample(leaf)), None)
    if other is not None:
        found = f"shape {tuple(other.value.shape)}" if is_array(other.value) else f"a list of {len(other.value)}"
        raise ValueError(
            f"{kind} at {path_text(other.paths[0])} must be one array of one sample, {_SHAPES[kind]}, as the list has "
            f"one entry per sample, got {found}"
        )
    values_by_leaf = [leaf.value if leaf.gathered else [leaf.value] for leaf in group]  # gathered: of any length
    return [
        Leaf(
            kind, tuple(path for leaf in group for path in leaf.paths), GatheredValues(itertools.chain(*values_by_leaf))
        )
    ]


def _check_mask_counts(group: Sequence[Leaf], counts: Sequence[int]) -> None:
    """Raises ValueError unless the masks of all samples are lists of one length."""
    texts = [
        f"an array of shape {tuple(leaf.value.shape)}"
        if is_array(leaf.value) and not isinstance(leaf.value, ListedNumbers)
        else f"a list of {0 if is_array(leaf.value) else count}"
        for leaf, count in zip(group, counts, strict=True)
    ]
    differing = next((i for i, text in enumerate(texts) if text != texts[0]), None)
    if differing is not None:
        found = [f"{texts[i]} at {path_text(group[i].paths[0])}" for i in (0, differing)]
        raise ValueError(
            f"masks must be lists of one length in all samples, got {found[0]} and {found[1]}: stack the masks of each "
            "sample, [B, H, W]"
        )


def split_masks(leaf: Leaf) -> list[Leaf]:
    """The masks of one sample: a list is several targets, not one mask per sample."""
    if leaf.kind != "masks" or is_array(leaf.value):
        return [leaf]
    paths = leaf.paths if leaf.gathered else [(*leaf.paths[0], i) for i in range(len(leaf.value))]
    return [Leaf("masks", (path,), value) for path, value in zip(paths, leaf.value, strict=True)]


def _is_batch(leaf: Leaf) -> bool:
    """Whether the leaf has an axis of samples, or is a list of images."""
    if not is_array(leaf.value):
        return isinstance(leaf.value, UnstackedBatch) or (leaf.kind == "images" and not leaf.gathered)
    return not _is_of_one_sample(leaf)


def _is_of_one_sample(leaf: Leaf) -> bool:
    if leaf.kind in VALUE_KINDS:
        return True
    max_axes = 4 if is_video(leaf.value) else _MAX_AXES.get(leaf.kind)
    return is_array(leaf.value) and (max_axes is None or leaf.value.ndim <= max_axes)
