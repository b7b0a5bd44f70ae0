"""Recipes that move pixels, and the recipes that move masks; one of each transform; label images."""

import torch

from cuaug import transforms as T
from helpers.arrays import noise

SHAPE = (5, 23, 17, 3)
CROPS = [T.RandomCrop((15, 12), padding=2), T.RandomHorizontalFlip(), T.RandomVerticalFlip()]


# Two entries for each name. The first is a function from an interpolation to transforms. The second has the transforms
# that move label images as that recipe moves masks: nearest, 0 outside, no colour ops. None: those of the
# first function for "nearest".
MOVES = {
    "crops": (lambda interpolation: [*CROPS], CROPS),
    "nothing": (lambda interpolation: [], []),
    "colours": (lambda interpolation: [T.ColorJitter(0.4, 0.4, 0.4, 0.1)], []),
    "resized": (
        lambda interpolation: [T.RandomResizedCrop((13, 14), interpolation=interpolation, antialias=False)],
        None,
    ),
    "antialiased": (
        lambda interpolation: [T.RandomResizedCrop((13, 14), interpolation=interpolation), T.RandomHorizontalFlip()],
        None,
    ),
    "rotated": (lambda interpolation: [T.RandomRotation(50, interpolation), T.RandomHorizontalFlip()], None),
    "crop and rotation": (lambda interpolation: [T.RandomCrop((15, 12)), T.RandomRotation(50, interpolation)], None),
    "perspective": (lambda interpolation: [T.RandomPerspective(0.5, 1.0, interpolation)], None),
    "two passes": (
        lambda interpolation: [
            T.RandomRotation(50, interpolation),
            T.RandomCrop((9, 8)),
            T.RandomAffine(20, (0.1, 0.2), interpolation=interpolation),
        ],
        None,
    ),
    "displaced": (lambda interpolation: [T.RandomVerticalFlip(), T.ElasticTransform(250.0, 3.0, interpolation)], None),
    "edges": (
        lambda interpolation: [
            T.Pad(3, padding_mode="reflect"),
            T.RandomCrop((24, 20)),
            T.RandomRotation(9, interpolation),
        ],
        None,
    ),
}


def recipe(name, seed=7, interpolation="bilinear", **options):
    return T.Compose(MOVES[name][0](interpolation), seed=seed, **options)


def labels(dtype="uint8", shape=SHAPE[:3], seed=0):
    return noise(shape, dtype, seed)


EVERYTHING = {
    "AugMix": T.AugMix(5, 2, 2, 0.5, False, "nearest", 3),
    "AutoAugment": T.AutoAugment("svhn", "bilinear", 3),
    "CutMix": T.CutMix(alpha=0.5, num_classes=4),
    "ElasticTransform": T.ElasticTransform((30.0, 40.0), (2.0, 3.0), "nearest", 7),
    "GaussianNoise": T.GaussianNoise(0.1, 0.2, False),
    "Grayscale": T.Grayscale(3),
    "Identity": T.Identity(),
    "MixUp": T.MixUp(alpha=0.3),
    "RandAugment": T.RandAugment(1, 5, 11, "bilinear", 2),
    "RandomAdjustSharpness": T.RandomAdjustSharpness(2.0, 0.4),
    "RandomApply": T.RandomApply([T.RandomInvert(), T.RandomHorizontalFlip()], 0.3),
    "RandomAutocontrast": T.RandomAutocontrast(0.4),
    "RandomChoice": T.RandomChoice([T.RandomInvert(), T.RandomVerticalFlip()], [1, 2]),
    "RandomEqualize": T.RandomEqualize(0.4),
    "RandomMask": T.RandomMask(0.9, "grid", 0.3, 4, 7),
    "RandomOrder": T.RandomOrder([T.RandomInvert(1.0), T.RandomSolarize(99, 1.0)]),
    "TrivialAugmentWide": T.TrivialAugmentWide(11, "bilinear", 2),
    "Boxes": T.Boxes("XYWH", 2.0, 0.5),
    "CenterCrop": T.CenterCrop((9, 8)),
    "ColorJitter": T.ColorJitter(0.4, (0.5, 1.5), None, 0.1, contrast_about=100),
    "Compose": T.Compose(CROPS, seed=3, boxes=T.Boxes("CXCYWH"), keypoints=T.Keypoints([(0, 1)])),
    "GaussianBlur": T.GaussianBlur((3, 5), (0.2, 1.0)),
    "Keypoints": T.Keypoints([(0, 1), (2, 3)], hide_outside=False),
    "Normalize": T.Normalize((0.1, 0.2, 0.3), (0.5, 0.6, 0.7)),
    "PixelOp": T.PixelOp("Vignette", "px * (1 - k * r2) + b", k=(0, 0.5), b=0.1),
    "Pad": T.Pad([1, 2], 7, "edge"),
    "RandomAffine": T.RandomAffine(30, (0.1, 0.2), (0.8, 1.2), (1, 2, 3, 4), "bilinear", [1, 2, 3], (4, 5)),
    "RandomCrop": T.RandomCrop(9, (1, 2), True, 3, "reflect"),
    "RandomErasing": T.RandomErasing(0.7, (0.1, 0.2), (0.5, 2.0), (1, 2, 3)),
    "RandomGrayscale": T.RandomGrayscale(0.5),
    "RandomHorizontalFlip": T.RandomHorizontalFlip(0.3),
    "RandomInvert": T.RandomInvert(0.4),
    "RandomPerspective": T.RandomPerspective(0.4, 0.9, "nearest", 3),
    "RandomPosterize": T.RandomPosterize(3),
    "RandomResizedCrop": T.RandomResizedCrop((9, 8), (0.2, 0.9), (0.5, 2.0), "bicubic"),
    "RandomRotation": T.RandomRotation((10, 30), "bilinear", False, (3, 4), 2),
    "RandomSolarize": T.RandomSolarize(100),
    "RandomVerticalFlip": T.RandomVerticalFlip(0.3),
    "Resize": T.Resize(10, max_size=20),
    "ToDtype": T.ToDtype(torch.float16, scale=True),
}
