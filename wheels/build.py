"""Build manylinux_2_28 wheels of cuaug without a container: ``make wheels``. Those for this machine are tried.

GCC compiles, Zig links (``toolchain.cmake``). There is a wheel for the version of each given interpreter; wheels for
another architecture are compiled with the cross compiler for it. Object files that do not depend on Python are compiled
once per architecture. Release wheels come from ``.github/workflows/wheels.yml``, which uses containers.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
BUILD = ROOT / "build/wheels"
# scikit-build-core compiles everything again if its own path changes: one folder serves all versions of Python.
BACKEND = BUILD / "backend"
BACKEND_PACKAGES = ("scikit-build-core>=0.11", "pybind11>=3.0", "tomli", "exceptiongroup")  # the last two: Python 3.10
DOCTOR = """
import sys
from cuaug import _doctor
states = {}
for finding in _doctor.diagnose():
    print(finding, flush=True)
    states[finding.subject] = finding.state
sys.exit("FAIL" in states.values() or states["jpeg"] != "ok")
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pythons", nargs="+", help="interpreters, for example python3.10 python3.14")
    parser.add_argument("--arch", choices=("x86_64", "aarch64"), default=platform.machine())
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    arguments = parser.parse_args()
    subprocess.run([*PIP, "--quiet", "install", "--upgrade", "--target", BACKEND, *BACKEND_PACKAGES], check=True)
    for python in arguments.pythons:
        wheel = build(python, arguments.arch, arguments.out)
        print(f"{wheel}: {wheel.stat().st_size:,} bytes", flush=True)
        if arguments.arch == platform.machine():
            run_doctor(python, wheel)


def build(python, arch, out):
    """Compile; name the wheel for manylinux_2_28, which tests/environment/test_wheel.py checks with auditwheel."""
    environment = os.environ | {
        "CUAUG_ARCH": arch,
        "CUAUG_JPEG": "SOURCE",
        "CMAKE_TOOLCHAIN_FILE": str(ROOT / "wheels/toolchain.cmake"),
        "PYTHONPATH": str(BACKEND),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",  # for python-zig of the package ziglang
    }
    if arch != platform.machine():
        version = output(python, "import sys; print('%d%d' % sys.version_info[:2])")
        environment |= {
            "_PYTHON_HOST_PLATFORM": f"linux-{arch}",
            "SETUPTOOLS_EXT_SUFFIX": f".cpython-{version}-{arch}-linux-gnu.so",
        }
    with tempfile.TemporaryDirectory() as folder:
        command = [*PIP, "--python", shutil.which(python), "--verbose", "wheel"]
        command += ["--no-build-isolation", "--no-deps", "--wheel-dir", folder]
        command += [f"--config-settings=build-dir={BUILD / arch}", str(ROOT)]
        subprocess.run(command, env=environment, check=True)
        (wheel,) = Path(folder).glob("*.whl")
        retag = [sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", f"manylinux_2_28_{arch}", wheel]
        name = subprocess.run(retag, check=True, capture_output=True, text=True).stdout.strip()
        out.mkdir(exist_ok=True)
        return Path(shutil.move(wheel.with_name(name), out / name))


def run_doctor(python, wheel):
    """Run the checks of ``python -m cuaug doctor`` where no compiler is on the path, and demand JPEG."""
    with tempfile.TemporaryDirectory() as folder:
        site = f"{folder}/site"
        command = [*PIP, "--python", shutil.which(python), "--quiet", "install", "--target", site, wheel]
        subprocess.run(command, check=True)
        command = [shutil.which(python), "-c", DOCTOR]
        environment = {"PYTHONPATH": site, "PATH": f"{folder}/no-programs", "HOME": folder}
        subprocess.run(command, cwd=folder, env=environment, check=True)


def output(python, program):
    return subprocess.run([python, "-c", program], check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
