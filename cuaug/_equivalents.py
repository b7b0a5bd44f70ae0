"""Transforms of other libraries as calls of cuaug: for messages, ``python -m cuaug migrate`` and the documentation.

A row gives cuaug code for a call of the other library, or advice where no call replaces it. The code uses the other
library's parameters, the names of cuaug.transforms, and the functions of `cuaug._migration.values`, which convert
numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

ANY_LIBRARY_OR_DATASET = (
    "leave it out: arrays of any library are accepted, and results are of the same library; "
    "for tensors put it before the recipe, in the Dataset"
)


class Equivalent(NamedTuple):
    """A call of another library as a call of cuaug.

    A parameter ``p`` that the code does not use is the probability of a `RandomApply` around the code.
    """

    parameters: str  # of the other library, with its defaults: "height, width, p=1.0"
    code: str  # "Resize((height, width))"
    note: str = ""  # how the results differ

    @property
    def needs_random_apply(self) -> bool:
        return bool(re.search(r"\bp=", self.parameters)) and not re.search(r"\bp\b(?!=)", self.code)

    @property
    def advice(self) -> str:
        """For the message about the missing name."""
        text = f"use {self.code.partition('(')[0]}"
        if self.needs_random_apply and "p=1" not in self.parameters:
            text += ", within RandomApply to change some samples only"
        return f"{text}; {self.note}" if self.note else text


Row: TypeAlias = "str | Equivalent"
_SIMILAR = "similar, not equal"
_ADDED_BRIGHTNESS = "ColorJitter multiplies by the brightness instead of adding it"
_ODD_MARGIN = f"{_SIMILAR}: if the size leaves an odd margin, the crop may lie one pixel further right and down"
_ALIGNED_CORNERS = f"{_SIMILAR}: kornia aligns the corner pixels unless align_corners=False"

KORNIA: Mapping[str, Row] = {
    "AugmentationSequential": Equivalent("*args, data_keys=None, same_on_batch=None, keepdim=None", "Compose([*args])"),
    "ImageSequential": Equivalent("*args, same_on_batch=None, keepdim=None", "Compose([*args])"),
    "VideoSequential": "use Compose, and call the recipe with layout='NTCHW'",
    "CenterCrop": Equivalent(
        "size, align_corners=True, resample='BILINEAR', p=1.0, keepdim=False", "CenterCrop(size)", _ODD_MARGIN
    ),
    "ColorJiggle": Equivalent(
        "brightness=0.0, contrast=0.0, saturation=0.0, hue=0.0, same_on_batch=False, p=1.0, keepdim=False",
        "ColorJitter(brightness, contrast, saturation, hue)",
        f"{_SIMILAR}: kornia adds the brightness, multiplies by the contrast, and scales the saturation of HSV",
    ),
    "ColorJitter": Equivalent(
        "brightness=0.0, contrast=0.0, saturation=0.0, hue=0.0, same_on_batch=False, p=1.0, keepdim=False",
        "ColorJitter(brightness, contrast, saturation, hue)",
    ),
    "Denormalize": "call cuaug.normalize with mean=-mean/std and std=1/std; cuaug.show takes mean= and std=",
    "Normalize": Equivalent("mean, std, p=1.0, keepdim=False", "Normalize(mean, std)"),
    "RandomAffine": Equivalent(
        "degrees, translate=None, scale=None, shear=None, resample='bilinear', same_on_batch=False, "
        "align_corners=False, padding_mode='zeros', fill_value=None, p=0.5, keepdim=False",
        "RandomAffine(degrees, translate=translate, scale=scale, shear=shear, interpolation=resample.lower())",
    ),
    "RandomBrightness": Equivalent(
        "brightness=(1.0, 1.0), clip_output=True, same_on_batch=False, p=1.0, keepdim=False",
        'PixelOp("Brightness", "clamp(px + b - 1, 0, 1)", b=around(brightness, 1))',
        f"its expression is clamp(px + b - 1, 0, 1); {_ADDED_BRIGHTNESS}",
    ),
    "RandomChannelShuffle": Equivalent("same_on_batch=False, p=0.5, keepdim=False", "RandomChannelPermutation()"),
    "RandomContrast": Equivalent(
        "contrast=(1.0, 1.0), clip_output=True, same_on_batch=False, p=1.0, keepdim=False",
        "ColorJitter(brightness=contrast)",
        "kornia multiplies by the contrast, as ColorJitter does by the brightness",
    ),
    "RandomCrop": Equivalent(
        "size, padding=None, pad_if_needed=False, fill=0, padding_mode='constant', resample='bilinear', "
        "same_on_batch=False, align_corners=True, p=1.0, keepdim=False",
        "RandomCrop(size, padding=padding, pad_if_needed=pad_if_needed, fill=fill, padding_mode=border(padding_mode))",
    ),
    "RandomElasticTransform": "use ElasticTransform, within RandomApply to change some samples only",
    "RandomErasing": Equivalent(
        "scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0.0, same_on_batch=False, p=0.5, keepdim=False",
        "RandomErasing(p, scale=scale, ratio=ratio, value=value)",
    ),
    "RandomEqualize": Equivalent(
        "same_on_batch=False, p=0.5, keepdim=False", "RandomEqualize(p)", "for uint8 images; kornia's are float"
    ),
    "RandomGaussianBlur": Equivalent(
        "kernel_size, sigma, border_type='reflect', separable=True, same_on_batch=False, p=0.5, keepdim=False",
        "GaussianBlur(reverse(kernel_size), sigma)",
    ),
    "RandomGaussianNoise": Equivalent(
        "mean=0.0, std=1.0, same_on_batch=False, p=0.5, keepdim=False", "GaussianNoise(mean, std, clip=False)"
    ),
    "RandomGrayscale": Equivalent("rgb_weights=None, same_on_batch=False, p=0.1, keepdim=False", "RandomGrayscale(p)"),
    "RandomHorizontalFlip": Equivalent(
        "p=0.5, p_batch=1.0, same_on_batch=False, keepdim=False", "RandomHorizontalFlip(p)"
    ),
    "RandomHue": Equivalent("hue=(0.0, 0.0), same_on_batch=False, p=1.0, keepdim=False", "ColorJitter(hue=hue)"),
    "RandomJPEG": "use JPEG, within RandomApply to change some samples only",
    "RandomInvert": Equivalent("max_val=1.0, same_on_batch=False, p=0.5, keepdim=False", "RandomInvert(p)"),
    "RandomPerspective": Equivalent(
        "distortion_scale=0.5, resample='bilinear', same_on_batch=False, align_corners=False, p=0.5, keepdim=False",
        "RandomPerspective(distortion_scale, p, interpolation=resample.lower())",
    ),
    "RandomPosterize": Equivalent(
        "bits=3, same_on_batch=False, p=0.5, keepdim=False",
        "RandomPosterize(mean_bits(bits), p)",
        f"{_SIMILAR}: one number of bits for all samples",
    ),
    "RandomResizedCrop": Equivalent(
        "size, scale=(0.08, 1.0), ratio=(3 / 4, 4 / 3), resample='bilinear', same_on_batch=False, "
        "align_corners=True, p=1.0, keepdim=False, cropping_mode='slice'",
        "RandomResizedCrop(size, scale=scale, ratio=ratio, interpolation=resample.lower(), antialias=False)",
        _ALIGNED_CORNERS,
    ),
    "RandomRotation": Equivalent(
        "degrees, resample='bilinear', same_on_batch=False, align_corners=True, p=0.5, keepdim=False",
        "RandomRotation(degrees, interpolation=resample.lower())",
    ),
    "RandomSaturation": Equivalent(
        "saturation=(1.0, 1.0), same_on_batch=False, p=1.0, keepdim=False",
        "ColorJitter(saturation=saturation)",
        f"{_SIMILAR}: kornia scales the saturation of HSV",
    ),
    "RandomSharpness": Equivalent(
        "sharpness=0.5, same_on_batch=False, p=0.5, keepdim=False",
        "RandomAdjustSharpness(mean(up_to(sharpness)), p)",
        f"{_SIMILAR}: one strength for all samples",
    ),
    "RandomShear": Equivalent(
        "shear, resample='bilinear', same_on_batch=False, align_corners=False, padding_mode='zeros', p=0.5, "
        "keepdim=False",
        "RandomAffine(0, shear=shear, interpolation=resample.lower())",
    ),
    "RandomSolarize": Equivalent(
        "thresholds=0.1, additions=0.1, same_on_batch=False, p=0.5, keepdim=False",
        'PixelOp("AddSolarize", "abs(clamp(px + a, 0, 1) - select(clamp(px + a, 0, 1) < t, 0, 1))", '
        "t=around(thresholds, 0.5), a=around(additions))",
        "RandomSolarize has one threshold, and adds nothing",
    ),
    "RandomTranslate": Equivalent(
        "translate_x=None, translate_y=None, resample='bilinear', same_on_batch=False, align_corners=False, "
        "padding_mode='zeros', p=0.5, keepdim=False",
        "RandomAffine(0, translate=(largest(translate_x or 0), largest(translate_y or 0)), "
        "interpolation=resample.lower())",
        f"{_SIMILAR}: shifts are symmetric about 0",
    ),
    "RandomVerticalFlip": Equivalent("p=0.5, p_batch=1.0, same_on_batch=False, keepdim=False", "RandomVerticalFlip(p)"),
    "RandomMixUpV2": "use MixUp",
    "RandomCutMixV2": "use CutMix",
    "Resize": Equivalent(
        "size, side='short', resample='bilinear', align_corners=True, antialias=False, p=1.0, keepdim=False",
        "Resize(size, resample.lower(), antialias=antialias)",
        f"{_ALIGNED_CORNERS}, and its antialias is a Gaussian blur",
    ),
}

_SHIFTS_AND_SCALES = f"{_SIMILAR}: shifts are symmetric about 0, and one scale is drawn for both axes"
_NEAREST = '"nearest", also of masks, reads the pixel at the center of the output pixel, not at its corner'
_ROUNDED_DOWN = f"{_SIMILAR}: the length of the other side is rounded down"
_UINT8_LIMITS = "the limits are for uint8 images (0..255)"
_NO_COUNTERPART = "there is no counterpart; a function of the batch in the list of Compose can take its place"
ALBUMENTATIONS: Mapping[str, Row] = {
    "Affine": Equivalent(
        "scale=(1.0, 1.0), translate_percent=None, translate_px=None, rotate=0.0, shear=(0.0, 0.0), interpolation=1, "
        "*, fill=0, p=0.5",
        "RandomAffine(negate(constant(rotate)), "
        "translate=(largest(translate_percent or 0), largest(translate_percent or 0)), scale=constant(scale), "
        "shear=2 * constant(shear), interpolation=cv2_interpolation(interpolation), fill=fill)",
        f"{_SHIFTS_AND_SCALES}; images are sheared before they are rotated, not after it",
    ),
    "BasicTransform": "derive from Transform, or put a function into Compose",
    "BboxParams": Equivalent(
        "format, label_fields=None, min_area=0.0, min_visibility=0.0",
        "Boxes(box_format(format), min_area=min_area, min_visibility=min_visibility, compact=True)",
    ),
    **dict.fromkeys(("Blur", "CLAHE", "GridDistortion", "MedianBlur", "MotionBlur"), _NO_COUNTERPART),
    **dict.fromkeys(("OpticalDistortion", "RandomFog", "RandomRain", "RandomShadow", "Transpose"), _NO_COUNTERPART),
    "CenterCrop": Equivalent("height, width, pad_if_needed=False, *, p=1.0",
        "CenterCrop((height, width))", _ODD_MARGIN),
    "ChannelShuffle": Equivalent("p=0.5", "RandomChannelPermutation()"),
    "CoarseDropout": Equivalent(
        "num_holes_range=(1, 2), hole_height_range=(0.1, 0.2), hole_width_range=(0.1, 0.2), fill=0, *, p=0.5",
        "RandomErasing(p, scale=products(hole_height_range, hole_width_range), value=fill)",
        f"{_SIMILAR}: one box; RandomMask fills several squares",
    ),
    "ColorJitter": Equivalent(
        "brightness=(0.8, 1.2), contrast=(0.8, 1.2), saturation=(0.8, 1.2), hue=(-0.5, 0.5), p=0.5",
        "ColorJitter(brightness, contrast, saturation, hue)",
    ),
    "Compose": Equivalent(
        "transforms, bbox_params=None, keypoint_params=None, *, seed=None, p=1.0",
        "Compose(transforms, seed=seed, boxes=bbox_params, keypoints=keypoint_params)",
    ),
    "Crop": "call cuaug.crop before the recipe",
    "ElasticDeform": "use ElasticTransform",
    "ElasticTransform": Equivalent(
        "alpha, sigma, interpolation=1, *, fill=0, p=0.5",
        "ElasticTransform(0.75 * alpha, sigma, interpolation=cv2_interpolation(interpolation), fill=fill)",
        f"{_SIMILAR}: Albumentations divides the noise by its largest value; sigma must be below 15.875",
    ),
    "Equalize": Equivalent("mode='cv', by_channels=True, *, p=0.5", "RandomEqualize(p)",
        f"{_SIMILAR}: results are those of PIL"),
    "GaussNoise": Equivalent(
        "std_range=(0.2, 0.44), mean_range=(0.0, 0.0), per_channel=True, *, p=0.5",
        "GaussianNoise(mean(mean_range), mean(std_range))",
        f"{_SIMILAR}: one sigma for all samples",
    ),
    "GaussianBlur": Equivalent(
        "blur_limit=0, sigma_limit=(0.5, 3.0), p=0.5",
        "GaussianBlur(kernel_size(blur_limit, sigma_limit), above_zero(up_to(sigma_limit)))",
        "one kernel size for all samples",
    ),
    "GridDropout": "use RandomMask",
    "HorizontalFlip": Equivalent("p=0.5", "RandomHorizontalFlip(p)"),
    "HueSaturationValue": Equivalent(
        "hue_shift_limit=(-20, 20), sat_shift_limit=(-30, 30), val_shift_limit=(-20, 20), p=0.5",
        "ColorJitter(brightness=factors(val_shift_limit, 255), saturation=factors(sat_shift_limit, 255), "
        "hue=ratio(around(hue_shift_limit), 180))",
        f"{_SIMILAR}: it multiplies by saturation and brightness instead of adding them",
    ),
    "ImageCompression": Equivalent(
        "compression_type='jpeg', quality_range=(99, 100), p=0.5",
        "JPEG(quality_range)",
        f"{_SIMILAR}: Albumentations encodes red as blue, and blue as red",
    ),
    "InvertImg": Equivalent("p=0.5", "RandomInvert(p)"),
    "KeypointParams": Equivalent("format='xy', label_fields=None, remove_invisible=True", "Keypoints()"),
    "Lambda": "put a function of the batch into the list of Compose",
    "LongestMaxSize": Equivalent(
        "max_size, max_size_hw=None, interpolation=1, *, p=1.0",
        "Resize(None, cv2_interpolation(interpolation), max_size=max_size, antialias=False)",
        f"{_ROUNDED_DOWN}; {_NEAREST}",
    ),
    "NoOp": Equivalent("p=0.5", "Identity()"),
    "Normalize": Equivalent(
        "mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225), max_pixel_value=255.0, normalization='standard', p=1.0",
        "Normalize(mean, std)",
    ),
    "OneOf": Equivalent("transforms, p=0.5", "RandomChoice(transforms, p=weights)"),
    "Pad": Equivalent(
        "padding=0, fill=0, fill_mask=0, border_mode=0, p=1.0",
        "Pad(padding, fill=fill, padding_mode=border(border_mode))"),
    "PadIfNeeded": "use Pad with the missing rows; RandomCrop(size, pad_if_needed=True) and CenterCrop pad, too",
    "Perspective": Equivalent(
        "scale=(0.05, 0.1), keep_size=True, fit_output=False, interpolation=1, *, fill=0, p=0.5",
        "RandomPerspective(2 * largest(scale), p, cv2_interpolation(interpolation), fill=fill)",
        f"{_SIMILAR}: corners are uniform, and the image's corners move inward, with fill outside; "
        "Albumentations enlarges a part of the image",
    ),
    "PixelDropout": Equivalent("dropout_prob=0.01, per_channel=False, drop_value=0, *, p=0.5",
        "RandomMask(p, share=dropout_prob, value=drop_value)"),
    "Posterize": Equivalent("num_bits=4, p=0.5", "RandomPosterize(num_bits, p)"),
    "RandomBrightnessContrast": Equivalent(
        "brightness_limit=(-0.2, 0.2), contrast_limit=(-0.2, 0.2), brightness_by_max=True, *, p=0.5",
        'PixelOp("BrightnessContrast", "clamp(px * (1 + c) + b, 0, 1)", c=around(contrast_limit), '
        "b=around(brightness_limit))",
        f"its expression is clamp(px * (1 + c) + b, 0, 1); {_ADDED_BRIGHTNESS}",
    ),
    "RandomCrop": Equivalent(
        "height, width, pad_if_needed=False, *, fill=0, p=1.0",
        "RandomCrop((height, width), pad_if_needed=pad_if_needed, fill=fill)",
        "with pad_if_needed, the image lies at a random place in the padding, not in its center",
    ),
    "RandomGamma": Equivalent(
        "gamma_limit=(80, 120), p=0.5", 'PixelOp("Gamma", "pow(px, g)", g=ratio(gamma_limit, 100))'
    ),
    "RandomResizedCrop": Equivalent(
        "size, scale=(0.08, 1.0), ratio=(0.75, 4 / 3), interpolation=1, *, p=1.0",
        "RandomResizedCrop(size, scale=scale, ratio=ratio, interpolation=cv2_interpolation(interpolation), "
        "antialias=False)",
        _NEAREST,
    ),
    "RandomOrder": "use RandomChoice for one of the transforms; RandomOrder of cuaug applies all",
    "RandomRotate90": Equivalent(
        "p=1",
        "RandomChoice([Identity(), RandomRotation((90, 90)), RandomRotation((180, 180)), RandomRotation((270, 270))])",
        "for square images",
    ),
    "RandomSizedCrop": "use RandomResizedCrop",
    "ReplayCompose": (
        "use Compose: calls with the same seed and step draw the same, and draw gives the parameters for apply, "
        "which takes images only"
    ),
    "Resize": Equivalent("height, width, interpolation=1, *, p=1.0",
        "Resize((height, width), cv2_interpolation(interpolation), antialias=False)", _NEAREST),
    "RGBShift": Equivalent(
        "r_shift_limit=(-20, 20), g_shift_limit=(-20, 20), b_shift_limit=(-20, 20), p=0.5",
        'PixelOp("RGBShift", "clamp(rgb(red + r, green + g, blue + b), 0, 1)", r=ratio(around(r_shift_limit), 255), '
        "g=ratio(around(g_shift_limit), 255), b=ratio(around(b_shift_limit), 255))",
        _UINT8_LIMITS,
    ),
    "Rotate": Equivalent(
        "limit=(-90, 90), interpolation=1, *, fill=0, p=0.5",
        "RandomRotation(limit, cv2_interpolation(interpolation), fill=fill)",
    ),
    "SafeRotate": "use RandomRotation, with Pad before it",
    "Sequential": Equivalent("transforms, p=0.5", "Compose(transforms)"),
    "Sharpen": Equivalent("alpha=(0.2, 0.5), lightness=(0.5, 1.0), *, p=0.5",
        "RandomAdjustSharpness(1 + 13 * mean(alpha), p)",
        f"{_SIMILAR}: one strength for all samples, the lightness is 1, and the outermost pixels stay"),
    "ShiftScaleRotate": Equivalent(
        "shift_limit=(-0.0625, 0.0625), scale_limit=(-0.1, 0.1), rotate_limit=(-45, 45), interpolation=1, "
        "border_mode=0, *, fill=0, p=0.5",
        "RandomAffine(negate(around(rotate_limit)), translate=(largest(shift_limit), largest(shift_limit)), "
        "scale=factors(scale_limit), interpolation=cv2_interpolation(interpolation), fill=fill)",
        _SHIFTS_AND_SCALES,
    ),
    "SmallestMaxSize": Equivalent("max_size, max_size_hw=None, interpolation=1, *, p=1.0",
        "Resize(max_size, cv2_interpolation(interpolation), antialias=False)",
        f"{_ROUNDED_DOWN}; one size for all samples; {_NEAREST}"),
    "Solarize": Equivalent("threshold_range=(0.5, 0.5), p=0.5", "RandomSolarize(255 * mean(threshold_range), p)",
        "the threshold is for uint8 images (0..255); one threshold for all samples"),
    "SomeOf": "use RandAugment, or RandomChoice and RandomApply",
    "ToFloat": Equivalent("max_value=None, p=1.0", 'ToDtype("float32", scale=True)'),
    "ToGray": Equivalent("num_output_channels=3, method='weighted_average', p=0.5", "RandomGrayscale(p)"),
    "ToTensorV2": ANY_LIBRARY_OR_DATASET,
    "VerticalFlip": Equivalent("p=0.5", "RandomVerticalFlip(p)"),
    "from_dict": "write the recipe as code: from_dict of cuaug reads the descriptions of cuaug's to_dict",
}  # fmt: skip

# Operators of ``nvidia.dali.fn``: a pipeline is a graph, which no edit turns into a recipe.
DALI: Mapping[str, str] = {
    "color_twist": "use T.ColorJitter",
    "crop_mirror_normalize": "use T.RandomCrop, T.RandomHorizontalFlip, T.ToDtype and T.Normalize, with values in 0..1",
    "decoders.image": 'use Loader(..., decoder="hybrid")',
    "decoders.image_random_crop": "use T.RandomResizedCrop: Loader decodes only the crop",
    "flip": "use T.RandomHorizontalFlip or T.RandomVerticalFlip",
    "gaussian_blur": "use T.GaussianBlur",
    "hsv": "use T.ColorJitter",
    "python_function": "use T.PixelOp for one expression; else call the function on the batch",
    "random.coin_flip": "leave it out: transforms take a probability p",
    "random.uniform": "use the ranges of the transforms, or aug.draw and aug.apply",
    "readers.file": 'use Loader("folder", ...)',
    "readers.webdataset": 'use Loader(ImageFiles(["a.tar", "b.tar"]), ...)',
    "resize": "use T.Resize",
    "rotate": "use cuaug.rotate",
    "warp_affine": 'use cuaug.warp_affine, with cuaug.convert_matrix(M, "dali", "cuaug")',
}
