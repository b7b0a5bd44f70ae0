"""torchvision's references, detection: the preset "multiscale"."""

import torch
from torchvision import tv_tensors
from torchvision.transforms import v2 as T

transform = T.Compose(
    [
        T.ToImage(),
        T.RandomShortestSize(min_size=(480, 512, 544, 576, 608, 640, 672, 704, 736, 768, 800), max_size=1333),
        T.RandomHorizontalFlip(p=0.5),
        T.ToDtype(torch.float, scale=True),
        T.ConvertBoundingBoxFormat(tv_tensors.BoundingBoxFormat.XYXY),
        T.SanitizeBoundingBoxes(),
        T.ToPureTensor(),
    ]
)
