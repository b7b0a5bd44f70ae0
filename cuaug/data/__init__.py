"""Loads encoded images as augmented batches: `ImageFiles` lists the images, `Loader` decodes and augments them."""

from .batch import Batch
from .coco_targets import coco
from .collate import Collate
from .files import ImageFiles
from .loader import Loader
from .voc_targets import voc

__all__ = ["Batch", "Collate", "ImageFiles", "Loader", "coco", "voc"]


def __dir__() -> list[str]:
    """The public names, and those that all modules have."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
