"""torchvision's references, detection: the preset "ssd"."""

import torch
from torchvision import tv_tensors
from torchvision.transforms import v2 as T

mean = (123.0, 117.0, 104.0)
transform = T.Compose(
    [
        T.ToImage(),
        T.RandomPhotometricDistort(),
        T.RandomZoomOut(fill={tv_tensors.Image: mean, "others": 0}),
        T.RandomIoUCrop(),
        T.RandomHorizontalFlip(p=0.5),
        T.ToDtype(torch.float, scale=True),
        T.ConvertBoundingBoxFormat(tv_tensors.BoundingBoxFormat.XYXY),
        T.SanitizeBoundingBoxes(),
        T.ToPureTensor(),
    ]
)
