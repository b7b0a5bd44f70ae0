"""``TransformRow.functions`` of the transforms: calls of cuaug's functions, with drawn parameters.

A function takes the transform ``t``, the batch, the drawn parameters ``p`` by name [N], and ``options`` of the calls.
"""

import numpy as np
from helpers.compare import is_integer
from helpers.transforms import one_by_one

import cuaug
from cuaug._fusion.recipe_ops import Blend, Branch
from cuaug.transforms.transform import Transform
from tables.draws import uniform_field
from tables.filter_reference import gaussian_blur


class InvertFlipBlend(Transform):
    """The image, blended with its inverse and with its vertical flip: two branches, of any dtype."""

    def write(self, recipe):
        weights = [recipe.uniform(name, 0.1, 0.9, 1.0) for name in ("original", "inverted")]
        recipe.add(Branch(is_first=True))
        recipe.add_pointwise("Invert")
        recipe.add(Branch(is_first=False))
        recipe.add_flip(recipe.constant("flip", 1.0, 0.0), "y")
        recipe.add(Blend(weights))


def invert_flip_blend(t, images, p, options):
    """The blend in float64; integers are rounded once."""
    original, inverted = (p[name].reshape(-1, *(1,) * (images.ndim - 1)) for name in ("original", "inverted"))
    branches = inverted * cuaug.invert(images, **options) + (1 - inverted) * cuaug.vflip(images, **options)
    total = (1 - original) * branches + original * images.astype(np.float64)
    return (np.rint(total) if is_integer(str(images.dtype)) else total).astype(images.dtype)


def crop(t, images, p, options):
    if t.padding is not None:
        images = cuaug.pad(images, t.padding, t.fill, t.padding_mode, **options)
    if t.pad_if_needed:
        size = (images.shape[options["layout"].index(axis)] for axis in "HW")
        rows, columns = (max(0, minimum - extent) for minimum, extent in zip(t.size, size, strict=True))
        images = cuaug.pad(images, (columns, rows), t.fill, t.padding_mode, **options)
    return cuaug.crop(images, p["top"], p["left"], *t.size, **options)


def resized_crop(t, images, p, options):
    box = (p[name] for name in ("top", "left", "height", "width"))
    return cuaug.resized_crop(images, *box, t.size, t.interpolation, t.antialias, **options)


def affine(t, images, p, options):
    shift, shear = (np.stack([p[f"{name}_x"], p[f"{name}_y"]], -1) for name in ("translate", "shear"))
    return cuaug.affine(images, p["angle"], shift, p["scale"], shear, t.interpolation, t.fill, t.center, **options)


def rotate(t, images, p, options):
    return cuaug.rotate(images, p["angle"], t.interpolation, False, t.center, t.fill, **options)


def perspective(t, images, p, options):
    """Corners move inwards: the right ones to the left, the lower ones upwards."""
    height, width = (images.shape[options["layout"].index(axis)] for axis in "HW")
    start = np.array([[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]], float)
    inwards = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    names = [[f"{c}_{axis}" for axis in "xy"] for c in ("top_left", "top_right", "bottom_right", "bottom_left")]
    steps = np.stack([[p[x], p[y]] for x, y in names]).transpose(2, 0, 1)
    return cuaug.perspective(images, start, start + inwards * steps, t.interpolation, t.fill, **options)


def elastic(t, images, p, options):
    """The displacement field is computed in float64 from the drawn key: smoothed noise, in half widths and heights."""
    size = tuple(images.shape[options["layout"].index(axis)] for axis in "HW")
    window = [int(8 * sigma + 1) // 2 * 2 + 1 for sigma in t.sigma]
    halves = np.array([size[1], size[0]]) / 2
    fields = []
    for n in range(len(images)):
        key = [sum(int(p[f"{name}_{i}"][n]) << 24 * i for i in range(k)) for name, k in KEY_PARTS]
        noise = uniform_field(*key, int(p["position"][n]), size)
        field = gaussian_blur(noise, window, t.sigma, max_value=1) if any(t.sigma) else noise
        fields.append(field * [p["amplitude_x"][n], p["amplitude_y"][n]] / halves)
    return cuaug.elastic(images, np.reshape(fields, (-1, *size, 2)), t.interpolation, t.fill, **options)


# The key of the noise, drawn in parts of 24 bits, the lowest first: name and number of parts.
KEY_PARTS = ("seed", 3), ("step", 2), ("id", 2)


def color_jitter(t, images, p, options):
    """Each sample in its own order."""
    about = {"about": t.contrast_about} if getattr(t, "contrast_about", None) else {}
    functions = [
        lambda image, n: cuaug.adjust_brightness(image, float(p["brightness_factor"][n]), **options),
        lambda image, n: cuaug.adjust_contrast(image, float(p["contrast_factor"][n]), **about, **options),
        lambda image, n: cuaug.adjust_saturation(image, float(p["saturation_factor"][n]), **options),
        lambda image, n: cuaug.adjust_hue(image, float(p["hue_factor"][n]), **options),
    ]
    for i, (name, identity) in enumerate({"brightness": 1, "contrast": 1, "saturation": 1, "hue": 0}.items()):
        if getattr(t, name) == (identity, identity):
            functions[i] = lambda image, n: image

    def jittered(image, n):
        for step in range(4):
            image = functions[int(p[f"order_{step}"][n])](image, n)
        return image

    return one_by_one(images, jittered)


def photometric_distort(t, images, p, options):
    return permute_channels(t, color_jitter(t, images, p, options), p, options)


def permute_channels(t, images, p, options):
    permutation = np.stack([p[name] for name in sorted(p) if name.startswith("permutation_")], -1)
    return cuaug.permute_channels(images, permutation, **options)


def for_chosen_samples(is_chosen, function):
    """``TransformRow.functions`` of a transform that applies ``function(t, image, **options)`` to some samples.

    ``is_chosen(t, p)`` is true for these samples. [N]
    """

    def functions(t, images, p, options):
        chosen = is_chosen(t, p)
        return one_by_one(images, lambda image, n: function(t, image, **options) if chosen[n] else image)

    return functions
