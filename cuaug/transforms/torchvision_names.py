"""torchvision v2's names that this package does not have, and their replacements."""

from __future__ import annotations

_ARRAYS = "leave it out: arrays of any library are accepted, and results are of the same library"
_BOXES = (
    "leave it out: boxes=Boxes(...) and keypoints=Keypoints(...) of Compose give their format, "
    "and say what becomes of those that leave the image"
)
_SIZES = "all results of a batch have the same size here; use "

REPLACEMENTS = {
    "AutoAugmentPolicy": 'AutoAugment takes "imagenet", "cifar10" or "svhn"',
    "ClampBoundingBoxes": _BOXES,
    "ClampKeyPoints": _BOXES,
    "ConvertBoundingBoxFormat": _BOXES,
    "ConvertImageDtype": "ToDtype(dtype, scale=True) does the same",
    "FiveCrop": "crop five times with cuaug.crop",
    "InterpolationMode": 'interpolation is a name here, such as "bilinear"; torchvision\'s enum is accepted too',
    "JPEG": "no codec runs within a recipe",
    "Lambda": "call the function before or after the recipe",
    "LinearTransformation": "multiply the flattened batch by the matrix",
    "PILToTensor": _ARRAYS,
    "RandomChannelPermutation": "index the channel axis, or call cuaug.color_matrix with a permutation of each sample",
    "RandomIoUCrop": _SIZES + "RandomResizedCrop or RandomCrop with boxes=Boxes(...)",
    "RandomPhotometricDistort": "use ColorJitter, within RandomApply to change some samples only",
    "RandomResize": _SIZES + "RandomResizedCrop, or RandomAffine with a scale",
    "RandomShortestSize": _SIZES + "Resize, then RandomResizedCrop",
    "RandomZoomOut": _SIZES + "RandomAffine with a scale below 1",
    "RGB": "repeat the channel of grey images before the recipe",
    "SanitizeBoundingBoxes": _BOXES,
    "SanitizeKeyPoints": _BOXES,
    "ScaleJitter": _SIZES + "RandomAffine with a scale, or RandomResizedCrop",
    "SetClampingMode": _BOXES,
    "TenCrop": "crop five times with cuaug.crop, and flip with cuaug.hflip",
    "ToImage": _ARRAYS,
    "ToPILImage": _ARRAYS,
    "ToPureTensor": _ARRAYS,
    "ToTensor": "ToDtype('float32', scale=True) in its place scales uint8 to 0..1",
    "Transform": "compose the transforms of this package, or change the batch before or after the recipe",
    "UniformTemporalSubsample": "index the axis of time",
}
