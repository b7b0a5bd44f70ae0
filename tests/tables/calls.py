"""One valid call of every public function, by the names of its arguments."""

import numpy as np

import cuaug
from cuaug import io

IMAGES = np.arange(2 * 16 * 12 * 3, dtype=np.uint8).reshape(2, 16, 12, 3)
FLOATS = np.ones((2, 3, 8, 8), np.float32)
EYE = np.eye(3)[:2]
SQUARE = [[0, 0], [11, 0], [11, 15], [0, 15]]
BOXES = np.array([[0.0, 0, 4, 4], [1, 1, 5, 6]])
SCORES = np.array([0.9, 0.8])
LABELS = np.array([0, 1])
JPEG = io.encode_jpeg(IMAGES[0])
LIMITS = {"max_pixels": 10**6, "max_side": 10**4, "max_scans": 10, "max_scan_pixels": 10**8, "max_bytes": 10**6}
DECODED = LIMITS | {"max_memory": 10**8, "color": "rgb", "orient": True, "strict": True, "pin": False, "like": "numpy"}
OPTIONS = {"layout": "NHWC"}
DTYPE = {**OPTIONS, "dtype": "uint8"}
SAMPLED = {**DTYPE, "interpolation": "bilinear", "border": "edge", "fill": 1}

CALLS = {
    "adjust_brightness": {"images": IMAGES, "brightness_factor": 1.5, **OPTIONS},
    "adjust_contrast": {"images": IMAGES, "contrast_factor": 1.5, "about": 100.0, **OPTIONS},
    "adjust_gamma": {"images": IMAGES, "gamma": 1.5, "gain": 1.0, **OPTIONS},
    "adjust_hue": {"images": IMAGES, "hue_factor": 0.1, **OPTIONS},
    "adjust_saturation": {"images": IMAGES, "saturation_factor": 1.5, **OPTIONS},
    "adjust_sharpness": {"images": IMAGES, "sharpness_factor": 1.5, **OPTIONS},
    "affine": {
        "images": IMAGES,
        "angle": 10.0,
        "translate": (1, 2),
        "scale": 1.1,
        "shear": (1, 2),
        "center": (3, 4),
        **SAMPLED,
    },
    "affine_matrix": {"angle": 10.0, "translate": (1, 2), "scale": 1.1, "shear": (1, 2), "center": (3, 4)},
    "autocontrast": {"images": IMAGES, **OPTIONS},
    "batched_nms": {
        "boxes": BOXES,
        "scores": SCORES,
        "idxs": LABELS,
        "iou_threshold": 0.5,
        "score_threshold": 0.1,
        "max_output": 2,
        "fixed_size": True,
    },
    "box_area": {"boxes": BOXES, "fmt": "xyxy"},
    "box_convert": {"boxes": BOXES, "in_fmt": "xyxy", "out_fmt": "xywh"},
    "box_iou": {"boxes1": BOXES, "boxes2": BOXES, "kind": "iou", "fmt": "xyxy"},
    "center_crop": {"images": IMAGES, "output_size": (4, 5), "fill": 1, **DTYPE},
    "clip_boxes": {"boxes": BOXES, "size": (4, 5)},
    "clip_boxes_to_image": {"boxes": BOXES, "size": (4, 5)},
    "color_matrix": {"images": IMAGES, "matrix": np.eye(3), **OPTIONS},
    "complete_box_iou": {"boxes1": BOXES, "boxes2": BOXES, "eps": 1e-7},
    "convert_matrix": {"M": EYE, "source": "cuaug", "target": "torch", "size": (4, 5), "out_size": (6, 7)},
    "crop": {"images": IMAGES, "top": 1, "left": 2, "height": 4, "width": 5, "fill": 1, **DTYPE},
    "cutmix": {"images": IMAGES, "top": 1, "left": 2, "height": 4, "width": 5, "partner": [1, 0], **OPTIONS},
    "distance_box_iou": {"boxes1": BOXES, "boxes2": BOXES, "eps": 1e-7},
    "elastic": {"images": IMAGES, "displacement": np.zeros((2, 16, 12, 2)), **SAMPLED},
    "equalize": {"images": IMAGES, **OPTIONS},
    "erase": {"images": IMAGES, "i": 1, "j": 2, "h": 4, "w": 5, "v": 6, **OPTIONS},
    "estimate_affine": {"src": SQUARE, "dst": SQUARE, "kind": "affine", "weights": np.ones(4)},
    "gaussian_blur": {"images": IMAGES, "kernel_size": 3, "sigma": 1.0, **OPTIONS},
    "gaussian_noise": {
        "images": IMAGES,
        "mean": 0.0,
        "sigma": 0.1,
        "clip": True,
        "seed": 1,
        "step": 2,
        "ids": 3,
        **OPTIONS,
    },
    "generalized_box_iou": {"boxes1": BOXES, "boxes2": BOXES},
    "get_affine_transform": {"src": SQUARE[:3], "dst": SQUARE[:3]},
    "get_perspective_transform": {"src": SQUARE, "dst": SQUARE},
    "get_rotation_matrix": {"angle": 10.0, "scale": 1.0, "center": (0.0, 0.0)},
    "grid": {"images": IMAGES, "ncols": 2, "pad": 1, "fill": 3, "mean": 0.0, "std": 1.0, **OPTIONS},
    "hflip": {"images": IMAGES, "flip": True, **DTYPE},
    "invert": {"images": IMAGES, **OPTIONS},
    "invert_affine": {"M": EYE},
    "jpeg": {"images": IMAGES, "quality": 50, **OPTIONS},
    "lut": {"images": IMAGES, "table": np.arange(256), **OPTIONS},
    "masks_to_boxes": {"masks": IMAGES[..., 0] > 100},
    "mix_labels": {"labels": LABELS, "lam": 0.5, "partner": [1, 0], "num_classes": 3},
    "mixup": {"images": IMAGES, "lam": 0.5, "partner": [1, 0], **OPTIONS},
    "nms": {
        "boxes": BOXES,
        "scores": SCORES,
        "iou_threshold": 0.5,
        "score_threshold": 0.1,
        "max_output": 2,
        "fixed_size": True,
    },
    "normalize": {"images": IMAGES, "mean": [0.5] * 3, "std": [0.5] * 3, "dtype": "float32", **OPTIONS},
    "pad": {"images": IMAGES, "padding": 2, "fill": 1, "padding_mode": "constant", **DTYPE},
    "permute_channels": {"images": IMAGES, "permutation": [2, 0, 1], **OPTIONS},
    "perspective": {"images": IMAGES, "startpoints": SQUARE, "endpoints": SQUARE, "coefficients": None, **SAMPLED},
    "perspective by coefficients": {
        "images": IMAGES,
        "startpoints": None,
        "endpoints": None,
        "coefficients": [1, 0, 0, 0, 1, 0, 0, 0],
        **SAMPLED,
    },
    "posterize": {"images": IMAGES, "bits": 3, **OPTIONS},
    "ps_roi_align": {
        "input": np.ones((2, 4, 8, 8)),
        "boxes": [BOXES, BOXES],
        "output_size": 2,
        "spatial_scale": 1.0,
        "sampling_ratio": 2,
        "layout": "NCHW",
    },
    "ps_roi_pool": {
        "input": np.ones((2, 4, 8, 8)),
        "boxes": [BOXES, BOXES],
        "output_size": 2,
        "spatial_scale": 1.0,
        "layout": "NCHW",
    },
    "remap": {"images": IMAGES, "map_x": np.ones((4, 5)), "map_y": np.ones((4, 5)), "relative": False, **SAMPLED},
    "remove_small_boxes": {"boxes": BOXES, "min_size": 2.0},
    "resize": {"images": IMAGES, "size": 6, "interpolation": "bilinear", "max_size": None, "antialias": True, **DTYPE},
    "resized_crop": {
        "images": IMAGES,
        "top": 1,
        "left": 2,
        "height": 4,
        "width": 5,
        "size": 6,
        "interpolation": "bilinear",
        "antialias": True,
        **DTYPE,
    },
    "rgb_to_grayscale": {"images": IMAGES, "num_output_channels": 3, **OPTIONS},
    "roi_align": {
        "input": FLOATS,
        "boxes": [BOXES, BOXES],
        "output_size": 2,
        "spatial_scale": 1.0,
        "sampling_ratio": 2,
        "aligned": True,
        "mode": "avg",
        "layout": "NCHW",
        "canonical_size": 224.0,
        "canonical_level": 4,
    },
    "roi_pool": {"input": FLOATS, "boxes": [BOXES, BOXES], "output_size": 2, "spatial_scale": 1.0, "layout": "NCHW"},
    "rotate": {"images": IMAGES, "angle": 10.0, "expand": False, "center": (3, 4), **SAMPLED},
    "set_num_threads": {"count": 1},
    "show": {"images": IMAGES, "ncols": 2, "mean": 0.0, "std": 1.0, **OPTIONS},
    "soft_nms": {
        "boxes": BOXES,
        "scores": SCORES,
        "iou_threshold": 0.5,
        "sigma": 0.5,
        "score_threshold": 0.1,
        "method": "linear",
        "max_output": 2,
        "fixed_size": True,
    },
    "solarize": {"images": IMAGES, "threshold": 100.0, **OPTIONS},
    "to_dtype": {"images": IMAGES, "dtype": "float32", "scale": True, **OPTIONS},
    "transform_boxes": {"boxes": BOXES, "M": EYE, "format": "XYXY"},
    "transform_points": {"points": SQUARE, "M": EYE},
    "vflip": {"images": IMAGES, "flip": True, **DTYPE},
    "warp_affine": {"images": IMAGES, "M": EYE, "size": (4, 5), "inverse": True, "origin": "center", **SAMPLED},
    "warp_perspective": {
        "images": IMAGES,
        "M": np.eye(3),
        "size": (4, 5),
        "inverse": True,
        "origin": "center",
        **SAMPLED,
    },
    "io.decode_and_crop_jpeg": {"data": JPEG, "top": 1, "left": 2, "height": 4, "width": 5, "scale": 1, **DECODED},
    "io.decode_image": {"data": JPEG, **DECODED},
    "io.decode_jpeg": {"data": JPEG, "scale": 1, "size_hint": (8, 8), **DECODED},
    "io.encode_jpeg": {
        "images": IMAGES,
        "quality": 90,
        "subsampling": "420",
        "progressive": False,
        "color": "rgb",
        **OPTIONS,
    },
    "io.read_header": {"data": JPEG, **LIMITS},
}
WITHOUT_NAMED_ARGUMENTS = {"info", "is_available", "warmup", "compose_affine"}


def function_of(name):
    """The function whose name is the first word of a row's name."""
    name = name.partition(" ")[0]
    return getattr(io, name.removeprefix("io.")) if name.startswith("io.") else getattr(cuaug, name)


_DECODERS = {"io.decode_and_crop_jpeg", "io.decode_image", "io.decode_jpeg", "io.read_header"}
# (kind of the value, function, parameter): unusual values that a parameter accepts.
ACCEPTS = {
    # None: no limit
    *(("None", name, limit) for name in _DECODERS for limit in (*LIMITS, "max_memory") if limit in CALLS[name]),
    *(("empty list", name, "data") for name in _DECODERS),  # []: no files
    ("empty list", "io.encode_jpeg", "images"),
    # None: a fill of 0
    *(("None", name, "fill") for name in ("center_crop", "crop", "remap", "warp_affine", "warp_perspective")),
    *(("None", name, "antialias") for name in ("resize", "resized_crop")),  # as torchvision's: False
    *(
        ("empty list", name, parameter)
        for name in ("affine_matrix", "get_rotation_matrix")
        for parameter in ("angle", "scale")
    ),
}
