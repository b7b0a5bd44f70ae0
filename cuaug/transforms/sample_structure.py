"""What in a user's sample is images, masks, boxes, keypoints and labels, and how results go back to their places."""

from __future__ import annotations

import copy
import sys
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, NamedTuple

from .. import _check
from .._arrays import convert
from .._arrays.registry import library_of

KINDS = {
    "image": "images",
    "images": "images",
    "mask": "masks",
    "masks": "masks",
    "boxes": "boxes",
    "bboxes": "boxes",
    "valid": "valid",
    "keypoints": "keypoints",
    "label": "labels",
    "labels": "labels",
}
TV_TENSORS = {
    "Image": "images",
    "Video": "images",
    "Mask": "masks",
    "BoundingBoxes": "boxes",
    "KeyPoints": "keypoints",
}
_MOST_AXES = {"images": 3, "masks": 3, "boxes": 2}  # of one sample
_Path = tuple[Any, ...]


class Target(NamedTuple):
    """Arrays of one kind that move together."""

    kind: str  # "images", "masks", "boxes", "valid", "keypoints" or "labels"
    value: Any  # one array, or a list with one per sample; plain torch tensors where tv_tensors were given
    paths: tuple[_Path, ...]  # where it was found: one place, or one per sample
    given: Any  # the value as it was found
    format: str | None = None  # what BoundingBoxes said of themselves
    layout: str | None = None  # what Videos are
    only: bool = False  # `value` has one entry more axis or list than `given`: there is one sample


class Found(NamedTuple):
    """A sample, and the targets in it."""

    sample: Any
    targets: tuple[Target, ...]
    samples: int

    def of(self, kind: str) -> list[Target]:
        return [target for target in self.targets if target.kind == kind]

    def put_back(self, results: Mapping[str, Sequence[Any]], size: Any) -> Any:
        """The sample with results in the targets' places; containers with none of them are not copied.

        Args:
            results: By kind, a value for each of `of(kind)`, in their order: one array, or N of them. Kinds that are
                absent stay. "valid" without a place of its own goes beside its boxes if those are in a dict, else
                nowhere.
            size: What canvas tv_tensors lie on: (H, W), or a list with one per sample. [N, 2]
        """
        sizes = [size] * self.samples if isinstance(size, tuple) else [(int(own[0]), int(own[1])) for own in size]
        places: dict[Any, Any] = {}
        for kind, values in results.items():
            targets = self.of(kind)
            if kind == "valid" and not targets:
                targets = [_beside(self.sample, target) for target in self.of("boxes")]
            for target, value in zip(targets, values, strict=True):
                returned = _returned(target, value, sizes) if target.paths else []
                for path, result in zip(target.paths, returned, strict=True):
                    _plant(places, (0, *path), result)
        return _rebuilt([self.sample], places)[0]


def find(sample: Any) -> Found:
    """The targets of a sample, by three rules.

    1. *By name.* In a dict or a namedtuple, at any depth: ``image``, ``images``, ``mask``, ``masks``, ``boxes``,
       ``bboxes``, ``valid``, ``keypoints``, ``label``, ``labels``. The value is an array, a list of one per sample, or
       a dict of them.
    2. *By type.* ``torchvision.tv_tensors``, anywhere.
    3. *By place.* An array is images, and so is a list of arrays of 2 or 3 axes. In a tuple or a list that begins with
       images, as a DataLoader yields, labels come second: ``(images, labels)``.

    Images of 2 or 3 axes are one sample, of more a batch. A list of dicts, or of pairs (image, label), is one per
    sample: what has the same place in each is handed over as one list. Everything else stays as it is, and what could
    be two things is a ``ValueError``. This is not torchvision's rule, by which the first pure tensor is the image,
    wherever it stands, and all others stay.
    """
    leaves = _by_place(sample)
    images = [leaf for leaf in leaves if leaf.kind == "images"]
    if not images:
        raise ValueError(
            f"images were not found in a {type(sample).__name__}: pass an array (of a PIL image np.asarray), a tuple "
            "(images, labels), tv_tensors, or a dict with the key 'image' or 'images'"
        )
    counts = {_count(leaf) for leaf in images}
    if len(counts) > 1:
        each = " and ".join(f"{_number(_count(leaf))} at {_place(leaf.paths[0])}" for leaf in images)
        raise ValueError(
            f"images must be one batch, or batches of one length, got {each}: make one call for each, "
            "or give what is not meant another key"
        )
    count = counts.pop()
    leaves = [part for leaf in leaves for part in (_one_by_one(leaf) if count is None else [leaf])]
    return Found(sample, tuple(_target(leaf, count) for leaf in leaves), 1 if count is None else count)


