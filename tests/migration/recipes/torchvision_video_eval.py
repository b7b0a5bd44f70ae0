"""torchvision's references, video classification: the evaluation preset, on 8 frames. A clip is [T, C, H, W]."""

import torch
from torchvision.transforms import v2 as transforms

transform = transforms.Compose(
    [
        transforms.UniformTemporalSubsample(8),
        transforms.ConvertImageDtype(torch.float32),
        transforms.Resize((128, 171), antialias=False),
        transforms.Normalize(mean=(0.43216, 0.394666, 0.37645), std=(0.22803, 0.22145, 0.216989)),
        transforms.CenterCrop((112, 112)),
        transforms.Lambda(lambda clip: clip.permute(1, 0, 2, 3)),
    ]
)
