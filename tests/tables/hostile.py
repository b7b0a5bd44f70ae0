"""Recipes whose drawn parameters are replaced by hostile numbers, and the check of their results.

A parameter table reaches the kernels in two ways: through ``params_from_dict``, which may reject it, and through the
array of a ``Params``, which is not checked: for any numbers kernels and loops must end and stay in their arrays.
"""

import itertools

import numpy as np

import cuaug
from cuaug import transforms as T
from cuaug.transforms.transform import Transform
from tables import colors, filters
from tables.transforms import ROWS as TRANSFORM_ROWS

VALUES = (0.0, -1.0, 1e-300, 1e9, 1e300, float("nan"), float("inf"), float("-inf"), 2.0**63)
SHAPE = (3, 17, 11, 3)  # N, H, W, C
MIXED_TABLE_COUNT = 12  # tables of hostile numbers alone: some faults, such as a trap in a remainder, need two of them

# Groups of recipes, (transforms, dtype): each group runs in one process.
GROUPS = {
    "flips": [([T.RandomHorizontalFlip(), T.RandomVerticalFlip()], "uint8")],
    "crops": [
        ([T.RandomCrop((9, 7), padding=3)], "uint8"),
        ([T.CenterCrop(9)], "uint8"),
        ([T.Pad(3, padding_mode="reflect")], "float32"),
        ([T.RandomCrop((9, 7), 4, padding_mode="wrap"), T.RandomHorizontalFlip()], "float32"),
    ],
    "resized crops": [
        ([T.RandomResizedCrop((9, 8))], "uint8"),
        ([T.RandomResizedCrop((5, 4)), T.RandomVerticalFlip(), T.ColorJitter(0.4, 0.4)], "uint8"),
        ([T.RandomResizedCrop((9, 8), antialias=False), T.RandomRotation(20)], "uint8"),
        ([T.RandomResizedCrop((9, 8), interpolation="nearest")], "float32"),
        ([T.RandomResizedCrop((9, 8), interpolation="bicubic")], "float32"),
        ([T.RandomResizedCrop((9, 8), interpolation="lanczos", antialias=False)], "float64"),
        ([T.Resize((23, 9), "area")], "uint8"),
        ([T.RandomResizedCrop((9, 8), interpolation="area")], "float32"),
    ],
    "matrices": [
        ([T.RandomAffine(30, (0.2, 0.1), (0.7, 1.4), 10, interpolation="bilinear")], "uint8"),
        ([T.RandomAffine(30, interpolation="nearest")], "float32"),
        ([T.RandomAffine(30, interpolation="bicubic"), T.ColorJitter(0.4, 0.4, 0.4, 0.1)], "uint8"),
        ([T.RandomRotation(30, "bilinear")], "float64"),
        ([T.RandomPerspective(p=1.0)], "uint8"),
        ([T.RandomPerspective(p=1.0, interpolation="nearest")], "float32"),
    ],
    "colors": [
        ([T.ColorJitter(0.4, 0.4, 0.4, 0.1)], "uint8"),
        ([T.ColorJitter(0.4, 0.4, 0.4, 0.1)], "float64"),
        ([T.RandomPhotometricDistort(), T.RandomChannelPermutation()], "uint8"),
        ([T.ColorJitter(0.4, 0.4, 0.4, 0.1, contrast_about=100.0)], "uint8"),
        ([T.RandomGrayscale(0.5), T.RandomInvert(), T.RandomSolarize(128.0), T.RandomPosterize(3)], "uint8"),
        ([T.RandomGrayscale(0.5), T.RandomInvert(), T.RandomSolarize(0.5), T.RandomPosterize(3)], "float32"),
        ([T.Normalize(0.5, 0.2), T.ToDtype("float16")], "uint8"),
        ([T.Grayscale(3), T.Grayscale(1)], "uint8"),
        ([T.RandomErasing(1.0, value=(1, 2, 3))], "uint8"),
        ([T.PixelOp("Faded", "px * (1 - k * r2)", k=(0, 0.5))], "uint8"),
    ],
    "whole images": [
        ([T.RandomAutocontrast()], "uint8"),
        ([T.RandomAutocontrast()], "float32"),
        ([T.RandomAdjustSharpness(2.0, 1.0)], "uint8"),
        ([T.RandomAdjustSharpness(2.0, 1.0)], "float64"),
        ([T.GaussianBlur(5, (0.1, 2.0))], "uint8"),
        ([T.GaussianBlur((3, 127), (0.1, 2.0)), T.ToDtype("float32", scale=True)], "uint8"),
    ],
    "noise": [
        ([T.GaussianNoise(0.1, 0.2)], "uint8"),
        ([T.GaussianNoise(0.1, 0.2)], "float64"),
        ([T.RandomMask(1.0, "pixels", 0.3, 2, value=7)], "uint8"),
        ([T.RandomMask(1.0, "pixels", 0.3, 2)], "float64"),
        ([T.RandomMask(1.0, "grid", 0.3, 5, value=7)], "uint8"),
        ([T.RandomMask(1.0, "grid", 0.3, 5)], "float64"),
        ([T.ElasticTransform(20.0, 2.0)], "uint8"),
        ([T.ElasticTransform(20.0, 0.0, "nearest")], "float32"),
        ([T.ElasticTransform(20.0, 2.0, "bicubic")], "float64"),
    ],
    "mixes": [
        ([T.MixUp(), T.CutMix()], "float64"),
    ],
    "choices": [
        ([T.RandomApply([T.RandomRotation(30), T.ColorJitter(0.4)])], "uint8"),
        ([T.RandomChoice([T.RandomRotation(30), T.RandomInvert(), T.RandomAdjustSharpness(2.0)])], "uint8"),
        ([T.RandomOrder([T.RandomInvert(1.0), T.GaussianNoise(), T.RandomEqualize()])], "uint8"),
        ([T.Compose([T.RandomHorizontalFlip(), T.RandomErasing(1.0)])], "float32"),
    ],
    "policies": [
        ([T.RandAugment()], "uint8"),
        ([T.AutoAugment("cifar10")], "uint8"),
    ],
    "augmix": [([T.AugMix(chain_depth=1, mixture_width=2)], "uint8")],
}
_IN_GROUPS = {type(transform) for recipes in GROUPS.values() for transforms, _ in recipes for transform in transforms}
GROUPS["others"] = [
    ([row.instance], "uint8")
    for row in TRANSFORM_ROWS
    if isinstance(row.instance, Transform) and type(row.instance) not in _IN_GROUPS
]


