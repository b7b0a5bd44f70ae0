"""Calls of functions of images: the function, the arguments after the images (float32, 3 channels), and keywords."""

import cuaug

CALLS = [
    (cuaug.hflip, (), {}),
    (cuaug.hflip, (False,), {"layout": "NCHW"}),
    (cuaug.vflip, (), {}),
    (cuaug.crop, (3, -2, 20, 24), {"fill": 0.25}),
    (cuaug.center_crop, (10,), {}),
    (cuaug.pad, ((1, 2, 3, 4),), {"padding_mode": "reflect"}),
    (cuaug.resize, ((9, 11),), {}),
    (cuaug.resize, ([9, 11], "nearest"), {}),
    (cuaug.resized_crop, (1, 2, 13, 14, 8), {"antialias": False}),
    (cuaug.warp_affine, ([[0.9, 0.1, 2.0], [-0.1, 1.1, 0.5]],), {"border": "edge"}),
    (cuaug.warp_perspective, ([[0.9, 0.1, 2.0], [-0.1, 1.1, 0.5], [0.001, 0.0, 1.0]],), {}),
    (cuaug.rotate, (10.0,), {}),
    (cuaug.affine, (10.0, (1, 2), 0.9, (5.0, 0.0)), {}),
    (cuaug.adjust_brightness, (0.75,), {}),
    (cuaug.adjust_contrast, (0.75,), {}),
    (cuaug.adjust_contrast, (0.75, 0.5), {}),
    (cuaug.adjust_saturation, (0.5,), {}),
    (cuaug.adjust_hue, (0.1,), {}),
    (cuaug.adjust_gamma, (0.5,), {}),
    (cuaug.invert, (), {}),
    (cuaug.solarize, (0.5,), {}),
    (cuaug.posterize, (3,), {}),
    (cuaug.rgb_to_grayscale, (), {}),
    (cuaug.color_matrix, ([[0, 0, 1], [0, 1, 0], [1, 0, 0]],), {}),
    (cuaug.autocontrast, (), {}),
    (cuaug.normalize, ((0.4, 0.5, 0.6), (0.2, 0.3, 0.4)), {}),
    (cuaug.to_dtype, ("float32",), {"scale": True}),
    (cuaug.gaussian_blur, (5, 1.5), {}),
    (cuaug.adjust_sharpness, (1.5,), {}),
    (cuaug.mixup, (0.75,), {}),
    (cuaug.cutmix, (1, 2, 10, 9), {}),
    (cuaug.erase, (1, 2, 10, 9), {"v": 0.5}),
]
IDS = [f"{function.__name__}-{i}" for i, (function, _, _) in enumerate(CALLS)]
