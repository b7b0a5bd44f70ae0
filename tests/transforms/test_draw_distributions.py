"""Distributions of drawn parameters, and their independence."""

import itertools
import math

import numpy as np
import pytest
from helpers.draws import CANVAS, SEED, OneDraw, columns
from scipy import stats
from tables import draws as reference_draws

from cuaug import transforms as T

RARE = 1e-4  # a smaller p-value comes by chance from one seed in 10,000; the seeds are fixed

SAMPLES = 20_000
LARGE = 4096, 4096  # rounding to whole pixels is negligible


def assert_fits(values, distribution):
    assert stats.kstest(values, distribution).pvalue > RARE


def assert_uniform(values, low, high):
    assert low <= values.min()
    assert values.max() <= high
    assert_fits((values - low) / (high - low), "uniform")


def assert_equally_often(values, possible):
    possible = list(possible)
    counts = np.array([(values == value).sum() for value in possible])
    assert counts.sum() == len(values), f"drawn values are not all in {possible}"
    assert stats.chisquare(counts).pvalue > RARE, counts


def assert_probability(flags, p):
    assert set(np.unique(flags)) <= {0.0, 1.0}
    assert stats.binomtest(int(flags.sum()), len(flags), p).pvalue > RARE


def test_random_resized_crop_distribution():
    """With these scales every attempt fits, and area and ratio are distributed as drawn."""
    drawn = columns([T.RandomResizedCrop(8, scale=(0.08, 0.5))], SAMPLES, LARGE)
    top, left, height, width = (drawn[f"0.RandomResizedCrop.{name}"] for name in ("top", "left", "height", "width"))
    assert_uniform(height * width / (LARGE[0] * LARGE[1]), 0.0799, 0.5001)
    assert_uniform(np.log(width / height), math.log(3 / 4) - 1e-3, math.log(4 / 3) + 1e-3)
    assert_fits((top + 0.5) / (LARGE[0] - height + 1), "uniform")
    assert_fits((left + 0.5) / (LARGE[1] - width + 1), "uniform")


def accepted_attempts(rng, count, size, scale, ratio):
    """torchvision's attempts in NumPy, without those that do not fit. [count, (area, log ratio)]"""
    area = size[0] * size[1] * rng.uniform(*scale, 4 * count)
    aspect = np.exp(rng.uniform(*np.log(ratio), 4 * count))
    w, h = np.rint(np.sqrt(area * aspect)), np.rint(np.sqrt(area / aspect))
    fit = (w <= size[1]) & (h <= size[0])
    return np.stack([h * w / (size[0] * size[1]), np.log(w / h)], 1)[fit][:count]


@pytest.mark.parametrize("size", [LARGE, (2000, 3000)])
def test_random_resized_crop_rejection_distribution(size):
    drawn = columns([T.RandomResizedCrop(8)], SAMPLES, size)
    height, width = (drawn[f"0.RandomResizedCrop.{name}"] for name in ("height", "width"))
    accepted_crops = accepted_attempts(np.random.default_rng(1), SAMPLES, size, (0.08, 1.0), (3 / 4, 4 / 3))
    for actual, reference in (
        (height * width / (size[0] * size[1]), accepted_crops[:, 0]),
        (np.log(width / height), accepted_crops[:, 1]),
    ):
        assert stats.ks_2samp(actual, reference).pvalue > RARE


def test_color_jitter_distribution_and_orders():
    drawn = columns([T.ColorJitter(0.4, (0.2, 3.0), 0.9, 0.2)], SAMPLES)
    ends = {"brightness": (0.6, 1.4), "contrast": (0.2, 3.0), "saturation": (0.1, 1.9), "hue": (-0.2, 0.2)}
    for name, (low, high) in ends.items():
        assert_uniform(drawn[f"0.ColorJitter.{name}_factor"], low, high)
    order = sum(drawn[f"0.ColorJitter.order_{i}"] * 10**i for i in range(4))
    assert_equally_often(
        order, [sum(op * 10**i for i, op in enumerate(permutation)) for permutation in itertools.permutations(range(4))]
    )


