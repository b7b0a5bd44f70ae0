"""What all transforms are: a few checked numbers that write themselves into a recipe."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
from collections.abc import Iterable
from typing import Any

from .._arrays.convert import dtype_name
from .._check import public
from .._fusion.recipe import Recipe
from . import torch_module as _module


class Transform:
    """One entry of a recipe. Called with images it is a recipe of its own: ``Compose([transform])``.

    What it is made with stands in attributes of the same names. It is a ``torch.nn.Module`` if torch had been imported
    when it was made.
    """

    def __init_subclass__(cls) -> None:
        if "__init__" in vars(cls) and cls.__module__.startswith(__package__ or "."):
            cls.__init__ = public(cls.__init__)  # type: ignore[method-assign]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return _module.instance(cls)

    def write(self, recipe: Recipe) -> None:
        """Adds its draws and ops to a recipe."""
        raise NotImplementedError

    @property
    def title(self) -> str:
        """What plans, drawn parameters and errors call it."""
        return type(self).__name__

    def enter(self, recipe: Recipe) -> None:
        recipe.begin(self.title)
        try:
            self.write(recipe)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{self.title}: {error}") from error

    def __call__(self, images: Any, *targets: Any, **options: Any) -> Any:
        from .compose import Compose

        if "_alone" not in vars(self):
            vars(self)["_alone"] = Compose([self])  # not by setattr, by which it would be a part of a torch module
        return vars(self)["_alone"](images, *targets, **options)

    def to_dict(self) -> dict[str, Any]:
        """The transform as plain numbers, strings and lists, for JSON; :func:`from_dict` makes it again."""
        return {"name": type(self).__name__, **{name: _plain(value) for name, value in self._made_with().items()}}

    def __repr__(self) -> str:
        own = (f"{name}={value!r}" for name, value in self._made_with().items())
        return f"{type(self).__name__}({', '.join(own)})"

    def __reduce__(self) -> Any:
        return _module.instance, (_module.plain(type(self)),), self.__getstate__()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_alone"}

    def _made_with(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in _parameters(_module.plain(type(self))) if name in vars(self)}


def members(transforms: Any) -> list[Transform]:
    """The transforms of a list, or of a torch ``ModuleList``."""
    if not isinstance(transforms, Iterable):
        raise TypeError(f"transforms must be a list of transforms, got {type(transforms).__name__}")
    found = list(transforms)
    for transform in found:
        if not isinstance(transform, Transform):
            raise TypeError(
                f"transforms must be those of cuaug.transforms, got {type(transform).__name__}: "
                "what is none of them is called before or after the recipe"
            )
    return found


def from_dict(description: dict[str, Any]) -> Any:
    """The transform that ``to_dict`` described.

    >>> from cuaug import transforms as T
    >>> T.from_dict({"name": "RandomHorizontalFlip", "p": 0.25})
    RandomHorizontalFlip(p=0.25)
    """
    transforms = sys.modules[__package__ or ""]
    name = str(description.get("name"))
    if name not in transforms.__all__ or not isinstance(getattr(transforms, name), type):
        raise ValueError(f"cuaug.from_dict: name must be that of a transform, got {name!r}")
    return getattr(transforms, name)(**{key: _made(value) for key, value in description.items() if key != "name"})


def _made(value: Any) -> Any:
    if isinstance(value, dict) and "name" in value:
        return from_dict(value)
    return [_made(item) for item in value] if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    if isinstance(value, Transform):
        return value.to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        own = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"name": type(value).__name__, **own}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # a number or an array of NumPy or another library
        return value.tolist()
    return value if isinstance(value, (int, float, str, bool, type(None))) else dtype_name(value)


@functools.cache
def _parameters(cls: Any) -> tuple[str, ...]:
    return tuple(inspect.signature(cls.__init__).parameters)[1:]
