"""torchvision's references, segmentation: the evaluation preset, with 260 pixels in place of 520."""

import torch
from torchvision import tv_tensors
from torchvision.transforms import v2

transform = v2.Compose(
    [
        v2.ToImage(),
        v2.Resize(size=(260, 260)),
        v2.ToDtype({tv_tensors.Image: torch.float32, tv_tensors.Mask: torch.int64, "others": None}, scale=True),
        v2.Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
        v2.ToPureTensor(),
    ]
)
