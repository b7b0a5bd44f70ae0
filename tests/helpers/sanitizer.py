"""Tests under compute-sanitizer: their environment, and a skip of those that cannot run there."""

import os

import pytest

ENVIRONMENT = {
    "CUAUG_UNDER_SANITIZER": "1",
    # Without these caches each array is an allocation of its own, so that accesses beyond its end are found.
    "PYTORCH_NO_CUDA_MEMORY_CACHING": "1",
    "XLA_PYTHON_CLIENT_ALLOCATOR": "platform",
}


def skip_under_sanitizer(reason):
    if "CUAUG_UNDER_SANITIZER" in os.environ:
        pytest.skip(f"under compute-sanitizer: {reason}")
