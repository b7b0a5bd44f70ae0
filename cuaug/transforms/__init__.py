"""Random transforms for batches: torchvision v2's names, one draw for each sample, few kernels for a whole recipe."""

from typing import TYPE_CHECKING

from . import (
    boxes,
    choices,
    color,
    compose,
    geometry,
    keypoints,
    levels,
    mix,
    noise,
    params,
    pixel_op,
    policies,
    registry,
)
from .boxes import *
from .choices import *
from .color import *
from .compose import *
from .geometry import *
from .keypoints import *
from .levels import *
from .mix import *
from .noise import *
from .params import *
from .pixel_op import *
from .policies import *
from .registry import *
from .torchvision_names import REPLACEMENTS

__all__: list[str] = []
__all__ += boxes.__all__
__all__ += choices.__all__
__all__ += color.__all__
__all__ += compose.__all__
__all__ += geometry.__all__
__all__ += keypoints.__all__
__all__ += levels.__all__
__all__ += mix.__all__
__all__ += noise.__all__
__all__ += params.__all__
__all__ += pixel_op.__all__
__all__ += policies.__all__
__all__ += registry.__all__


if not TYPE_CHECKING:  # a checker must find misspelled names

    def __getattr__(name: str) -> object:
        if name in REPLACEMENTS:
            raise AttributeError(f"cuaug.transforms has no {name}, which torchvision has: {REPLACEMENTS[name]}")
        raise AttributeError(f"module 'cuaug.transforms' has no attribute {name!r}")
