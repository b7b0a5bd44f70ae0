"""Transforms that are not fused: each target of a sample is given to the transform by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from .sample_kinds import is_plain_sequence
from .sample_pillow import with_pixels
from .sample_rebuild import rebuild, set_path, value_at
from .sample_search import Leaf, find_leaves
from .sample_target import Path, path_text


class TargetTransform(Protocol):
    """The part of `Transform` that `call_on_targets` uses.

    `check_inputs`, `make_params` and `transform` have torchvision's names, and are called in this order.
    """

    @property
    def transformed_kinds(self) -> Sequence[str]: ...
    @property
    def refused_kinds(self) -> Sequence[str]: ...
    def check_inputs(self, flat_inputs: list[Any]) -> None: ...
    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]: ...
    def transform(self, inpt: Any, params: dict[str, Any]) -> Any: ...


def call_on_targets(transform: TargetTransform, sample: Any) -> Any:
    """The sample with the transform's results in place of its targets of the kinds `transformed_kinds`."""
    # Images of Pillow are found as arrays, but the transform gets the images themselves.
    leaves = find_leaves(with_pixels(sample))
    for leaf in leaves:
        if leaf.kind in transform.refused_kinds:
            raise TypeError(f"{leaf.kind} must not be given, got some at {path_text(leaf.paths[0])}")
    leaves = [leaf for leaf in leaves if leaf.kind in transform.transformed_kinds]
    paths = [path for leaf in leaves for path in leaf_paths(leaf)]
    inputs = [value_at(sample, path) for path in paths]
    transform.check_inputs(inputs)
    params = transform.make_params(inputs)
    results: dict[Any, Any] = {}  # for [sample], because the sample may itself be a target, whose path is ()
    for path, value in zip(paths, inputs, strict=True):
        set_path(results, (0, *path), transform.transform(value, params))
    return rebuild([sample], results)[0]


def leaf_paths(leaf: Leaf) -> Iterator[Path]:
    """The path of each array of a leaf."""
    for path in leaf.paths:
        if is_plain_sequence(leaf.value) and not leaf.gathered:
            yield from ((*path, i) for i in range(len(leaf.value)))
        else:
            yield path
