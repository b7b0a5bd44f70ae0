"""A build from source has JPEG, or stops and says what to install, unless JPEG is switched off."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pybind11
import pytest

CMAKE = shutil.which("cmake", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
pytestmark = pytest.mark.skipif(not CMAKE or not shutil.which("c++"), reason="no CMake or no C++ compiler")


def configure(folder, *settings, **environment):
    command = [CMAKE, "-S", Path(__file__).parents[2] / "cuaug/cpu", "-B", folder, *settings]
    command += [f"-Dpybind11_DIR={pybind11.get_cmake_dir()}", f"-DPython_EXECUTABLE={sys.executable}"]
    # The assembler is not needed before the build.
    command += ["-DCMAKE_DISABLE_FIND_PACKAGE_JPEG=ON", "-DCUAUG_NASM=nasm"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CUAUG_")} | environment
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def test_build_without_libjpeg_says_what_to_install(tmp_path):
    result = configure(tmp_path / "build", CUAUG_LIBJPEG_SOURCE=f"file://{tmp_path}/missing.tar.gz")
    assert result.returncode != 0
    message = " ".join(result.stderr.split())
    for words in ("cannot be downloaded", "apt install libjpeg62-turbo-dev", "CUAUG_LIBJPEG_SOURCE", "CUAUG_JPEG=OFF"):
        assert words in message


def test_build_refuses_another_source_of_libjpeg(tmp_path):
    archive = tmp_path / "libjpeg-turbo.tar.gz"
    archive.write_bytes(b"something else")
    result = configure(tmp_path / "build", f"-DCUAUG_LIBJPEG_SOURCE=file://{archive}")
    assert result.returncode != 0
    assert "SHA-256" in result.stderr


@pytest.mark.parametrize("way", ["setting", "environment variable"])
def test_build_without_jpeg_if_switched_off(tmp_path, way):
    if way == "setting":
        result = configure(tmp_path / "build", "-DCUAUG_JPEG=OFF")
    else:
        result = configure(tmp_path / "build", CUAUG_JPEG="OFF")
    assert result.returncode == 0, result.stderr
    assert "built without JPEG" in result.stdout


def test_build_refuses_an_unknown_value(tmp_path):
    result = configure(tmp_path / "build", "-DCUAUG_JPEG=never")
    assert result.returncode != 0
    assert "CUAUG_JPEG is ON, SOURCE or OFF, not never" in result.stderr