def test_random_photometric_distort_distribution():
    transform = T.RandomPhotometricDistort(p=0.3)
    drawn = columns([transform], SAMPLES)
    values = {name.removeprefix("0.RandomPhotometricDistort."): column for name, column in drawn.items()}
    for name, identity in (("brightness", 1.0), ("contrast", 1.0), ("saturation", 1.0), ("hue", 0.0)):
        factor, apply = values[f"{name}_factor"], values[f"apply_{name}"] == 1
        assert_probability(apply.astype(float), transform.p)
        assert (factor[~apply] == identity).all()
        assert_uniform(factor[apply], *getattr(transform, name))
    order = sum(values[f"order_{i}"] * 10**i for i in range(4))
    assert_equally_often(order, [3210, 1320])  # the ops from right to left; contrast, 1, is the second or the last
    permutation, apply = sum(values[f"permutation_{c}"] * 10**c for c in range(3)), values["apply_permutation"] == 1
    assert_probability(apply.astype(float), transform.p)
    assert (permutation[~apply] == 210).all()
    assert_equally_often(permutation[apply], [12, 21, 102, 120, 201, 210])


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 1.0])
def test_random_transforms_apply_with_their_probability(p):
    assert_probability(columns([T.RandomHorizontalFlip(p)], SAMPLES)["0.RandomHorizontalFlip.flip"], p)
    assert_probability(columns([T.RandomVerticalFlip(p)], SAMPLES)["0.RandomVerticalFlip.flip"], p)
    assert_probability(columns([T.RandomGrayscale(p)], SAMPLES)["0.RandomGrayscale.grey"], p)
    assert_probability(columns([T.RandomErasing(p)], SAMPLES)["0.RandomErasing.apply"], p)
    assert_probability(columns([T.RandomPerspective(p=p)], SAMPLES)["0.RandomPerspective.apply"], p)
    assert_probability((columns([T.RandomSolarize(9, p)], SAMPLES)["0.RandomSolarize.threshold"] == 9).astype(float), p)
    assert_probability((columns([T.RandomInvert(p)], SAMPLES)["0.RandomInvert.threshold"] < 0).astype(float), p)
    assert_probability((columns([T.RandomPosterize(3, p)], SAMPLES)["0.RandomPosterize.bits"] == 3).astype(float), p)


def test_random_affine_distribution():
    drawn = columns([T.RandomAffine((-20, 50), (0.1, 0.2), (0.5, 1.5), (-5, 10, 3, 8))], SAMPLES, (1000, 2000))
    ends = {"angle": (-20, 50), "scale": (0.5, 1.5), "shear_x": (-5, 10), "shear_y": (3, 8)}
    for name, (low, high) in ends.items():
        assert_uniform(drawn[f"0.RandomAffine.{name}"], low, high)
    for name, reach in (("translate_x", 200), ("translate_y", 200)):
        values = drawn[f"0.RandomAffine.{name}"]
        assert (values == np.rint(values)).all()
        inner = values[np.abs(values) < reach]  # the two ends are drawn half as often
        assert_equally_often(inner, range(1 - reach, reach))


def test_random_rotation_angle_is_uniform_within_degrees():
    assert_uniform(columns([T.RandomRotation((-10, 70))], SAMPLES)["0.RandomRotation.angle"], -10, 70)


def test_random_erasing_distribution():
    drawn = columns([T.RandomErasing(1.0, scale=(0.02, 0.3))], SAMPLES, LARGE)
    i, j, h, w = (drawn[f"0.RandomErasing.{name}"] for name in "ijhw")
    assert_uniform(h * w / (LARGE[0] * LARGE[1]), 0.0199, 0.3001)
    assert_uniform(np.log(h / w), math.log(0.3) - 2e-3, math.log(3.3) + 2e-3)
    assert_fits((i + 0.5) / (LARGE[0] - h + 1), "uniform")
    assert_fits((j + 0.5) / (LARGE[1] - w + 1), "uniform")


