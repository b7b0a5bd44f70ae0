"""A small photograph and its JPEG file."""

import pytest

from helpers.jpeg import encoded, photographs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.jpeg
PHOTO = photographs()[0][:60, 100:180]
FILE = encoded(PHOTO)
