"""Draws without images: the drawn columns of transforms, by name."""

import numpy as np

from cuaug import transforms as T
from cuaug.transforms.transform import Transform

SEED = 2**62 + 987654321
CANVAS = 61, 83


def canvas(samples, size=CANVAS):
    """Images that are never read."""
    return np.broadcast_to(np.zeros(1, np.uint8), (samples, *size, 3))


def columns(transforms, samples, size=CANVAS, seed=SEED, **options):
    """Drawn parameters by name. [N]"""
    params = T.Compose(transforms, seed=seed).draw(canvas(samples, size), **options)
    return {name: params[name] for name in params.names}


class OneDraw(Transform):
    """A transform with one draw, for kinds of draws that no public transform has alone.

    `before` are draws that come first; the argument "first" stands for the first column of the first of them.
    """

    def __init__(self, kind, names, *arguments, before=()):
        self.kind, self.names, self.arguments, self.before = kind, names, arguments, before

    def write(self, recipe):
        first = [recipe.draw(*draw)[0] for draw in self.before]
        recipe.draw(self.kind, self.names, *(first[0] if a == "first" else a for a in self.arguments))
