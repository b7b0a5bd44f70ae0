"""Functions of a user in a recipe."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from .._value_text import value_text
from .transform import Transform

__all__ = ["Lambda"]

_NO_FUNCTIONS = "a description cannot restore one; pickle keeps functions that a module defines"


class SampleFunction(Transform, has_description=False):
    """A function or another callable in a recipe, called as torchvision's ``Compose`` calls its entries.

    It gets the sample, or the arguments of the call one by one, and returns as many.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function: Callable[..., Any] = function

    @property
    def title(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs)

    def to_dict(self) -> dict[str, Any]:
        raise TypeError(
            f"cuaug.transforms.Compose.to_dict: transforms must not be functions, got {self.title}: {_NO_FUNCTIONS}"
        )

    def __repr__(self) -> str:
        return repr(self.function)


class Lambda(Transform):
    """Calls a function with each image, mask, boxes and keypoints of a sample. A batch is passed whole, in one call.

    A function that takes a whole sample needs no `Lambda`: ``Compose`` calls functions with the sample.

    Args:
        lambd: The function.
        *types: Types of the values to call it with; default: all.

    >>> import numpy as np
    >>> from cuaug import transforms as T
    >>> T.Lambda(lambda image: image[:1])(np.array([[[1], [2]], [[3], [4]]], np.uint8)).ravel()
    array([1, 2], dtype=uint8)
    """

    transformed_kinds: ClassVar[tuple[str, ...] | None] = ("images", "masks", "boxes", "keypoints")

    def __init__(self, lambd: Callable[[Any], Any], *types: type) -> None:
        if not callable(lambd):
            raise TypeError(f"lambd must be a function, got {value_text(lambd)}")
        self.lambd: Callable[[Any], Any] = lambd
        for entry in types:
            if not _is_type(entry):
                raise TypeError(f"types must be types, got {value_text(entry)}")
        self.types: tuple[type, ...] = types or (object,)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self.lambd(inpt) if isinstance(inpt, self.types) else inpt

    def __repr__(self) -> str:
        if type(self).__init__ is not Lambda.__init__:  # a subclass with other parameters
            return super().__repr__()
        types = () if self.types == (object,) else self.types
        return f"{type(self).__name__}({', '.join([repr(self.lambd), *map(_type_text, types)])})"

    def to_dict(self) -> dict[str, Any]:
        raise TypeError(f"cuaug.transforms.Lambda.to_dict: lambd is a function: {_NO_FUNCTIONS}")


def _is_type(value: Any) -> bool:
    """Whether `isinstance` takes the value: classes, and unions such as ``int | str``."""
    try:
        isinstance(None, value)
    except TypeError:
        return False
    return True


def _type_text(value: Any) -> str:
    if not isinstance(value, type):
        return repr(value)
    return value.__qualname__ if value.__module__ == "builtins" else f"{value.__module__}.{value.__qualname__}"
