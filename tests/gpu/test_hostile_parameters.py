"""Parameters that nobody drew, on a GPU. A write outside of an array shows under ``sanitize.py``."""

import pytest
from tables.hostile import GROUPS, check

pytest.importorskip("torch")
pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("group", GROUPS)
def test_params_hostile_numbers_are_harmless_in_kernels(group):
    refused, applied = check(group, "torch")
    assert applied > 100
    assert refused or group == "flips"
