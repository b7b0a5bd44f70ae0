"""Mutations that take too long for every run: ``make fuzz``."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from helpers.jpeg import SEED, encoded, random_part, with_byte
from helpers.jpeg_fuzz import count_outcomes, outcome_of

SLICES, FILES_PER_SLICE = 40, 25_000


@pytest.mark.parametrize("part", range(SLICES))
def test_decode_jpeg_million_mutated_files(part):
    outcomes = count_outcomes(SEED + 1_000 + part, FILES_PER_SLICE)
    assert sum(outcomes.values()) == FILES_PER_SLICE
    print(dict(outcomes))


@pytest.mark.parametrize("part", range(28))
def test_decode_jpeg_every_value_of_every_byte(part):
    """178,500 files: each of the first 700 bytes takes each of the 255 other values."""
    file = encoded(random_part(np.random.default_rng(SEED), 32, 48), progressive=True)
    tried, rng = 0, np.random.default_rng(SEED + part)
    for at in range(25 * part, 25 * (part + 1)):
        for value in set(range(256)) - {file[at]}:
            outcome_of(rng, with_byte(file, at, value))
            tried += 1
    assert tried == 25 * 255