class _Leaf(NamedTuple):
    """What a search meets: an array or a list of them at one path, or arrays at one path per sample."""

    kind: str
    paths: tuple[_Path, ...]
    value: Any

    @property
    def gathered(self) -> bool:
        return isinstance(self.value, _Gathered)


class _Gathered(list[Any]):
    """Values from the same place in each of the samples."""


def _by_place(sample: Any) -> list[_Leaf]:
    if _is_images(sample) or _is_ragged(sample):
        return [_Leaf("images", ((),), sample)]
    if not _is_plain_sequence(sample) or not len(sample):
        return _search(sample, ())
    if _is_images(sample[0]) or _is_ragged(sample[0]):
        return _pair(sample, ())
    if all(_is_plain_sequence(one) and len(one) and _is_images(one[0]) and one[0].ndim <= 3 for one in sample):
        return _per_sample([_pair(one, (i,)) for i, one in enumerate(sample)], ())
    return _search(sample, ())


def _pair(sample: Sequence[Any], path: _Path) -> list[_Leaf]:
    """(images, labels, ...)."""
    leaves = [_Leaf("images", ((*path, 0),), sample[0])]
    axes = min(sample[0].ndim - 2, 2) if _is_array(sample[0]) else 2
    for i, value in enumerate(sample[1:], 1):
        entries = value if _is_plain_sequence(value) else [value]
        found = _search(value, (*path, i))
        if found or any(_fields(entry) is not None for entry in entries):
            leaves += found
            continue
        most = min(axes, 1) if _is_plain_sequence(value) else axes
        shape = next((tuple(entry.shape) for entry in entries if _is_array(entry) and entry.ndim > most), None)
        if shape is not None:
            raise ValueError(
                f"an array of shape {shape} at {_place((*path, i))} could be masks, boxes or other images: "
                "name it, as in {'images': ..., 'masks': ...}"
            )
        if i == 1 and value is not None:
            leaves.append(_Leaf("labels", ((*path, i),), value))
    return leaves


def _search(node: Any, path: _Path, kind: str | None = None) -> list[_Leaf]:
    """What has a name or a type; `kind` says what the name of the node itself is."""
    typed = _typed(node)
    if typed is not None:
        if kind not in (None, typed):
            raise ValueError(f"{type(node).__name__} at {_place(path)} could be {kind} or {typed}: use another key")
        return [_Leaf(typed, (path,), node)]
    fields = _fields(node)
    if fields is not None:
        return _search_fields(fields, path, None if kind == "labels" else kind)
    if kind is not None and _is_array(node):
        return [_Leaf(kind, (path,), node)]
    if isinstance(node, (list, tuple)):
        return _search_sequence(node, path, kind)
    if kind == "labels" and node is not None:
        return [_Leaf(kind, (path,), node)]
    if kind is not None and not isinstance(node, (str, bytes, bool, int, float, type(None))):
        raise TypeError(f"{kind} at {_place(path)} must be an array, or a list of arrays, got {type(node).__name__}")
    return []


def _search_fields(fields: Mapping[Any, Any], path: _Path, above: str | None) -> list[_Leaf]:
    """What has no name of its own here is of the kind `above`: masks may be a dict of masks."""
    leaves: list[_Leaf] = []
    first: dict[str, Any] = {}
    for key, value in fields.items():
        kind = KINDS.get(key) if isinstance(key, str) else None
        found = _search(value, (*path, key), kind or above)
        if found and kind is not None and first.setdefault(kind, key) != key:
            raise ValueError(f"{kind} are both {_place((*path, first[kind]))} and {_place((*path, key))}: rename one")
        leaves += found
    return leaves


def _search_sequence(node: Sequence[Any], path: _Path, kind: str | None) -> list[_Leaf]:
    types = {_typed(entry) for entry in node}
    if len(types) == 1 and None not in types and kind in (None, *types):
        return [_Leaf(typed, (path,), node) for typed in types if typed]
    records = [_fields(entry) is not None for entry in node]
    if any(records):
        found = [_search(entry, (*path, i), kind) for i, entry in enumerate(node)]
        return _per_sample(found, path) if all(records) else _chained(found)
    if kind == "labels" or (kind is not None and all(_is_array(entry) for entry in node)):
        return [_Leaf(kind, (path,), node)]
    if kind is not None:
        odd = next(entry for entry in node if not _is_array(entry))
        raise TypeError(
            f"{kind} at {_place(path)} must be an array, or a list of arrays, got a list of {type(odd).__name__}"
        )
    return _chained([_search(entry, (*path, i)) for i, entry in enumerate(node)])


