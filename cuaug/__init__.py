"""cuaug: batched image augmentation that runs on the device that holds the batch."""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from . import (
    _missing_names,
    boxes,
    color,
    crop_resize,
    filter,
    fit,
    geometry,
    iou,
    levels,
    mix,
    noise,
    roi,
    roi_modules,
    suppression,
    warp,
)
from . import ops as ops
from . import show as _show  # `cuaug.show` is the function: the module needs another name here
from ._check import BackendError, DecodeError, ImageTooLarge, UnsupportedImage
from ._gpu.cupy_import import is_available
from ._host.extension import set_num_threads
from ._info import info
from ._warmup import warmup
from .boxes import *
from .color import *
from .crop_resize import *
from .filter import *
from .fit import *
from .geometry import *
from .iou import *
from .levels import *
from .mix import *
from .noise import *
from .roi import *
from .roi_modules import *
from .show import *
from .suppression import *
from .warp import *

if TYPE_CHECKING:
    from . import data as data
    from . import io as io
    from . import transforms as transforms

    __version__: str

__all__ = [
    "BackendError",
    "DecodeError",
    "ImageTooLarge",
    "UnsupportedImage",
    "info",
    "is_available",
    "set_num_threads",
    "warmup",
]
__all__ += _show.__all__
__all__ += boxes.__all__
__all__ += color.__all__
__all__ += crop_resize.__all__
__all__ += filter.__all__
__all__ += fit.__all__
__all__ += geometry.__all__
__all__ += iou.__all__
__all__ += levels.__all__
__all__ += mix.__all__
__all__ += noise.__all__
__all__ += roi.__all__
__all__ += roi_modules.__all__
__all__ += suppression.__all__
__all__ += warp.__all__

_PACKAGES = ("io", "data", "transforms")  # imported at their first use

if not TYPE_CHECKING:  # a type checker would accept any name of a module with `__getattr__`

    def __getattr__(name: str) -> ModuleType | str:
        """Imports `data`, `io` and `transforms` at their first use, and looks up the version."""
        if name == "__version__":
            return importlib.import_module("importlib.metadata").version("cuaug")
        if name in _PACKAGES:
            return importlib.import_module(f"{__name__}.{name}")
        places = {}
        for module in () if name.startswith("_") else (*_PACKAGES, "transforms.functional"):
            public_names = importlib.import_module(f"{__name__}.{module}").__all__
            places |= {public_name: f"{__name__}.{module}.{public_name}" for public_name in public_names}
        raise AttributeError(_missing_names.explanation(__name__, name, __all__, _missing_names.FUNCTIONS, places))


def __dir__() -> list[str]:
    """The public names, the packages, and the names that all modules have."""
    dunder_names = (name for name in globals() if name.startswith("__"))
    return sorted({*__all__, *_PACKAGES, "ops", "typing", "__version__", *dunder_names})
