"""torchvision v2's functions for images, videos, masks, boxes and keypoints; each returns the type that it was given.

``from cuaug.transforms import functional as F`` in place of ``from torchvision.transforms.v2 import functional as F``.
Inputs are arrays of every library, images of Pillow, and torchvision's tv_tensors. Parameters may be one value or, for
images, one per sample. Layouts, rounding and the other differences are those of the functions of `cuaug`.
"""

import sys
from typing import TYPE_CHECKING

from ... import _missing_names
from . import boxes_and_keypoints, colors, conversion, crops, pixels, several_crops, shapes, warps
from .boxes_and_keypoints import *
from .colors import *
from .conversion import *
from .crops import *
from .pixels import *
from .several_crops import *
from .shapes import *
from .warps import *

__all__: list[str] = []
__all__ += boxes_and_keypoints.__all__
__all__ += colors.__all__
__all__ += conversion.__all__
__all__ += crops.__all__
__all__ += pixels.__all__
__all__ += several_crops.__all__
__all__ += shapes.__all__
__all__ += warps.__all__


if not TYPE_CHECKING:  # type checkers must report misspelled names

    def __getattr__(name: str) -> object:
        """Raises an AttributeError that says what to use in place of a missing name."""
        functions = sys.modules["cuaug"].__all__  # not `import cuaug`, a layer above this one
        places = {function: f"cuaug.{function}" for function in functions}
        tables = {"torchvision": _missing_names.kernel_advice(__all__) | {**_missing_names.FUNCTIONALS["torchvision"]}}
        raise AttributeError(_missing_names.explanation(__name__, name, __all__, tables, places))


def __dir__() -> list[str]:
    """The public names, and those that all modules have."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
