"""Parameters on devices: dtypes are checked before any copy. tests/gpu/test_devices.py has the calls with two GPUs."""

import pytest
import torch

from cuaug._arrays import convert
from cuaug._arrays.images import describe_images
from cuaug._passes import parameters


def test_float_array_refuses_integers_of_another_device(monkeypatch):
    """The tensor on the host stands for one on another device than the images."""
    monkeypatch.setattr(convert, "is_host", lambda value: False)
    images = describe_images(torch.zeros(2, 3, 5, 4), None)._replace(device=0)
    with pytest.raises(TypeError, match=r"^M must be float32 or float64 on a device, got int64$"):
        parameters.float_array("M", torch.eye(3, dtype=torch.int64), images)
