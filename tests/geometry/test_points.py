"""Points and boxes transformed by matrices, against OpenCV and float64 NumPy."""

import math

import cv2
import numpy as np
import pytest
from helpers.compare import assert_equal
from helpers.matrices import FLOAT64, batches, fixed_settings, matrices, move, numbers
from hypothesis import given
from hypothesis import strategies as st

from cuaug.geometry import transform_boxes, transform_points


@fixed_settings()
@given(batches(4), matrices(), matrices(3))
def test_transform_points_equals_opencv(points, affine, perspective):
    expected_affine = np.stack([cv2.transform(sample[None], affine)[0] for sample in points])
    assert_equal(transform_points(points, affine), expected_affine, tolerance=FLOAT64)
    near = points % 400  # the horizon of every drawn map is at least 6,500 px away
    expected_perspective = np.stack([cv2.perspectiveTransform(sample[None], perspective)[0] for sample in near])
    assert_equal(transform_points(near, perspective), expected_perspective, tolerance=FLOAT64)


def test_transform_points_keeps_missing_points():
    moved = transform_points([(1, 2), (math.nan, math.nan)], [(1, 0, 1), (0, 1, 1)])
    assert_equal(moved, np.array([(2, 3), (math.nan, math.nan)]))


def test_transform_points_horizon_is_infinite():
    assert np.isinf(transform_points([(0, 2)], [(1, 0, 1), (0, 1, 0), (1, 0, 0)])).all()


TO_XYXY = {
    "XYXY": lambda a, b, c, d: (a, b, c, d),
    "XYWH": lambda x, y, w, h: (x, y, x + w, y + h),
    "CXCYWH": lambda x, y, w, h: (x - w / 2, y - h / 2, x + w / 2, y + h / 2),
}


@pytest.mark.parametrize("format", TO_XYXY)
@pytest.mark.parametrize("rows", [2, 3])
def test_transform_boxes_bounds_moved_corners(format, rows):
    @fixed_settings()
    @given(st.tuples(numbers(0, 200), numbers(0, 200), numbers(201, 400), numbers(201, 400)), matrices(rows))
    def check(box, M):
        x1, y1, x2, y2 = TO_XYXY[format](*box)
        corners = move(np.array([(x1, y1), (x2, y1), (x2, y2), (x1, y2)]) - 0.5, M) + 0.5
        moved = transform_boxes([box], M, format)
        expected = np.array([(*corners.min(0), *corners.max(0))])
        assert_equal(np.stack(TO_XYXY[format](*moved.T), -1), expected, tolerance=FLOAT64)

    check()


@pytest.mark.parametrize(
    "M",
    [
        [(-1, 0, 39), (0, 1, 0)],  # horizontal flip of 40 columns
        [(0, 1, 0), (-1, 0, 39)],  # quarter turn
        [(2, 0, 0.5), (0, 2, 0.5)],  # each pixel becomes 2x2
        [(1, 0, 7), (0, 1, -3)],
    ],
)
def test_transform_boxes_cover_their_pixels(M):
    image = np.zeros((40, 40), np.uint8)
    image[5:9, 12:18] = 255
    rows, columns = np.nonzero(cv2.warpAffine(image, np.array(M, np.float64), (90, 90), flags=cv2.INTER_NEAREST))
    expected = np.array([(columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)], np.float64)
    assert_equal(transform_boxes([(12, 5, 18, 9)], M), expected)


def test_transform_points_sign_at_horizon_does_not_depend_on_earlier_calls():
    for zero in (0.0, -0.0, 0.0, -0.0):
        M = np.array([[1, 0, 0], [0, 1, 0], [zero, zero, zero]])
        assert np.array_equal(transform_points(np.ones((1, 2)), M), np.full((1, 2), np.copysign(np.inf, zero)))
