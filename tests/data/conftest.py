"""Fixtures of this folder."""

import pytest
from helpers.loader import encoded_file, photo_parts


@pytest.fixture
def tv():
    return pytest.importorskip("torchvision.tv_tensors")


@pytest.fixture(scope="module")
def files():
    """Encoded JPEG images, each with its label."""
    return [(encoded_file(image, subsampling=i % 3), i % 5) for i, image in enumerate(photo_parts(23))]
