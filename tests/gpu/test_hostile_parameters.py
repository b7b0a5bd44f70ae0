"""Hostile parameters on a GPU, where cuaug does not read them. ``sanitize.py`` reports a write outside an array."""

import pytest
from tables.hostile import FUNCTIONS, GROUPS, MIXED_TABLES, VALUES, check, check_function

pytest.importorskip("torch")
pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("group", GROUPS)
def test_params_hostile_numbers_are_harmless_in_kernels(group):
    rejected, applied = check(group, "torch")
    assert applied > 100
    assert rejected


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_take_hostile_numbers_of_a_device(name):
    rejected, applied = check_function(name, "torch")
    assert rejected + applied == 3 * (len(VALUES) + MIXED_TABLES)  # for three dtypes
    assert applied > 30
