"""torchvision's enumerations of options. Names are accepted everywhere; these are for code that uses members."""

from __future__ import annotations

import enum

__all__ = ["AutoAugmentPolicy", "InterpolationMode"]


class InterpolationMode(enum.Enum):
    """Interpolations; a transform refuses those that it does not have ("box" and "hamming" are Pillow's only)."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


class AutoAugmentPolicy(enum.Enum):
    """Policies of :class:`AutoAugment`."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"
