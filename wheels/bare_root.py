"""Try a wheel where nothing but Python is installed: ``bare_root.py WHEEL``, run by the Python that the wheel is for.

The root folder has what the image ``python:slim`` has: the interpreter, its library, and the shared libraries that both
need; no compiler, no make, no headers, no libjpeg. Entering it takes user namespaces, or root.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from build import DOCTOR, PIP

NOT_COPIED = ("site-packages", "dist-packages", "test", "idlelib", "lib2to3", "config-*", "__pycache__")
# NumPy's wheels need libstdc++ of the system, and parts of glibc that are empty files since 2.34.
RUNTIME = r"\blib(?:stdc\+\+|gcc_s|m|dl|rt|util|pthread)\.so\.\d .*64.*=> (/\S+)"
ENTER = """for each in proc dev; do mount --rbind /$each "$1/$each"; done; cd "$1"; shift
exec env -i HOME=/tmp PATH=/env/bin "$(command -v chroot)" . "$@" """


def main():
    wheel, python = Path(sys.argv[1]), Path(sys._base_executable).resolve()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name in ("proc", "dev", "tmp", "wheels"):
            (root / name).mkdir()
        copy_python(python, root)
        subprocess.run([*PIP, "--quiet", "download", "--dest", root / "wheels", wheel, "pip"], check=True)
        (pip,) = (path.name for path in (root / "wheels").glob("pip-*.whl"))
        install = f"/wheels/{pip}/pip install --quiet --no-index --find-links /wheels /wheels/{wheel.name}"
        run(root, python, "-m", "venv", "--without-pip", "/env")
        start = time.perf_counter()
        run(root, "/env/bin/python", *install.split())
        run(root, "/env/bin/python", "-c", DOCTOR)
        print(f"{wheel.name}: installed and checked with Python alone in {time.perf_counter() - start:.1f} s")


def copy_python(python, root):
    library = Path(sysconfig.get_path("stdlib")).resolve()
    shutil.copytree(library, root / library.relative_to("/"), ignore=shutil.ignore_patterns(*NOT_COPIED))
    needed = subprocess.run(["ldd", python, *library.glob("lib-dynload/*.so")], capture_output=True, text=True).stdout
    listed = subprocess.run(["/sbin/ldconfig", "-p"], check=True, capture_output=True, text=True).stdout
    for path in {str(python), *re.findall(r"(/\S+) \(0x", needed), *re.findall(RUNTIME, listed)}:
        copy = root / path.lstrip("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)


def run(root, *command):
    namespaces = ["--mount"] if os.geteuid() == 0 else ["--mount", "--map-root-user"]
    subprocess.run(["unshare", *namespaces, "sh", "-c", ENTER, "sh", root, *command], check=True)


if __name__ == "__main__":
    main()
