"""A fixture of the tests of benchmarks/."""

import importlib

import pytest
from helpers.benchmark_scripts import BENCHMARKS


@pytest.fixture
def load(monkeypatch):
    """Imports a module of benchmarks/."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module
