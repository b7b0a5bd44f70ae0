"""Recipes of tests/migration/recipes: their samples, and how they become recipes of cuaug."""

from dataclasses import dataclass

import numpy as np
import torch
from helpers.arrays import seeded
from helpers.jpeg import photographs

SIZE = 240, 320


def photo():
    """A crop of a photograph. [H, W, 3]"""
    return np.ascontiguousarray(photographs()[0][: SIZE[0], : SIZE[1]])


def pillow():
    from PIL import Image

    return (Image.fromarray(photo()),)


def small_pillow():
    """An image of CIFAR's size."""
    return (pillow()[0].resize((32, 32)),)


def tensor():
    return (torch.from_numpy(photo()).permute(2, 0, 1).contiguous(),)


def clip():
    """[T, C, H, W]"""
    return (torch.stack([tensor()[0][:, i : i + 200, i : i + 260] for i in range(16)]),)


def labelled_images():
    """The samples of a data set, for a collate function."""
    images = torch.from_numpy(seeded("labelled").random((6, 3, 32, 32), np.float32))
    return ([(image, index) for index, image in enumerate(images)],)


def detection():
    """An image of Pillow and its target, as torchvision's wrapper of a data set gives them."""
    from torchvision import tv_tensors

    boxes = torch.tensor([[20.0, 30, 120, 200], [150, 10, 300, 100], [5, 5, 60, 50]])
    target = {
        "boxes": tv_tensors.BoundingBoxes(boxes, format="XYXY", canvas_size=SIZE),
        "labels": torch.tensor([3, 1, 2]),
        "masks": tv_tensors.Mask(torch.from_numpy(seeded("masks").integers(0, 2, (3, *SIZE), np.uint8))),
    }
    return pillow()[0], target


def segmentation():
    from torchvision import tv_tensors

    return pillow()[0], tv_tensors.Mask(torch.from_numpy(seeded("mask").integers(0, 21, SIZE)))


def kornia_batch():
    images = (tensor()[0].float() / 255).expand(4, -1, -1, -1).contiguous()
    masks = torch.from_numpy(seeded("kornia masks").integers(0, 2, (4, 1, *SIZE))).float()
    boxes = torch.tensor([[[20.0, 30, 120, 200], [150, 10, 300, 100]]] * 4)
    return images, masks, boxes


def kornia_images():
    return kornia_batch()[:1]


def array():
    return (photo(),)


def array_and_mask():
    return photo(), seeded("mask").integers(0, 21, SIZE, np.uint8)


def array_and_boxes():
    """An image, its boxes (x, y, width, height: COCO's format) and their labels."""
    return photo(), np.array([[20.0, 30, 100, 170], [150, 10, 150, 90]]), np.array([3, 1])


@dataclass(frozen=True)
class MigrationRow:
    """One recipe, in the file of its name."""

    name: str
    sample: object  # a function that gives the arguments of a call
    by_import: bool = True  # whether only imports change
    missing: tuple = ()  # names without a counterpart: the recipe does not run


ROWS = [
    MigrationRow("torchvision_classification_train", pillow),
    MigrationRow("torchvision_classification_trivial_augment", pillow),
    MigrationRow("torchvision_classification_eval", pillow),
    MigrationRow("torchvision_classification_randaugment", pillow),
    MigrationRow("torchvision_mixup_cutmix", labelled_images),
    MigrationRow("torchvision_detection_hflip", detection),
    MigrationRow("torchvision_detection_lsj", detection),
    MigrationRow("torchvision_detection_multiscale", detection),
    MigrationRow("torchvision_detection_ssd", detection),
    MigrationRow("torchvision_detection_ssdlite", detection),
    MigrationRow("torchvision_segmentation_train", segmentation),
    MigrationRow("torchvision_segmentation_eval", segmentation),
    MigrationRow("torchvision_video_train", clip),
    MigrationRow("torchvision_video_eval", clip),
    MigrationRow("pytorch_imagenet", pillow),
    MigrationRow("pytorch_cifar10", small_pillow),
    MigrationRow("timm_train", pillow),
    MigrationRow("timm_eval", pillow),
    MigrationRow("timm_random_erasing", pillow),
    MigrationRow("lightly_simclr", pillow),
    MigrationRow("lightly_byol", pillow),
    MigrationRow("solo_learn_symmetric", pillow),
    MigrationRow("dino", pillow, by_import=False),
    MigrationRow("dinov2", pillow),
    MigrationRow("mae_pretrain", pillow, by_import=False),
    MigrationRow("mae_linear_probe", pillow, by_import=False),
    MigrationRow("detectron2_style", detection),
    MigrationRow("mmdetection_ssd_style", detection),
    MigrationRow("mmdetection_faster_rcnn_style", detection),
    MigrationRow("ultralytics_detect_style", detection),
    MigrationRow("ultralytics_classify", pillow),
    MigrationRow("lerobot", tensor, by_import=False),
    MigrationRow(
        "segmentation_models_camvid", array_and_mask, by_import=False,
        missing=("PadIfNeeded", "CLAHE", "Blur", "MotionBlur"),
    ),
    MigrationRow("segmentation_models_pets", array_and_mask, by_import=False),
    MigrationRow("kornia_augmentation_sequential", kornia_batch, by_import=False),
    MigrationRow("kornia_image_sequential", kornia_images, by_import=False),
    MigrationRow(
        "kornia_thin_plate_spline", kornia_images, by_import=False,
        missing=("RandomThinPlateSpline",),
    ),
    MigrationRow("albumentations_classification", array, by_import=False),
    MigrationRow("albumentations_segmentation", array_and_mask, by_import=False),
    MigrationRow("albumentations_detection", array_and_boxes, by_import=False),
]  # fmt: skip
