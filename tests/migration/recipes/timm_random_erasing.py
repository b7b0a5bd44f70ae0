"""timm: RandAugment "rand-m9" and random erasing with probability 0.25, with torchvision's classes."""

import torch
from torchvision.transforms import v2

transform = v2.Compose(
    [
        v2.RandomResizedCrop(224, interpolation=v2.InterpolationMode.BICUBIC),
        v2.RandomHorizontalFlip(),
        v2.RandAugment(num_ops=2, magnitude=9, fill=[124, 116, 104]),
        v2.ToImage(),
        v2.ToDtype(torch.float32, scale=True),
        v2.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
        v2.RandomErasing(p=0.25, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0),
    ]
)
