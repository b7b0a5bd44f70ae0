"""Transforms that are not fused: each target of a sample is given to the transform by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from .. import _check
from .._arrays import convert
from .._arrays.pillow_library import PILLOW
from .._arrays.registry import library_of
from .._arrays.tv_tensors import is_video, tv_kind, without_type, wrap_like
from .sample_kinds import is_array, is_plain_sequence
from .sample_leaves import leaves_of
from .sample_rebuild import rebuild, set_path, value_at
from .sample_search import Leaf
from .sample_target import Crops, Path, UnstackedBatch, image_layout, path_text


class TargetTransform(Protocol):
    """The part of `Transform` that `call_on_targets` uses.

    `check_inputs`, `make_params` and `transform` have torchvision's names, and are called in this order.
    """

    @property
    def transformed_kinds(self) -> Sequence[str] | None: ...
    @property
    def refused_kinds(self) -> Sequence[str]: ...
    @property
    def reads_layout(self) -> bool: ...
    @property
    def sets_layout(self) -> bool: ...
    def check_inputs(self, flat_inputs: list[Any]) -> None: ...
    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]: ...
    def transform(self, inpt: Any, params: dict[str, Any]) -> Any: ...


def call_on_targets(transform: TargetTransform, sample: Any, layout: str | None = None) -> Any:
    """The sample with the transform's results in place of its targets of the kinds `transformed_kinds`.

    `layout`: of the images; None: the layout of their library.
    """
    if layout is not None:
        _check.one_of("layout", layout, _check.LAYOUTS)
    # Images of Pillow are found as arrays, but the transform gets the images themselves.
    leaves = leaves_of(sample, any_mode=not transform.reads_layout)
    for leaf in leaves:
        if leaf.kind in transform.refused_kinds:
            raise TypeError(f"{leaf.kind} must not be given, got some at {path_text(leaf.paths[0])}")
    targets = [
        (leaf.kind, path, image_layout(leaf.value, layout))
        for leaf in leaves
        for path in leaf_paths(leaf)
        if _is_transformed(leaf.kind, value_at(sample, path), transform.transformed_kinds)
    ]
    inputs = [value_at(sample, path) for _, path, _ in targets]
    transform.check_inputs(inputs)
    params = transform.make_params(inputs)
    # Paths are in the list [sample] and begin with 0: a sample that is itself a target has the path (), with no key.
    results: dict[Any, Any] = {}
    for (kind, path, value_layout), value in zip(targets, inputs, strict=True):
        if transform.reads_layout:
            params = {**params, "layout": _layout_of(kind, value, value_layout)}
        elif transform.sets_layout:
            params = {**params, "kind": kind}
            if layout is not None:
                value = _in_library_layout(value, _layout_of(kind, value, value_layout))
        set_path(results, (0, *path), transform.transform(value, params))
    return rebuild([sample], results)[0]


def mark_crops(result: Any, sample: Any) -> Any:
    """The result of a transform with `Crops` in place of the tuples that it made of the images of the sample."""
    crops: dict[Any, Any] = {}
    for leaf in leaves_of(sample):
        for path in leaf_paths(leaf) if leaf.kind == "images" else ():
            try:
                value = value_at([result], (0, *path))
            except (KeyError, IndexError, TypeError):  # a user's subclass may return another structure
                continue
            if type(value) is tuple:
                set_path(crops, (0, *path), Crops(value))
    return rebuild([result], crops)[0]


def mark_unstacked(result: Any, sample: Any) -> Any:
    """The result of a transform with `UnstackedBatch` in place of the lists that it made of batches of the sample."""
    lists: dict[Any, Any] = {}
    for leaf in leaves_of(sample):
        if leaf.kind not in ("images", "masks") or not is_array(leaf.value):
            continue
        try:
            value = value_at([result], (0, *leaf.paths[0]))
        except (KeyError, IndexError, TypeError):  # a user's subclass may return another structure
            continue
        if type(value) is list and [getattr(entry, "ndim", 0) for entry in value] == [leaf.value.ndim - 1] * len(
            leaf.value
        ):
            set_path(lists, (0, *leaf.paths[0]), UnstackedBatch(value))
    return rebuild([result], lists)[0]


def _is_transformed(kind: str, value: Any, kinds: Sequence[str] | None) -> bool:
    """Whether a target is given to `transform`. `kinds`: as `Transform.transformed_kinds`."""
    if kinds is not None:
        return kind in kinds
    if kind == "labels":
        return False
    return kind == "images" or tv_kind(value) is not None or library_of(type(value)) is PILLOW


def _layout_of(kind: str, value: Any, layout: str | None) -> str | None:
    """`layout` for images; None for other targets and for a Video, whose type states its layout."""
    return layout if kind == "images" and not is_video(value) else None


def _in_library_layout(images: Any, layout: str | None) -> Any:
    """The images with their channels where their library has them. Images of Pillow stay as they are."""
    library = library_of(type(images))
    if library is None or library is PILLOW or layout is None:
        return images
    if images.ndim != len(layout):
        raise ValueError(f"layout {layout!r} needs {len(layout)} axes, got shape {tuple(images.shape)}")
    if "C" not in layout:
        return images
    values = without_type(images)
    axis = -3 if library.channels_first else -1
    return wrap_like(convert.namespace(values).moveaxis(values, layout.index("C"), axis), images)


def leaf_paths(leaf: Leaf) -> Iterator[Path]:
    """The path of each array of a leaf."""
    for path in leaf.paths:
        if is_plain_sequence(leaf.value) and not leaf.gathered:
            yield from ((*path, i) for i in range(len(leaf.value)))
        else:
            yield path
