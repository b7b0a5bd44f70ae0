"""Finds the images and targets in a sample: by type, by key, and by position."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .._arrays.tv_tensors import is_video, tv_kind
from .sample_kinds import (
    KEYS_WITHOUT_KIND,
    KINDS,
    KINDS_IN_LISTS,
    VALID_PREFIX,
    VALUE_KINDS,
    is_ambiguous_tuple,
    is_array,
    is_image_array,
    is_image_list,
    is_plain_sequence,
    is_scalar_or_text,
    named_fields,
    only_entry,
)
from .sample_numbers import LISTED_KINDS, ListedNumbers, empty_masks, listed_numbers
from .sample_target import Crops, GatheredValues, Path, Target, UnstackedBatch, path_text

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
    """Whether this is (image, labels, ...) of one sample."""
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
    # Labels may be [N, classes] for a batch or a list of images, [classes] for one image.
    max_label_axes = max(1, min(images.ndim - 2, 2)) if is_array(images) else 2
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
    """Finds leaves by type, then by key. `kind`: the kind that the node's key implies."""
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
    """Finds leaves in the fields of a dict. `outer_kind`: the kind that the key of the dict implies.

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

    Leaves at the same path within their entries, such as entry[0] or entry["masks"], become one leaf. Only values that
    no transform moves may be missing in an entry.
    """
    leaves = _chain(leaves_by_entry)
    groups: dict[tuple[str, Path], list[Leaf]] = {}
    for leaf in leaves:
        groups.setdefault((leaf.kind, leaf.paths[0][len(path) + 1 :]), []).append(leaf)
    is_video_sample = len(leaves_by_entry) == 1 and any(is_video(leaf.value) for leaf in leaves)  # [T, C, H, W]
    if is_video_sample or _share_samples(leaves, groups.values()):
        return leaves
    moved = [[leaf for leaf in entry if leaf.kind not in VALUE_KINDS] for entry in leaves_by_entry]
    targets = [[(leaf.kind, leaf.paths[0][len(path) + 1 :]) for leaf in entry] for entry in moved]
    differing = next((i for i, entry in enumerate(targets) if entry != targets[0]), None)
    if differing is not None:
        names = [", ".join(path_text(relative) for _, relative in targets[i]) or "nothing" for i in (0, differing)]
        raise ValueError(
            f"samples must have the same targets, got {names[0]} in sample 0 and {names[1]} in sample {differing}: "
            "use an empty array for a target without entries"
        )
    return _chain([_gather_target(group) for group in groups.values()])


def _share_samples(leaves: Sequence[Leaf], groups: Iterable[Sequence[Leaf]]) -> bool:
    """Whether the entries of a sequence are several images and targets of the same samples, and not one sample each.

    They are if they hold batches and no single image. Without images, lists of masks of several lengths are the masks
    of one image.
    """
    images = [leaf for leaf in leaves if leaf.kind == "images"]
    if any(_is_of_one_sample(leaf) for leaf in images):
        return False
    return any(map(_is_batch, leaves)) or (not images and any(len(set(_mask_forms(group))) > 1 for group in groups))


def _gather_target(group: Sequence[Leaf]) -> list[Leaf]:
    """Joins the leaves of one target, one from each sample. Masks in lists become a leaf for each index."""
    kind = group[0].kind
    if kind == "masks" and not all(is_array(leaf.value) for leaf in group):
        forms = _mask_forms(group)
        differing = next((i for i, form in enumerate(forms) if form != forms[0]), None)
        if differing is not None:
            found = [f"{forms[i]} at {path_text(list_path(group[i], group))}" for i in (0, differing)]
            raise ValueError(
                f"masks must be lists of one length in all samples, got {found[0]} and {found[1]}: stack the masks of "
                "each sample, [B, H, W]; Boxes(compact=True) removes the masks of invalid boxes"
            )
        masks_by_sample = [split_masks(leaf) for leaf in group]
        return _chain([_gather_target(masks) for masks in zip(*masks_by_sample, strict=True)])
    other = next((leaf for leaf in group if not _is_of_one_sample(leaf)), None)
    if other is not None:
        found_text = f"shape {tuple(other.value.shape)}" if is_array(other.value) else f"a list of {len(other.value)}"
        raise ValueError(
            f"{kind} at {path_text(list_path(other, group))} must be one array of one sample, {_SHAPES[kind]}, as the "
            f"list has one entry per sample, got {found_text}"
        )
    values_by_leaf = [leaf.value if leaf.gathered else [leaf.value] for leaf in group]  # gathered: of any length
    paths = tuple(path for leaf in group for path in leaf.paths)
    return [Leaf(kind, paths, GatheredValues(itertools.chain(*values_by_leaf)))]


def _mask_forms(group: Sequence[Leaf]) -> list[str]:
    """The array shape or the list length of each leaf's masks, as text; empty unless some masks are in lists."""
    if group[0].kind != "masks" or all(is_array(leaf.value) for leaf in group):
        return []
    return [
        f"an array of shape {tuple(leaf.value.shape)}"
        if is_array(leaf.value) and not isinstance(leaf.value, ListedNumbers)
        else f"a list of {0 if is_array(leaf.value) else len(leaf.value)}"
        for leaf in group
    ]


def list_path(leaf: Leaf | Target, group: Sequence[Leaf] = ()) -> Path:
    """The path of the list whose entries a gathered leaf joins; else that of the leaf.

    `group`: the leaves of the same target in all samples. A list of one entry gives a leaf with one path, which does
    not show which of its keys is the index in the list; the longer list of another sample shows it.
    """
    return leaf.paths[0][: min(_common_length(other.paths) for other in (leaf, *group))]


def _common_length(paths: Sequence[Path]) -> int:
    """The number of keys at the start of the paths that are equal in the first and the last one."""
    pairs = enumerate(zip(paths[0], paths[-1], strict=False))
    return next((i for i, (first, last) in pairs if first != last), len(paths[0]))


def split_masks(leaf: Leaf) -> list[Leaf]:
    """The masks of one sample: a list is several targets, not one mask per sample."""
    if leaf.kind != "masks" or is_array(leaf.value):
        return [leaf]
    paths = leaf.paths if leaf.gathered else [(*leaf.paths[0], i) for i in range(len(leaf.value))]
    return [Leaf("masks", (path,), value) for path, value in zip(paths, leaf.value, strict=True)]


def _is_batch(leaf: Leaf) -> bool:
    """Whether the leaf has an axis of samples, or is a list with one entry per sample.

    A list of masks belongs to one sample.
    """
    is_list_of_masks = leaf.kind == "masks" and not (is_array(leaf.value) or isinstance(leaf.value, UnstackedBatch))
    return not (leaf.gathered or is_list_of_masks or _is_of_one_sample(leaf))


def _is_of_one_sample(leaf: Leaf) -> bool:
    if leaf.kind in VALUE_KINDS:
        return True
    value = only_entry(leaf.value) if leaf.kind in KINDS_IN_LISTS or leaf.gathered else leaf.value
    max_axes = 4 if is_video(value) else _MAX_AXES.get(leaf.kind)
    return is_array(value) and (max_axes is None or value.ndim <= max_axes)
