"""Random transforms for batches: torchvision v2's names, one draw for each sample, few kernels for a whole recipe."""

from .boxes import Boxes
from .choices import Identity, RandomApply, RandomChoice, RandomOrder
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
from .keypoints import Keypoints
from .levels import Grayscale, RandomAdjustSharpness, RandomAutocontrast, RandomEqualize
from .mix import CutMix, MixUp, mixed_labels
from .noise import ElasticTransform, GaussianNoise, RandomMask
from .params import Params
from .pixel_op import PixelOp
from .policies import AugMix, AutoAugment, RandAugment, TrivialAugmentWide
from .torchvision_names import INSTEAD
from .transform import from_dict

__all__ = [
    "AugMix",
    "AutoAugment",
    "Boxes",
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "CutMix",
    "ElasticTransform",
    "GaussianBlur",
    "GaussianNoise",
    "Grayscale",
    "Identity",
    "Keypoints",
    "MixUp",
    "Normalize",
    "Pad",
    "Params",
    "PixelOp",
    "RandAugment",
    "RandomAdjustSharpness",
    "RandomAffine",
    "RandomApply",
    "RandomAutocontrast",
    "RandomChoice",
    "RandomCrop",
    "RandomEqualize",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomInvert",
    "RandomMask",
    "RandomOrder",
    "RandomPerspective",
    "RandomPosterize",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomSolarize",
    "RandomVerticalFlip",
    "Resize",
    "ToDtype",
    "TrivialAugmentWide",
    "from_dict",
    "mixed_labels",
]


def __getattr__(name: str) -> object:
    if name in INSTEAD:
        raise AttributeError(f"cuaug.transforms has no {name}, which torchvision has: {INSTEAD[name]}")
    raise AttributeError(f"module 'cuaug.transforms' has no attribute {name!r}")
