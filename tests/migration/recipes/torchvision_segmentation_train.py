"""torchvision's references, segmentation: the training preset, with RandomCrop's padding in place of PadIfSmaller."""

import torch
from torchvision import tv_tensors
from torchvision.transforms import v2

transform = v2.Compose(
    [
        v2.ToImage(),
        v2.RandomResize(min_size=260, max_size=1040),
        v2.RandomHorizontalFlip(0.5),
        v2.RandomCrop(480, pad_if_needed=True, fill={tv_tensors.Image: 0, tv_tensors.Mask: 255}),
        v2.ToDtype({tv_tensors.Image: torch.float32, tv_tensors.Mask: torch.int64, "others": None}, scale=True),
        v2.Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
        v2.ToPureTensor(),
    ]
)
