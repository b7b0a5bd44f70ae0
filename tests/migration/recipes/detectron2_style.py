"""detectron2: the defaults of training, ResizeShortestEdge and RandomFlip, with torchvision's classes."""

import torch
from torchvision.transforms import v2

transform = v2.Compose(
    [
        v2.ToImage(),
        v2.RandomShortestSize(min_size=(640, 672, 704, 736, 768, 800), max_size=1333),
        v2.RandomHorizontalFlip(p=0.5),
        v2.SanitizeBoundingBoxes(),
        v2.ToDtype(torch.float32),
    ]
)
