"""A recipe as a sequence of function calls with its drawn parameters: the oracle of the laws of recipes."""

import numpy as np
from helpers.compare import is_integer

import cuaug
from cuaug._fusion.recipe_ops import Blend, Branch
from cuaug.transforms.transform import Transform
from tables.draws import uniform_field
from tables.filter_reference import gaussian_blur


class InvertFlipBlend(Transform):
    """The image, blended with its inverse and with its vertical flip: two branches, of any dtype."""

    def write(self, recipe):
        weights = [recipe.uniform(name, 0.1, 0.9, 1.0) for name in ("original", "inverted")]
        recipe.add(Branch(first=True))
        recipe.add_pointwise("Invert")
        recipe.add(Branch(first=False))
        recipe.add_flip(recipe.constant("flip", 1.0, 0.0), "y")
        recipe.add(Blend(weights))


def invert_flip_blend(t, images, p, options):
    """The blend in float64; integers are rounded once."""
    original, inverted = (p[name].reshape(-1, *(1,) * (images.ndim - 1)) for name in ("original", "inverted"))
    branches = inverted * cuaug.invert(images, **options) + (1 - inverted) * cuaug.vflip(images, **options)
    total = (1 - original) * branches + original * images.astype(np.float64)
    return (np.rint(total) if is_integer(str(images.dtype)) else total).astype(images.dtype)


def one_by_one(recipe, dtype, images, params, layout):
    """The functions in the user's order, each on the result of the one before."""
    drawn = {name: np.array(values) for name, values in params.to_dict()["drawn"].items()}
    for position, transform in enumerate(recipe.transforms(dtype)):
        prefix = f"{position}.{type(transform).__name__}."
        parameters = {name.removeprefix(prefix): v for name, v in drawn.items() if name.startswith(prefix)}
        images = FUNCTIONS[type(transform).__name__](transform, images, parameters, {"layout": layout})
    return images


def flags(values):
    return values != 0


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
    return cuaug.rotate(images, -p["angle"], t.interpolation, False, t.center, t.fill, **options)


def perspective(t, images, p, options):
    """Corners move inwards: the right ones to the left, the lower ones upwards."""
    height, width = (images.shape[options["layout"].index(axis)] for axis in "HW")
    start = np.array([[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]], float)
    inwards = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    names = [[f"{c}_{axis}" for axis in "xy"] for c in ("top_left", "top_right", "bottom_right", "bottom_left")]
    steps = np.stack([[p[x], p[y]] for x, y in names]).transpose(2, 0, 1)
    return cuaug.perspective(images, start, start + inwards * steps, t.interpolation, t.fill, **options)


def elastic(t, images, p, options):
    """A displacement field in float64 from the drawn words: smoothed noise, in half widths and half heights."""
    size = tuple(images.shape[options["layout"].index(axis)] for axis in "HW")
    window = [int(8 * sigma + 1) // 2 * 2 + 1 for sigma in t.sigma]
    halves = np.array([size[1], size[0]]) / 2
    fields = []
    for n in range(len(images)):
        words = [sum(int(p[f"{name}_{i}"][n]) << 24 * i for i in range(k)) for name, k in WORDS]
        noise = uniform_field(*words, int(p["position"][n]), size)
        field = gaussian_blur(noise, window, t.sigma, max_value=1) if any(t.sigma) else noise
        fields.append(field * [p["reach_x"][n], p["reach_y"][n]] / halves)
    return cuaug.elastic(images, np.reshape(fields, (-1, *size, 2)), t.interpolation, t.fill, **options)


# Drawn numbers of 64 and 48 bits, in parts of 24 bits, the lowest first: name and number of parts.
WORDS = ("seed", 3), ("step", 2), ("id", 2)


def color_jitter(t, images, p, options):
    """Each sample in its own order."""
    about = {} if t.contrast_about is None else {"about": t.contrast_about}
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

    return apply_to_each(jittered, images)


def where_flagged(function, flag):
    return lambda image, n: function(image) if flag[n] else image


def apply_to_each(function, images):
    """Apply ``function(sample, n)`` to one sample at a time."""
    if not len(images):
        return images
    results = [function(images[n : n + 1], n) for n in range(len(images))]
    if type(images).__module__.partition(".")[0] == "torch":
        import torch

        return torch.cat(results)
    return np.concatenate(results)


# Functions of a transform, a batch, the drawn parameters of the transform by name, and options (the layout).
FUNCTIONS = {
    "RandomHorizontalFlip": lambda t, images, p, options: cuaug.hflip(images, flags(p["flip"]), **options),
    "RandomVerticalFlip": lambda t, images, p, options: cuaug.vflip(images, flags(p["flip"]), **options),
    "RandomResizedCrop": resized_crop,
    "Resize": lambda t, images, p, options: cuaug.resize(
        images, t.size, t.interpolation, t.max_size, t.antialias, **options
    ),
    "CenterCrop": lambda t, images, p, options: cuaug.center_crop(images, t.size, **options),
    "Pad": lambda t, images, p, options: cuaug.pad(images, t.padding, t.fill, t.padding_mode, **options),
    "RandomCrop": crop,
    "RandomAffine": affine,
    "RandomRotation": rotate,
    "RandomPerspective": perspective,
    "ElasticTransform": elastic,
    "InvertFlipBlend": invert_flip_blend,
    "ColorJitter": color_jitter,
    "RandomGrayscale": lambda t, images, p, options: apply_to_each(
        where_flagged(lambda image: cuaug.rgb_to_grayscale(image, 3, **options), flags(p["grey"])), images
    ),
    "RandomInvert": lambda t, images, p, options: apply_to_each(
        where_flagged(lambda image: cuaug.invert(image, **options), p["threshold"] < 0), images
    ),
    "RandomSolarize": lambda t, images, p, options: cuaug.solarize(images, p["threshold"], **options),
    "RandomPosterize": lambda t, images, p, options: apply_to_each(
        where_flagged(lambda image: cuaug.posterize(image, t.bits, **options), p["bits"] == t.bits), images
    ),
    "RandomErasing": lambda t, images, p, options: cuaug.erase(
        images, *(p[name] for name in "ijhw"), t.value, **options
    ),
    "Normalize": lambda t, images, p, options: cuaug.normalize(images, t.mean, t.std, **options),
    "ToDtype": lambda t, images, p, options: cuaug.to_dtype(images, t.dtype, t.scale, **options),
    "GaussianBlur": lambda t, images, p, options: cuaug.gaussian_blur(images, t.kernel_size, p["sigma"], **options),
}
