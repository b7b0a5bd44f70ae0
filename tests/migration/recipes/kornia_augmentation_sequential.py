"""kornia: images, masks and boxes in AugmentationSequential."""

import kornia.augmentation as K

transform = K.AugmentationSequential(
    K.ColorJitter(0.1, 0.1, 0.1, 0.1, p=1.0),
    K.RandomAffine(45.0, (0.1, 0.1), (0.7, 1.2), p=1.0),
    K.RandomPerspective(0.3, p=0.5),
    K.RandomHorizontalFlip(p=0.5),
    data_keys=["input", "mask", "bbox_xyxy"],
    same_on_batch=False,
)
