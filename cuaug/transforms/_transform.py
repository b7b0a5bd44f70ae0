"""What all transforms are: a few checked numbers that write themselves into a recipe."""

from __future__ import annotations

from typing import Any

from .._array import dtype_name
from ..fusion.recipe import Recipe


class Transform:
    """One entry of a recipe. Called with images it is a recipe of its own: ``Compose([transform])``."""

    def write(self, recipe: Recipe) -> None:
        """Adds its draws and ops to a recipe."""
        raise NotImplementedError

    def enter(self, recipe: Recipe) -> None:
        recipe.begin(type(self).__name__)
        self.write(recipe)

    def __call__(self, images: Any, **targets: Any) -> Any:
        from .compose import Compose

        if not hasattr(self, "_alone"):
            self._alone = Compose([self])
        return self._alone(images, **targets)

    def to_dict(self) -> dict[str, Any]:
        """The transform as plain numbers, strings and lists; :func:`from_dict` makes it again."""
        own = {name: _plain(value) for name, value in vars(self).items() if not name.startswith("_")}
        return {"name": type(self).__name__, **own}

    def __repr__(self) -> str:
        own = (f"{name}={value!r}" for name, value in vars(self).items() if not name.startswith("_"))
        return f"{type(self).__name__}({', '.join(own)})"


def _plain(value: Any) -> Any:
    if isinstance(value, Transform):
        return value.to_dict()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if isinstance(value, (int, float, str, bool, type(None))) else dtype_name(value)
