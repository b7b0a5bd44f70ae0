"""Ultralytics: the defaults of detection without mosaic, with torchvision's classes."""

import torch
from torchvision.transforms import v2

transform = v2.Compose(
    [
        v2.ToImage(),
        v2.Resize((640, 640)),
        v2.RandomAffine(
            degrees=0, translate=(0.1, 0.1), scale=(0.5, 1.5), interpolation=v2.InterpolationMode.BILINEAR, fill=114
        ),
        v2.ColorJitter(brightness=0.4, saturation=0.7, hue=0.015),
        v2.RandomHorizontalFlip(p=0.5),
        v2.ClampBoundingBoxes(),
        v2.SanitizeBoundingBoxes(min_size=2),
        v2.ToDtype(torch.float32, scale=True),
    ]
)
