"""Aliases of parameters: a function whose parameters have torchvision's names also accepts cuaug's own names."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def second_names(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorates a function: ``second_names(features="input")`` also accepts the argument `input` as ``features=``."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            for second, name in names.items():
                if second in kwargs:
                    if name in kwargs:
                        raise TypeError(f"{name} and {second} are names of one argument: pass one of them")
                    kwargs[name] = kwargs.pop(second)
            return function(*args, **kwargs)

        return call

    return decorate
