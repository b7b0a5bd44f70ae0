"""lightly: the second view of BYOL, with solarization."""

import torchvision.transforms as T
from torchvision.transforms import ColorJitter, RandomApply, RandomGrayscale

transform = T.Compose(
    [
        T.RandomResizedCrop(size=224, scale=(0.08, 1.0), interpolation=T.InterpolationMode.BICUBIC),
        T.RandomHorizontalFlip(p=0.5),
        RandomApply([ColorJitter(brightness=0.4, contrast=0.4, saturation=0.2, hue=0.1)], p=0.8),
        RandomGrayscale(p=0.2),
        RandomApply([T.GaussianBlur(23, sigma=(0.1, 2.0))], p=0.1),
        T.RandomSolarize(threshold=128, p=0.2),
        T.ToTensor(),
        T.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
    ]
)
