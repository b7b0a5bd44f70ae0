"""Detection functions under the names of torchvision.ops, plus `soft_nms` and `clip_boxes`: ``from cuaug import ops``.

All are names of cuaug, too.
"""

from typing import TYPE_CHECKING

from . import _missing_names, boxes, iou, roi, roi_modules, suppression
from ._missing_ops import MISSING_OPS
from .boxes import *
from .iou import *
from .roi import *
from .roi_modules import *
from .suppression import *

__all__: list[str] = []
__all__ += boxes.__all__
__all__ += iou.__all__
__all__ += roi.__all__
__all__ += roi_modules.__all__
__all__ += suppression.__all__

if not TYPE_CHECKING:  # a type checker would accept any name of a module with `__getattr__`

    def __getattr__(name: str) -> None:
        """Raises an AttributeError that says what to use in place of a missing name."""
        raise AttributeError(_missing_names.explanation(__name__, name, __all__, {"torchvision": MISSING_OPS}, {}))
