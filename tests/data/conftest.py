"""Fixtures of this folder."""

import pytest
from helpers.loader import encoded, photographs


@pytest.fixture
def tv():
    return pytest.importorskip("torchvision.tv_tensors")


@pytest.fixture(scope="module")
def files():
    """Encoded JPEG images, each with its label."""
    return [(encoded(image, subsampling=i % 3), i % 5) for i, image in enumerate(photographs(23))]
