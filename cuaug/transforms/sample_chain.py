"""`SampleChain`: one sample on its way through adjacent parts of a recipe, parsed once and rebuilt once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._arrays.tv_tensors import tv_kind
from .sample_structure import ParsedSample, parse_sample
from .sample_target import REMOVED, Target


class SampleChain:
    """The targets of a sample with the results of the parts so far, which are not yet in the sample's containers."""

    def __init__(self, sample: Any) -> None:
        self._sample: ParsedSample = parse_sample(sample)
        self._results: dict[str, Sequence[Any]] = {}
        self._size: Any = None

    @property
    def can_continue(self) -> bool:
        """Whether the next part can take the results as they are.

        It cannot in four cases: there are several samples (their sizes decide whether they stay a batch); there is a
        video (its result may lack the axis of samples); a target is not itself one value of the sample (`sample_form`
        gives None); masks were removed from a list.
        """
        form = self._sample.form
        has_removed = any(masks is REMOVED for masks in self._results.get("masks", ()))
        return self._sample.is_single and form is not None and not form.has_video and not has_removed

    @property
    def parsed(self) -> ParsedSample:
        """The sample for the next part: the targets have the results as values."""
        sample = self._sample
        if not self._results:
            return sample
        targets = map(_after_part, sample.with_results(self._results).targets)
        form = sample.form
        if form is not None and "valid" in self._results:
            form = form.with_masks_of_validity()
        return ParsedSample(sample.sample, tuple(targets), sample.samples, sample.is_single, form)

    def add(self, results: Mapping[str, Sequence[Any]], size: Any) -> None:
        """Add what a part's `transform_parsed` returned."""
        self._results |= results
        self._size = size

    def rebuild(self) -> Any:
        """A copy of the sample with the results."""
        return self._sample.rebuild(self._results, self._size)


def _after_part(target: Target) -> Target:
    """Boxes whose type states a format have the recipe's format after a part, but those of torchvision keep theirs."""
    return target if target.format is None or tv_kind(target.original) is not None else target._replace(format=None)