def _plus_numbers(numbers, *shape, base=0.0):
    """Each sample's number plus ``base``, broadcast to this shape. [N, *shape]"""
    return numbers[(slice(None), *(None,) * len(shape))] + _in_library_of(np.full((1, *shape), base), numbers)


def _row_function(row):
    """The row's op as a function of a batch and of one number per sample, which all parameters get."""
    names = row.draw(np.random.default_rng(0), (SHAPE[0],))
    options = row.keywords("uint8")
    return lambda x, v, **layout: getattr(cuaug, row.op)(x, **dict.fromkeys(names, v), **options, **layout)


def _has_one_number_per_sample(row):
    parameters = row.draw(np.random.default_rng(0), (SHAPE[0],))
    return parameters and all(np.shape(values) == (SHAPE[0],) for values in parameters.values())


# Functions of a batch and of one hostile number per sample.
FUNCTIONS = {
    **{str(row): _row_function(row) for row in (*colors.ROWS, *filters.ROWS) if _has_one_number_per_sample(row)},
    "adjust_contrast about": lambda x, v, **options: cuaug.adjust_contrast(x, 0.5, v, **options),
    "adjust_gamma gain": lambda x, v, **options: cuaug.adjust_gamma(x, 2.0, v, **options),
    "affine angle": lambda x, v, **options: cuaug.affine(x, v, (1, 2), 1.0, (3, 4), "bilinear", **options),
    "affine scale": lambda x, v, **options: cuaug.affine(x, 10.0, (1, 2), v, (3, 4), "bilinear", **options),
    "color_matrix": lambda x, v, **options: cuaug.color_matrix(x, _plus_numbers(v, 3, 4), **options),
    "crop": lambda x, v, **options: cuaug.crop(x, v, v, 9, 7, **options),
    "cutmix": lambda x, v, **options: cuaug.cutmix(x, v, v, v, v, **options),
    "cutmix partner": lambda x, v, **options: cuaug.cutmix(x, 1, 2, 3, 4, v, **options),
    "erase": lambda x, v, **options: cuaug.erase(x, v, v, v, v, v, **options),
    "hflip": cuaug.hflip,
    "mixup": cuaug.mixup,
    "mixup partner": lambda x, v, **options: cuaug.mixup(x, 0.25, v, **options),
    "normalize": lambda x, v, **options: cuaug.normalize(
        x, _plus_numbers(v, 3), _plus_numbers(v, 3, base=0.5), **options
    ),
    "pad fill": lambda x, v, **options: cuaug.pad(x, 3, v[:, None], **options),
    "remap": lambda x, v, **options: cuaug.remap(
        x, _plus_numbers(v, 6, 5, base=2.25), _plus_numbers(v, 6, 5, base=3.5), **options
    ),
    "remap nearest": lambda x, v, **options: cuaug.remap(
        x,
        _plus_numbers(v, 6, 5),
        _plus_numbers(v, 6, 5),
        relative=True,
        interpolation="nearest",
        border="wrap",
        **options,
    ),
    "resized_crop": lambda x, v, **options: cuaug.resized_crop(x, v, 2.0, v, 5.0, (9, 8), **options),
    "resized_crop bicubic": lambda x, v, **options: cuaug.resized_crop(
        x, 1.0, v, 6.0, v, (9, 8), "bicubic", False, **options
    ),
    "rotate": lambda x, v, **options: cuaug.rotate(x, v, "bicubic", border="reflect", **options),
    "warp_affine": lambda x, v, **options: cuaug.warp_affine(x, _plus_numbers(v, 2, 3, base=np.eye(2, 3)), **options),
    "warp_perspective": lambda x, v, **options: cuaug.warp_perspective(
        x, _plus_numbers(v, 3, 3, base=np.eye(3)), border="wrap", **options
    ),
}