def _chained(found: list[list[_Leaf]]) -> list[_Leaf]:
    return [leaf for own in found for leaf in own]


def _per_sample(found: list[list[_Leaf]], path: _Path) -> list[_Leaf]:
    """What was found in each entry of a sequence at `path`: one leaf for all, if each entry is one sample."""
    leaves = _chained(found)
    if not all(_is_of_one_sample(leaf) for leaf in leaves):
        return leaves
    places = [[(leaf.kind, leaf.paths[0][len(path) + 1 :]) for leaf in own] for own in found]
    odd = next((i for i, own in enumerate(places) if own != places[0]), None)
    if odd is not None:
        names = [", ".join(_place(place) for _, place in places[i]) or "nothing" for i in (0, odd)]
        raise ValueError(
            f"samples must have the same targets, got {names[0]} in sample 0 and {names[1]} in sample {odd}: "
            "give empty arrays where there are none"
        )
    return [
        _Leaf(same[0].kind, tuple(leaf.paths[0] for leaf in same), _Gathered(leaf.value for leaf in same))
        for same in zip(*found, strict=True)
    ]


def _is_of_one_sample(leaf: _Leaf) -> bool:
    if leaf.kind not in _MOST_AXES:
        return not leaf.gathered
    return _is_array(leaf.value) and leaf.value.ndim <= _MOST_AXES[leaf.kind]


def is_plain_array(kind: type) -> bool:
    """Whether this is the type of an array, and not one of a tv_tensor."""
    return library_of(kind) is not None and _kind(kind) is None


def _typed(node: Any) -> str | None:
    """The kind of a tv_tensor."""
    return _kind(type(node))


def _kind(own: type) -> str | None:
    """Who has a tv_tensor has imported torchvision."""
    tv_tensors = sys.modules.get("torchvision.tv_tensors")
    if tv_tensors is None:
        return None
    for name, kind in TV_TENSORS.items():
        known = getattr(tv_tensors, name, None)  # KeyPoints came later than the others
        if known is not None and issubclass(own, known):
            return kind
    return None


def _is_video(node: Any) -> bool:
    return _typed(node) == "images" and isinstance(node, sys.modules["torchvision.tv_tensors"].Video)


def _is_array(node: Any) -> bool:
    return library_of(type(node)) is not None


def _is_images(node: Any) -> bool:
    return _is_array(node) and node.ndim >= 2 and _typed(node) in (None, "images")


def _is_ragged(node: Any) -> bool:
    """A list of single images: arrays of 2 or 3 axes and one dtype. A batch and its labels are none."""
    if not _is_plain_sequence(node) or not all(_is_images(entry) for entry in node):
        return False
    return len({(entry.ndim, entry.dtype) for entry in node}) == 1 and node[0].ndim <= 3


def _is_plain_sequence(node: Any) -> bool:
    return isinstance(node, (list, tuple)) and _fields(node) is None


def _fields(node: Any) -> Mapping[Any, Any] | None:
    """Of a dict, or of a namedtuple that has a name of ours among its fields."""
    if isinstance(node, Mapping):
        return node
    names = getattr(node, "_fields", ()) if isinstance(node, tuple) else ()
    return dict(zip(names, node, strict=True)) if any(name in KINDS for name in names) else None


def _place(path: _Path) -> str:
    return "".join(f"[{key!r}]" for key in path) or "the top"


def _count(leaf: _Leaf) -> int | None:
    """How many samples there are; None for one that has no axis of samples."""
    if not _is_array(leaf.value):
        return len(leaf.value)
    axes_of_one = 4 if _is_video(leaf.value) else 3
    return int(leaf.value.shape[0]) if leaf.value.ndim > axes_of_one else None


def _number(count: int | None) -> str:
    return "a single one" if count is None else str(count)


def _one_by_one(leaf: _Leaf) -> list[_Leaf]:
    """For one image, a list of masks is several targets, not one per sample."""
    if leaf.kind != "masks" or _is_array(leaf.value):
        return [leaf]
    paths = leaf.paths if leaf.gathered else [(*leaf.paths[0], i) for i in range(len(leaf.value))]
    return [_Leaf("masks", (path,), value) for path, value in zip(paths, leaf.value, strict=True)]


