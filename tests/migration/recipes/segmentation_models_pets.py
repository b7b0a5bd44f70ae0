"""segmentation_models: a binary segmentation, with Albumentations."""

import albumentations as A

transform = A.Compose(
    [
        A.Resize(224, 224),
        A.HorizontalFlip(p=0.5),
        A.ShiftScaleRotate(scale_limit=0.2, rotate_limit=15, shift_limit=0.1, p=0.5),
        A.OneOf([A.RandomBrightnessContrast(p=1), A.RandomGamma(p=1)], p=0.9),
        A.Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
    ]
)


class Pets:
    def __init__(self, images, masks):
        self.images, self.masks, self.transform = images, masks, transform

    def __getitem__(self, index):
        sample = self.transform(image=self.images[index], mask=self.masks[index])
        return sample["image"], sample["mask"]


def augment(image, mask):
    return Pets([image], [mask])[0]
