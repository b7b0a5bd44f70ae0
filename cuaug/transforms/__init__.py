"""Random transforms for batches: torchvision v2's names, one draw for each sample, few kernels for a whole recipe."""

from ._boxes import Boxes
from ._keypoints import Keypoints
from ._transform import from_dict
from .color import (
    ColorJitter,
    GaussianBlur,
    Normalize,
    RandomErasing,
    RandomGrayscale,
    RandomInvert,
    RandomPosterize,
    RandomSolarize,
    ToDtype,
)
from .compose import Compose
from .geometry import (
    CenterCrop,
    Pad,
    RandomAffine,
    RandomCrop,
    RandomHorizontalFlip,
    RandomPerspective,
    RandomResizedCrop,
    RandomRotation,
    RandomVerticalFlip,
    Resize,
)
from .params import Params

__all__ = [
    "Boxes",
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "GaussianBlur",
    "Keypoints",
    "Normalize",
    "Pad",
    "Params",
    "RandomAffine",
    "RandomCrop",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomInvert",
    "RandomPerspective",
    "RandomPosterize",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomSolarize",
    "RandomVerticalFlip",
    "Resize",
    "ToDtype",
    "from_dict",
]
