"""torchvision's references, classification: the improved recipe, crops of 176 and TrivialAugmentWide."""

import torch
from torchvision.transforms import v2 as T
from torchvision.transforms.v2 import InterpolationMode

transform = T.Compose(
    [
        T.RandomResizedCrop(176, interpolation=InterpolationMode.BILINEAR, antialias=True),
        T.RandomHorizontalFlip(0.5),
        T.TrivialAugmentWide(interpolation=InterpolationMode.BILINEAR),
        T.PILToTensor(),
        T.ToDtype(torch.float, scale=True),
        T.Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
        T.RandomErasing(p=0.1),
        T.ToPureTensor(),
    ]
)
