"""Names and arguments of other libraries that cuaug does not have, and what to use in their place: for messages."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ._equivalents import ALBUMENTATIONS, ANY_LIBRARY_OR_DATASET, KORNIA, Row
from ._missing_ops import MISSING_OPS
from ._value_text import value_text

# Advice that several names share.
_ANY_LIBRARY = "leave it out: arrays of any library are accepted, and results are of the same library"

# By library: the name, and the advice or the equivalent. The names in both are those of cuaug.transforms.
TRANSFORMS: Mapping[str, Mapping[str, Row]] = {
    "torchvision": {},
    "kornia": KORNIA,
    "Albumentations": ALBUMENTATIONS,
    # Names that Albumentations has too, such as Affine and OneOf, are in its table.
    "imgaug": {
        "Add": 'use PixelOp("Add", "px + b", b=(low / 255, high / 255))',
        "AddToHueAndSaturation": "use ColorJitter(saturation=..., hue=...), whose hue is in turns",
        "AdditiveGaussianNoise": "use GaussianNoise(sigma=scale / 255)",
        "CropToFixedSize": "use RandomCrop((height, width), pad_if_needed=True)",
        "Cutout": "use RandomErasing",
        "Dropout": "use RandomMask(1.0, share=p)",
        "ElasticTransformation": "use ElasticTransform",
        "Fliplr": "use RandomHorizontalFlip",
        "Flipud": "use RandomVerticalFlip",
        "Invert": "use RandomInvert",
        "JpegCompression": "use JPEG((low, high)) with the qualities 100 - compression",
        "LinearContrast": "use ColorJitter(contrast=(low, high), contrast_about=127)",
        "Multiply": "use ColorJitter(brightness=(low, high))",
        "MultiplySaturation": "use ColorJitter(saturation=(low, high))",
        "Noop": "use Identity",
        "PerspectiveTransform": "use RandomPerspective",
        "Sometimes": "use RandomApply",
    },
}

# The names in the advice are those of cuaug.
FUNCTIONS: Mapping[str, Mapping[str, str]] = {
    "torchvision": {
        "remove_small_bounding_boxes": "use remove_small_boxes",
        **MISSING_OPS,
    },
    "kornia": {
        "crop_and_resize": "use resized_crop",
        "get_rotation_matrix2d": "use get_rotation_matrix",
        "image_to_tensor": ANY_LIBRARY_OR_DATASET,
        "tensor_to_image": _ANY_LIBRARY,
    },
    "OpenCV": {
        "LUT": "use lut",
        "copyMakeBorder": "use pad",
        "estimateAffine2D": "use estimate_affine, which is least squares without RANSAC",
        "estimateAffinePartial2D": 'use estimate_affine(src, dst, "similarity"), least squares without RANSAC',
        "flip": "use hflip or vflip",
        "getAffineTransform": "use get_affine_transform",
        "getPerspectiveTransform": "use get_perspective_transform",
        "getRotationMatrix2D": "use get_rotation_matrix(angle, scale, center): another order",
        "imdecode": "use cuaug.io.decode_image",
        "imread": "use cuaug.io.decode_image",
        "invertAffineTransform": "use invert_affine",
        "NMSBoxes": "use nms, for boxes XYXY",
        "perspectiveTransform": "use transform_points",
        "warpAffine": "use warp_affine",
        "warpPerspective": "use warp_perspective",
    },
}

# The names in the advice are those of cuaug.transforms.functional.
FUNCTIONALS: Mapping[str, Mapping[str, str]] = {
    "torchvision": {
        "InterpolationMode": "use cuaug.transforms.InterpolationMode, or a name such as 'bilinear'",
        **dict.fromkeys(
            ("is_pure_tensor", "register_kernel"), "functions cannot be extended by kernels for user-defined types"
        ),
    },
}

# Of torchvision's kernels, which are its functions for one type, such as resize_mask.
KERNEL_SUFFIXES = ("image", "video", "mask", "bounding_boxes", "keypoints")

# What a file that uses torchvision's transforms may have beside their calls: for ``python -m cuaug migrate``.
CLASS_NAMES: Mapping[str, str] = {  # in subclasses
    "_transformed_types": 'name the kinds: transformed_kinds = ("images", "masks", "boxes", "keypoints")',
    "_check_inputs": "name it check_inputs",
    "_get_params": "name it make_params",
    "_transform": "name it transform",
    "_call_kernel": "call the function itself, as in F.hflip(image)",
    "get_params": "call crop(image, mask), which draws once for both; recipe.draw(images) gives the drawn numbers",
    "super().make_params": "define make_params without super, or forward, which may call that of the base class",
    "super().transform": "define transform without super, or forward, which may call that of the base class",
}
SEEDS: Mapping[str, str] = dict.fromkeys(
    ("torch.manual_seed", "torch.random.manual_seed"), "it does not seed the draws of recipes: pass Compose(..., seed=)"
)
VALUES: Mapping[tuple[str, str], tuple[Any, str]] = {  # (class, parameter): a value that cuaug refuses, and advice
    ("RandomErasing", "value"): ("random", "pass a number, or one per channel: cuaug erases without noise"),
    ("RandomRotation", "expand"): (True, "put Pad before it and leave expand out: the images of a batch keep one size"),
}
ATTRIBUTE_ASSIGNMENT = (
    "it takes effect before the first call only: later put a new transform into the list, recipe.transforms[i] = ..."
)
STAR_IMPORT = "import the names that the file uses, and run the command again"
TO_DTYPE_ENTRIES = "boxes, keypoints and labels keep their dtype: remove their entries from the dict"


def kernel_advice(functions: Iterable[str]) -> dict[str, str]:
    """Advice for torchvision's functions of one type, such as resize_mask. `functions`: those of all types."""
    return {
        f"{name}_{kind}": f"call {name}: it dispatches on the type" for name in functions for kind in KERNEL_SUFFIXES
    }


