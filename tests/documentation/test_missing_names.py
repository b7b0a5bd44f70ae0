"""Names and arguments of other libraries: the error says what to use instead."""

import functools
import inspect
import re

import numpy as np
import pytest
from helpers.pages import ROOT

import cuaug
from cuaug import _missing_names
from cuaug import transforms as T
from cuaug.data import Loader
from cuaug.transforms.transform import Transform

MISSING_TRANSFORMS = [
    (lib, name) for lib, names in _missing_names.TRANSFORMS.items() for name in names if name not in T.__all__
]
MISSING_FUNCTIONS = [(lib, name) for lib, names in _missing_names.FUNCTIONS.items() for name in names]
# Words with a capital letter that are no names of cuaug.
OTHER_WORDS = {"True", "None", "PIL", "Albumentations", "RANSAC", "XYXY", "Dataset", "HSV"}


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("HorizontalFlip", "has no HorizontalFlip, which Albumentations has: use RandomHorizontalFlip"),
        ("ToTensorV2", "has no ToTensorV2, which Albumentations has: leave it out"),
        (
            "ColorJiggle",
            "has: use ColorJitter; similar, not equal: kornia adds the brightness, multiplies by the contrast, "
            "and scales the saturation of HSV",
        ),
        ("Fliplr", "which imgaug has: use RandomHorizontalFlip"),
        ("AdditiveGaussianNoise", "which imgaug has: use GaussianNoise(sigma=scale / 255)"),
        ("randomhorizontalflip", "did you mean RandomHorizontalFlip?"),
        ("RandomHorizontalFip", "did you mean RandomHorizontalFlip?"),
        ("horizontalflip", "did you mean HorizontalFlip of Albumentations? use RandomHorizontalFlip"),
        ("hflip", "use cuaug.hflip"),
    ],
)
def test_transforms_say_what_replaces_a_missing_name(name, part):
    with pytest.raises(
        AttributeError, match=rf"cuaug\.transforms.*{re.escape(part)}$" if "leave" not in part else part
    ):
        getattr(T, name)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("horizontal_flip", "use cuaug.transforms.functional.horizontal_flip"),
        ("warpAffine", "which OpenCV has: use warp_affine"),
        ("warpafine", "did you mean warpAffine of OpenCV? use warp_affine"),
        ("Compose", "use cuaug.transforms.Compose"),
        ("Loader", "use cuaug.data.Loader"),
        ("decode_jpeg", "use cuaug.io.decode_jpeg"),
        ("gausian_blur", "did you mean gaussian_blur?"),
    ],
)
def test_cuaug_says_what_replaces_a_missing_name(name, part):
    with pytest.raises(AttributeError, match=rf"cuaug.*{re.escape(part)}$"):
        getattr(cuaug, name)


def test_transforms_say_what_replaces_a_missing_method():
    message = r"^RandomCrop has no get_params, which torchvision has: call crop\(image, mask\)"
    with pytest.raises(AttributeError, match=message):
        T.RandomCrop.get_params  # noqa: B018
    assert not hasattr(T.RandomCrop(3), "get_params")


@pytest.mark.parametrize("module", [cuaug, T])
@pytest.mark.parametrize("name", ["__path_of_nothing__", "_private", "zzz_nothing_like_it"])
def test_name_similar_to_no_other_has_the_plain_message(module, name):
    with pytest.raises(AttributeError, match=f"^module '{module.__name__}' has no attribute '{name}'$"):
        getattr(module, name)


@pytest.mark.parametrize(
    ("module", "tables", "missing"),
    [(T, _missing_names.TRANSFORMS, MISSING_TRANSFORMS), (cuaug, _missing_names.FUNCTIONS, MISSING_FUNCTIONS)],
    ids=["transforms", "cuaug"],
)
def test_missing_names_are_missing_and_their_replacements_exist(module, tables, missing):
    names = [name for _, name in missing]
    assert len(names) == len(set(names)) > 20
    for library, name in missing:
        row = tables[library][name]
        advice = row if isinstance(row, str) else row.advice
        with pytest.raises(AttributeError, match=re.escape(f"which {library} has: {advice}")):
            getattr(module, name)
        for path in re.findall(r"cuaug\.([\w.]+\w)", advice):
            owner = cuaug
            for part in path.split("."):
                owner = getattr(owner, part)
        for word in set(re.findall(r"(?<!['\"\w.])[A-Z]\w+(?!['\"])", advice)) - OTHER_WORDS:
            assert word in (*T.__all__, *cuaug.__all__), f"{name}: {word}"
        if replacement := re.match(r"use (\w+)(?![.\w])", advice):
            assert replacement[1] in module.__all__, f"{name}: {replacement[1]}"


