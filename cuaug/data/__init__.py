"""Loads encoded images as augmented batches: `ImageFiles` lists the images, `Loader` decodes and augments them."""

from .batch import Batch
from .collate import Collate
from .files import ImageFiles
from .loader import Loader

__all__ = ["Batch", "Collate", "ImageFiles", "Loader"]
