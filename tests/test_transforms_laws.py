"""Laws of recipes: each test is one sentence about every row of ``recipe_cases.py``."""

import numpy as np
import pytest
from arrays import HOMES, NEGATIVE, VIEWS, default_layout, from_layout, home_id, images, noise, put, to_layout
from compare import EXACT, Tolerance, assert_equal, describe, to_numpy

cuaug = pytest.importorskip("cuaug")
from cuaug import transforms as T  # noqa: E402
from recipe_cases import BY_NAME, CASES, one_by_one  # noqa: E402

SHAPE = (6, 17, 11)
SEEDS = 11, 12
every_home = pytest.mark.parametrize("home", HOMES, ids=home_id)
every_case = pytest.mark.parametrize("case", CASES, ids=str)


def batch_of(case, home=("numpy", "cpu"), dtype=None, layout=None, channels=None, samples=SHAPE[0]):
    return images(home, dtype or case.dtypes[0], layout, (samples, *SHAPE[1:], channels or case.channels[-1]))


@pytest.mark.parametrize(
    ("case", "dtype", "channels"),
    [(c, d, k) for c in CASES for d in c.dtypes if d != "float16" for k in c.channels],
    ids=str,
)
def test_a_recipe_equals_its_functions_one_by_one(case, dtype, channels):
    batch = batch_of(case, dtype=dtype, channels=channels)
    for seed in SEEDS:
        aug = case.compose(dtype, seed)
        params = aug.draw(batch)
        expected = one_by_one(case, dtype, batch, params, "NHWC")
        assert_equal(aug.apply(batch, params), expected, tolerance=case.tolerance(str(expected.dtype)))