# By the class, the method or the kind of callable: the argument, and what to pass in its place.
ARGUMENTS: Mapping[str, Mapping[str, str]] = {
    "__init__": {
        "always_apply": "leave it out: RandomApply(..., p=...) applies a transform to some samples only",
        "bbox_params": 'pass boxes=T.Boxes("XYXY"), "XYWH" or "CXCYWH"',
        "blur_limit": "pass kernel_size= and sigma=",
        "brightness_limit": "pass brightness=",
        "contrast_limit": "pass contrast=",
        "data_keys": "call the recipe with (images, masks, boxes, keypoints, labels)",
        "height": "pass size=(H, W)",
        "hue_shift_limit": "pass hue=",
        "keypoint_params": "pass keypoints=T.Keypoints(...)",
        "label_fields": 'name the entry of the labels "labels": only entries "labels", "area", "iscrowd" and '
        '"difficult" stay in line with the boxes',
        "layout": 'leave it out: a call takes it, as in aug(images, layout="NHWC")',
        "limit": "pass degrees=",
        "max_pixel_value": "leave it out: integer images are scaled to 0..1 first",
        "resample": "pass interpolation=",
        "rotate": "pass degrees=",
        "rotate_limit": "pass degrees=",
        "same_on_batch": "leave it out: a function such as cuaug.rotate takes one value for all samples",
        "sat_shift_limit": "pass saturation=",
        "scale_limit": "pass scale=",
        "shift_limit": "pass translate=",
        "sigma_limit": "pass sigma=",
        "std_range": "pass sigma=",
        "translate_percent": "pass translate=",
        "width": "pass size=(H, W)",
    },
    "__call__": {
        "bboxes": "pass boxes=",
        "image": 'pass images first, as in aug(images, masks), or a dict: aug({"image": images, "mask": masks})',
        "bounding_boxes": "pass boxes=",
        "epoch": "pass ids= and step=",
        "generator": "pass ids= and step=; the seed is an int of Compose(..., seed=...)",
        "key": "pass ids= and step=; the seed is that of Compose(..., seed=int(jax.random.bits(key)))",
        "label": "pass labels=",
        "mask": "pass masks=",
        "params": "call aug.apply(images, params)",
        "rng": "pass ids= and step=; the seed is an int of Compose(..., seed=...)",
        "seed": "pass ids= and step=; the seed is that of Compose(..., seed=...)",
        "segmentation_maps": "pass masks=",
    },
    "apply": {
        **dict.fromkeys(("boxes", "bboxes"), "call cuaug.transform_boxes(boxes, params.matrices)"),
        "keypoints": "call cuaug.transform_points(keypoints, params.matrices)",
        "labels": "call T.mixed_labels(params, labels)",
        **dict.fromkeys(("mask", "masks"), "apply takes images only: aug(images, masks, ids=, step=) repeats a draw"),
    },
    "Loader": {
        "batch_sampler": "pass batch_size=, shuffle= and shard=",
        "collate_fn": "pass transform=, which augments the batch",
        "drop_last": 'pass last="drop"',
        "epoch": "set loader.epoch, which counts by itself",
        "generator": "pass seed=",
        "num_workers": "pass threads=: there are no worker processes",
        "persistent_workers": "leave it out: there are no worker processes",
        "pin_memory": "leave it out: pass device=, to which batches are copied from pinned memory",
        "prefetch_factor": "pass prefetch=",
        "recipe": "pass transform=",
        "sampler": "pass shuffle= and shard=(rank, ranks)",
        "targets": "pass source=ImageFiles(..., targets=...)",
        "transforms": "pass transform=",
        "worker_init_fn": "leave it out: there are no worker processes",
    },
    "function": {
        "align_corners": "leave it out: matrices and maps are in pixels",
        "borderMode": "pass border=",
        "borderValue": "pass fill=",
        "dsize": "pass size=(H, W), which cv2 takes as (W, H)",
        "flags": "pass interpolation=, and inverse=True for cv2.WARP_INVERSE_MAP",
        "fx": "pass size=(H, W)",
        "fy": "pass size=(H, W)",
        "ksize": "pass kernel_size=",
        "mode": "pass interpolation=",
        "p": "functions change all images: use the transform of cuaug.transforms",
        "sigmaX": "pass sigma=",
    },
}
_SAME_FOR_ALL = frozenset(
    (
        "CenterCrop", "ConvertImageDtype", "Grayscale", "Normalize", "Pad", "RandomCrop", "RandomResizedCrop", "Resize",
        "RGB", "ToDtype",
    )
)  # fmt: skip
_UNEXPECTED = re.compile(r"((\w+)(?:\.(__init__|__call__|apply))?)\(\) got an unexpected keyword argument '(\w+)'")


