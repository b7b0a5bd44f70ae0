"""Transforms of torchvision's ``BoundingBoxes`` and ``KeyPoints``: formats, clamping, and removal of invalid ones."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from .. import _check
from .._arrays.tv_tensors import tv_kind, without_type, wrap_like
from .._value_text import value_text
from ..typing import BoxFormat
from . import functional
from .functional.box_values import format_name
from .sample_kinds import VALUE_KINDS, is_array, named_fields
from .sample_leaves import leaves_of
from .sample_rebuild import rebuild, set_path, validity_paths, value_at
from .sample_search import Leaf
from .sample_target import Path, path_text
from .transform import Transform
from .unfused import leaf_paths

__all__ = [
    "ClampBoundingBoxes",
    "ClampKeyPoints",
    "ConvertBoundingBoxFormat",
    "SanitizeBoundingBoxes",
    "SanitizeKeyPoints",
    "SetClampingMode",
]

CLAMPING_MODES = ("soft", "hard", None)
_TV_TYPES = {"boxes": ("BoundingBoxes", "their format and canvas"), "keypoints": ("KeyPoints", "their canvas")}


class ConvertBoundingBoxFormat(Transform):
    """Convert ``BoundingBoxes`` to another format: :func:`cuaug.transforms.functional.convert_bounding_box_format`.

    Args:
        format: "XYXY", "XYWH", "CXCYWH", or of rotated boxes "XYWHR", "CXCYWHR", "XYXYXYXY", or a member of
            torchvision's ``BoundingBoxFormat``.
    """

    transformed_kinds: ClassVar[tuple[str, ...] | None] = ("boxes",)

    def __init__(self, format: BoxFormat | enum.Enum) -> None:
        self.format: Any = format_name("format", format)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return functional.convert_bounding_box_format(_checked_tv_tensor(inpt, "boxes"), new_format=self.format)


class ClampBoundingBoxes(Transform):
    """Clamp ``BoundingBoxes`` to their canvas: :func:`cuaug.transforms.functional.clamp_bounding_boxes`.

    A recipe always clips the boxes that it moves, whatever the mode.

    Args:
        clamping_mode: "soft", "hard" (of upright boxes only), or None, which does nothing; "auto": the mode of the
            boxes.
    """

    transformed_kinds: ClassVar[tuple[str, ...] | None] = ("boxes",)

    def __init__(self, clamping_mode: str | None = "auto") -> None:
        _check.one_of("clamping_mode", clamping_mode, ("auto", *CLAMPING_MODES))
        self.clamping_mode: str | None = clamping_mode

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return functional.clamp_bounding_boxes(_checked_tv_tensor(inpt, "boxes"), clamping_mode=self.clamping_mode)


class SetClampingMode(Transform):
    """Set the clamping mode of ``BoundingBoxes``, which ``cuaug.transforms.functional`` obeys.

    A recipe always clips the boxes that it moves, whatever the mode.

    Args:
        clamping_mode: "soft", "hard" or None.
    """

    transformed_kinds: ClassVar[tuple[str, ...] | None] = ("boxes",)

    def __init__(self, clamping_mode: str | None) -> None:
        _check.one_of("clamping_mode", clamping_mode, CLAMPING_MODES)
        self.clamping_mode: str | None = clamping_mode

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        boxes = _checked_tv_tensor(inpt, "boxes").clone()
        boxes.clamping_mode = self.clamping_mode
        return boxes


class ClampKeyPoints(Transform):
    """Clamp ``KeyPoints`` to their canvas: :func:`cuaug.transforms.functional.clamp_keypoints`."""

    transformed_kinds: ClassVar[tuple[str, ...] | None] = ("keypoints",)

    def __init__(self) -> None:
        pass

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return functional.clamp_keypoints(_checked_tv_tensor(inpt, "keypoints"))


class SanitizeBoundingBoxes(Transform):
    """Remove ``BoundingBoxes`` that are too small or reach beyond their canvas, and what belongs to them.

    Labels, areas and flags in the same container, with one entry per box, are removed with the boxes, and so are the
    masks of objects, an array [B, ..., H, W], and the entries of "valid". Waits for the device.
    ``Compose(..., boxes=Boxes(compact=True))`` removes boxes in batches.

    Args:
        min_size: Minimum width and height.
        min_area: Minimum area.
        labels_getter: "default": the entries above, whose labels are under "labels" (upper or lower case), else under
            the first key that contains "label"; a function of the sample: its labels, the masks and "valid"; None: only
            the masks and "valid".

    Raises:
        TypeError: Boxes are no ``BoundingBoxes``, or ``labels_getter`` returns a value that is no array.
        ValueError: The sample has no boxes, the labels are not one per box, or entries would belong to two arrays of
            boxes whose invalid boxes differ.
    """

    def __init__(
        self,
        min_size: float = 1.0,
        min_area: float = 1.0,
        labels_getter: Callable[[Any], Any] | str | None = "default",
    ) -> None:
        for name, value in (("min_size", min_size), ("min_area", min_area)):
            _check.number(name, value, 0)
        self.min_size: float = min_size
        self.min_area: float = min_area
        self.labels_getter: Any = _checked_getter(labels_getter)

    def forward(self, *inputs: Any) -> Any:
        def sanitize(boxes: Any) -> tuple[Any, Any]:
            return functional.sanitize_bounding_boxes(boxes, min_size=self.min_size, min_area=self.min_area)

        kinds = ("masks", "valid", *(VALUE_KINDS if self.labels_getter == "default" else ()))
        return _remove_invalid(inputs, "boxes", kinds, self.labels_getter, sanitize)


class SanitizeKeyPoints(Transform):
    """Remove ``KeyPoints`` outside their canvas, and their labels. Waits for the device.

    Args:
        labels_getter: None: only keypoints; "default": the labels in the same container; a function of the sample: the
            label tensors.
    """

    def __init__(self, labels_getter: Callable[[Any], Any] | str | None = None) -> None:
        self.labels_getter: Any = _checked_getter(labels_getter)

    def forward(self, *inputs: Any) -> Any:
        kinds = ("labels",) if self.labels_getter == "default" else ()
        return _remove_invalid(inputs, "keypoints", kinds, self.labels_getter, functional.sanitize_keypoints)


def _checked_getter(value: Any) -> Any:
    if value is not None and value != "default" and not callable(value):
        raise ValueError(f"labels_getter must be 'default', a function or None, got {value_text(value)}")
    return value


def _checked_tv_tensor(value: Any, kind: str) -> Any:
    if tv_kind(value) != kind:
        type_name, facts = _TV_TYPES[kind]
        raise TypeError(
            f"{kind} must be torchvision's {type_name}, which state {facts}, got {type(value).__name__}: "
            "for arrays call cuaug.transforms.functional"
        )
    return value


def _remove_invalid(
    inputs: tuple[Any, ...],
    kind: str,
    sibling_kinds: tuple[str, ...],
    labels_getter: Any,
    sanitize: Callable[[Any], tuple[Any, Any]],
) -> Any:
    """Remove the invalid boxes or keypoints, and the entries of the same container that belong to them.

    `sibling_kinds`: kinds of values of which the container has one for each box. `sanitize`: gives the valid boxes and
    a mask of them.
    """
    sample = inputs[0] if len(inputs) == 1 else inputs
    leaves, type_name = leaves_of(sample), _TV_TYPES[kind][0]
    object_paths = [path for leaf in leaves if leaf.kind == kind for path in leaf_paths(leaf)]
    if not object_paths:
        raise ValueError(f"a sample must have {type_name}, got none")
    siblings = [leaf for leaf in leaves if leaf.kind in sibling_kinds]
    label_paths = _label_paths(sample, object_paths, labels_getter)
    results: dict[Any, Any] = {}  # for [sample], because the sample may itself be a target, whose path is ()
    valid_by_path: dict[Path, Any] = {}
    for path in object_paths:
        valid_values, valid = sanitize(_checked_tv_tensor(value_at(sample, path), kind))
        set_path(results, (0, *path), valid_values)
        for label_path in label_paths[path]:
            _check_label_count(value_at(sample, label_path), len(valid), type_name, label_path)
        for entries_path in _paths_of_entries(sample, path, len(valid), siblings, label_paths[path], object_paths):
            if (valid_by_path.setdefault(entries_path, valid) != valid).any():
                raise ValueError(
                    f"entries at {path_text(entries_path)} must belong to one array of {type_name}, got several whose "
                    "invalid entries differ: put each array into a dict of its own, with its entries"
                )
    for path, valid in valid_by_path.items():
        set_path(results, (0, *path), _valid_entries(value_at(sample, path), valid))
    return rebuild([sample], results)[0]


def _paths_of_entries(
    sample: Any,
    path: Path,
    count: int,
    siblings: Sequence[Leaf],
    label_paths: Sequence[Path],
    object_paths: Sequence[Path],
) -> Iterator[Path]:
    """The paths of the values that have an entry for each of the boxes or keypoints at `path`, `count` of them."""
    paths = dict.fromkeys(label_paths, False)  # whether the values are masks
    for leaf in siblings:
        is_masks = leaf.kind == "masks"
        for p in leaf_paths(leaf) if is_masks else (*leaf_paths(leaf), *leaf.paths):  # also a list with entries per box
            if _are_siblings(p, path) and (leaf.kind != "valid" or _is_valid_of(p, path, object_paths)):
                paths[p] = is_masks
    for entries_path, is_masks in paths.items():
        if _has_entries(value_at(sample, entries_path), count, min_axes=3 if is_masks else 1):
            yield entries_path


def _label_paths(sample: Any, object_paths: Sequence[Path], labels_getter: Any) -> dict[Path, list[Path]]:
    """The paths of the labels of each array of boxes or keypoints: those of the getter, or the default ones."""
    if not callable(labels_getter):
        default = _default_label_paths if labels_getter == "default" else lambda *_: []
        return {path: default(sample, path) for path in object_paths}
    labels = labels_getter(sample)
    labels = list(labels) if isinstance(labels, (list, tuple)) else [] if labels is None else [labels]
    other = next((value for value in labels if not is_array(value)), None)
    if other is not None:
        raise TypeError(f"labels_getter must return an array, several in a tuple, or None, got {value_text(other)}")
    array_paths = list(_array_paths(sample, ()))  # a label's path is found by identity
    paths_by_objects: dict[Path, list[Path]] = {path: [] for path in object_paths}
    for value in labels:
        paths = [path for path in array_paths if value_at(sample, path) is value]
        if not paths:
            raise ValueError(f"labels_getter must return arrays of the sample, got another of shape {value.shape}")
        for path in paths:
            paths_by_objects[max(object_paths, key=lambda objects: _common_keys(objects, path))].append(path)
    return paths_by_objects


def _common_keys(one: Path, other: Path) -> int:
    """The number of keys that both paths have at the same depth."""
    return sum(key == other_key for key, other_key in zip(one, other, strict=False))


def _default_label_paths(sample: Any, path: Path) -> list[Path]:
    """The key "labels" (upper or lower case) beside the boxes or keypoints, or the first key that contains "label"."""
    depth = next((i for i in reversed(range(len(path))) if isinstance(path[i], str)), -1)
    fields = (named_fields(value_at(sample, path[:depth])) if depth >= 0 else None) or {}
    keys = [key for key in fields if isinstance(key, str) and "label" in key.lower()]
    if not keys:
        raise ValueError(
            f"labels_getter: no key that contains 'label' is beside the array at {path_text(path)}: pass a function "
            "that returns the labels, or None if there are none"
        )
    key = next((key for key in keys if key.lower() == "labels"), keys[0])
    labels, boxes = fields[key], fields[path[depth]]
    for index in path[depth + 1 :]:
        if not _has_entries(labels, len(boxes)) or (is_array(labels) and labels.ndim > 1):
            raise ValueError(
                f"labels at {path_text((*path[:depth], key))} must be a list with an entry for each of the "
                f"{len(boxes)} arrays at {path_text(path[: depth + 1])}, got {value_text(labels)}"
            )
        if is_array(labels):  # a number per image
            return []
        labels, boxes = labels[index], boxes[index]
    return [(*path[:depth], key, *path[depth + 1 :])]


def _check_label_count(labels: Any, count: int, type_name: str, path: Path) -> None:
    """Labels without entries, such as the number of an image's class, are not those of objects."""
    has_entries = isinstance(labels, (list, tuple)) or (is_array(labels) and labels.ndim)
    if has_entries and len(labels) != count:
        raise ValueError(f"labels at {path_text(path)} must be one for each of {count} {type_name}, got {len(labels)}")