def test_rows_of_names_that_cuaug_has_have_other_parameters():
    rows = {name: row for rows in _missing_names.TRANSFORMS.values() for name, row in rows.items() if name in T.__all__}
    assert len(rows) > 10
    for name, row in rows.items():
        if isinstance(row, str):
            continue
        other = eval(f"lambda {row.parameters}: None")
        assert [*inspect.signature(other).parameters] != [*inspect.signature(getattr(T, name)).parameters], name


def test_missing_names_of_the_migration_page_are_explained():
    """Every transform of other libraries and every function of OpenCV that docs/migration.md replaces."""
    page = (ROOT / "docs" / "migration.md").read_text()
    names = set(re.findall(r"`A\.(\w+)", page)) | set(re.findall(r"\b(?:K|iaa)\.(\w+)", page))
    assert len(names) > 20
    for name in names - set(T.__all__):
        with pytest.raises(AttributeError, match=f"cuaug.transforms has no {name}, which "):
            getattr(T, name)
    functions = set(re.findall(r"`cv2\.([a-z]\w+)", page)) - set(cuaug.__all__)
    assert len(functions) > 10
    for name in functions:
        with pytest.raises(AttributeError, match=f"cuaug has no {name}, which OpenCV has: use "):
            getattr(cuaug, name)


BATCH = np.zeros((2, 8, 8, 3), np.uint8)
M = np.eye(3)[:2]
# By argument, a callable that does not have it.
CALLABLES = {
    "__init__": {
        "blur_limit": T.GaussianBlur,
        "brightness_limit": T.ColorJitter,
        "contrast_limit": T.ColorJitter,
        "height": T.RandomCrop,
        "hue_shift_limit": T.ColorJitter,
        "label_fields": T.Boxes,
        "limit": T.RandomRotation,
        "max_pixel_value": T.Normalize,
        "resample": T.RandomAffine,
        "rotate": T.RandomAffine,
        "rotate_limit": T.RandomAffine,
        "same_on_batch": T.RandomHorizontalFlip,
        "sat_shift_limit": T.ColorJitter,
        "scale_limit": T.RandomAffine,
        "shift_limit": T.RandomAffine,
        "sigma_limit": T.GaussianBlur,
        "std_range": T.GaussianNoise,
        "translate_percent": T.RandomAffine,
        "width": T.RandomCrop,
    },
    "__call__": {},
    "apply": {},
    "Loader": {},
    "function": {
        "ksize": cuaug.gaussian_blur,
        "sigmaX": cuaug.gaussian_blur,
        "fx": cuaug.resize,
        "fy": cuaug.resize,
        "dsize": cuaug.resize,
        "p": cuaug.hflip,
    },
}
ARGUMENTS = [(kind, argument) for kind, rows in _missing_names.ARGUMENTS.items() for argument in rows]


