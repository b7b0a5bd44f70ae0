"""`Compose`: a list of transforms as one recipe, run with few kernels and drawn anew for each sample at each call."""

from __future__ import annotations

import functools
import secrets
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .. import _check
from .._arrays import images as _images
from .._arrays.convert import dtype_name, host_array
from .._arrays.images import ImageBatch, describe_images
from .._check import public
from .._fusion import draw as drawing
from .._fusion import execute as run
from .._fusion import launch_plan as traced
from .._fusion import ragged
from .._fusion.plan import Plan, plan_of
from .._fusion.recipe import Recipe
from .._fusion.report import Report, report
from .._passes import ragged as _ragged
from . import params
from . import sample as _sample
from .boxes import Boxes
from .keypoints import Keypoints
from .params import Params
from .sample_structure import find, is_plain_array
from .transform import Transform, members


class Compose(Transform):
    """Transforms one after the other, each sample with draws of its own.

    A draw is a function of seed, step, sample id and place in the recipe alone: it does not depend on batch size,
    device, rank or worker. Copies of a recipe, as DataLoader workers hold them, therefore draw alike: pass ``ids``, or
    call it where the batch is used.

    Args:
        transforms: In the order in which they are done.
        seed: 0 to 2**63 - 1; default: a random one, drawn once, here.
        boxes: What the boxes of calls are.
        keypoints: What the keypoints of calls are.

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
        self.transforms = members(transforms)
        self.seed = secrets.randbits(63) if seed is None else _check.seed(seed)
        self.boxes, self.keypoints = boxes or Boxes(), keypoints or Keypoints()
        for name, kind in (("boxes", Boxes), ("keypoints", Keypoints)):
            if not isinstance(getattr(self, name), kind):
                raise TypeError(f"{name} must be {kind.__name__}(...), got {getattr(self, name)!r}")
        self._step = 0
        self.first = 0  # the place of its first transform in the recipe that it is the end of
        self._plans: dict[Any, Plan] = {}
        self._replays = drawing.Replays()
        self._arrays: set[type] = set()  # whose objects are images alone

    def __getstate__(self) -> dict[str, Any]:
        own = {name: value for name, value in super().__getstate__().items() if name != "_leads"}
        return own | {"_plans": {}, "_replays": drawing.Replays(), "_arrays": set()}

    def __repr__(self) -> str:
        entries = "".join(f"\n{textwrap.indent(repr(transform), '    ')}," for transform in self.transforms)
        entries += "\n" if entries else ""
        own = self._made_with()
        options = [f"seed={self.seed}"]
        options += [f"{name}={own[name]!r}" for name, usual in _USUAL.items() if own[name] != usual]
        return f"{type(self).__name__}([{entries}], {', '.join(options)})"

    def enter(self, recipe: Recipe) -> None:
        """Its transforms, as if they stood in the place of it."""
        for transform in self.transforms:
            transform.enter(recipe)

    @public
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
        layout: str | None = None,
    ) -> Any:
        """Draw, and change images and all that belongs to them alike.

        Args:
            images: torch, cupy, numpy or jax: [N, C, H, W] or [N, H, W, C], one image without the N, or a list of
                images. Or a sample of any structure, by the rules of docs/recipes.md; then nothing else is passed.
            masks: Labels, moved by nearest neighbour; 0 outside. [N, H, W], or with an axis of masks besides. An array
                of one axis, as in torchvision's ``cutmix(images, labels)``, is taken for labels.
            boxes: See :class:`Boxes`. [N, B, 4]; ``{"boxes": ...}`` comes back with ``"valid"``, which of them count
            keypoints: See :class:`Keypoints`. [N, ..., P, 2 or 3]
            labels: As they are, or mixed where samples are mixed. [N] or [N, classes]
            ids: Of the samples: one integer each, or that of the first; default: 0 to N - 1. [N]
            step: Which draw this is; default: the number of calls so far.
            layout: Of images, names the axes, e.g. "NHWC"; default: channels-first for torch, else channels-last.

        Returns:
            An array for images alone, a tuple in the order above of what was passed, or the sample in its structure.
        """
        if masks is None and boxes is None and keypoints is None and labels is None:
            if type(images) in self._arrays:
                image = describe_images(images, layout)
                plan = self._plan(image)
                draws = drawing.asked(image, ids, self.seed, self._counted(step), self._replays)
                return traced.call(plan, image, draws)
            return self._follow(images, ids, step, layout)
        if labels is None and getattr(masks, "ndim", 0) == 1:  # no mask has one axis: cutmix(images, labels)
            masks, labels = None, masks
        given = {"images": images, "masks": masks, "boxes": boxes, "keypoints": keypoints, "labels": labels}
        given = {name: value for name, value in given.items() if value is not None}
        for name in ("masks", "boxes", "keypoints"):
            if isinstance(given.get(name), (str, bytes, bool, int, float)):
                raise TypeError(f"{name} must be an array, or a list of arrays, got {type(given[name]).__name__}")
        moved = self._follow(given, ids, step, layout)
        return tuple(moved[name] for name in given)

    @public
    def draw(self, images: Any, *, ids: Any = None, step: int | None = None, layout: str | None = None) -> Params:
        """The parameters that a call with these images would draw, for :meth:`apply`; counts as a call."""
        image = describe_images(images, layout)
        return self._draw(self._plan(image), image, ids, self._counted(step))

    @public
    def apply(self, images: Any, params: Params, *, layout: str | None = None) -> Any:
        """Change images as parameters say, which were drawn for images of the same shape."""
        image = describe_images(images, layout)
        if self._plan(image) is not params.plan or image.samples != params.samples:
            raise ValueError("params must have been drawn by this Compose for images of the same shape and dtype")
        if image.device != params.device:
            raise ValueError("images must be on the device on which params were drawn")
        return traced.apply(params.plan, image, params.table)

    @public
    def inverse(
        self,
        images: Any,
        params: Params,
        *,
        interpolation: str = "bilinear",
        fill: Any = 0,
        layout: str | None = None,
    ) -> Any:
        """Move results, or what a model made of them, back to where the images' pixels were.

        Colours stay as they are, and what the result did not show becomes ``fill``.

        Args:
            images: As large as the recipe's result, with any channels and dtype; labels by "nearest".
            params: Which the recipe drew for the images.
            interpolation: "nearest", "bilinear", "bicubic" or "lanczos".
            fill: A number, or one per channel.
            layout: As in a call.
        """
        if params.plan.no_matrix:
            raise ValueError(f"images cannot be moved back by a matrix: {params.plan.no_matrix} has none")
        image = describe_images(images, layout)
        if image.samples != params.samples or image.size != params.result_size:
            raise ValueError(
                f"images must be {params.samples} of size {params.result_size}, as the recipe's result, "
                f"got {image.samples} of {image.size}"
            )
        if image.device != params.device:
            raise ValueError("images must be on the device on which params were drawn")
        return run.returned(params.plan, image, params.table, params.size, interpolation, fill)

    @public
    def params_from_dict(self, description: dict[str, Any], images: Any, *, layout: str | None = None) -> Params:
        """The parameters that ``Params.to_dict`` wrote down: with them :meth:`apply` gives the same again.

        Args:
            description: Of parameters that a recipe of the same transforms drew for images of the same shape and dtype.
            images: What they are for, which says where they go: to the images' device.
            layout: As in a call.
        """
        image = describe_images(images, layout)
        return params.restored(self._plan(image), description, image, self)

    @public
    def plan(
        self,
        images: Any = None,
        *,
        size: tuple[int, int] | None = None,
        dtype: Any = "uint8",
        channels: int = 3,
        layout: str | None = None,
    ) -> Report:
        """What a call does: its passes, what each reads and writes, and why one ends where it does. Draws nothing.

        Args:
            images: As in a call, an array or a list of them; or, without any,
            size: of images, (H, W),
            dtype: with this dtype
            channels: and so many channels.
            layout: As in a call.

        >>> from cuaug import transforms as T
        >>> T.Compose([T.CenterCrop(224), T.RandomHorizontalFlip()]).plan(size=(256, 256))
        1 pass, 2 launches, 0.35 MB a sample
        pass 1  uint8 [256, 256, 3] -> uint8 [224, 224, 3]   the images are read
                CenterCrop, RandomHorizontalFlip: one move, nearest
        """
        if images is None:
            if size is None:
                raise ValueError("images or size must be given")
            shape = (1, *_check.size("size", size), _check.whole("channels", channels, 1))
            image = _images.placeholder(shape, dtype_name(dtype))
        elif not isinstance(images, (list, tuple)):
            image = describe_images(images, layout)
        owners: dict[int, str] = {}
        if isinstance(images, (list, tuple)):
            groups = _sample.grouped(list(images), self._leads.kind, layout, len(images))
            together = max(groups, key=lambda group: len(group[0]))[1]  # the largest batch stands for all
            leading = self._leads.count(together[0]) if len(together) > 1 else 0
            plan = self._write(together[0], owners, leading)
            return report(plan, together, owners, tuple(len(places) for places, _ in groups))
        return report(self._write(image, owners), [image], owners)

    def after(self, first: int) -> Compose:
        """The recipe from a transform on, whose draws are those of the whole.

        >>> from cuaug import transforms as T
        >>> T.Compose([T.CenterCrop(8), T.RandomInvert()], seed=1).after(1)
        Compose([
            RandomInvert(p=0.5),
        ], seed=1)
        """
        rest = Compose(list(self._flat())[first:], self.seed)
        rest.first = self.first + first
        return rest

    def state_dict(self) -> dict[str, int]:
        """Where the draws stand: seed and step."""
        return {"seed": self.seed, "step": self._step}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Go on drawing where a state was taken."""
        self.seed, self._step = _check.seed(state["seed"]), _check.step(state["step"])

    def _follow(self, sample: Any, ids: Any, step: int | None, layout: str | None) -> Any:
        """A sample of any structure."""
        if is_plain_array(type(sample)):  # met for the first time
            self._arrays.add(type(sample))
            return self(sample, ids=ids, step=step, layout=layout)
        found, step = find(sample), self._counted(step)
        whole = ids is None or isinstance(ids, int)
        numbers = None if whole else host_array("ids", ids, np.int64)
        if numbers is not None and numbers.shape != (found.samples,):
            raise ValueError(f"ids must be {found.samples} integers, got shape {numbers.shape}")

        def draw(images: Sequence[ImageBatch], places: np.ndarray) -> tuple[ImageBatch, Params]:
            plan, image = self._together(images)
            of: Any = ids
            if image.samples < found.samples:
                of = places + (ids or 0) if numbers is None else numbers[places]
                of = int(of[0]) if len(of) == 1 else of
            return image, self._draw(plan, image, of, step, _sample.by_matrices(found))

        return _sample.results(found, self._leads.kind, draw, layout, self.boxes, self.keypoints)

    def _counted(self, step: int | None) -> int:
        """The step of this call."""
        if step is not None:
            return _check.step(step)
        own = vars(self)  # torch's modules set attributes slowly
        step = own["_step"]
        own["_step"] = step + 1
        return step

    def _draw(self, plan: Plan, image: ImageBatch, ids: Any, step: int, whole: bool = True) -> Params:
        draws = drawing.asked(image, ids, self.seed, step, self._replays)
        return Params(plan, drawing.drawn(plan, image, draws, whole=whole), image, self)

    def _together(self, images: Sequence[ImageBatch]) -> tuple[Plan, ImageBatch]:
        """Images of one kind as one batch, and the plan for it."""
        first = images[0]
        if len(images) == 1:
            return self._plan(first), first
        leads = [lead for lead in map(self._leads.of, images) if lead is not None]
        assert len(leads) == len(images), "images without a lead are batches of one size"
        key = (first.dtype, first.channels, leads[0].kind)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans.setdefault(key, self._write(first, {}, self._leads.count(first)))
        return plan, _ragged.batch(images, np.stack([lead.numbers for lead in leads]) + plan.own)

    def _plan(self, image: ImageBatch) -> Plan:
        key = (image.dtype, image.axes.extents[1:])
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans.setdefault(key, self._write(image, {}))  # threads that meet a shape at once share one
        return plan

    def _write(self, image: ImageBatch, owners: dict[int, str], leading: int = 0) -> Plan:
        """The plan for such images. `owners`: to be filled with the name of each op's transform.

        `leading`: so many transforms have arguments for each image, whatever its size.
        """
        recipe = Recipe(image.size, image.channels, image.dtype, position=self.first - 1)
        for i, transform in enumerate(self._flat(), 1):
            known = len(recipe.ops)
            transform.enter(recipe)
            owners |= {id(op): transform.title for op in recipe.ops[known:]}
            if i == leading:
                ragged.given_to_each(recipe)
        return plan_of(recipe, image)

    @functools.cached_property
    def _leads(self) -> ragged.Leads:
        return ragged.Leads(list(self._flat()), self.first)

    def _flat(self) -> Iterator[Transform]:
        for transform in self.transforms:
            yield from transform._flat() if isinstance(transform, Compose) else [transform]


_USUAL = {"boxes": Boxes(), "keypoints": Keypoints()}
