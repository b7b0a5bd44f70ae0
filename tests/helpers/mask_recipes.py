"""Recipes for images with masks, recipes that do the same to masks passed as images, and masks of random labels."""

from cuaug import transforms as T
from helpers.arrays import noise

SHAPE = (5, 23, 17, 3)
CROPS = [T.RandomCrop((15, 12), padding=2), T.RandomHorizontalFlip(), T.RandomVerticalFlip()]


# Two entries for each name. The first makes a recipe's transforms for an interpolation. The second has the transforms
# that do to a mask passed as an image what the recipe does to a mask: nearest, 0 outside, no colour ops. None: those
# that the first makes for "nearest".
MASK_RECIPES = {
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
    return T.Compose(MASK_RECIPES[name][0](interpolation), seed=seed, **options)


def random_masks(dtype="uint8", shape=SHAPE[:3], seed=0):
    return noise(shape, dtype, seed)
