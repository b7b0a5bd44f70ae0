"""MMDetection: Faster R-CNN, resize to at most 1333 x 800 and flip, with torchvision's classes."""

import torch
from torchvision.transforms import v2

transform = v2.Compose(
    [
        v2.ToImage(),
        v2.Resize(800, max_size=1333),
        v2.RandomHorizontalFlip(p=0.5),
        v2.SanitizeBoundingBoxes(),
        v2.ToDtype(torch.float32, scale=True),
        v2.Normalize(mean=[123.675 / 255, 116.28 / 255, 103.53 / 255], std=[58.395 / 255, 57.12 / 255, 57.375 / 255]),
    ]
)
