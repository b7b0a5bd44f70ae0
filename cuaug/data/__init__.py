"""From files to augmented batches on the device: `ImageFiles` says what there is, `Loader` makes batches of it."""

from .batch import Batch
from .collate import Collate
from .files import ImageFiles
from .loader import Loader

__all__ = ["Batch", "Collate", "ImageFiles", "Loader"]