def _are_siblings(one: Path, other: Path) -> bool:
    """Whether two paths differ in one key: entries of one container, or of lists with an entry per sample."""
    return len(one) == len(other) == _common_keys(one, other) + 1


def _is_valid_of(mask_path: Path, path: Path, object_paths: Sequence[Path]) -> bool:
    """Whether a sibling is the validity mask of the boxes at `path`, or that of one sample in a list."""
    end = next(i for i, keys in enumerate(zip(mask_path, path, strict=True), 1) if keys[0] != keys[1])
    return mask_path[:end] == validity_paths(other[:end] for other in object_paths)[path[:end]]


def _has_entries(values: Any, count: int, min_axes: int = 1) -> bool:
    """Whether this is a list, or an array of at least this number of axes, with `count` entries."""
    if is_array(values):
        return values.ndim >= min_axes and values.shape[0] == count
    return isinstance(values, (list, tuple)) and len(values) == count


def _valid_entries(entries: Any, valid: Any) -> Any:
    """The valid ones: an array, or a list or tuple without the type of a namedtuple, which has a fixed length."""
    if is_array(entries):
        return wrap_like(without_type(entries)[valid], entries)
    sequence = tuple if isinstance(entries, tuple) else list
    return sequence(entry for entry, is_valid in zip(entries, valid.tolist(), strict=True) if is_valid)


def _array_paths(node: Any, path: Path) -> Iterator[Path]:
    """The path of every array in nested containers."""
    if is_array(node):
        yield path
    elif isinstance(node, Mapping):
        for key, value in node.items():
            yield from _array_paths(value, (*path, key))
    elif isinstance(node, (list, tuple)):
        for i, value in enumerate(node):
            yield from _array_paths(value, (*path, i))
