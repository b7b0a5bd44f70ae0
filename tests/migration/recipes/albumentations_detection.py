"""Albumentations: the documentation's example of boxes in the format of COCO."""

import albumentations as A

transform = A.Compose(
    [A.RandomCrop(width=200, height=200), A.HorizontalFlip(p=0.5), A.RandomBrightnessContrast(p=0.2)],
    bbox_params=A.BboxParams(format="coco", min_area=16, min_visibility=0.1, label_fields=["class_labels"]),
)


def augment(image, boxes, labels):
    result = transform(image=image, bboxes=boxes, class_labels=labels)
    return result["image"], result["bboxes"], result["class_labels"]
