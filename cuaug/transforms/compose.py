"""`Compose`: a list of transforms, run as one recipe in few kernels; each call draws new parameters for each sample."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from .. import _check
from .._arrays import torch_module
from .._arrays.convert import dtype_name
from .._check import prefix_errors
from .._descriptions import state_entries
from .._fusion.report import Report
from .._html import table
from ..typing import AnyArray, Array, DType, Ids, Interpolation, Layout, NumPyArray, PerChannel, PillowImage
from . import parts
from .before_after import before_and_after
from .boxes import Boxes
from .fused_part import FusedPart
from .keypoints import Keypoints
from .params import Params, apply_inverse, apply_params, describe_one_array, like_typed, params_from_dict
from .plan_report import plan_report
from .positional_targets import targets_by_position
from .process_seed import call_seed, new_seed
from .sample_check import CheckReport, check_sample
from .sample_methods import forward_arguments
from .sample_structure import call_sample, parse_sample
from .transform import Transform, typed_as
from .transform_list import is_changed, transform_list, transforms_after
from .transform_sequence import TransformSequence

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Compose"]

_DEFAULT_OPTIONS = {"boxes": Boxes(), "keypoints": Keypoints()}


class Compose(TransformSequence):
    """Transforms one after the other, each sample with draws of its own.

    A draw depends on seed, step, sample id and position in the recipe only, not on batch size, device or rank.

    Args:
        transforms: The transforms, in the order in which they run. A recipe among them counts as its transforms: its
            seed has no effect, and its ``boxes`` and ``keypoints`` must be those of this recipe, or the defaults.
        seed: 0 to 2**63 - 1; default: random, and a copy in another process draws a new one. In a worker of torch's
            ``DataLoader``, torch's seed of the worker is mixed in unless a call has ``ids`` and ``step``. In other
            processes, copies with a given seed draw the same numbers, and warn (RuntimeWarning) in calls without both.
        boxes: Format and limits of the boxes passed to calls.
        keypoints: Properties of the keypoints passed to calls.

    >>> import numpy as np
    >>> from cuaug import transforms as T
    >>> aug = T.Compose([T.RandomHorizontalFlip(p=1.0)], seed=0)
    >>> aug(np.array([[[[1], [2], [3]]]], np.uint8)).ravel()
    array([3, 2, 1], dtype=uint8)
    """

    def __init__(
        self,
        transforms: Sequence[Transform],
        seed: int | None = None,
        *,
        boxes: Boxes | None = None,
        keypoints: Keypoints | None = None,
    ) -> None:
        self.transforms: list[Transform] = transform_list(transforms)
        self._seed = new_seed(seed)
        self.boxes: Boxes = Boxes() if boxes is None else boxes
        self.keypoints: Keypoints = Keypoints() if keypoints is None else keypoints
        self._check_inner_options()
        self._step = self._first_position = 0
        self._planned_list = None

    @property
    def seed(self) -> int:
        """The recipe's own seed, before a worker's seed is mixed in. Assigning is like passing ``seed=``."""
        return call_seed(vars(self), ids=0, step=0)  # any ids and step: then the worker's seed is not mixed in

    @seed.setter
    def seed(self, seed: int) -> None:
        self._seed = new_seed(_check.seed(seed))

    @property
    def first_position(self) -> int:
        """How many transforms :meth:`after` removed from the original recipe; draws use positions in that recipe."""
        return self._first_position

    def __repr__(self) -> str:
        entries = "".join(f"\n{textwrap.indent(repr(transform), '    ')}," for transform in self.transforms)
        entries += "\n" if entries else ""
        arguments = self._init_arguments()
        options = [f"seed={self.seed}"]
        options += [
            f"{name}={arguments[name]!r}" for name, value in _DEFAULT_OPTIONS.items() if arguments[name] != value
        ]
        return f"{type(self).__name__}([{entries}], {', '.join(options)})"

    def _repr_html_(self) -> str:
        rows = [(str(number), repr(transform)) for number, transform in enumerate(self.transforms, 1)]
        return table(f"{type(self).__name__}, seed {self.seed}", ("", "transform"), rows)

    @typed_as(Transform.__call__)
    @targets_by_position
    @prefix_errors
    def __call__(
        self,
        images: Any,
        masks: Any = None,
        boxes: Any = None,
        keypoints: Any = None,
        labels: Any = None,
        *,
        ids: Any = None,
        step: int | None = None,
        layout: Layout | None = None,
    ) -> Any:
        """Draw parameters, and transform the images and their targets with them.

        Args:
            images: torch, cupy, numpy or jax: [N, C, H, W] or [N, H, W, C], one image without the N, or a list of
                images. Or a sample of any structure, by the rules of docs/targets.md; then no other target is passed.
            masks: Label masks, sampled by nearest neighbour; 0 outside. [N, H, W], or with one more axis for several
                masks per image. A second argument of one axis is labels, as in torchvision's ``cutmix(images,
                labels)``; so is one of two axes beside a batch, unless they are (H, W). A dict with the keys of
                docs/targets.md is a detection target, and a list of dicts has one for each image.
            boxes: See :class:`Boxes`. [N, B, 4]; ``{"boxes": ...}`` gains ``"valid"``, a mask of the valid boxes
            keypoints: See :class:`Keypoints`. [N, ..., P, 2 or 3]
            labels: Unchanged, except that MixUp and CutMix mix them, and ``Boxes(compact=True)`` removes those of
                invalid boxes. [N] or [N, classes]
            ids: The samples' ids, or the id of the first; default: 0 to N - 1. Draws use their lower 48 bits. [N]
            step: The number of this draw (its lower 32 bits); default: the number of earlier calls without ``step``.
            layout: E.g. "NHWC", or "HWC" for each image of a list; default: channels-first for torch, else last. After
                ToImage, PILToTensor, ToTensor and ToPILImage, which also move channels, images have the default.

        Returns:
            An array if only images are passed, else a tuple in the order above, or the sample in its structure.
        """
        if "forward" in self._sample_methods or torch_module.has_forward_hooks(self):
            targets = {"masks": masks, "boxes": boxes, "keypoints": keypoints, "labels": labels}
            options = {"ids": ids, "step": step, "layout": layout}
            arguments, named_arguments = forward_arguments(self.forward, images, targets, options)
            return torch_module.call_forward(self, *arguments, **named_arguments)
        if masks is None and boxes is None and keypoints is None and labels is None:
            return self._call(images, (), ids, step, layout)
        return self.forward(images, masks, boxes, keypoints, labels, ids=ids, step=step, layout=layout)

    @property
    def is_fused(self) -> bool:
        """Whether all transforms are planned together."""
        return not self.has_own_forward and all(transform.is_fused for transform in self.flattened())

    def forward(
        self, images: Any, *targets: Any, ids: Any = None, step: Any = None, layout: Any = None, **named_targets: Any
    ) -> Any:
        """The result of a call, without the hooks of a torch module."""
        sample = call_sample(images, *targets, layout=layout, **named_targets)
        if sample is images:
            return self._call(images, (), ids, step, layout)
        results = self._call(sample, tuple(sample), ids, step, layout)
        return tuple(results[name] for name in sample)

    @prefix_errors
    def draw(
        self, images: AnyArray | PillowImage, *, ids: Ids = None, step: int | None = None, layout: Layout | None = None
    ) -> Params:
        """The parameters that a call with these images would draw, for :meth:`apply`; counts as a call.

        `draw` and `apply` run the transforms only, without a ``forward`` that a subclass defines.
        """
        batch = describe_one_array(images, layout)
        return self._fused.draw(self._fused.plans.plan(batch), batch, ids, self._next_key(ids, step))

    @overload
    def apply(self, images: NumPyArray, params: Params, *, layout: Layout | None = None) -> NumPyArray: ...
    @overload
    def apply(self, images: Array, params: Params, *, layout: Layout | None = None) -> Array: ...
    @prefix_errors
    def apply(self, images: Any, params: Params, *, layout: Layout | None = None) -> Any:
        """Transform images with parameters that were drawn for images of the same shape and dtype."""
        batch = describe_one_array(images, layout)
        return like_typed(apply_params(self._fused.plans.plan(batch), batch, params), images)

    @prefix_errors
    def inverse(
        self,
        images: Array,
        params: Params,
        *,
        interpolation: Interpolation = "bilinear",
        fill: PerChannel = 0,
        layout: Layout | None = None,
    ) -> Array:
        """Move results, or a model's output for them, back to the pixels of the images.

        Colours stay as they are; pixels that the result does not show become ``fill``.

        Args:
            images: Results in the size of the recipe's result, with any channels and dtype; for labels use "nearest".
            params: The parameters that the recipe drew for the images.
            interpolation: One of the interpolations of :func:`cuaug.warp_affine`.
            fill: A number, or one per channel.
            layout: As in a call.
        """
        return apply_inverse(images, params, interpolation, fill, layout)

    @prefix_errors
    def params_from_dict(
        self, description: dict[str, Any], images: AnyArray | PillowImage, *, layout: Layout | None = None
    ) -> Params:
        """The parameters that ``Params.to_dict`` described: with them :meth:`apply` gives the same result again.

        Args:
            description: A result of ``Params.to_dict`` of the same transforms, for images of this shape and dtype.
            images: The images to apply the parameters to, on whose device they are stored.
            layout: As in a call.

        Raises:
            TypeError: The description is no dict.
            ValueError: It is of another recipe or of other images, or has a number that an op does not accept.
        """
        batch = describe_one_array(images, layout)
        return params_from_dict(self._fused.plans.plan(batch), description, batch, self._fused)

    @prefix_errors
    def plan(
        self,
        images: AnyArray | PillowImage | Sequence[AnyArray | PillowImage] | None = None,
        *,
        size: Sequence[int] | None = None,
        dtype: DType = "uint8",
        channels: int = 3,
        layout: Layout | None = None,
        measure: bool = False,
    ) -> Report:
        """The passes of a call: the input, output and reason of each; with `measure`, also the times of a call.

        `images` is an array or a list of arrays, and `layout` theirs, as in a call. Without images, `size` (H, W),
        `dtype` and `channels` describe them. Draws nothing, except that `measure` runs the recipe on the images, for
        about 0.3 s; the step stays as it is.

        >>> from cuaug import transforms as T
        >>> T.Compose([T.CenterCrop(224), T.RandomHorizontalFlip()]).plan(size=(256, 256))
        1 pass, 2 launches, 0.35 MB a sample
        pass 1  uint8 [256, 256, 3] -> uint8 [224, 224, 3]   the images are read
                CenterCrop, RandomHorizontalFlip: one move, nearest
        """
        run = functools.partial(self, step=self._step, layout=layout) if _check.boolean("measure", measure) else None
        return plan_report(self._fused_call.plans, images, size, dtype_name(dtype), channels, layout, run)

    @prefix_errors
    def check(
        self,
        images: Any,
        masks: Any = None,
        boxes: Any = None,
        keypoints: Any = None,
        labels: Any = None,
        *,
        ids: Any = None,
        step: int | None = None,
        layout: Layout | None = None,
    ) -> CheckReport:
        """Report what a call recognises in these arguments, what it does, and which values look like mistakes.

        The sentences about mistakes are ``report.warnings``. Runs the recipe, and waits for a device; the step stays as
        it is.
        """
        sample = call_sample(images, masks, boxes, keypoints, labels, layout=layout)
        plans = self._fused_call.plans
        return check_sample(self, plans, sample, step=self._step if step is None else step, ids=ids, layout=layout)

    @prefix_errors
    def show(
        self,
        images: Any,
        masks: Any = None,
        boxes: Any = None,
        keypoints: Any = None,
        labels: Any = None,
        *,
        n: int = 8,
        ids: Any = None,
        step: int | None = None,
        layout: Layout | None = None,
    ) -> Figure:
        """Draw the first `n` samples before and after a call with these arguments. Needs matplotlib.

        Boxes (the valid ones), masks and keypoints are drawn on both, labels are titles or captions of boxes. The
        recipe's last :class:`Normalize` is undone; other floats are scaled from minimum..maximum to 0..1 if they are
        not in 0..1. Runs the recipe on all samples, as they may be mixed; the step stays as it is.
        """
        sample = call_sample(images, masks, boxes, keypoints, labels, layout=layout)
        key = self._next_key(ids, self._step if step is None else step)
        transform = functools.partial(self._fused_call.transform, key=key, ids=ids, layout=layout)
        return before_and_after(self, parse_sample(sample), transform, n, layout)

    @prefix_errors
    def after(self, first: int) -> Compose:
        """The recipe without its first `first` transforms (after flattening), with the draws of the whole recipe.

        >>> from cuaug import transforms as T
        >>> T.Compose([T.CenterCrop(8), T.RandomInvert()], seed=1).after(1).transforms
        [RandomInvert(p=0.5)]
        """
        remainder = Compose(transforms_after(self, first), self.seed, boxes=self.boxes, keypoints=self.keypoints)
        remainder._seed, remainder._step = self._seed, self._step  # other processes replace a drawn seed
        remainder._first_position = self.first_position + self.draw_position_count - remainder.draw_position_count
        return remainder

    def state_dict(self) -> dict[str, int]:
        """Seed and step, which determine the next draws."""
        return {"seed": self.seed, "step": self._step}

    @prefix_errors
    def load_state_dict(self, state: dict[str, int]) -> None:
        """Continue drawing from the state; a TypeError or a ValueError if it is no result of `state_dict`."""
        seed, step = state_entries(state, "seed", "step")
        self.seed, self._step = _check.seed(seed), _check.step(step)

    def _init_arguments(self) -> dict[str, Any]:
        return super()._init_arguments() | {"seed": self.seed}  # a property, which `vars(self)` lacks

    def _call(self, sample: Any, names: Sequence[str], ids: Any, step: int | None, layout: Layout | None) -> Any:
        """A call. `names`: the keys of the sample if it is a dict of arguments from `named_sample`; else empty."""
        attributes = vars(self)  # faster than the attributes of a torch module
        if is_changed(attributes["transforms"], attributes["_planned_list"]) or attributes["_inner_lists"]:
            self._split_if_changed()
        first = self._parts[0]
        if len(self._parts) == 1 and isinstance(first, FusedPart):
            return first(sample, ids, step, layout, self._next_key)  # as `call_parts`, in less time
        return parts.call_parts(self._parts, sample, names, ids, step, layout, self._next_key)

    def _next_key(self, ids: Any, step: int | None) -> tuple[int, int]:
        """Seed and step of a call with these `ids` and `step`. A call without `step` increments the recipe's step."""
        attributes = vars(self)  # setattr of a torch module is slow
        seed = call_seed(attributes, ids, step)
        if step is not None:
            return seed, _check.step(step)
        step = attributes["_step"]
        attributes["_step"] = step + 1
        return seed, step


Transform._new_recipe = Compose