def tables(values, columns):
    """Names and tables [N, P]: `values` with one of `columns` set to a hostile number, then hostile numbers alone."""
    for column, value in itertools.product(columns, VALUES):
        changed = values.copy()
        changed[:, column] = value
        yield f"column {column} is {value}", changed
    random = np.random.default_rng(20261124)
    for i in range(MIXED_TABLE_COUNT):
        yield f"mixed table {i}", random.choice(VALUES, values.shape)


def check(group, library="numpy"):
    """Replace every drawn number of every recipe of a group, in both ways; count rejected and applied tables."""
    rejected = applied = 0
    with np.errstate(all="ignore"):
        for transforms, dtype in GROUPS[group]:
            counts = _check(T.Compose(transforms, seed=7), dtype, library)
            rejected, applied = rejected + counts[0], applied + counts[1]
    return rejected, applied


def _check(aug, dtype, library):
    images = _images(dtype, library)
    params = aug.draw(images, step=0, layout="NHWC")
    expected = aug.apply(images, params, layout="NHWC")
    description, rejected, applied = params.to_dict(), 0, 0
    names = list(description["drawn"])
    drawn = np.array([description["drawn"][name] for name in names]).reshape(len(names), SHAPE[0]).T
    for case, values in tables(drawn, range(len(names))):
        edited = {**description, "drawn": dict(zip(names, values.T.tolist(), strict=True))}
        try:
            hostile = aug.params_from_dict(edited, images, layout="NHWC")
        except ValueError:
            rejected += 1
            continue
        _apply_and_check(aug, images, hostile, expected, f"{names}: {case}")
        applied += 1
    for i, matrices in enumerate(description["matrices"]):
        sample_matrices = np.array(matrices).reshape(SHAPE[0], -1)
        for case, values in tables(sample_matrices, range(sample_matrices.shape[1])):
            edited_matrices = [*description["matrices"][:i], values.tolist(), *description["matrices"][i + 1 :]]
            try:
                hostile = aug.params_from_dict({**description, "matrices": edited_matrices}, images, layout="NHWC")
            except ValueError:
                rejected += 1
                continue
            _apply_and_check(aug, images, hostile, expected, f"matrices {i}: {case}")
            applied += 1
    table = params.table.owner
    before = np.array(table.cpu().numpy() if library == "torch" else table)
    for case, values in tables(before, range(before.shape[1])):
        table[...] = _array(values, library)
        _apply_and_check(aug, images, params, expected, f"the table: {case}")
        applied += 1
    table[...] = _array(before, library)
    restored = aug.apply(images, params, layout="NHWC")
    assert _host(restored).tobytes() == _host(expected).tobytes(), f"{aug}: the restored table gives another result"
    return rejected, applied


def _apply_and_check(aug, images, params, expected, case):
    result = aug.apply(images, params, layout="NHWC")
    if hasattr(result, "is_cuda"):
        import torch

        torch.cuda.synchronize()
    assert result.shape == expected.shape, f"{aug}: {case}"
    assert result.dtype == expected.dtype, f"{aug}: {case}"


def _images(dtype, library):
    random = np.random.default_rng(5)
    values = random.integers(0, 256, SHAPE) if dtype == "uint8" else random.random(SHAPE)
    return _array(values.astype(dtype), library)


def _array(values, library):
    if library == "numpy":
        return values
    import torch

    return torch.from_numpy(values.copy()).cuda()


def _host(array):
    return array.cpu().numpy() if hasattr(array, "cpu") else np.asarray(array)


def dtypes_of(name):
    """The dtypes of images that `check_function` passes to a function."""
    is_for_uint8 = any(row.dtypes == ("uint8",) for row in (*colors.ROWS, *filters.ROWS) if str(row) == name)
    return ("uint8",) if is_for_uint8 else ("uint8", "float32", "float64")


def check_function(name, library="numpy"):
    """Call a function with hostile numbers: host values may be rejected, device values are not checked."""
    rejected = applied = 0
    with np.errstate(all="ignore"):
        for dtype in dtypes_of(name):
            images = _images(dtype, library)
            for case, values in tables(np.zeros((SHAPE[0], 1)), range(1)):
                try:
                    result = FUNCTIONS[name](images, _array(values[:, 0], library), layout="NHWC")
                except ValueError:
                    rejected += 1
                    continue
                _host(result)
                assert result.shape[0] == SHAPE[0], case
                assert result.shape[3] == SHAPE[3], case
                applied += 1
    return rejected, applied


def _in_library_of(array, other):
    """The array in the library of the other one."""
    return _array(np.ascontiguousarray(array, np.float64), "torch" if hasattr(other, "is_cuda") else "numpy")
