"""Recipes that move, resample and filter pixels."""

from cuaug import transforms as T
from tables.recipe import (
    ANY_CHANNELS,
    BILINEAR,
    COPIED_PIXELS,
    FLIPS,
    FLOAT32_COORDINATES,
    JITTER,
    MEAN,
    ONE_RESAMPLE,
    STD,
    Recipe,
)
from tables.recipe_functions import InvertFlipBlend

GEOMETRIC_RECIPES = [
    Recipe("nothing", lambda level: [], ANY_CHANNELS, **COPIED_PIXELS),
    Recipe("flips", lambda level: [*FLIPS], ANY_CHANNELS, **COPIED_PIXELS),
    Recipe("many-flips", lambda level: [*FLIPS, *FLIPS, T.RandomHorizontalFlip()], ANY_CHANNELS, **COPIED_PIXELS),
    Recipe("crop", lambda level: [T.RandomCrop((9, 7))], ANY_CHANNELS, **COPIED_PIXELS),
    Recipe(
        "padded-crop-flip",
        lambda level: [T.RandomCrop((15, 9), padding=4, fill=level(0.3)), *FLIPS],
        ANY_CHANNELS,
        **COPIED_PIXELS,
    ),
    Recipe(
        "crop-larger-than-image",
        lambda level: [T.RandomCrop((20, 9), pad_if_needed=True, fill=level(0.7))],
        ANY_CHANNELS,
        **COPIED_PIXELS,
    ),
    Recipe("crop-crop", lambda level: [T.RandomCrop((12, 9)), T.RandomCrop((5, 4))], ANY_CHANNELS, **COPIED_PIXELS),
    Recipe(
        "pad-pad", lambda level: [T.Pad(2, level(0.2)), T.Pad((1, 2, 3, 4), level(0.9))], ANY_CHANNELS, **COPIED_PIXELS
    ),
    Recipe(
        "pad-edge-pad",
        lambda level: [T.Pad(2, level(0.2)), T.Pad((1, 2, 3, 4), padding_mode="edge")],
        ANY_CHANNELS,
        **COPIED_PIXELS,
    ),
    Recipe("crop-pad", lambda level: [T.RandomCrop((9, 7)), T.Pad(3, level(0.4))], ANY_CHANNELS, **COPIED_PIXELS),
    Recipe(
        "crop-pad-wrap",
        lambda level: [T.RandomCrop((9, 7)), T.Pad(3, padding_mode="wrap")],
        ANY_CHANNELS,
        **COPIED_PIXELS,
    ),
    Recipe(
        "flip-crop-pad-symmetric",
        lambda level: [*FLIPS, T.RandomCrop((9, 7)), T.Pad(3, padding_mode="symmetric")],
        ANY_CHANNELS,
        **COPIED_PIXELS,
    ),
    Recipe(
        "pad-reflect-crop-flips",
        lambda level: [T.Pad(3, padding_mode="reflect"), T.RandomCrop((15, 13)), *FLIPS],
        ANY_CHANNELS,
        **COPIED_PIXELS,
    ),
    Recipe(
        "pad-centre-crop", lambda level: [T.Pad(2, level(0.5)), T.CenterCrop((14, 20))], ANY_CHANNELS, **COPIED_PIXELS
    ),
    Recipe(
        "centre-crop-rotation",
        lambda level: [T.CenterCrop((9, 20)), T.RandomRotation(40, fill=level(0.6), **BILINEAR)],
        ANY_CHANNELS,
        **FLOAT32_COORDINATES,
    ),
    Recipe(
        "padded-crop-rotation",
        lambda level: [
            T.RandomCrop((15, 9), padding=3, fill=level(0.1)),
            T.RandomRotation(40, fill=level(0.6), **BILINEAR),
        ],
        ANY_CHANNELS,
        **FLOAT32_COORDINATES,
    ),
    Recipe(
        "crop-rotation",
        lambda level: [T.RandomCrop((11, 9)), T.RandomRotation(80, fill=level(0.6), **BILINEAR)],
        ANY_CHANNELS,
        **FLOAT32_COORDINATES,
    ),
    Recipe(
        "crop-flip-rotation",
        lambda level: [T.RandomCrop((11, 9)), *FLIPS, T.RandomRotation(80, fill=level(0.6), **BILINEAR)],
        ANY_CHANNELS,
        **FLOAT32_COORDINATES,
    ),
    Recipe(
        "flip-crop-rotation",
        lambda level: [*FLIPS, T.RandomCrop((11, 9)), T.RandomRotation(80, fill=level(0.6), **BILINEAR)],
        ANY_CHANNELS,
        **FLOAT32_COORDINATES,
    ),
    Recipe(
        "crop-crop-rotation",
        lambda level: [T.RandomCrop((13, 9)), T.RandomCrop((7, 8)), T.RandomRotation(80, fill=level(0.6), **BILINEAR)],
        ANY_CHANNELS,
        **FLOAT32_COORDINATES,
    ),
    Recipe(
        "rotation-crop-flip",
        lambda level: [T.RandomRotation(80, fill=level(0.6), **BILINEAR), T.RandomCrop((9, 7)), *FLIPS],
        ANY_CHANNELS,
        **FLOAT32_COORDINATES,
    ),
    Recipe(
        "rotation-pad-crop",
        lambda level: [
            T.RandomRotation(80, fill=level(0.6), **BILINEAR),
            T.RandomCrop((19, 13), padding=2, fill=level(0.3)),
        ],
        ANY_CHANNELS,
        **FLOAT32_COORDINATES,
    ),
    Recipe(
        "rotation-affine",
        lambda level: [
            T.RandomRotation(30, fill=level(0.2), **BILINEAR),
            T.RandomAffine(30, (0.2, 0.1), (0.7, 1.4), 10, fill=level(0.8), **BILINEAR),
        ],
        ANY_CHANNELS,
        **FLOAT32_COORDINATES,
    ),
    Recipe(
        "affine-resized-crop",
        lambda level: [
            T.RandomAffine(30, (0.2, 0.1), (0.7, 1.4), 10, fill=level(0.8), **BILINEAR),
            T.RandomResizedCrop((9, 8), antialias=False),
        ],
        ANY_CHANNELS,
        **FLOAT32_COORDINATES,
    ),
    Recipe(
        "resized-crop-affine",
        lambda level: [
            T.RandomResizedCrop((9, 8), antialias=False),
            T.RandomAffine(30, (0.2, 0.1), (0.7, 1.4), 10, fill=level(0.8), **BILINEAR),
        ],
        ANY_CHANNELS,
        **FLOAT32_COORDINATES,
    ),
    Recipe(
        "affine-about-a-point",
        lambda level: [
            T.RandomAffine((5, 50), (0.2, 0.1), (0.7, 1.4), (-9, 9, 4, 8), fill=level(0.8), center=(2, 9), **BILINEAR)
        ],
        ANY_CHANNELS,
        **FLOAT32_COORDINATES,
    ),
    Recipe(
        "flip-resized-crop-flip",
        lambda level: [*FLIPS, T.RandomResizedCrop((9, 8), antialias=False), *FLIPS],
        ANY_CHANNELS,
        **FLOAT32_COORDINATES,
    ),
    Recipe(
        "resized-crop-crop",
        lambda level: [T.RandomResizedCrop((12, 13), antialias=False), T.RandomCrop((9, 8))],
        ANY_CHANNELS,
        **FLOAT32_COORDINATES,
    ),
    Recipe(
        "crop-resized-crop",
        lambda level: [T.RandomCrop((12, 9)), T.RandomResizedCrop((9, 8), antialias=False)],
        ANY_CHANNELS,
        **FLOAT32_COORDINATES,
    ),
    Recipe(
        "pad-resized-crop",
        lambda level: [T.Pad(3, level(0.9)), T.RandomResizedCrop((9, 8), antialias=False)],
        ANY_CHANNELS,
        **FLOAT32_COORDINATES,
    ),
    Recipe(
        "resized-crop-pad",
        lambda level: [T.RandomResizedCrop((9, 8), antialias=False), T.Pad(3, level(0.9))],
        ANY_CHANNELS,
        **FLOAT32_COORDINATES,
    ),
    # 16 pixels from fewer than 32: no centre is halfway between two pixels.
    Recipe(
        "nearest-resized-crop-flip",
        lambda level: [T.RandomResizedCrop(16, interpolation="nearest"), *FLIPS],
        ANY_CHANNELS,
        **COPIED_PIXELS,
    ),
    Recipe(
        "perspective-flip",
        lambda level: [T.RandomPerspective(0.5, 0.7, fill=level(0.4)), *FLIPS],
        ANY_CHANNELS,
        **FLOAT32_COORDINATES,
    ),
    Recipe(
        "crop-perspective",
        lambda level: [T.RandomCrop((15, 9)), T.RandomPerspective(0.5, 1.0, fill=level(0.4))],
        ANY_CHANNELS,
        **FLOAT32_COORDINATES,
    ),
    Recipe(
        "perspective-rotation",
        lambda level: [T.RandomPerspective(0.5, 0.7, fill=level(0.4)), T.RandomRotation(30, **BILINEAR)],
        ANY_CHANNELS,
        **FLOAT32_COORDINATES,
    ),
    Recipe(
        "elastic", lambda level: [T.ElasticTransform(90.0, 2.0, fill=level(0.4))], ANY_CHANNELS, **FLOAT32_COORDINATES
    ),
    Recipe(
        "elastic-nearest",
        lambda level: [T.ElasticTransform((5.0, 9.0), 0.0, "nearest", level(0.4))],
        ANY_CHANNELS,
        **COPIED_PIXELS,
    ),
    Recipe(
        "flips-elastic-rotation",
        lambda level: [*FLIPS, T.ElasticTransform((200.0, 70.0), (3.0, 1.2)), T.RandomRotation(30, **BILINEAR)],
        ANY_CHANNELS,
        **FLOAT32_COORDINATES,
    ),
    Recipe(
        "elastic-jitter-normalize",
        lambda level: [
            T.ElasticTransform(90.0, 2.0, fill=level(0.4)),
            JITTER,
            T.ToDtype("float32", scale=True),
            T.Normalize(MEAN, STD),
        ],
        float_error=2e-3,
        dtypes=("float32",),
        device_error=8,
        reason="coordinates in float32, divided by 0.22 after a contrast of 1.4",
    ),
    Recipe(
        "blend-crop-blend",
        lambda level: [InvertFlipBlend(), T.RandomCrop((15, 9), padding=3, fill=level(0.1)), InvertFlipBlend()],
        (1, 3, 4, 5),
        level_error=1,
        exact_share=0.99,
        dtypes=("uint8", "uint16", "float16", "float32"),
        reason="a sum of three products in float32, a tie of which may be rounded either way",
    ),
    Recipe("resize-centre-crop", lambda level: [T.Resize(14), T.CenterCrop(12)], ANY_CHANNELS, **ONE_RESAMPLE),
    Recipe(
        "plain-resize-centre-crop",
        lambda level: [T.Resize(14, antialias=False), T.CenterCrop(12), *FLIPS],
        ANY_CHANNELS,
        **FLOAT32_COORDINATES,
    ),
    Recipe("bicubic-resize-flip", lambda level: [T.Resize((9, 20), "bicubic"), *FLIPS], ANY_CHANNELS, **ONE_RESAMPLE),
    Recipe("antialiased-crop-flips", lambda level: [T.RandomResizedCrop((9, 8)), *FLIPS], ANY_CHANNELS, **ONE_RESAMPLE),
    Recipe(
        "flips-antialiased-crop",
        lambda level: [*FLIPS, T.RandomResizedCrop((9, 8)), T.RandomHorizontalFlip(), *FLIPS],
        ANY_CHANNELS,
        **ONE_RESAMPLE,
    ),
    Recipe(
        "blur-flip-blur",
        lambda level: [T.GaussianBlur(3), *FLIPS, T.GaussianBlur((5, 3), (0.5, 2.0))],
        ANY_CHANNELS,
        level_error=1,
        exact_share=0.99,
        reason="two blurs; a value that is nearly a tie may be rounded either way",
    ),
    Recipe(
        "resize-perspective-resize",
        lambda level: [
            T.Resize((20, 13), antialias=False),
            T.RandomPerspective(0.3, 1.0, fill=level(0.4)),
            T.Resize((9, 7)),
        ],
        ANY_CHANNELS,
        level_error=1,
        exact_share=0.99,
        float_error=1e-4,
        reason="coordinates in float32",
    ),
    Recipe(
        "resize-up-crop",
        lambda level: [T.Resize((40, 30), "bicubic"), T.RandomCrop((17, 23)), T.Pad(1, level(1.0))],
        ANY_CHANNELS,
        **ONE_RESAMPLE,
    ),
    Recipe(
        "flip-area-crop",
        lambda level: [
            T.RandomHorizontalFlip(),
            T.RandomResizedCrop((5, 4), interpolation="area", antialias=False),
            T.RandomVerticalFlip(),
            T.RandomErasing(value=level(0.5)),
        ],
        ANY_CHANNELS,
        **ONE_RESAMPLE,
    ),
]
