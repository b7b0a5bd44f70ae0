"""torchvision's references, classification: RandAugment of magnitude 9, in torchvision's transforms v1."""

import torch
from torchvision.transforms import autoaugment, transforms
from torchvision.transforms.functional import InterpolationMode

transform = transforms.Compose(
    [
        transforms.RandomResizedCrop(224, interpolation=InterpolationMode.BILINEAR, antialias=True),
        transforms.RandomHorizontalFlip(0.5),
        autoaugment.RandAugment(interpolation=InterpolationMode.BILINEAR, magnitude=9),
        transforms.PILToTensor(),
        transforms.ConvertImageDtype(torch.float),
        transforms.Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
    ]
)
