"""The recipe of demo.py with OpenCV: one image after the other in each of several threads, with given draws."""

from __future__ import annotations

import cv2
import numpy as np


def augment(image, mask, boxes, draws, mean, std, fill):
    """Augments a photograph [H, W, 3], its mask [H, W] and its boxes [B, 4]; the result's photograph is float32."""
    height, width = mask.shape
    matrix = draws["matrix"][:2]
    image = cv2.warpAffine(image, matrix, (width, height), flags=cv2.INTER_LINEAR, borderValue=fill)
    mask = cv2.warpAffine(mask, matrix, (width, height), flags=cv2.INTER_NEAREST)
    for op in draws["order"]:
        image = JITTER[op](image, draws)
    if draws["grey"]:
        image = to_grey(image)
    image = cv2.subtract(image, tuple(255 * m for m in mean), dtype=cv2.CV_32F)
    return cv2.multiply(image, tuple(1 / (255 * s) for s in std)), mask, transform_boxes(boxes, matrix, width, height)


def to_grey(image):
    return cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)


def brightness(image, draws):
    return cv2.addWeighted(image, draws["brightness_factor"], image, 0, 0)


def contrast(image, draws):
    factor = draws["contrast_factor"]
    mean = cv2.mean(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY))[0]
    return cv2.addWeighted(image, factor, image, 0, (1 - factor) * mean)


def saturation(image, draws):
    factor = draws["saturation_factor"]
    return cv2.addWeighted(image, factor, to_grey(image), 1 - factor, 0)


def hue(image, draws):
    image = cv2.cvtColor(image, cv2.COLOR_RGB2HSV)  # the hue has 180 levels
    levels = (np.arange(256) + round(180 * draws["hue_factor"])) % 180
    image[..., 0] = cv2.LUT(image[..., 0], levels.astype(np.uint8))
    return cv2.cvtColor(image, cv2.COLOR_HSV2RGB)


JITTER = [brightness, contrast, saturation, hue]  # indexed by the numbers that ColorJitter draws as its order


def transform_boxes(boxes, matrix, width, height):
    """The upright boxes around the mapped corners, clipped to the image. Coordinates of boxes are pixel edges."""
    corners = boxes[:, [[0, 1], [2, 1], [2, 3], [0, 3]]] - 0.5
    corners = corners @ matrix[:, :2].T + matrix[:, 2] + 0.5
    return np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1).clip(0, [width, height] * 2)
