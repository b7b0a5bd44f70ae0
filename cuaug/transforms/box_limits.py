"""Transforms of torchvision's ``BoundingBoxes`` and ``KeyPoints``: formats, clamping, and removal of invalid ones."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from .. import _check
from .._arrays.tv_tensors import tv_kind, without_type, wrap_like
from ..typing import BoxFormat
from . import functional
from .functional.dispatch import upright_format
from .sample_kinds import VALUE_KINDS, is_array
from .sample_parts import leaf_paths
from .sample_pillow import with_pixels
from .sample_rebuild import rebuild, set_path, value_at
from .sample_search import find_leaves
from .sample_target import Path
from .transform import Transform

__all__ = [
    "ClampBoundingBoxes",
    "ClampKeyPoints",
    "ConvertBoundingBoxFormat",
    "SanitizeBoundingBoxes",
    "SanitizeKeyPoints",
    "SetClampingMode",
]

CLAMPING_MODES = ("soft", "hard", None)


class ConvertBoundingBoxFormat(Transform):
    """Convert ``BoundingBoxes`` to another format: :func:`cuaug.transforms.functional.convert_bounding_box_format`.

    Args:
        format: "XYXY", "XYWH" or "CXCYWH", or a member of torchvision's ``BoundingBoxFormat``.
    """

    transformed_kinds: ClassVar[tuple[str, ...]] = ("boxes",)

    def __init__(self, format: BoxFormat | enum.Enum) -> None:
        self.format: Any = upright_format("format", format)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return functional.convert_bounding_box_format(_typed(inpt, "BoundingBoxes"), new_format=self.format)


class ClampBoundingBoxes(Transform):
    """Clamp ``BoundingBoxes`` to their canvas: :func:`cuaug.transforms.functional.clamp_bounding_boxes`.

    A recipe clips the boxes that it moves in any case.

    Args:
        clamping_mode: "soft", "hard", or None, which does nothing; "auto": the mode of the boxes.
    """

    transformed_kinds: ClassVar[tuple[str, ...]] = ("boxes",)

    def __init__(self, clamping_mode: str | None = "auto") -> None:
        _check.one_of("clamping_mode", clamping_mode, ("auto", *CLAMPING_MODES))
        self.clamping_mode: str | None = clamping_mode

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return functional.clamp_bounding_boxes(_typed(inpt, "BoundingBoxes"), clamping_mode=self.clamping_mode)


class SetClampingMode(Transform):
    """Set the clamping mode of ``BoundingBoxes``, which ``cuaug.transforms.functional`` obeys.

    A recipe clips the boxes that it moves in every mode.

    Args:
        clamping_mode: "soft", "hard" or None.
    """

    transformed_kinds: ClassVar[tuple[str, ...]] = ("boxes",)

    def __init__(self, clamping_mode: str | None) -> None:
        _check.one_of("clamping_mode", clamping_mode, CLAMPING_MODES)
        self.clamping_mode: str | None = clamping_mode

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        boxes = _typed(inpt, "BoundingBoxes").clone()
        boxes.clamping_mode = self.clamping_mode
        return boxes


class ClampKeyPoints(Transform):
    """Clamp ``KeyPoints`` to their canvas: :func:`cuaug.transforms.functional.clamp_keypoints`."""

    transformed_kinds: ClassVar[tuple[str, ...]] = ("keypoints",)

    def __init__(self) -> None:
        pass

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return functional.clamp_keypoints(_typed(inpt, "KeyPoints"))


class SanitizeBoundingBoxes(Transform):
    """Remove ``BoundingBoxes`` that are too small or reach beyond their canvas, and what belongs to them.

    Labels, areas and flags in the same container, with one entry per box, are removed with the boxes, and so are the
    masks of objects and the entries of "valid". Waits for the device. ``Compose(..., boxes=Boxes(compact=True))``
    removes boxes in batches.

    Args:
        min_size: Minimum width and height.
        min_area: Minimum area.
        labels_getter: "default": the entries above; a function of the sample: the label tensors; None: only boxes and
            masks.
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
        return _sanitized(inputs, "boxes", "BoundingBoxes", kinds, self.labels_getter, sanitize)


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
        return _sanitized(inputs, "keypoints", "KeyPoints", kinds, self.labels_getter, functional.sanitize_keypoints)


def _checked_getter(value: Any) -> Any:
    if value is not None and value != "default" and not callable(value):
        raise ValueError(f"labels_getter must be 'default', a function or None, got {value!r}")
    return value


def _typed(value: Any, type_name: str) -> Any:
    """The value, if it is a tv_tensor: an array states no format and no canvas."""
    if tv_kind(value) is None:
        raise TypeError(
            f"an array must be one of torchvision's {type_name}, which states its canvas, got {type(value).__name__}: "
            "call the function of cuaug.transforms.functional"
        )
    return value


def _sanitized(
    inputs: tuple[Any, ...],
    kind: str,
    type_name: str,
    kinds: tuple[str, ...],
    labels_getter: Any,
    sanitize: Callable[[Any], tuple[Any, Any]],
) -> Any:
    """The sample with the valid boxes or keypoints, and with the entries beside them that belong to them.

    `kinds`: of these entries. `sanitize`: gives the valid ones and a mask of them.
    """
    sample = inputs[0] if len(inputs) == 1 else inputs
    leaves = find_leaves(with_pixels(sample))
    places = [(leaf.kind, path) for leaf in leaves for path in leaf_paths(leaf)]
    labels = labels_getter(sample) if callable(labels_getter) else ()
    labels = [labels] if is_array(labels) else list(labels or ())
    results: dict[Any, Any] = {}
    for path in [path for place_kind, path in places if place_kind == kind]:
        values = _typed(value_at(sample, path), type_name)
        valid_values, valid = sanitize(values)
        set_path(results, (0, *path), valid_values)
        beside = [other for other_kind, other in places if other_kind in kinds and other[:-1] == path[:-1]]
        beside += [other for other in _array_paths(sample, ()) if any(value_at(sample, other) is x for x in labels)]
        for other in beside:
            set_path(results, (0, *other), _valid_entries(value_at(sample, other), valid))
    return rebuild([sample], results)[0]


def _valid_entries(entries: Any, valid: Any) -> Any:
    """The valid ones, if there is an entry for each object."""
    if isinstance(entries, (list, tuple)) and len(entries) == len(valid):
        return type(entries)(entry for entry, is_valid in zip(entries, valid.tolist(), strict=True) if is_valid)
    if is_array(entries) and entries.ndim and entries.shape[0] == len(valid):
        return wrap_like(without_type(entries)[valid], entries)
    return entries


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