@pytest.mark.parametrize(("kind", "argument"), ARGUMENTS)
def test_unknown_arguments_of_other_libraries_are_explained(kind, argument):
    """The advice names only parameters that the callable has."""
    default = {
        "__init__": T.Compose,
        "__call__": T.Compose([T.Identity()]),
        "apply": functools.partial(T.Compose([T.Identity()]).apply, BATCH, None),
        "Loader": Loader,
        "function": cuaug.warp_affine,
    }[kind]
    target, advice = CALLABLES[kind].get(argument, default), _missing_names.ARGUMENTS[kind][argument]
    with pytest.raises(TypeError, match=rf"^cuaug\..*unexpected keyword argument '{argument}': {re.escape(advice)}$"):
        target(**{argument: 1})
    parameters = inspect.signature(target).parameters
    assert argument not in parameters
    assert [name for name in re.findall(r"(?:pass|and) (\w+)=", advice) if name not in parameters] == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: T.GaussianBlur(5, sigma=(1, 2), p=0.3),
            "argument 'p': pass T.RandomApply([T.GaussianBlur(5, sigma=(1, 2))], p=0.3)",
        ),
        (lambda: T.Identity()(image=BATCH), "unexpected keyword argument 'image': pass images first, as in aug(images"),
        (lambda: T.Identity()(BATCH, seed=1), "unexpected keyword argument 'seed': pass ids= and step=; the seed is"),
        (
            lambda: Loader([b""], num_workers=2),
            "unexpected keyword argument 'num_workers': pass threads=",
        ),
        (lambda: T.Compose([])(image=BATCH, mask=BATCH), "unexpected keyword argument 'image': pass images first"),
        (lambda: T.Boxes("pascal_voc"), "'XYXYXYXY', got 'pascal_voc': pass \"XYXY\""),
        (lambda: T.Boxes("coco"), "got 'coco': pass \"XYWH\""),
        (lambda: T.Boxes("yolo"), "multiply them by (W, H, W, H)"),
        (lambda: T.Boxes("YOLO"), "got 'YOLO': pass \"CXCYWH\", and boxes in pixels: multiply them by (W, H, W, H)"),
        (lambda: T.Boxes("cxcywh"), "got 'cxcywh': pass 'CXCYWH'"),
        (lambda: T.Boxes("CXCYWHN"), "got 'CXCYWHN': pass \"CXCYWH\", and boxes in pixels"),
        (lambda: cuaug.box_convert(np.zeros((1, 4)), "XYXY", "cxcywh"), "got 'XYXY': pass 'xyxy'"),
        (lambda: cuaug.warp_affine(BATCH, M, border="replicate"), "got 'replicate': pass \"edge\""),
        (lambda: cuaug.warp_affine(BATCH, M, border="REFLECT101"), "got 'REFLECT101': pass \"reflect\""),
        (lambda: cuaug.warp_affine(BATCH, M, border="border_reflect"), 'pass "symmetric"'),
        (lambda: cuaug.warp_affine(BATCH, M, border=2), 'got 2: cv2.BORDER_REFLECT is "symmetric"'),
        (lambda: cuaug.pad(BATCH, 1, padding_mode="circular"), "got 'circular': pass \"wrap\""),
        (lambda: T.Pad(1, padding_mode="replicate"), "got 'replicate': pass \"edge\""),
        (lambda: T.RandomCrop(4, padding_mode="zeros"), "got 'zeros': pass \"constant\""),
        (lambda: cuaug.resize(BATCH, 4, "linear"), "got 'linear': pass \"bilinear\""),
        (lambda: T.RandomRotation(9, interpolation="cubic"), "got 'cubic': pass \"bicubic\""),
        (lambda: cuaug.resize(BATCH, 4, "INTER_AREA"), "got 'INTER_AREA': pass \"area\""),
        (lambda: cuaug.warp_affine(BATCH, M, border="nonsense"), "got 'nonsense'"),
        (
            lambda: T.Compose([], layout="NHWC"),
            "argument 'layout': leave it out: a call takes it, as in aug(images, lay",
        ),
        (lambda: T.Boxes("xywh"), "got 'xywh': pass 'XYWH'"),
        (lambda: T.Resize(8, p=1.0), "argument 'p': leave it out: all samples of a batch get one size and dtype"),
        (lambda: T.Compose([T.Identity()], p=0.5), "argument 'p': pass T.RandomApply([T.Compose([...])], p=0.5)"),
        (lambda: cuaug.hflip(BATCH, nonsense=1), "unexpected keyword argument 'nonsense'"),
        (lambda: T.Resize(8, nonsense=1), "unexpected keyword argument 'nonsense'"),
        (lambda: cuaug.warp_affine(BATCH[:1], np.ones((8, 2, 3))), "M must hold 1 entry, one per sample, got 8"),
        (
            lambda: cuaug.get_rotation_matrix((128, 128), 30, 1.0),
            "center must be (x, y), got 1.0: the order is angle, scale, center, unlike cv2's",
        ),
        (
            lambda: cuaug.get_rotation_matrix((128, 128), 30, np.float32(1)),
            "the order is angle, scale, center, unlike cv2's",
        ),
    ],
)
def test_messages_about_arguments_of_other_libraries_say_what_to_pass(call, message):
    with pytest.raises((TypeError, ValueError), match=rf"^cuaug\..*{re.escape(message)}"):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: cuaug.pad(BATCH, 2, mode="reflect"),
        lambda: T.ColorJitter(limit=0.3),
        lambda: T.GaussianBlur(3, height=5),
        lambda: T.Boxes("XYXY", p=0.5),
        lambda: cuaug.RoIAlign(2, 1.0, 2, p=0.5),
        lambda: cuaug.data.Loader([], p=0.5),
    ],
)
def test_messages_do_not_recommend_arguments_that_the_callable_lacks(call):
    with pytest.raises(TypeError, match=r"^cuaug\..*got an unexpected keyword argument '\w+'$"):
        call()


