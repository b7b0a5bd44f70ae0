"""torchvision's references, detection: the preset "lsj", large scale jitter."""

import torch
from torchvision import tv_tensors
from torchvision.transforms import v2 as T

transform = T.Compose(
    [
        T.ToImage(),
        T.ScaleJitter(target_size=(1024, 1024), antialias=True),
        T.RandomCrop(size=(1024, 1024), pad_if_needed=True, fill=123),
        T.RandomHorizontalFlip(p=0.5),
        T.ToDtype(torch.float, scale=True),
        T.ConvertBoundingBoxFormat(tv_tensors.BoundingBoxFormat.XYXY),
        T.SanitizeBoundingBoxes(),
        T.ToPureTensor(),
    ]
)