def argument_hint(function: Callable[..., Any], message: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """The end of the message of a call with an argument that the callable does not have; else empty."""
    unexpected = _UNEXPECTED.match(message)
    if unexpected is None:
        return ""
    callee, name, kind, argument = unexpected.groups()
    if callee != function.__qualname__ or argument not in kwargs:  # a call in code of the user, as in a recipe
        return ""
    if kind == "__init__" and argument == "p":
        return _probability_hint(name, args, kwargs)
    advice = ARGUMENTS.get(name, ARGUMENTS[kind or "function"]).get(argument, "")
    replacements = re.findall(r"(?:pass|and) (\w+)=", advice)
    if kind not in ("__call__", "apply") and not {*replacements} <= {*inspect.signature(function).parameters}:
        return ""
    return f": {advice}" if advice else ""


def _probability_hint(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """The end of the message of a constructor that has no `p`."""
    if not args or name == "Transform" or not (name == "Compose" or hasattr(args[0], "is_fused")):
        return ""
    if name != "Compose" and not args[0].is_fused:
        return ": leave it out: the transform runs on whole samples; RandomApply calls it for some of them"
    if name in _SAME_FOR_ALL:
        return ": leave it out: all samples of a batch get one size and dtype"
    values = [_argument_text(value) for value in args[1:]]
    values += [f"{key}={_argument_text(value)}" for key, value in kwargs.items() if key != "p"]
    return f": pass T.RandomApply([T.{name}({', '.join(values)})], p={value_text(kwargs['p'])})"


def _argument_text(value: Any) -> str:
    """The text of an argument. For a list of transforms "[...]", because transforms print without "T."."""
    is_short = not isinstance(value, list) or all(isinstance(entry, (int, float, str)) for entry in value)
    return value_text(value) if is_short else "[...]"


def explanation(
    module: str, name: str, names: Iterable[str], tables: Mapping[str, Mapping[str, Row]], places: Mapping[str, str]
) -> str:
    """The message for a name that a module does not have.

    Args:
        module: The module's full name.
        name: The missing name.
        names: The module's own public names.
        tables: By library, the missing names and their advice, as in `TRANSFORMS` or `FUNCTIONS`.
        places: Public names in other modules of cuaug, and their full names: ``{"hflip": "cuaug.hflip"}``.
    """
    message = f"module {module!r} has no attribute {name!r}"
    if name.startswith("_"):  # tools look up such names in every module
        return message
    if name in places:
        return f"{message}: use {places[name]}"
    candidates = dict(places)
    for library, replacements in tables.items():
        for other, row in replacements.items():
            advice = row if isinstance(row, str) else row.advice
            if other == name:
                return f"{module} has no {name}, which {library} has: {advice}"
            candidates[other] = f"{other} of {library}? {advice}"
    candidates |= {public_name: public_name for public_name in names}
    match = _closest(name, candidates)
    return message if match is None else f"{message}; did you mean {_question(candidates[match])}"


def _closest(name: str, candidates: Mapping[str, str]) -> str | None:
    """The candidate that differs in case only, or in few letters."""
    import difflib  # here, because few programs need it

    by_lower = {candidate.lower(): candidate for candidate in candidates}
    matches = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.8)
    return by_lower[matches[0]] if matches else None


def _question(text: str) -> str:
    return text if "? " in text else f"{text}?"
