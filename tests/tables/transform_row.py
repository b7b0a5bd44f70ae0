"""One row of the table of transforms."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from tables.recipe import Recipe


@dataclasses.dataclass(frozen=True)
class TransformRow:
    """A transform, its draws, and the functions that it applies. Tests of every transform are derived from rows.

    ``draw(t, canvas, words)`` gives the parameters that transform ``t`` draws for one sample of size ``canvas`` (H, W),
    by name; ``words(i)`` are the random words of its ``i``-th draw. Without it the draws are not compared.

    ``functions(t, images, p, options)`` applies functions of cuaug to a batch, with the drawn parameters ``p`` of each
    sample. Without it no recipe of the tables has the transform.
    """

    instance: Any  # its arguments differ from the defaults
    draw: Callable | None = None
    draw_instances: tuple = ()  # transforms whose draws are compared; default: the instance
    functions: Callable | None = None
    uses_whole_clip: bool = False  # the result of a frame depends on the other frames of its clip
    alone: Mapping | None = None  # options of a ``Recipe`` with the instance alone; default: no such recipe

    @property
    def name(self):
        # If torch is imported, the class is a subclass that also derives from nn.Module, and has the same name.
        return type(self.instance).__name__

    def drawn(self):
        """The transforms whose draws are compared with ``draw``."""
        return (self.draw_instances or (self.instance,)) if self.draw else ()

    def recipe(self):
        """The recipe of the instance alone.

        By default it is for uint8 images only, because arguments of the instance, such as a threshold, are levels of
        uint8.
        """
        return Recipe(self.name, lambda level: [self.instance], **{"dtypes": ("uint8",), **self.alone})
