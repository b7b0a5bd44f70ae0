"""The table of recipes, and what each is as a sequence of function calls with what it drew.

Levels (a fill, a threshold) are in 0..1 here, and in the images' own range in calls.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
from helpers.arrays import max_value
from helpers.compare import Tolerance, is_integer

import cuaug
from cuaug import transforms as T
from cuaug._fusion.recipe_ops import Blend, Branch
from cuaug.transforms.transform import Transform
from tables.draws import uniform_field
from tables.filter_reference import gaussian_blur


@dataclasses.dataclass(frozen=True)
class Case:
    """``make(level)`` is the list of transforms; ``level`` takes 0..1 to the range of the images."""

    name: str
    make: Callable
    channels: tuple = (3,)
    levels: float = 0.0  # that bytes may be off, a rounding between any two functions being done once here
    exact: float = 0.0  # share of bytes that are the same
    shares: float = 2e-5  # of the range, that floats may be off
    dtypes: tuple = ("uint8", "float16", "float32")
    apart: float = 1.0  # how many levels, or 2e-5 of the range, two devices may be apart
    reason: str = ""

    def __str__(self):
        return self.name

    def transforms(self, dtype):
        top = max_value(dtype)
        return self.make(lambda share: float(np.rint(share * top)) if is_integer(dtype) else share * top)

    def compose(self, dtype, seed=11):
        return T.Compose(self.transforms(dtype), seed=seed)

    def tolerance(self, dtype):
        """Of a result of this dtype."""
        if is_integer(dtype):
            return Tolerance(absolute=self.levels, exact=self.exact, reason=self.reason)
        return Tolerance(absolute=self.shares, relative=self.shares, reason=self.reason)

    def between_devices(self, dtype, source):
        """Of a result of this dtype, from images of another."""
        tie = "what is nearly a tie may be rounded either way"
        if is_integer(dtype):
            return Tolerance(absolute=self.apart, exact=0.97, reason=tie)
        if is_integer(source):
            return Tolerance(absolute=1.01 * self.apart / max_value(source), reason=tie + ", and then multiplied")
        near = {"float16": 2e-3, "float32": 2e-5}[dtype] * self.apart
        return Tolerance(absolute=near, relative=near, reason="the dtype's rounding, after what the ops multiply by")


class Inverted(Transform):
    """The image, blended with itself inverted and with itself upside down: branches, of any dtype."""

    def write(self, recipe):
        shares = [recipe.uniform(name, 0.1, 0.9, 1.0) for name in ("own", "inverted")]
        recipe.add(Branch(first=True))
        recipe.add_pointwise("Invert")
        recipe.add(Branch(first=False))
        recipe.add_flip(recipe.constant("flip", 1.0, 0.0), "y")
        recipe.add(Blend(shares))


def inverted(t, images, p, how):
    """In float64, of which integers are rounded once."""
    own, other = (share.reshape(-1, *(1,) * (images.ndim - 1)) for share in (p["own"], p["inverted"]))
    real = images.astype(np.float64)
    total = (1 - own) * (other * cuaug.invert(images, **how) + (1 - other) * cuaug.vflip(images, **how)) + own * real
    return (np.rint(total) if is_integer(str(images.dtype)) else total).astype(images.dtype)


def one_by_one(case, dtype, images, params, layout):
    """The functions in the user's order, each on the result of the one before."""
    drawn = {name: np.array(values) for name, values in params.to_dict()["drawn"].items()}
    for position, transform in enumerate(case.transforms(dtype)):
        prefix = f"{position}.{type(transform).__name__}."
        own = {name.removeprefix(prefix): v for name, v in drawn.items() if name.startswith(prefix)}
        images = FUNCTIONS[type(transform).__name__](transform, images, own, {"layout": layout})
    return images


def flags(values):
    return values != 0


def crop(t, images, p, how):
    if t.padding is not None:
        images = cuaug.pad(images, t.padding, t.fill, t.padding_mode, **how)
    if t.pad_if_needed:
        size = (images.shape[how["layout"].index(axis)] for axis in "HW")
        down, across = (max(0, want - have) for want, have in zip(t.size, size, strict=True))
        images = cuaug.pad(images, (across, down), t.fill, t.padding_mode, **how)
    return cuaug.crop(images, p["top"], p["left"], *t.size, **how)