def _target(leaf: _Leaf, count: int | None) -> Target:
    kind, value, listed = leaf.kind, _plain(leaf.value), isinstance(leaf.value, (list, tuple))
    layout = "NTCHW" if _is_video(leaf.value) else None
    if kind == "images" and listed and any(one.ndim > 3 for one in value):
        raise ValueError(f"images at {_place(leaf.paths[0])} must be single ones where they are in a list, not batches")
    only = count is None and not leaf.gathered
    only = only and (
        kind == "labels" or (not listed and (layout is not None or kind in ("boxes", "valid", "keypoints")))
    )
    if only:
        value = value[None] if layout else [value]
    if kind not in ("images", "labels") and (count is not None or isinstance(value, list)):
        entries = len(value) if isinstance(value, list) or value.ndim else 0
        _check.one_each(f"{kind} at {_place(leaf.paths[0])}", entries, 1 if count is None else count)
    return Target(kind, value, leaf.paths, leaf.value, _format(leaf), layout, only)


def _plain(given: Any) -> Any:
    """Arrays without the types of tv_tensors, in lists."""
    if isinstance(given, (list, tuple)):
        return [_plain(entry) for entry in given]
    return given if _typed(given) is None else given.as_subclass(convert.namespace(given).Tensor)


def _format(leaf: _Leaf) -> str | None:
    """Of BoundingBoxes."""
    entries = leaf.value if isinstance(leaf.value, (list, tuple)) else [leaf.value]
    formats = {entry.format.name for entry in entries if _typed(entry) == "boxes"}
    if len(formats) > 1:
        raise ValueError(f"boxes at {_place(leaf.paths[0])} must have one format, got {', '.join(sorted(formats))}")
    return formats.pop() if formats else None


def _returned(target: Target, value: Any, sizes: list[tuple[int, int]]) -> list[Any]:
    """What goes to each of the target's paths."""
    given = target.given
    if target.only:
        return [_typed_again(value[0], given, sizes[0])]
    if isinstance(given, _Gathered):
        return [_typed_again(own, like, canvas) for own, like, canvas in zip(value, given, sizes, strict=True)]
    if isinstance(given, (list, tuple)) and isinstance(value, (list, tuple)):
        entries = [_typed_again(own, like, canvas) for own, like, canvas in zip(value, given, sizes, strict=True)]
        return [tuple(entries) if isinstance(given, tuple) else entries]
    like = given[0] if isinstance(given, (list, tuple)) and len(given) else given
    return [_typed_again(value, like, sizes[0] if sizes else (0, 0))]


def _typed_again(result: Any, like: Any, size: tuple[int, int]) -> Any:
    kind = _typed(like)
    if kind is None or not _is_array(result):
        return result
    canvas = {"canvas_size": size} if kind in ("boxes", "keypoints") else {}
    return sys.modules["torchvision.tv_tensors"].wrap(result, like=like, **canvas)


def _beside(sample: Any, boxes: Target) -> Target:
    """Places for the mask of these boxes: none unless they are in dicts."""
    given = boxes.value[0] if boxes.only else boxes.value
    given = _Gathered(given) if isinstance(boxes.given, _Gathered) else given
    paths = tuple((*path[:-1], "valid") for path in boxes.paths if isinstance(_at(sample, path[:-1]), Mapping))
    return boxes._replace(kind="valid", paths=paths, given=given)


def _at(node: Any, path: _Path) -> Any:
    for key in path:
        node = node[_index(node, key)]
    return node


def _index(node: Any, key: Any) -> Any:
    """A namedtuple's field by its position."""
    fields = getattr(node, "_fields", ())
    return fields.index(key) if key in fields and not isinstance(node, Mapping) else key


def _plant(places: dict[Any, Any], path: _Path, result: Any) -> None:
    for key in path[:-1]:
        places = places.setdefault(key, {})
    places[path[-1]] = result


def _rebuilt(node: Any, places: dict[Any, Any]) -> Any:
    """A copy of the container, of its own type, with what `places`, nested likewise, says of its entries."""
    made: Any
    if isinstance(node, Mapping):
        made = copy.copy(node) if isinstance(node, MutableMapping) else dict(node)
    else:
        made = list(node) if isinstance(node, tuple) else copy.copy(node)
    for key, place in places.items():
        index = _index(node, key)
        made[index] = _rebuilt(node[index], place) if isinstance(place, dict) else place
    if isinstance(node, tuple):
        return node._make(made) if hasattr(node, "_make") else tuple(made)
    return made
