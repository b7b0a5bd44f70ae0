"""The parts of a recipe: adjacent fused transforms, and between them transforms and choices that are not fused."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from .._check import prefix_message
from .._fusion.host_draws import HostDraws
from . import assigned_attributes
from .boxes import Boxes
from .choices import Branch, Choice
from .functions import SampleFunction
from .fused_part import FusedPart, GetKey, Key
from .keypoints import Keypoints
from .pad_batch import PadBatch, PadPart
from .sample import id_array
from .sample_chain import SampleChain
from .sample_methods import forward_arguments, takes_only_first
from .sample_rebuild import with_containers_of, with_plain_containers
from .sample_structure import parse_sample, with_all_valid
from .sample_subset import samples_at, unstacked, with_samples
from .several_sizes import SizeTransform
from .size_part import SizePart
from .transform import Transform
from .unfused import mark_crops, mark_unstacked


class ChoicePart:
    """A choice of transforms that are not all fused: a branch is called with the samples that drew it, as one batch.

    The draws are those of a fused choice at the same position, computed on the host.
    """

    def __init__(self, choice: Choice, position: int, boxes: Boxes, keypoints: Keypoints) -> None:
        self.choice: Choice = choice
        assigned_attributes.read(choice)
        branches = list[Branch]()
        self._draws = HostDraws(lambda recipe: branches.extend(choice.branches(recipe)), choice.title, position)
        self._branches = list[tuple[int, float, Parts]]()
        position += 1
        for branch in branches:
            parts = split(branch.transforms, position, boxes, keypoints)
            self._branches.append((branch.column.index, branch.value, parts))
            position += sum(transform.draw_position_count for transform in branch.transforms)
        self._identity = FusedPart((), position, boxes, keypoints)
        inner = [*self._inner_parts()]
        # Whether a branch may write "valid". Fused, choice, size and pad parts may; of unfused transforms, only a
        # user's subclass whose `forward` may call a recipe.
        self._writes_valid = any(not isinstance(part, Transform) or part.calls_recipe for part in inner)
        self._has_size_part = any(isinstance(part, SizePart) for part in inner)

    @property
    def title(self) -> str:
        return self.choice.title

    def _inner_parts(self) -> Iterator[Part]:
        """The parts of all branches, and those inside them."""
        for part in itertools.chain(*(parts for *_, parts in self._branches)):
            yield part
            if isinstance(part, ChoicePart):
                yield from part._inner_parts()

    def __call__(
        self, sample: Any, names: Sequence[str], ids: Any, step: int | None, layout: str | None, get_key: GetKey
    ) -> tuple[Any, str | None]:
        """The sample after the branches of each of its samples, and its layout. The arguments are as in `call_parts`.

        The layout is None, the default of the images' library, if all samples took a branch with a transform that sets
        the layout (`sets_layout`).
        """
        parsed = parse_sample(sample)
        if self._writes_valid and parsed.lacks_valid():
            # All samples get "valid" beside their boxes, whatever they draw.
            sample = self._identity(sample, ids, step, layout, get_key)
        count, becomes_list = parsed.samples, self._has_size_part and parsed.samples > 0 and not parsed.is_single
        sample = unstacked(sample, count) if becomes_list else sample
        sample_ids = id_array(ids, count)
        table = self._draws.table(sample_ids, *get_key(ids, step))
        for column, value, parts in self._branches:
            indices = np.flatnonzero(table[:, column] == value)
            if len(indices) == count > 0:
                sample, layout = _call_each_part(parts, sample, names, ids, step, layout, get_key)
            elif len(indices):
                chosen = samples_at(sample, count, indices.tolist())
                chosen, chosen_layout = _call_each_part(
                    parts, chosen, names, sample_ids[indices], step, layout, get_key
                )
                try:
                    if chosen_layout != layout:
                        raise ValueError(
                            f"layout must not be given if only some samples get their images converted, got {layout!r}"
                        )
                    if parse_sample(chosen).targets_of("valid"):  # a function that called a recipe has added it
                        sample = with_all_valid(sample)
                    sample = with_samples(sample, count, indices.tolist(), chosen)
                except ValueError as error:
                    prefix_message(error, self.title)
                    raise
        sample = unstacked(sample, count) if becomes_list else sample  # a list whatever was drawn
        return sample, layout


Part: TypeAlias = FusedPart | ChoicePart | SizePart | PadPart | Transform
Parts: TypeAlias = tuple[Part, ...]


def split(transforms: Sequence[Transform], first_position: int, boxes: Boxes, keypoints: Keypoints) -> Parts:
    """The parts of a recipe; one fused part if there are no transforms."""
    flattened = [inner for transform in transforms for inner in transform.flattened()]
    if all(transform.is_fused for transform in flattened):
        return (FusedPart(transforms, first_position, boxes, keypoints),)  # not flattened: for `to_dict`
    parts, position = list[Part](), first_position
    groups = [(is_fused, list(group)) for is_fused, group in itertools.groupby(flattened, lambda t: t.is_fused)]
    for i, (is_fused, adjacent) in enumerate(groups):
        if is_fused:
            parts.append(FusedPart(adjacent, position, boxes, keypoints))
        for transform in adjacent:
            if not is_fused:
                next_transforms = groups[i + 1][1] if transform is adjacent[-1] and i + 1 < len(groups) else ()
                parts.append(_unfused_part(transform, position, boxes, keypoints, next_transforms))
            position += transform.draw_position_count
    return tuple(parts)


def _unfused_part(
    transform: Transform, position: int, boxes: Boxes, keypoints: Keypoints, next_transforms: Sequence[Transform]
) -> Part:
    """The part of a transform. `next_transforms`: those of the fused part after it."""
    if not transform.needs_recipe:
        return transform
    if isinstance(transform, Choice):
        return ChoicePart(transform, position, boxes, keypoints)
    if isinstance(transform, SizeTransform):
        return SizePart(transform, position, boxes, keypoints, next_transforms)
    return PadPart(transform, boxes, keypoints) if isinstance(transform, PadBatch) else transform


def single_fused_part(parts: Parts) -> FusedPart:
    """The only part of a recipe whose transforms are all fused."""
    for part in parts:
        if not isinstance(part, FusedPart):
            raise ValueError(
                f"{part.title} is not fused with other transforms: draw, apply, params_from_dict, plan, check and show "
                "take recipes of fused transforms only"
            )
    (fused_part,) = (part for part in parts if isinstance(part, FusedPart))
    return fused_part


def call_parts(
    parts: Parts, sample: Any, names: Sequence[str], ids: Any, step: int | None, layout: str | None, get_key: GetKey
) -> Any:
    """The sample after all parts.

    `names`: of the arguments of the recipe's call; a function gets one argument per name. Without names the sample is
    one value. `get_key` returns seed and step; without a `step` it also counts the call.
    """
    keys = list[Key]()

    def get_key_once(ids: Any, step: int | None) -> Key:
        if not keys:  # the first part that draws counts the call
            keys.append(get_key(ids, step))
        return keys[0]

    sample, _ = _call_each_part(parts, sample, names, ids, step, layout, get_key_once)
    get_key_once(ids, step)  # a recipe without parts that draw counts its calls, too
    return with_plain_containers(sample) if any(_makes_containers(part) for part in parts) else sample


def _makes_containers(part: Part) -> bool:
    """Whether the part may make `Crops` or an `UnstackedBatch`."""
    if isinstance(part, Transform):
        return part.makes_crops or _may_unstack(part)
    return isinstance(part, (ChoicePart, SizePart))


def _may_unstack(transform: Transform) -> bool:
    """Whether this is a user's subclass of a transform that may make a list of a batch."""
    return transform.calls_recipe and issubclass(transform._recipe_base, (SizeTransform, Choice))


