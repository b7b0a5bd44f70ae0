"""Ultralytics: training of a classifier, RandAugment and random erasing."""

import torchvision.transforms as T

transform = T.Compose(
    [
        T.RandomResizedCrop(224, scale=(0.5, 1.0), ratio=(3.0 / 4.0, 4.0 / 3.0)),
        T.RandomHorizontalFlip(p=0.5),
        T.RandAugment(interpolation=T.InterpolationMode.BILINEAR),
        T.ToTensor(),
        T.Normalize(mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0)),
        T.RandomErasing(p=0.4, inplace=True),
    ]
)
