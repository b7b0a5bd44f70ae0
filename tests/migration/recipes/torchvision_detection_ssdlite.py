"""torchvision's references, detection: the preset "ssdlite"."""

import torch
from torchvision import tv_tensors
from torchvision.transforms import v2 as T

transform = T.Compose(
    [
        T.ToImage(),
        T.RandomIoUCrop(),
        T.RandomHorizontalFlip(p=0.5),
        T.ToDtype(torch.float, scale=True),
        T.ConvertBoundingBoxFormat(tv_tensors.BoundingBoxFormat.XYXY),
        T.SanitizeBoundingBoxes(),
        T.ToPureTensor(),
    ]
)
