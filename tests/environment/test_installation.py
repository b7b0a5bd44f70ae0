"""The commands that repair an installation name the packages of ``pyproject.toml``, and not cuaug itself."""

import shlex
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from cuaug._host import installation

tomllib = pytest.importorskip("tomllib")  # Python 3.11
PYPROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())


@pytest.mark.parametrize("extra", ["cuda12", "cuda13", "decode12", "decode13", "opencv-headless"])
def test_install_command_lists_the_packages_of_the_extra(extra):
    command = shlex.split(installation.install_command(extra))
    assert command[:2] == ["pip", "install"]
    expected = PYPROJECT["project"]["optional-dependencies"][extra]
    assert {Requirement(package) for package in command[2:]} == {Requirement(package) for package in expected}


def test_install_command_per_driver_has_both_cuda_versions():
    command = installation.install_per_driver("cuda")
    assert command.index("cupy-cuda13x") < command.index("CUDA 12 drivers") < command.index("cupy-cuda12x")


def test_install_command_without_metadata_names_the_source_tree(monkeypatch):
    def not_installed(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", not_installed)
    assert installation.install_command("cuda13") == 'pip install ".[cuda13]" in the source tree of cuaug'


def test_reinstall_does_not_name_a_package_that_is_not_published():
    assert "cuaug" not in shlex.split(installation.REINSTALL.partition(" in the source tree")[0])
