"""kornia: the augmentation of a classifier, on the device, in ImageSequential."""

from kornia.augmentation import (
    ColorJiggle,
    ImageSequential,
    Normalize,
    RandomGaussianBlur,
    RandomGrayscale,
    RandomHorizontalFlip,
    RandomResizedCrop,
)

transform = ImageSequential(
    RandomResizedCrop((224, 224), scale=(0.2, 1.0)),
    RandomHorizontalFlip(p=0.5),
    ColorJiggle(0.4, 0.4, 0.4, 0.1, p=0.8),
    RandomGrayscale(p=0.2),
    RandomGaussianBlur((23, 23), (0.1, 2.0), p=0.5),
    Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
)