def test_random_crop_positions_are_uniform():
    height, width = CANVAS
    drawn = columns([T.RandomCrop((height - 5, width - 3))], SAMPLES)
    top, left = drawn["0.RandomCrop.top"], drawn["0.RandomCrop.left"]
    assert_equally_often(10 * top + left, [10 * y + x for y in range(6) for x in range(4)])
    padded = columns([T.RandomCrop(CANVAS, padding=2)], SAMPLES)
    assert_equally_often(padded["0.RandomCrop.top"], range(5))


def test_random_perspective_corners_are_uniform():
    height, width = CANVAS  # a corner moves by at most a quarter of a side, in whole pixels
    drawn = columns([T.RandomPerspective(0.5, 1.0)], SAMPLES)
    for corner in ("top_left", "top_right", "bottom_right", "bottom_left"):
        assert_equally_often(drawn[f"0.RandomPerspective.{corner}_x"], range(width // 4 + 1))
        assert_equally_often(drawn[f"0.RandomPerspective.{corner}_y"], range(height // 4 + 1))


@pytest.mark.parametrize(("a", "b"), [(0.2, 0.2), (1.0, 1.0), (0.4, 3.0), (8.0, 2.0)])
def test_draws_beta_is_beta_distributed(a, b):
    assert_fits(columns([OneDraw("Beta", ["a"], a, b, 1.0)], SAMPLES)["0.OneDraw.a"], stats.beta(a, b).cdf)


def test_draws_permutations_are_uniform():
    drawn = columns([OneDraw("Permutation", list("abcde"), 5)], SAMPLES)
    number = sum(drawn[f"0.OneDraw.{name}"] * 10**i for i, name in enumerate("abcde"))
    assert_equally_often(
        number,
        [sum(value * 10**i for i, value in enumerate(permutation)) for permutation in itertools.permutations(range(5))],
    )


def test_gaussian_blur_sigma_is_uniform():
    assert_uniform(columns([T.GaussianBlur(5, (0.2, 1.9))], SAMPLES)["0.GaussianBlur.sigma"], 0.2, 1.9)


def assert_independent(a, b):
    """A chi-squared test of an 8 x 8 table of ranks, which detects more than a correlation does."""
    ranks = [np.argsort(np.argsort(values)) * 8 // len(values) for values in (a, b)]
    counts = np.zeros((8, 8))
    np.add.at(counts, tuple(ranks), 1)
    assert stats.chi2_contingency(counts).pvalue > RARE


def test_draws_of_samples_steps_ids_seeds_and_positions_are_independent():
    jitters = [T.ColorJitter(0.4, 0.4, 0.4, 0.2), T.ColorJitter(0.4, 0.4, 0.4, 0.2)]
    drawn = columns(jitters, SAMPLES)
    factors = [
        drawn[f"{position}.ColorJitter.{name}_factor"]
        for position in (0, 1)
        for name in reference_draws.JITTER_PARAMETERS
    ]
    for a, b in itertools.combinations(factors, 2):
        assert_independent(a, b)
    first = factors[0]
    for lag in (1, 2, 4, 32):
        assert_independent(first[:-lag], first[lag:])
    name = "0.ColorJitter.brightness_factor"
    for other in ({"step": 1}, {"ids": 1 << 32}, {"ids": SAMPLES}, {"seed": SEED + 1}, {"seed": SEED ^ 1 << 40}):
        assert_independent(first, columns(jitters, SAMPLES, **other)[name])
    of_one_sample = np.array([columns(jitters, 1, step=step)[name][0] for step in range(2000)])
    assert_independent(of_one_sample[:-1], of_one_sample[1:])
    assert_uniform(of_one_sample, 0.6, 1.4)


def test_random_resized_crop_area_ratio_position_are_independent():
    actual = columns([T.RandomResizedCrop(8, scale=(0.08, 0.5))], SAMPLES, LARGE)
    top, left, height, width = (actual[f"0.RandomResizedCrop.{name}"] for name in ("top", "left", "height", "width"))
    quantities = [height * width, width / height, top / (LARGE[0] - height + 1), left / (LARGE[1] - width + 1)]
    for a, b in itertools.combinations(quantities, 2):
        assert_independent(a, b)
