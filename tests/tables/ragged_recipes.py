"""Recipes for lists of images of several sizes, and such lists."""

import numpy as np
from helpers.arrays import noise, put
from helpers.compare import to_numpy

from cuaug import transforms as T
from cuaug._fusion.recipe_ops import Column
from cuaug.transforms.transform import Transform

SIZES = [(23, 17), (1, 1), (30, 18), (9, 1), (23, 17), (1, 40), (301, 203), (64, 48), (8, 90)]
CROPPABLE = [(23, 17), (30, 18), (301, 203), (64, 48), (16, 90)]  # crops of 15x12 fit into each
CROP = T.RandomResizedCrop((13, 14), antialias=False)
FLIPS = [T.RandomHorizontalFlip(), T.RandomVerticalFlip()]
NORMALIZED = [T.ToDtype("float32", scale=True), T.Normalize((0.5, 0.4, 0.3), (0.2, 0.3, 0.4))]
JITTER = T.ColorJitter(0.4, 0.4, 0.4, 0.1)
DARKEN = T.ColorJitter((0.6, 1.0), (0.6, 1.0), (0.6, 1.0), 0.1)  # a difference of one level stays one level


class Contrast(Transform):
    """Contrast about the mean, as in policies: unlike ColorJitter, the op has no part before its mean."""

    def write(self, recipe):
        mean = Column("")  # without a draw: the pass that computes the mean fills the column
        recipe.add_pointwise("AdjustContrast", [recipe.uniform("factor", 0.5, 1.0, 1.0), mean], mean=mean)


# Recipes, the sizes of their images, and the number of ragged batches into which a call divides the images.
RECIPES = {
    "crop": ([CROP, *FLIPS], SIZES, 1),
    "crop, jitter, normalize": ([CROP, *FLIPS, JITTER, T.RandomGrayscale(0.2), *NORMALIZED], SIZES, 1),
    "antialiased crop": ([T.RandomResizedCrop((13, 14)), *FLIPS, JITTER, *NORMALIZED], SIZES, 1),
    "antialiased crop, invert, jitter twice": (
        [T.RandomResizedCrop((13, 14)), T.RandomInvert(), DARKEN, T.ColorJitter((0.7, 1.0), (0.5, 1.0))],
        SIZES,
        1,
    ),
    "antialiased crop, contrasts": (
        [T.RandomResizedCrop((13, 14)), Contrast(), T.RandomInvert(), Contrast()],
        SIZES,
        1,
    ),
    "antialiased resize, to floats and back, jitter": (
        [T.Resize((12, 10)), T.ToDtype("float32", True), T.ToDtype("uint8", True), DARKEN],
        SIZES,
        1,
    ),
    "antialiased crop, to floats, jitter": ([T.RandomResizedCrop((13, 14)), NORMALIZED[0], JITTER], SIZES, 1),
    "bicubic crop": ([T.RandomResizedCrop((13, 14), interpolation="bicubic"), *FLIPS], SIZES, 1),
    "area crop": ([T.RandomResizedCrop((13, 14), interpolation="area"), *FLIPS, JITTER], SIZES, 1),
    "nearest crop": ([T.RandomResizedCrop((13, 14), interpolation="nearest")], SIZES, 1),
    "crop, blur, erase": ([CROP, T.GaussianBlur(3), T.RandomErasing(0.7, value=9)], SIZES, 1),
    "resize": ([T.Resize((12, 10), antialias=False), T.RandomRotation(30)], SIZES, 1),
    "antialiased resize": ([T.Resize((12, 10), "area"), *FLIPS], SIZES, 1),
    "resize by a side": ([T.Resize(12, antialias=False), T.CenterCrop(10)], SIZES, 1),
    "antialiased resize by a side": ([T.Resize(12), T.CenterCrop(10), *NORMALIZED], SIZES, 1),
    "bicubic resize by a side, flips, crops": (
        [T.Resize(15, "bicubic", antialias=False), *FLIPS, T.RandomCrop((13, 12)), *FLIPS, T.CenterCrop(9), JITTER],
        SIZES,
        1,
    ),
    "padded crop": ([T.RandomCrop((15, 12), padding=2, fill=9), *FLIPS], CROPPABLE, 1),
    "reflected crop": ([T.RandomCrop((15, 12), padding=5, padding_mode="reflect")], CROPPABLE, 1),
    "affine, crop": (
        [T.RandomAffine(30, (0.1, 0.2), (0.8, 1.2), 9, "bilinear", 7), T.RandomCrop(12)],
        CROPPABLE,
        1,
    ),
    "perspective, crop": ([T.RandomPerspective(0.5, 0.6), T.RandomCrop(12)], CROPPABLE, 1),
    "some rotated, crop": ([T.RandomApply([T.RandomRotation(50)], 0.5), T.RandomCrop(12)], CROPPABLE, 1),
    "bicubic affine, crop": ([T.RandomAffine(30, interpolation="bicubic"), T.RandomCrop(12)], CROPPABLE, 1),
    "antialiased resize by a side, padded": ([T.Resize(12), T.Pad(2), T.CenterCrop(10)], SIZES, 1),
    "padded crop of a resize": ([T.Resize(13, "area"), *FLIPS, T.Pad(9, fill=70), T.RandomCrop((24, 22))], SIZES, 1),
    "resized crop, padded": ([T.RandomResizedCrop((9, 12)), T.Pad((2, 0, 5, 4), fill=(9, 1, 50)), *FLIPS], SIZES, 1),
    # Images that have to be padded first need one more batch.
    "centre": ([T.CenterCrop((15, 12)), T.RandomRotation(20)], SIZES, 2),
    "crop, padded if needed": ([T.RandomCrop((15, 12), pad_if_needed=True)], SIZES, 2),
    # No size in common, or one only after several passes: a batch for each size.
    "flips": (FLIPS, SIZES, 8),
    "jitter, crop": ([JITTER, T.RandomCrop(12)], CROPPABLE, 5),
    "antialiased resize by a side, reflected": (
        [T.Resize(12), T.Pad(2, padding_mode="reflect"), T.CenterCrop(10)],
        SIZES,
        8,
    ),
}


def ragged_images(backend, sizes, dtype="uint8", channels=3, seed=0):
    """Images of these sizes: contiguous, or views of larger images, some with gaps; torch's views are channels last."""
    images = []
    for i, (h, w) in enumerate(sizes):
        padded = noise((h + 2, 2 * w + 3, channels), dtype, seed=seed + i)
        views = [padded[1:-1, 3 : 3 + w], padded[1:-1, 1 : 1 + 2 * w : 2], padded[2:, :w]]
        pixels = put(padded, backend) if backend[0] in ("torch", "cupy") else padded
        view = [pixels[1:-1, 3 : 3 + w], pixels[1:-1, 1 : 1 + 2 * w : 2], pixels[2:, :w]][i % 3]
        assert np.array_equal(to_numpy(view), views[i % 3])
        channels_first = backend[0] == "torch"
        if i % 2:
            view = put(
                np.ascontiguousarray(views[i % 3].transpose(2, 0, 1) if channels_first else views[i % 3]), backend
            )
        elif channels_first:
            view = view.permute(2, 0, 1)
        images.append(put(to_numpy(view), backend) if backend[0] == "jax" else view)
    return images
