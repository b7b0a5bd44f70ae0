"""MMDetection: SSD300, photometric distortion, expansion, IoU crop and resize, with torchvision's classes."""

import torch
from torchvision import tv_tensors
from torchvision.transforms import v2

transform = v2.Compose(
    [
        v2.ToImage(),
        v2.RandomPhotometricDistort(brightness=(0.875, 1.125), contrast=(0.5, 1.5), saturation=(0.5, 1.5)),
        v2.RandomZoomOut(fill={tv_tensors.Image: (123.675, 116.28, 103.53), "others": 0}, side_range=(1.0, 4.0)),
        v2.RandomIoUCrop(min_scale=0.3, sampler_options=[0.1, 0.3, 0.5, 0.7, 0.9]),
        v2.Resize((300, 300)),
        v2.RandomHorizontalFlip(p=0.5),
        v2.SanitizeBoundingBoxes(),
        v2.ToDtype(torch.float32),
    ]
)