def resized_crop(t, images, p, how):
    box = (p[name] for name in ("top", "left", "height", "width"))
    return cuaug.resized_crop(images, *box, t.size, t.interpolation, t.antialias, **how)


def affine(t, images, p, how):
    shift, shear = (np.stack([p[f"{name}_x"], p[f"{name}_y"]], -1) for name in ("translate", "shear"))
    return cuaug.affine(images, p["angle"], shift, p["scale"], shear, t.interpolation, t.fill, t.center, **how)


def rotate(t, images, p, how):
    return cuaug.rotate(images, -p["angle"], t.interpolation, False, t.center, t.fill, **how)


def perspective(t, images, p, how):
    """Corners move inwards: those on the right to the left, those below upwards."""
    height, width = (images.shape[how["layout"].index(axis)] for axis in "HW")
    start = np.array([[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]], float)
    inwards = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    names = [[f"{c}_{axis}" for axis in "xy"] for c in ("top_left", "top_right", "bottom_right", "bottom_left")]
    steps = np.stack([[p[x], p[y]] for x, y in names]).transpose(2, 0, 1)
    return cuaug.perspective(images, start, start + inwards * steps, t.interpolation, t.fill, **how)


def elastic(t, images, p, how):
    """A field in float64 from the words that were drawn: noise, smoothed, in halves of the canvas."""
    size = tuple(images.shape[how["layout"].index(axis)] for axis in "HW")
    window = [int(8 * sigma + 1) // 2 * 2 + 1 for sigma in t.sigma]
    halves = np.array([size[1], size[0]]) / 2
    fields = []
    for n in range(len(images)):
        words = [sum(int(p[f"{name}_{i}"][n]) << 24 * i for i in range(k)) for name, k in WORDS]
        noise = uniform_field(*words, int(p["position"][n]), size)
        field = gaussian_blur(noise, window, t.sigma, max_value=1) if any(t.sigma) else noise
        fields.append(field * [p["reach_x"][n], p["reach_y"][n]] / halves)
    return cuaug.elastic(images, np.reshape(fields, (-1, *size, 2)), t.interpolation, t.fill, **how)


WORDS = ("seed", 3), ("step", 2), ("id", 2)


def color_jitter(t, images, p, how):
    """Each sample in its own order."""
    about = {} if t.contrast_about is None else {"about": t.contrast_about}
    functions = [
        lambda image, n: cuaug.adjust_brightness(image, float(p["brightness_factor"][n]), **how),
        lambda image, n: cuaug.adjust_contrast(image, float(p["contrast_factor"][n]), **about, **how),
        lambda image, n: cuaug.adjust_saturation(image, float(p["saturation_factor"][n]), **how),
        lambda image, n: cuaug.adjust_hue(image, float(p["hue_factor"][n]), **how),
    ]
    for i, (name, still) in enumerate({"brightness": 1, "contrast": 1, "saturation": 1, "hue": 0}.items()):
        if getattr(t, name) == (still, still):
            functions[i] = lambda image, n: image

    def jittered(image, n):
        for step in range(4):
            image = functions[int(p[f"order_{step}"][n])](image, n)
        return image

    return of_each(jittered, images)


def only(function, flag):
    return lambda image, n: function(image) if flag[n] else image


def of_each(function, images):
    """Of one sample at a time."""
    if not len(images):
        return images
    made = [function(images[n : n + 1], n) for n in range(len(images))]
    if type(images).__module__.partition(".")[0] == "torch":
        import torch

        return torch.cat(made)
    return np.concatenate(made)


FUNCTIONS = {
    "RandomHorizontalFlip": lambda t, images, p, how: cuaug.hflip(images, flags(p["flip"]), **how),
    "RandomVerticalFlip": lambda t, images, p, how: cuaug.vflip(images, flags(p["flip"]), **how),
    "RandomResizedCrop": resized_crop,
    "Resize": lambda t, images, p, how: cuaug.resize(images, t.size, t.interpolation, t.max_size, t.antialias, **how),
    "CenterCrop": lambda t, images, p, how: cuaug.center_crop(images, t.size, **how),
    "Pad": lambda t, images, p, how: cuaug.pad(images, t.padding, t.fill, t.padding_mode, **how),
    "RandomCrop": crop,
    "RandomAffine": affine,
    "RandomRotation": rotate,
    "RandomPerspective": perspective,
    "ElasticTransform": elastic,
    "Inverted": inverted,
    "ColorJitter": color_jitter,
    "RandomGrayscale": lambda t, images, p, how: of_each(
        only(lambda image: cuaug.rgb_to_grayscale(image, 3, **how), flags(p["grey"])), images
    ),
    "RandomInvert": lambda t, images, p, how: of_each(
        only(lambda image: cuaug.invert(image, **how), p["threshold"] < 0), images
    ),
    "RandomSolarize": lambda t, images, p, how: cuaug.solarize(images, p["threshold"], **how),
    "RandomPosterize": lambda t, images, p, how: of_each(
        only(lambda image: cuaug.posterize(image, t.bits, **how), p["bits"] == t.bits), images
    ),
    "RandomErasing": lambda t, images, p, how: cuaug.erase(images, *(p[name] for name in "ijhw"), t.value, **how),
    "Normalize": lambda t, images, p, how: cuaug.normalize(images, t.mean, t.std, **how),
    "ToDtype": lambda t, images, p, how: cuaug.to_dtype(images, t.dtype, t.scale, **how),
    "GaussianBlur": lambda t, images, p, how: cuaug.gaussian_blur(images, t.kernel_size, p["sigma"], **how),
}

FLIPS = T.RandomHorizontalFlip(), T.RandomVerticalFlip()
JITTER = T.ColorJitter(0.4, 0.4, 0.4, 0.1)
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
TURN = {"interpolation": "bilinear"}
EVERY = (1, 3, 4)
WHOLE = {"levels": 0.0, "exact": 1.0, "shares": 0.0, "reason": "whole pixels are moved"}
ONCE = {"levels": 1.0, "exact": 0.9, "reason": "one resample, whose coordinates are carried through other ops"}
MOVED = {
    "levels": 1.0,
    "exact": 0.9,
    "shares": 1e-4,
    "reason": "coordinates carried back through several ops in float32",
}

CASES = [
    Case("nothing", lambda v: [], EVERY, **WHOLE),
    Case("flips", lambda v: [*FLIPS], EVERY, **WHOLE),
    Case("many-flips", lambda v: [*FLIPS, *FLIPS, T.RandomHorizontalFlip()], EVERY, **WHOLE),
    Case("crop", lambda v: [T.RandomCrop((9, 7))], EVERY, **WHOLE),
    Case("padded-crop-flip", lambda v: [T.RandomCrop((15, 9), padding=4, fill=v(0.3)), *FLIPS], EVERY, **WHOLE),
    Case("crop-larger-than-image", lambda v: [T.RandomCrop((20, 9), pad_if_needed=True, fill=v(0.7))], EVERY, **WHOLE),
    Case("crop-crop", lambda v: [T.RandomCrop((12, 9)), T.RandomCrop((5, 4))], EVERY, **WHOLE),
    Case("pad-pad", lambda v: [T.Pad(2, v(0.2)), T.Pad((1, 2, 3, 4), v(0.9))], EVERY, **WHOLE),
    Case("pad-edge-pad", lambda v: [T.Pad(2, v(0.2)), T.Pad((1, 2, 3, 4), padding_mode="edge")], EVERY, **WHOLE),
    Case("crop-pad", lambda v: [T.RandomCrop((9, 7)), T.Pad(3, v(0.4))], EVERY, **WHOLE),
    Case("crop-pad-wrap", lambda v: [T.RandomCrop((9, 7)), T.Pad(3, padding_mode="wrap")], EVERY, **WHOLE),
    Case(
        "flip-crop-pad-symmetric",
        lambda v: [*FLIPS, T.RandomCrop((9, 7)), T.Pad(3, padding_mode="symmetric")],
        EVERY,
        **WHOLE,
    ),
    Case(
        "pad-reflect-crop-flips",
        lambda v: [T.Pad(3, padding_mode="reflect"), T.RandomCrop((15, 13)), *FLIPS],
        EVERY,
        **WHOLE,
    ),
    Case("pad-centre-crop", lambda v: [T.Pad(2, v(0.5)), T.CenterCrop((14, 20))], EVERY, **WHOLE),
    Case(
        "centre-crop-rotation",
        lambda v: [T.CenterCrop((9, 20)), T.RandomRotation(40, fill=v(0.6), **TURN)],
        EVERY,
        **MOVED,
    ),
    Case(
        "padded-crop-rotation",
        lambda v: [T.RandomCrop((15, 9), padding=3, fill=v(0.1)), T.RandomRotation(40, fill=v(0.6), **TURN)],
        EVERY,
        **MOVED,
    ),
    Case("crop-rotation", lambda v: [T.RandomCrop((11, 9)), T.RandomRotation(80, fill=v(0.6), **TURN)], EVERY, **MOVED),
    Case(
        "crop-flip-rotation",
        lambda v: [T.RandomCrop((11, 9)), *FLIPS, T.RandomRotation(80, fill=v(0.6), **TURN)],
        EVERY,
        **MOVED,
    ),
    Case(
        "flip-crop-rotation",
        lambda v: [*FLIPS, T.RandomCrop((11, 9)), T.RandomRotation(80, fill=v(0.6), **TURN)],
        EVERY,
        **MOVED,
    ),
    Case(
        "crop-crop-rotation",
        lambda v: [T.RandomCrop((13, 9)), T.RandomCrop((7, 8)), T.RandomRotation(80, fill=v(0.6), **TURN)],
        EVERY,
        **MOVED,
    ),
    Case(
        "rotation-crop-flip",
        lambda v: [T.RandomRotation(80, fill=v(0.6), **TURN), T.RandomCrop((9, 7)), *FLIPS],
        EVERY,
        **MOVED,
    ),
    Case(
        "rotation-pad-crop",
        lambda v: [T.RandomRotation(80, fill=v(0.6), **TURN), T.RandomCrop((19, 13), padding=2, fill=v(0.3))],
        EVERY,
        **MOVED,
    ),
    Case(
        "rotation-affine",
        lambda v: [
            T.RandomRotation(30, fill=v(0.2), **TURN),
            T.RandomAffine(30, (0.2, 0.1), (0.7, 1.4), 10, fill=v(0.8), **TURN),
        ],
        EVERY,
        **MOVED,
    ),
    Case(
        "affine-resized-crop",
        lambda v: [
            T.RandomAffine(30, (0.2, 0.1), (0.7, 1.4), 10, fill=v(0.8), **TURN),
            T.RandomResizedCrop((9, 8), antialias=False),
        ],
        EVERY,
        **MOVED,
    ),
    Case(
        "resized-crop-affine",
        lambda v: [
            T.RandomResizedCrop((9, 8), antialias=False),
            T.RandomAffine(30, (0.2, 0.1), (0.7, 1.4), 10, fill=v(0.8), **TURN),
        ],
        EVERY,
        **MOVED,
    ),
    Case(
        "affine-about-a-point",
        lambda v: [T.RandomAffine((5, 50), (0.2, 0.1), (0.7, 1.4), (-9, 9, 4, 8), fill=v(0.8), center=(2, 9), **TURN)],
        EVERY,
        **MOVED,
    ),
    Case(
        "flip-resized-crop-flip",
        lambda v: [*FLIPS, T.RandomResizedCrop((9, 8), antialias=False), *FLIPS],
        EVERY,
        **MOVED,
    ),
    Case(
        "resized-crop-crop",
        lambda v: [T.RandomResizedCrop((12, 13), antialias=False), T.RandomCrop((9, 8))],
        EVERY,
        **MOVED,
    ),
    Case(
        "crop-resized-crop",
        lambda v: [T.RandomCrop((12, 9)), T.RandomResizedCrop((9, 8), antialias=False)],
        EVERY,
        **MOVED,
    ),
    Case(
        "pad-resized-crop", lambda v: [T.Pad(3, v(0.9)), T.RandomResizedCrop((9, 8), antialias=False)], EVERY, **MOVED
    ),
    Case(
        "resized-crop-pad", lambda v: [T.RandomResizedCrop((9, 8), antialias=False), T.Pad(3, v(0.9))], EVERY, **MOVED
    ),
    # To 16 pixels from fewer than 32, so that no centre lies between two pixels.
    Case(
        "nearest-resized-crop-flip",
        lambda v: [T.RandomResizedCrop(16, interpolation="nearest"), *FLIPS],
        EVERY,
        **WHOLE,
    ),
    Case("perspective-flip", lambda v: [T.RandomPerspective(0.5, 0.7, fill=v(0.4)), *FLIPS], EVERY, **MOVED),
    Case(
        "crop-perspective",
        lambda v: [T.RandomCrop((15, 9)), T.RandomPerspective(0.5, 1.0, fill=v(0.4))],
        EVERY,
        **MOVED,
    ),
    Case(
        "perspective-rotation",
        lambda v: [T.RandomPerspective(0.5, 0.7, fill=v(0.4)), T.RandomRotation(30, **TURN)],
        EVERY,
        **MOVED,
    ),
    Case("elastic", lambda v: [T.ElasticTransform(90.0, 2.0, fill=v(0.4))], EVERY, **MOVED),
    Case(
        "elastic-nearest",
        lambda v: [T.ElasticTransform((5.0, 9.0), 0.0, "nearest", v(0.4))],
        EVERY,
        **WHOLE,
    ),
    Case(
        "flips-elastic-rotation",
        lambda v: [*FLIPS, T.ElasticTransform((200.0, 70.0), (3.0, 1.2)), T.RandomRotation(30, **TURN)],
        EVERY,
        **MOVED,
    ),
    Case(
        "elastic-jitter-normalize",
        lambda v: [
            T.ElasticTransform(90.0, 2.0, fill=v(0.4)),
            JITTER,
            T.ToDtype("float32", scale=True),
            T.Normalize(MEAN, STD),
        ],
        shares=2e-3,
        dtypes=("float32",),
        apart=8,
        reason="coordinates in float32, divided by 0.22 after a contrast of 1.4",
    ),
    Case(
        "blend-crop-blend",
        lambda v: [Inverted(), T.RandomCrop((15, 9), padding=3, fill=v(0.1)), Inverted()],
        (1, 3, 4, 5),
        levels=1,
        exact=0.99,
        dtypes=("uint8", "uint16", "float16", "float32"),
        reason="a sum of three products in float32, a tie of which may be rounded either way",
    ),
    Case("resize-centre-crop", lambda v: [T.Resize(14), T.CenterCrop(12)], EVERY, **ONCE),
    Case(
        "plain-resize-centre-crop", lambda v: [T.Resize(14, antialias=False), T.CenterCrop(12), *FLIPS], EVERY, **MOVED
    ),
    Case("bicubic-resize-flip", lambda v: [T.Resize((9, 20), "bicubic"), *FLIPS], EVERY, **ONCE),
    Case("antialiased-crop-flips", lambda v: [T.RandomResizedCrop((9, 8)), *FLIPS], EVERY, **ONCE),
    Case(
        "flips-antialiased-crop",
        lambda v: [*FLIPS, T.RandomResizedCrop((9, 8)), T.RandomHorizontalFlip(), *FLIPS],
        EVERY,
        **ONCE,
    ),
    Case("blur-flip-blur", lambda v: [T.GaussianBlur(3), *FLIPS, T.GaussianBlur((5, 3), (0.5, 2.0))], EVERY, **ONCE),
    # A mean of what other ops have made, and two of them in one pass.
    Case(
        "invert-jitter",
        lambda v: [T.RandomInvert(), JITTER],
        levels=5,
        exact=0.3,
        reason="four roundings, each up to 1.4 times the last, are one",
    ),
    Case(
        "jitter-jitter",
        lambda v: [JITTER, T.ColorJitter(contrast=0.5)],
        levels=8,
        exact=0.15,
        shares=1e-4,
        reason="five roundings, each up to 1.5 times the last, are one",
    ),
    Case(
        "crop-erase-jitter",
        lambda v: [T.RandomCrop((12, 9)), T.RandomErasing(0.9, value=v(0.9)), T.RandomGrayscale(0.5), JITTER],
        levels=6,
        exact=0.2,
        shares=1e-4,
        reason="five roundings are two",
    ),
    Case(
        "blur-to-floats",
        lambda v: [*FLIPS, T.GaussianBlur(3), T.ToDtype("float32", scale=True)],
        EVERY,
        shares=2.1e-3,
        dtypes=("uint8", "float32"),
        reason="half a level, where the functions round what is blurred",
    ),
    Case(
        "blur-to-half-and-on",
        lambda v: [T.GaussianBlur(3), T.ToDtype("float16", scale=True), T.Normalize(MEAN, STD)],
        shares=2e-2,
        dtypes=("uint8",),
        apart=4,
        reason="half a level, divided by 0.22",
    ),
    Case(
        "blur-to-bytes-and-back",
        lambda v: [T.GaussianBlur(3), T.ToDtype("uint8", scale=True), T.ToDtype("float32", scale=True)],
        EVERY,
        shares=4e-3,
        dtypes=("float32",),
        apart=200,
        reason="what is nearly a tie may be a level off",
    ),
    Case(
        "jitter",
        lambda v: [JITTER],
        (1, 3),
        levels=5,
        exact=0.3,
        reason="four roundings, each up to 1.4 times the last, are one",
    ),
    Case(
        "jitter-about",
        lambda v: [T.ColorJitter(0.4, 0.4, contrast_about=v(0.5))],
        (1, 2, 4, 5, 3),
        levels=3,
        exact=0.3,
        reason="two roundings are one",
    ),
    Case(
        "jitter-without-contrast",
        lambda v: [T.ColorJitter(0.4, 0, 0.4, 0.1)],
        levels=5,
        exact=0.3,
        reason="three roundings are one",
    ),
    Case(
        "imagenet",
        lambda v: [
            T.RandomResizedCrop((9, 8), antialias=False),
            T.RandomHorizontalFlip(),
            JITTER,
            T.RandomGrayscale(0.4),
            T.ToDtype("float32", scale=True),
            T.Normalize(MEAN, STD),
        ],
        shares=5e-4,
        dtypes=("float32",),
        apart=8,
        reason="coordinates in float32, divided by 0.22 after a contrast of 1.4",
    ),
    Case(
        "imagenet-of-bytes",
        lambda v: [
            T.RandomResizedCrop((9, 8), antialias=False),
            T.RandomHorizontalFlip(),
            T.ToDtype("float32", scale=True),
            T.Normalize(MEAN, STD),
        ],
        shares=2.5e-2,
        dtypes=("uint8",),
        apart=5,
        reason="a level of 1/255, divided by 0.22, where the functions round the crop",
    ),
    Case(
        "antialiased-recipe",
        lambda v: [T.RandomResizedCrop((9, 8)), *FLIPS, JITTER, T.GaussianBlur(3)],
        levels=5,
        exact=0.2,
        shares=1e-4,
        reason="five roundings are two",
    ),
    Case(
        "crop-invert-jitter-jitter",
        lambda v: [T.RandomCrop((12, 9)), T.RandomInvert(), JITTER, T.ColorJitter(contrast=0.5)],
        levels=8,
        exact=0.15,
        shares=1e-4,
        reason="six roundings, each up to 1.5 times the last, are two",
    ),
    Case(
        "crop-to-floats-jitter",
        lambda v: [T.RandomCrop((12, 9)), T.ToDtype("float32", scale=True), JITTER, T.RandomGrayscale(0.4)],
        shares=1e-4,
        dtypes=("uint8", "float16"),
        reason="nothing is rounded once it is float32",
    ),
    Case(
        "bicubic-crop-jitter",
        lambda v: [T.RandomResizedCrop((9, 8), interpolation="bicubic"), *FLIPS, JITTER, T.RandomGrayscale(0.4)],
        levels=6,
        exact=0.2,
        shares=1e-4,
        reason="five roundings are two",
    ),
    Case(
        "jitter-crop-jitter",
        lambda v: [JITTER, T.RandomCrop((9, 8)), T.ColorJitter(contrast=0.5)],
        levels=6,
        exact=0.2,
        shares=1e-4,
        reason="five roundings are two",
    ),
    Case(
        "grey-solarize-posterize",
        lambda v: [T.RandomGrayscale(0.5), T.RandomSolarize(v(0.5)), T.RandomPosterize(3)],
        levels=0,
        exact=1.0,
        dtypes=("uint8",),
        apart=32,
        reason="levels of bytes",
    ),
    Case("invert-solarize", lambda v: [T.RandomInvert(), T.RandomSolarize(v(0.3)), T.RandomInvert()], EVERY, **WHOLE),
    Case(
        "erase-rotation", lambda v: [T.RandomErasing(0.7, value=v(0.3)), T.RandomRotation(30, **TURN)], EVERY, **MOVED
    ),
    Case(
        "rotation-erase-invert",
        lambda v: [T.RandomRotation(30, **TURN), T.RandomErasing(0.7, value=v(0.3)), T.RandomInvert()],
        EVERY,
        **MOVED,
    ),
    Case(
        "normalize-erase",
        lambda v: [T.Normalize(0.4, 0.3), T.RandomErasing(0.7, value=-1.5)],
        EVERY,
        apart=4,
        reason="float32 arithmetic",
    ),
    Case(
        "erase-of-floats",
        lambda v: [T.ToDtype("float32", scale=True), T.RandomErasing(0.7, value=0.25)],
        EVERY,
        reason="float32 arithmetic",
    ),
    Case(
        "solarize-of-floats",
        lambda v: [T.ToDtype("float32", scale=True), T.RandomSolarize(0.4)],
        EVERY,
        reason="float32 arithmetic",
    ),
    Case(
        "posterize-of-floats",
        lambda v: [T.ToDtype("float32", scale=True), T.RandomInvert(), T.RandomPosterize(2)],
        EVERY,
        dtypes=("uint8",),
        reason="steps of floats",
    ),
    Case(
        "there-and-back",
        lambda v: [T.ToDtype("float32", scale=True), T.RandomInvert(), T.ToDtype("uint8", scale=True)],
        EVERY,
        levels=0,
        exact=1.0,
        dtypes=("uint8",),
        reason="255 times the largest value",
    ),
    Case(
        "there-and-back-unscaled",
        lambda v: [T.ToDtype("float32"), T.ToDtype("uint8")],
        EVERY,
        levels=0,
        exact=1.0,
        dtypes=("uint8",),
        reason="whole numbers",
    ),
    Case(
        "unscaled-then-scaled",
        lambda v: [T.ToDtype("float32"), T.ToDtype("uint8", scale=True)],
        EVERY,
        levels=0,
        exact=1.0,
        dtypes=("uint8",),
        reason="the largest value is 1 and all is above it",
    ),
    Case(
        "scaled-then-unscaled",
        lambda v: [T.ToDtype("float32", scale=True), T.ToDtype("uint8")],
        EVERY,
        levels=0,
        exact=1.0,
        reason="0 and 1",
    ),
    Case(
        "unscaled-normalize",
        lambda v: [T.ToDtype("float32"), T.Normalize(100.0, 50.0)],
        EVERY,
        dtypes=("uint8",),
        apart=1,
        reason="float32 arithmetic",
    ),
    Case(
        "unscaled-erase",
        lambda v: [T.ToDtype("float32"), T.RandomErasing(0.7, value=77.5)],
        EVERY,
        dtypes=("uint8",),
        reason="float32 arithmetic",
    ),
    Case(
        "crop-unscaled-rotation",
        lambda v: [T.RandomCrop((12, 9)), T.ToDtype("float32"), T.RandomRotation(30, fill=55.5, **TURN)],
        EVERY,
        shares=1e-4,
        dtypes=("uint8",),
        reason="coordinates in float32",
    ),
    Case(
        "through-bytes",
        lambda v: [T.ToDtype("uint8", scale=True), T.ToDtype("float32", scale=True), T.Normalize(MEAN, STD)],
        shares=2e-5,
        dtypes=("uint16", "float32"),
        apart=200,
        reason="float32 arithmetic",
    ),
    Case(
        "through-bytes-unscaled",
        lambda v: [T.Normalize(0.4, 0.1), T.ToDtype("uint8"), T.ToDtype("float32")],
        EVERY,
        shares=0.0,
        dtypes=("uint16", "float32"),
        reason="whole numbers",
    ),
    Case(
        "to-half-and-on",
        lambda v: [T.ToDtype("float16"), T.RandomErasing(1.0, value=0.25), T.ToDtype("float32")],
        EVERY,
        shares=5e-4,
        dtypes=("float32",),
        reason="half precision, which one pass does not go through",
    ),
    Case(
        "unscaled-jitter",
        lambda v: [T.ToDtype("float32"), JITTER],
        (1, 3),
        dtypes=("uint8",),
        reason="float32 arithmetic",
    ),
    Case(
        "jitter-unscaled",
        lambda v: [JITTER, T.ToDtype("float32")],
        (1, 3),
        shares=5.0,
        dtypes=("uint8",),
        apart=255,
        reason="levels; four roundings, each up to 1.4 times the last, are none",
    ),
    Case(
        "resize-perspective-resize",
        lambda v: [T.Resize((20, 13), antialias=False), T.RandomPerspective(0.3, 1.0, fill=v(0.4)), T.Resize((9, 7))],
        EVERY,
        levels=2,
        exact=0.9,
        shares=1e-4,
        reason="coordinates in float32",
    ),
    Case(
        "resize-up-crop",
        lambda v: [T.Resize((40, 30), "bicubic"), T.RandomCrop((17, 23)), T.Pad(1, v(1.0))],
        EVERY,
        **ONCE,
    ),
    Case(
        "flip-area-resize",
        lambda v: [
            T.RandomHorizontalFlip(),
            T.Resize((5, 4), "area"),
            T.RandomVerticalFlip(),
            T.RandomErasing(value=v(0.5)),
        ],
        EVERY,
        **ONCE,
    ),
    Case(
        "more-bits-and-fewer",
        lambda v: [T.ToDtype("uint16", scale=True), T.RandomInvert(), T.ToDtype("uint8", scale=True)],
        EVERY,
        levels=0,
        exact=1.0,
        dtypes=("uint8",),
        reason="257 levels to one",
    ),
    Case(
        "brightness-to-bytes",
        lambda v: [T.ColorJitter(0.4), T.ToDtype("uint8", scale=True), T.RandomPosterize(4)],
        levels=16,
        exact=0.9,
        dtypes=("uint8", "float32"),
        apart=16,
        reason="a level off may be a step of 16 off",
    ),
    Case(
        "normalize-twice",
        lambda v: [T.Normalize(MEAN, STD), T.Normalize(0.1, 2.0)],
        shares=1e-4,
        apart=5,
        reason="float32 arithmetic",
    ),
    Case(
        "rotation-to-floats-crop",
        lambda v: [
            T.RandomRotation(30, fill=v(0.4), **TURN),
            T.ToDtype("float32", scale=True),
            T.RandomCrop((9, 8)),
            T.Normalize(MEAN, STD),
        ],
        shares=2.5e-2,
        dtypes=("uint8",),
        apart=5,
        reason="a level of 1/255, divided by 0.22, where the functions round",
    ),
    Case(
        "antialiased-to-floats",
        lambda v: [
            T.RandomResizedCrop((9, 8)),
            T.RandomHorizontalFlip(),
            T.ToDtype("float32", scale=True),
            T.Normalize(MEAN, STD),
        ],
        shares=1e-4,
        dtypes=("uint8", "float32"),
        apart=5,
        reason="float32 arithmetic, divided by 0.22",
    ),
]
BY_NAME = {case.name: case for case in CASES}
