"""Random transforms for batches: torchvision v2's names, one draw for each sample, few kernels for a whole recipe."""

import sys
from typing import TYPE_CHECKING

from .. import _missing_names
from . import (
    boxes,
    choices,
    color,
    compose,
    conversion,
    enumerations,
    filter,
    functions,
    geometry,
    iou_crop,
    keypoints,
    levels,
    linear_transformation,
    mix,
    noise,
    pad_batch,
    params,
    pixel_op,
    policies,
    registry,
    several_crops,
    several_sizes,
    torchvision_boxes,
    transform,
)
from . import functional as functional
from .boxes import *
from .choices import *
from .color import *
from .compose import *
from .conversion import *
from .enumerations import *
from .filter import *
from .functions import *
from .geometry import *
from .iou_crop import *
from .keypoints import *
from .levels import *
from .linear_transformation import *
from .mix import *
from .noise import *
from .pad_batch import *
from .params import *
from .pixel_op import *
from .policies import *
from .registry import *
from .several_crops import *
from .several_sizes import *
from .torchvision_boxes import *
from .transform import *

__all__: list[str] = []
__all__ += boxes.__all__
__all__ += choices.__all__
__all__ += color.__all__
__all__ += compose.__all__
__all__ += conversion.__all__
__all__ += enumerations.__all__
__all__ += filter.__all__
__all__ += functions.__all__
__all__ += geometry.__all__
__all__ += iou_crop.__all__
__all__ += keypoints.__all__
__all__ += levels.__all__
__all__ += linear_transformation.__all__
__all__ += mix.__all__
__all__ += noise.__all__
__all__ += pad_batch.__all__
__all__ += params.__all__
__all__ += pixel_op.__all__
__all__ += policies.__all__
__all__ += registry.__all__
__all__ += several_crops.__all__
__all__ += several_sizes.__all__
__all__ += torchvision_boxes.__all__
__all__ += transform.__all__


if not TYPE_CHECKING:  # type checkers must report misspelled names

    def __getattr__(name: str) -> object:
        """Raises an AttributeError that says what to use in place of a missing name."""
        places = {function: f"{__name__}.functional.{function}" for function in functional.__all__}
        functions = sys.modules["cuaug"].__all__  # not `import cuaug`, a layer above this one
        places |= {function: f"cuaug.{function}" for function in functions}
        raise AttributeError(_missing_names.explanation(__name__, name, __all__, _missing_names.TRANSFORMS, places))


def __dir__() -> list[str]:
    """The public names, and those that all modules have."""
    return sorted({*__all__, "functional", *(name for name in globals() if name.startswith("__"))})
