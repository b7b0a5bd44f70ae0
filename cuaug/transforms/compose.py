"""`Compose`: a list of transforms as one recipe, run with few kernels and drawn anew for each sample at each call."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .. import _array, _check, _cuda, _images, _parameters, _pass
from .._check import BackendError, public
from .._images import Images
from .._parameters import NO_TABLE, Table
from ..fusion import run
from ..fusion.plan import Plan, plan_of
from ..fusion.recipe import Recipe
from ._transform import Transform
from .params import Params

_CAPTURES = 1024  # of one recipe, each with two numbers of its own


class Compose(Transform):
    """Transforms one after the other, each sample with draws of its own.

    A draw is a function of seed, step, sample id and place in the recipe alone: it does not depend on batch size, device,
    rank or worker.

    Args:
        transforms: In the order in which they are done.
        seed: 0 to 2**63 - 1; default: a random one.

    >>> import numpy as np
    >>> from cuaug import transforms as T
    >>> aug = T.Compose([T.RandomHorizontalFlip(p=1.0)], seed=0)
    >>> aug(np.array([[[[1], [2], [3]]]], np.uint8)).ravel()
    array([3, 2, 1], dtype=uint8)
    """

    def __init__(self, transforms: Sequence[Transform], seed: int | None = None) -> None:
        self.transforms = list(transforms)
        for transform in self.transforms:
            if not isinstance(transform, Transform):
                raise TypeError(f"transforms must be those of cuaug.transforms, got {type(transform).__name__}")
        self.seed = secrets.randbits(63) if seed is None else _check.whole("seed", seed, 0)
        if self.seed >= 1 << 63:
            raise ValueError(f"seed must be below 2**63, got {self.seed}")
        self._step = 0
        self._plans: dict[Any, Plan] = {}
        self._programs: dict[Any, Table] = {}
        self._replays: dict[Any, tuple[Any, Iterator[int]]] = {}

    def enter(self, recipe: Recipe) -> None:
        for transform in self.transforms:
            transform.enter(recipe)

    @public
    def __call__(self, images: Any, *, ids: Any = None, step: int | None = None, layout: str | None = None) -> Any:
        """Draw, and apply.

        Args:
            images: torch, cupy, numpy or jax. [N, C, H, W] or [N, H, W, C], or one image without the N
            ids: Of the samples: one integer each, or that of the first; default: 0 to N - 1. [N]
            step: Which draw this is; default: the number of calls so far.
            layout: Names the axes, e.g. "NHWC"; default: channels-first for torch, else channels-last.
        """
        image = _images.images(images, layout)
        params = self._draw(image, ids, step)
        return run.apply(params.plan, image, params.table)

    @public
    def draw(self, images: Any, *, ids: Any = None, step: int | None = None, layout: str | None = None) -> Params:
        """The parameters that a call with these images would draw, for :meth:`apply`; counts as a call."""
        return self._draw(_images.images(images, layout), ids, step)

    @public
    def apply(self, images: Any, params: Params, *, layout: str | None = None) -> Any:
        """Change images as parameters say, which were drawn for images of the same shape."""
        image = _images.images(images, layout)
        if self._plan(image) is not params.plan or image.samples != params.samples:
            raise ValueError("params must have been drawn by this Compose for images of the same shape and dtype")
        return run.apply(params.plan, image, params.table)

    def state_dict(self) -> dict[str, int]:
        """Where the draws stand: seed and step."""
        return {"seed": self.seed, "step": self._step}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.seed, self._step = int(state["seed"]), int(state["step"])

    def _draw(self, image: Images, ids: Any, step: int | None) -> Params:
        plan = self._plan(image)
        if step is None:
            step, self._step = self._step, self._step + 1
        else:
            step = _check.whole("step", step, 0)
        first, each = (ids, NO_TABLE) if isinstance(ids, int) else (0, _ids(ids, image))
        program = self._program(plan, image)
        counts = (self.seed, step, first)
        table = run.drawn(plan, image, program, counts, each, self._replay(image))
        return Params(plan, table, image)

    def _plan(self, image: Images) -> Plan:
        key = (image.dtype, image.axes.extents[1:])
        plan = self._plans.get(key)
        if plan is None:
            recipe = Recipe(image.size, image.channels, image.dtype)
            self.enter(recipe)
            plan = self._plans[key] = plan_of(recipe, image, _pass.mean_parts(image, recipe.largest))
        return plan

    def _program(self, plan: Plan, image: Images) -> Table:
        """In the memory of the images' device."""
        key = (id(plan), image.device, image.library.name)
        table = self._programs.get(key)
        if table is None:
            if image.device >= 0 and _cuda.is_capturing(image.library.stream(image.device)):
                raise BackendError("a recipe must be called once, with images like these, before it is captured")
            array = image.library.load(plan.program, image.device)
            table = self._programs[key] = Table(image.library.pointer(array), 0, 0, 1, 1, array)
            if image.device >= 0:
                _cuda.wait(image.library.stream(image.device), image.device)  # once: any stream may read it from now on
        return table

    def _replay(self, image: Images) -> int:
        """Where a graph that is being captured counts its replays: 0 outside of a capture.

        Memory of before the capture: what a graph writes zeros into, each replay would begin with.
        """
        if image.device < 0:
            return 0
        key = (image.device, image.library.name)
        if not _cuda.is_capturing(image.library.stream(image.device)):
            if key not in self._replays:
                array = image.library.load(np.zeros(2 * _CAPTURES, np.int64), image.device)
                self._replays[key] = array, itertools.count()
                _cuda.wait(image.library.stream(image.device), image.device)  # once, as for a program
            return 0
        array, captures = self._replays[key]
        capture = next(captures)
        if capture >= _CAPTURES:
            raise BackendError(f"a recipe can be captured in at most {_CAPTURES} CUDA graphs")
        return image.library.pointer(array) + 16 * capture


def _ids(ids: Any, image: Images) -> Table:
    if ids is None:
        return NO_TABLE
    if image.device < 0:
        array: Any = np.ascontiguousarray(_array.host("ids", ids, np.int64))
    else:
        array = (
            image.library.load(np.ascontiguousarray(_array.host("ids", ids, np.int64)), image.device)
            if _array.is_host(ids)
            else ids
        )
    described = _array.describe(array)
    if described.dtype != "int64" or len(described.shape) != 1 or described.shape[0] != image.samples:
        raise ValueError(
            f"ids must be {image.samples} integers (int64), got {described.dtype} of shape {tuple(described.shape)}"
        )
    return Table(described.pointer, 0, 0, 1, 0, array)
