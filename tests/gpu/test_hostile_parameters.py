"""Hostile parameters on a GPU, where cuaug does not read them. ``sanitize.py`` reports a write outside an array."""

import pytest
from tables.hostile import FUNCTIONS, GROUPS, MIXED_TABLES, VALUES, check, check_function, dtypes_of

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
    assert rejected + applied == len(dtypes_of(name)) * (len(VALUES) + MIXED_TABLES)
    assert applied > 10 * len(dtypes_of(name))
