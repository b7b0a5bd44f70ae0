"""Hostile parameters for images on a GPU: host values may be rejected, values of a device are not read.

Values of a device must be harmless. ``sanitize.py`` reports a write outside an array.
"""

import pytest
from tables.hostile import FUNCTIONS, GROUPS, MIXED_TABLE_COUNT, VALUES, check, check_function, dtypes_of

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
    assert rejected + applied == len(dtypes_of(name)) * (len(VALUES) + MIXED_TABLE_COUNT)
    assert applied > 10 * len(dtypes_of(name))
