"""The table of transforms: the rows of those that belong to one op, and the rows of all others."""

import numpy as np
from helpers.mask_recipes import CROPS

import cuaug
from cuaug import transforms as T
from tables import colors, draws, filters, recipe_functions
from tables.transform_row import TransformRow


def flip_row(instance, function):
    return TransformRow(
        instance,
        draw=draws.with_probability("flip"),
        functions=lambda t, images, p, options: function(images, p["flip"] != 0, **options),
    )


GEOMETRIC_ROWS = [
    flip_row(T.RandomHorizontalFlip(0.3), cuaug.hflip),
    flip_row(T.RandomVerticalFlip(0.3), cuaug.vflip),
    TransformRow(
        T.RandomResizedCrop((9, 8), (0.2, 0.9), (0.5, 2.0), "bicubic"),
        draw=draws.resized_crop,
        draw_instances=(
            T.RandomResizedCrop(32),
            T.RandomResizedCrop(32, scale=(0.7, 1.0), ratio=(0.2, 5.0)),
            T.RandomResizedCrop(32, scale=(0.9, 1.0), ratio=(4.0, 5.0)),
            T.RandomResizedCrop(32, scale=(0.9, 1.0), ratio=(0.1, 0.2)),
        ),
        functions=recipe_functions.resized_crop,
    ),
    TransformRow(
        T.RandomCrop(9, (1, 2), True, 3, "reflect"),
        draw=draws.random_crop,
        draw_instances=(T.RandomCrop((20, 81)), T.RandomCrop(64, padding=7)),
        functions=recipe_functions.crop,
    ),
    TransformRow(
        T.RandomAffine(30, (0.1, 0.2), (0.8, 1.2), (1, 2, 3, 4), "bilinear", [1, 2, 3], (4, 5)),
        draw=draws.affine,
        draw_instances=(T.RandomAffine(30, (0.2, 0.3), (0.5, 1.5), (-5, 10, 3, 8)),),
        functions=recipe_functions.affine,
    ),
    TransformRow(
        T.RandomRotation((10, 30), "bilinear", False, (3, 4), 2),
        draw=draws.rotation,
        draw_instances=(T.RandomRotation((-10, 70)),),
        functions=recipe_functions.rotate,
    ),
    TransformRow(
        T.RandomPerspective(0.4, 0.9, "nearest", 3),
        draw=draws.perspective,
        draw_instances=(T.RandomPerspective(0.6, 0.7),),
        functions=recipe_functions.perspective,
    ),
    TransformRow(T.ElasticTransform((30.0, 40.0), (2.0, 3.0), "nearest", 7), functions=recipe_functions.elastic),
    TransformRow(
        T.Resize(10, max_size=20),
        functions=lambda t, images, p, options: cuaug.resize(
            images, t.size, t.interpolation, t.max_size, t.antialias, **options
        ),
    ),
    TransformRow(
        T.CenterCrop((9, 8)), functions=lambda t, images, p, options: cuaug.center_crop(images, t.size, **options)
    ),
    TransformRow(
        T.Pad([1, 2], 7, "edge"),
        functions=lambda t, images, p, options: cuaug.pad(images, t.padding, t.fill, t.padding_mode, **options),
    ),
]
OTHER_ROWS = [
    TransformRow(
        T.AugMix(5, 2, 2, 0.5, False, "nearest", 3),
        draw=draws.augmix,
        draw_instances=(T.AugMix(alpha=0.7, mixture_width=4, chain_depth=1),),
    ),
    TransformRow(T.AutoAugment("svhn", "bilinear", 3)),
    TransformRow(T.Boxes("XYWH", 2.0, 0.5)),
    TransformRow(
        T.ColorJitter(0.4, (0.5, 1.5), None, 0.1, contrast_about=100),
        draw=draws.color_jitter,
        draw_instances=(T.ColorJitter(0.4, (0.2, 3.0), 0.9, 0.2),),
        functions=recipe_functions.color_jitter,
        uses_whole_clip=True,
    ),
    TransformRow(
        T.RandomPhotometricDistort((0.6, 1.4), (0.3, 1.2), (0.5, 2.0), (-0.2, 0.4), 0.7),
        draw=draws.photometric_distort,
        draw_instances=(T.RandomPhotometricDistort(),),
        functions=recipe_functions.photometric_distort,
        uses_whole_clip=True,
        alone={
            "dtypes": ("uint8", "float32"),
            "level_error": 5,
            "exact_share": 0.3,
            "float_error": 1e-4,
            "reason": "the functions round four times, and then multiply errors by up to 2; the recipe rounds once",
        },
    ),
    TransformRow(T.Compose(CROPS, seed=3, boxes=T.Boxes("CXCYWH"), keypoints=T.Keypoints([(0, 1)]))),
    TransformRow(T.CutMix(alpha=0.5, num_classes=4)),
    TransformRow(T.Identity()),
    TransformRow(T.Keypoints([(0, 1), (2, 3)], hide_outside=False)),
    TransformRow(T.MixUp(alpha=0.3)),
    TransformRow(T.PixelOp("Vignette", "px * (1 - k * r2) + b", k=(0, 0.5), b=0.1)),
    TransformRow(T.RandAugment(1, 5, 11, "bilinear", 2)),
    TransformRow(T.RandomApply([T.RandomInvert(), T.RandomHorizontalFlip()], 0.3)),
    TransformRow(T.RandomChoice([T.RandomInvert(), T.RandomVerticalFlip()], [1, 2])),
    TransformRow(T.RandomMask(0.9, "grid", 0.3, 4, 7)),
    TransformRow(T.RandomOrder([T.RandomInvert(1.0), T.RandomSolarize(99, 1.0)])),
    TransformRow(T.TrivialAugmentWide(11, "bilinear", 2)),
    TransformRow(T.ConvertImageDtype("float16")),
    TransformRow(T.RGB()),
]
# Transforms that run on whole samples. Separate tests compare their results with torchvision's; these rows serve the
# tests of `to_dict` and of assigned attributes. `Lambda` has no row, as `to_dict` cannot describe a function.
SAMPLE_ROWS = [
    TransformRow(T.ClampBoundingBoxes("hard")),
    TransformRow(T.ClampKeyPoints()),
    TransformRow(T.ConvertBoundingBoxFormat("XYWH")),
    TransformRow(T.FiveCrop((4, 5))),
    TransformRow(T.LinearTransformation([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0])),
    TransformRow(T.PILToTensor()),
    TransformRow(T.PadBatch((9, 8), 4, 3)),
    TransformRow(T.RandomIoUCrop(0.2, 0.9, 0.6, 1.7, [0.2, 1.0], 30)),
    TransformRow(T.RandomResize(5, 9, "nearest", False)),
    TransformRow(T.RandomShortestSize([5, 7], 12, "bicubic", False)),
    TransformRow(T.RandomZoomOut([1, 2, 3], (1.5, 3.0), 0.4)),
    TransformRow(T.SanitizeBoundingBoxes(2.0, 3.0, None)),
    TransformRow(T.SanitizeKeyPoints("default")),
    TransformRow(T.ScaleJitter((9, 8), (0.5, 1.5), "nearest", False)),
    TransformRow(T.SetClampingMode("soft")),
    TransformRow(T.TenCrop(4, True)),
    TransformRow(T.ToImage()),
    TransformRow(T.ToPILImage("RGB")),
    TransformRow(T.ToPureTensor()),
    TransformRow(T.ToTensor()),
    TransformRow(T.UniformTemporalSubsample(3)),
]
OP_ROWS = [row for op in (*colors.ALL_ROWS, *filters.ROWS) for row in op.transforms]
ROWS = [*GEOMETRIC_ROWS, *OP_ROWS, *OTHER_ROWS]
INSTANCES = {row.name: row.instance for row in ROWS}
DRAWN = {row.name: row for row in ROWS if row.draw}
USES_WHOLE_CLIP = {row.name for row in ROWS if row.uses_whole_clip}
FUNCTIONS = {row.name: row.functions for row in ROWS if row.functions}
FUNCTIONS["InvertFlipBlend"] = recipe_functions.invert_flip_blend  # a transform of these tests


def one_by_one(recipe, dtype, images, params, layout):
    """The functions in the user's order, each on the result of the one before."""
    drawn = {name: np.array(values) for name, values in params.to_dict()["drawn"].items()}
    for position, transform in enumerate(recipe.transforms(dtype)):
        prefix = f"{position}.{type(transform).__name__}."
        parameters = {name.removeprefix(prefix): v for name, v in drawn.items() if name.startswith(prefix)}
        images = FUNCTIONS[type(transform).__name__](transform, images, parameters, {"layout": layout})
    return images