class Other:
    def __init__(self):
        pass

    def __call__(self, image):
        return image


def identity(images):
    return images


class ArrayWithError:
    shape, dtype = BATCH.shape, BATCH.dtype

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **options):
        Other(p=1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: T.Compose([lambda _: Other(p=1)])(BATCH),
        lambda: T.Compose([lambda images: identity(images, p=3)])(BATCH),
        lambda: T.Compose([lambda images: identity(images, align_corners=True)])(BATCH),
        lambda: T.Compose([lambda images: Other()(images, mask=1)])(BATCH),
        lambda: T.RandomRotation(3)(ArrayWithError()),
        lambda: T.Compose([T.RandomRotation(3)])(ArrayWithError()),
        lambda: T.RandomRotation.__init__(p=3),
    ],
)
def test_unknown_arguments_of_other_callables_are_not_explained(call):
    """The error is of the user's code, or of a constructor that got no instance."""
    with pytest.raises(
        TypeError, match=r"^cuaug\.transforms\.\w+: [\w.]+\(\) got an unexpected keyword argument '\w+'$"
    ):
        call()


# Required arguments, by name.
REQUIRED = {
    "Normalize": ([0.5] * 3, [0.2] * 3), "Resize": (8,), "CenterCrop": (8,), "RandomCrop": (8,), "Pad": (2,),
    "RandomResizedCrop": (8,), "RandomRotation": (10,), "RandomAffine": (10,), "GaussianBlur": (3,),
    "RandomPosterize": (4,), "RandomSolarize": (128,), "RandomAdjustSharpness": (2,), "JPEG": (50,),
    "RandomApply": ([T.Identity()],), "Lambda": (len,),
    "ConvertBoundingBoxFormat": ("XYXY",), "FiveCrop": (8,), "TenCrop": (8,), "SetClampingMode": (None,),
    "LinearTransformation": ([[1]], [1]), "UniformTemporalSubsample": (2,),
    "RandomResize": (8, 9), "RandomShortestSize": (8,), "ScaleJitter": ((8, 8),),
}  # fmt: skip
# The hints for Compose and RandomOrder have "..." in place of transforms. The `p` of RandomChoice holds weights.
# `Transform` is a base class. The `p` of PixelOp is a parameter of its expression.
NO_HINT = {"Compose", "Transform", "RandomChoice", "RandomOrder", "PixelOp"}
CLASSES = {name: getattr(T, name) for name in T.__all__ if inspect.isclass(getattr(T, name))}


@pytest.mark.parametrize("name", [n for n, cls in CLASSES.items() if issubclass(cls, Transform) and n not in NO_HINT])
def test_transforms_take_or_recommend_a_probability(name):
    """A transform takes `p`, or its message has code that runs, or the message says why a recipe cannot skip it."""
    transform, arguments = CLASSES[name], REQUIRED.get(name, ())
    if "p" in inspect.signature(transform).parameters:
        transform(*arguments, p=0.5)
        return
    with pytest.raises(TypeError, match="argument 'p': ") as error:
        transform(*arguments, p=0.5)
    hint = re.search(r"pass (T\.RandomApply.*)$", str(error.value))
    if hint is None:
        reason = "all samples of a batch get one size and dtype"
        if transform.write is Transform.write:
            reason = "the transform runs on whole samples; RandomApply calls it for some of them"
        assert str(error.value).endswith(f"leave it out: {reason}")
    elif name not in ("MixUp", "CutMix"):  # these need labels
        assert T.Compose([eval(hint[1], {"T": T})])(BATCH).shape == BATCH.shape