def _call_each_part(
    parts: Parts, sample: Any, names: Sequence[str], ids: Any, step: int | None, layout: str | None, get_key: GetKey
) -> tuple[Any, str | None]:
    """The sample after the parts of a recipe or of a branch, and its layout, for later parts.

    The arguments are those of `call_parts`, but `get_key` returns the same seed and step each time. After a transform
    with `sets_layout`, whose results have the default layout of their library, the layout is None. After `PadBatch` it
    is the layout of a batch.
    """
    chain: SampleChain | None = None
    remaining = iter(parts)
    for part in remaining:
        if isinstance(part, SizePart) or (
            isinstance(part, FusedPart) and (chain or isinstance(sample, (Mapping, tuple)))
        ):
            chain = chain or SampleChain(sample)
            results, size, *has_run_next = part.transform_parsed(chain.parsed, ids, step, layout, get_key)
            if any(has_run_next):  # a SizePart can run the part after it, too
                next(remaining)
            chain.add(results, size)
            if not chain.can_continue:
                sample, chain = chain.rebuild(), None
            continue
        if chain:
            sample, chain = chain.rebuild(), None
        if isinstance(part, (ChoicePart, PadPart)):
            sample, layout = part(sample, names, ids, step, layout, get_key)
        elif not isinstance(part, Transform):
            sample = part(sample, ids, step, layout, get_key)
        else:
            result = _call_transform(part, sample, names, layout)
            result = mark_unstacked(result, sample) if _may_unstack(part) else result
            sample = mark_crops(result, sample) if part.makes_crops else result
            layout = None if part.sets_layout else layout
    return chain.rebuild() if chain else sample, layout


def _call_transform(transform: Transform, sample: Any, names: Sequence[str], layout: str | None) -> Any:
    """The result of a transform that is not fused, or of a user's function, class or torch module."""
    if transform.takes_targets:
        return transform.call_forward(sample, **({"layout": layout} if layout and transform.takes_layout else {}))
    given = with_plain_containers(sample)
    call = transform if transform.has_own_call else transform.call_forward
    if names:  # as torchvision's Compose calls transforms
        arguments, named_arguments = list(given.values()), dict[str, Any]()
        if transform.calls_recipe:  # as a call of the transform itself passes them
            targets = {name: given.get(name) for name in ("masks", "boxes", "keypoints", "labels")}
            # A dict as second argument is `masks` in the signature of `forward`, but has the name "target" here.
            targets["masks"] = given.get("target", targets["masks"])
            method = transform.__call__ if transform.has_own_call else transform.forward
            arguments, named_arguments = forward_arguments(method, given["images"], targets, {})
        try:
            results = call(*arguments, **named_arguments)
        except TypeError as error:
            if isinstance(transform, SampleFunction) and takes_only_first(transform.function, arguments):
                raise TypeError(
                    f"{transform.title} takes one argument, but gets all arguments of the call, here "
                    f"{', '.join(names)}: if it draws nothing, wrap it in T.Lambda, which calls it with each of them "
                    "except labels"
                ) from error
            raise
        result: Any = dict(zip(names, _checked_results(transform.title, results, names), strict=True))
    else:
        result = call(given)
    return result if given is sample else with_containers_of(result, sample)


def _checked_results(title: str, results: Any, names: Sequence[str]) -> Sequence[Any]:
    """The results of a function that was called with several arguments."""
    if isinstance(results, (list, tuple)) and len(results) == len(names):
        return results
    kind = type(results).__name__
    got = f"a {kind} of {len(results)}" if isinstance(results, (list, tuple)) else kind
    raise TypeError(f"{title} must return a tuple of {len(names)}, as it is called with {', '.join(names)}, got {got}")
