"""segmentation_models: training on CamVid."""

import albumentations as A

transform = A.Compose(
    [
        A.HorizontalFlip(p=0.5),
        A.ShiftScaleRotate(scale_limit=0.5, rotate_limit=0, shift_limit=0.1, p=1, border_mode=0),
        A.PadIfNeeded(min_height=320, min_width=320),
        A.RandomCrop(height=320, width=320),
        A.GaussNoise(p=0.2),
        A.Perspective(p=0.5),
        A.OneOf([A.CLAHE(p=1), A.RandomBrightnessContrast(p=1), A.RandomGamma(p=1)], p=0.9),
        A.OneOf([A.Sharpen(p=1), A.Blur(blur_limit=3, p=1), A.MotionBlur(blur_limit=3, p=1)], p=0.9),
    ]
)


def augment(image, mask):
    result = transform(image=image, mask=mask)
    return result["image"], result["mask"]
