"""`SampleForm`: the properties of targets that all samples of one structure share."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from .._arrays.tv_tensors import tv_kind, without_type
from .._detection.box_formats import stated_format
from .sample_kinds import VALUE_KINDS, is_array, is_scalar_or_text
from .sample_leaves import index_path
from .sample_numbers import LISTED_KINDS
from .sample_rebuild import new_validity_target
from .sample_target import Path, Target

_KINDS_WITH_AXES = (*LISTED_KINDS, "masks")  # of which an array of shape (0,) gets the axes of its kind


class TargetForm(NamedTuple):
    """A target that is one array of each sample, or a value that no transform moves."""

    kind: str
    path: Path
    index_path: Path  # with positions in place of the names of a namedtuple's fields
    is_typed: bool  # a tv_tensor, or boxes whose type states their format
    layout: str | None
    sample_axis_added: bool

    def read(self, sample: Any) -> Target:
        """The target of a sample of this structure."""
        original = functools.reduce(operator.getitem, self.index_path, sample)
        value, format = original, None
        if self.is_typed:
            value, format = without_type(original), stated_format(original) if self.kind == "boxes" else None
        if self.sample_axis_added:
            value = value[None] if self.layout else [value]
        return Target(self.kind, value, (self.path,), original, format, self.layout, self.sample_axis_added)


class ValidityForm(NamedTuple):
    """Where the validity mask of boxes is: one of the targets, or the paths of a new one (`validity_target`)."""

    position: int | None
    paths: tuple[Path, ...]


class SampleForm(NamedTuple):
    """The targets of a structure."""

    targets: tuple[TargetForm, ...]
    counted: tuple[int, ...]  # positions of the targets with an entry for each sample; () for a single sample
    validity: tuple[ValidityForm, ...]  # of each target of boxes
    has_video: bool

    def read(self, sample: Any) -> tuple[tuple[Target, ...], int | None] | None:
        """The targets and the number of samples (None: a single one).

        None if targets have different numbers of entries, which `parse_sample` refuses.
        """
        targets = tuple([form.read(sample) for form in self.targets])
        if not self.counted:
            return targets, None
        counts = {int(targets[position].value.shape[0]) for position in self.counted}
        return (targets, counts.pop()) if len(counts) == 1 else None

    def with_masks_of_validity(self) -> SampleForm:
        """The form after each missing validity mask was appended to the targets. Only `validity` changes."""
        new_positions = itertools.count(len(self.targets))
        return self._replace(
            validity=tuple(
                form._replace(position=next(new_positions)) if form.position is None else form for form in self.validity
            )
        )

    def validity_targets(self, targets: tuple[Target, ...]) -> list[Target]:
        """As `ParsedSample.validity_targets`."""
        boxes = [target for target in targets if target.kind == "boxes"]
        return [
            targets[form.position] if form.position is not None else new_validity_target(target, form.paths)
            for target, form in zip(boxes, self.validity, strict=True)
        ]


def sample_form(
    sample: Any, targets: tuple[Target, ...], is_single: bool, validity_targets: Callable[[], list[Target]]
) -> SampleForm | None:
    """The form of the structure of a sample with these targets.

    None if a target is not itself one value of the sample: if it is a list, is gathered from several values, or was
    made from numbers or an image of Pillow.
    """
    forms = []
    for target in targets:
        original, is_value = target.original, target.kind in VALUE_KINDS
        if len(target.paths) != 1 or not (is_array(original) or (is_value and is_scalar_or_text(original))):
            return None
        path = index_path(sample, target.paths[0])
        form = TargetForm(
            target.kind,
            target.paths[0],
            path,
            tv_kind(original) is not None or target.format is not None,
            target.layout,
            target.sample_axis_added,
        )
        # Images of Pillow were replaced by their pixels. An array of one axis may have shape (0,) in another sample: it
        # is then replaced by one with the axes of its kind. An array without axes cannot be counted.
        is_in_sample = functools.reduce(operator.getitem, path, sample) is original
        min_axes = 0 if is_value else 2 if target.kind in _KINDS_WITH_AXES else 1
        if not is_in_sample or (min_axes and original.ndim < min_axes):
            return None
        forms.append(form)
    counted = [i for i, target in enumerate(targets) if target.kind not in VALUE_KINDS]
    validity = []
    for mask in validity_targets():
        position = next((i for i, target in enumerate(targets) if target is mask), None)
        validity.append(ValidityForm(position, mask.paths))
    has_video = any(target.layout is not None for target in targets)
    return SampleForm(tuple(forms), () if is_single else tuple(counted), tuple(validity), has_video)
