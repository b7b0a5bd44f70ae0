"""Albumentations: images and masks of a segmentation."""

import albumentations as A

transform = A.Compose(
    [
        A.RandomResizedCrop(size=(224, 224), scale=(0.5, 1.0)),
        A.HorizontalFlip(p=0.5),
        A.VerticalFlip(p=0.5),
        A.Rotate(limit=35, p=0.5),
        A.HueSaturationValue(p=0.3),
        A.CoarseDropout(p=0.2),
    ]
)


def augment(image, mask):
    result = transform(image=image, mask=mask)
    return result["image"], result["mask"]
