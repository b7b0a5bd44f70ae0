"""torchvision's references, classification: the training preset."""

import torch
from torchvision.transforms import v2 as T

transform = T.Compose(
    [
        T.RandomResizedCrop(224, interpolation=T.InterpolationMode.BILINEAR, antialias=True),
        T.RandomHorizontalFlip(0.5),
        T.PILToTensor(),
        T.ToDtype(torch.float, scale=True),
        T.Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
        T.ToPureTensor(),
    ]
)
