"""Mutated JPEG files, and the outcomes that the decoder may have."""

import faulthandler
from collections import Counter

import numpy as np

import cuaug
from cuaug import io as cio
from helpers.jpeg import MUTATORS, base_files

# All exceptions that the decoder may raise, whatever the data.
ALLOWED = {cuaug.DecodeError, cuaug.ImageTooLarge, cuaug.UnsupportedImage}
FOUR_MEGAPIXELS = 1 << 22  # keeps fuzzing fast: a header that declares more is refused


def check_allowed(error):
    """Assert that the decoder may raise this error; return the name of its class."""
    assert type(error) in ALLOWED, f"{type(error).__name__}: {error}"
    assert error.reason, "no reason"
    return type(error).__name__


def outcome_of(rng, file):
    """Decode twice with options drawn at random, into memory filled with two different values.

    Returns "array", "array, strict", or the name of the class of an allowed error.
    """
    scale, color = (1, 1 / 2, 1 / 4, 1 / 8)[rng.integers(4)], ("rgb", "bgr", "gray")[rng.integers(3)]
    strict, full_image = bool(rng.integers(2)), bool(rng.integers(2))
    channels = 1 if color == "gray" else 3
    limit = {"max_pixels": FOUR_MEGAPIXELS}
    try:
        header = cio.read_header(file, **limit)
        height, width = (-(-n // int(1 / scale)) for n in header[:2])
        top, left = (0, 0) if full_image else (int(rng.integers(height)), int(rng.integers(width)))
        crop_height, crop_width = (
            (height, width)
            if full_image
            else (int(rng.integers(1, height - top + 1)), int(rng.integers(1, width - left + 1)))
        )
        outputs = [np.full((crop_height, crop_width, channels), poison, np.uint8) for poison in (0xA5, 0x5A)]
        for out in outputs:
            options = {"scale": scale, "color": color, "strict": strict, "out": out, **limit}
            cio.decode_and_crop_jpeg(file, top, left, crop_height, crop_width, **options)
    except ValueError as error:
        return check_allowed(error)
    assert np.array_equal(*outputs), "some of the result was not written"
    return "array, strict" if strict else "array"


def count_outcomes(seed, count):
    """The number of mutated files with each outcome, of ``count`` files."""
    outcomes, rng = Counter(), np.random.default_rng(seed)
    mutators = list(MUTATORS.values())
    for number in range(count):
        file = mutators[rng.integers(len(mutators))](rng, base_files()[number % len(base_files())])
        faulthandler.dump_traceback_later(60, exit=True)  # a decode that does not end ends the process
        outcomes[outcome_of(rng, file)] += 1
        faulthandler.cancel_dump_traceback_later()
    return outcomes
