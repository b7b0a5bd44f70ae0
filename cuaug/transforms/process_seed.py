"""The seed of a recipe in each process that holds a copy of the recipe, so that the copies draw different numbers."""

from __future__ import annotations

import functools
import inspect
import os
import secrets
import sys
import warnings
from typing import Any, NamedTuple

import numpy as np

from .. import _check

_process = secrets.randbits(64)  # identifies this process; unlike a PID, never used by an earlier process
_warnings: set[str] = set()  # given in this process

_EQUAL_DRAWS = (
    "cuaug.transforms.Compose: a recipe with a given seed is called in another process than the one that made it, and "
    "draws the same numbers in every such process: pass ids= (numbers of the samples) or step= to the call, assign "
    "another seed in each process (recipe.seed = ...), or make the recipe without seed="
)
_NO_STEP = (
    "cuaug.transforms.Compose: a recipe is called with ids= but without step= in a worker process of a DataLoader: the "
    "draws depend on the worker, and not on ids, seed and epoch alone: pass step=epoch, or leave ids out"
)


class RecipeSeed(NamedTuple):
    """The seed of a recipe, and where the seed comes from."""

    value: int
    is_given: bool  # by the user; else drawn
    process: int  # in which the seed was given or drawn


def new_seed(value: int | None) -> RecipeSeed:
    """The given seed; None: a drawn one."""
    is_given = value is not None
    return RecipeSeed(_check.seed(value) if is_given else secrets.randbits(63), is_given, _process)


def call_seed(attributes: dict[str, Any], ids: Any, step: Any) -> int:
    """The seed of a call of the recipe with these attributes: "_seed" is replaced if it must be drawn anew.

    In a DataLoader worker, torch's seed of the worker enters the result, unless `ids` and `step` are given: without
    `step`, the calls of a copy that torch makes anew for every epoch are counted from 0 in each epoch. In any other
    process than the one where the recipe was made, a seed that was not given is drawn anew.
    """
    seed: RecipeSeed = attributes["_seed"]
    # Every call asks: a process may call recipes before torch makes it a worker. torch is not imported here, and a
    # module that another thread is importing may not have the function yet.
    worker = getattr(sys.modules.get("torch.utils.data"), "get_worker_info", _no_worker)()
    if worker is not None:
        if ids is not None and step is not None:
            return seed.value
        if ids is not None:
            _warn_once(_NO_STEP)
        return _worker_seed(seed.value, worker.seed)
    if seed.process != _process:
        if not seed.is_given:
            seed = attributes["_seed"] = new_seed(None)
        elif ids is None and step is None:
            _warn_once(_EQUAL_DRAWS)
    return seed.value


def _no_worker() -> None:
    return None


@functools.lru_cache(256)
def _worker_seed(seed: int, worker_seed: int) -> int:
    """A function of both that mixes their bits: the seeds of an epoch's workers are consecutive numbers."""
    state = np.random.SeedSequence(seed, spawn_key=(worker_seed,)).generate_state(1, np.uint64)
    return int(state[0]) >> 1


def _warn_once(message: str) -> None:
    if message not in _warnings:
        _warnings.add(message)
        frame, level, package = inspect.currentframe(), 1, __name__.partition(".")[0]
        while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
            frame, level = frame.f_back, level + 1
        warnings.warn(message, RuntimeWarning, stacklevel=level)  # the line that calls the recipe


def _enter_forked_child() -> None:
    global _process
    _process = secrets.randbits(64)
    _warnings.clear()


os.register_at_fork(after_in_child=_enter_forked_child)
