"""``info`` and the doctor report the environment and, for each problem, the command that repairs it."""

import json
import os
import pwd
import subprocess
import sys
from importlib import metadata
from types import SimpleNamespace

import pytest
from helpers.replace import replace_everywhere

from cuaug import BackendError, _doctor, _info
from cuaug import __main__ as command
from cuaug._host import installation

CUDA_12, CUDA_13 = map(installation.install_command, ("cuda12", "cuda13"))
HOPPER = {"name": "NVIDIA H200", "compute_capability": "9.0", "memory_gib": 139.8}
PASCAL = {"name": "Tesla P100", "compute_capability": "6.0", "memory_gib": 16.0}
KEPLER = {"name": "Tesla K80", "compute_capability": "3.7", "memory_gib": 11.2}


def machine(monkeypatch, *gpus, driver="580.82.07", **wheels):
    """Pretend that the machine has these GPUs, this driver and these distributions."""
    facts = {"version": driver, "cuda": "13.0", "gpus": list(gpus)} if driver else None
    installed = [SimpleNamespace(name=name, version=version) for name, version in wheels.items()]
    replace_everywhere(monkeypatch, _info, "find_driver", lambda: facts)
    monkeypatch.setattr(metadata, "distributions", lambda: installed)


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "cuaug", *arguments], env=os.environ | environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def test_info_is_json_and_imports_nothing():
    code = "import cuaug, sys; cuaug.info(); print({'torch', 'cupy', 'cv2', 'jax', 'matplotlib'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"
    facts = json.loads(run("info", "--json").stdout)
    assert facts["python"] == ".".join(map(str, sys.version_info[:3]))
    assert facts["extension"] is True


def test_info_prints_every_fact_of_its_json():
    process, facts = run("info"), json.loads(run("info", "--json").stdout)
    assert process.returncode == 0, process.stderr
    printed = dict(line.split(maxsplit=1) for line in process.stdout.splitlines())
    assert list(printed) == list(facts)
    assert printed["python"] == facts["python"]
    assert printed["kernel_cache"] == str(facts["kernel_cache"])


class Nvml:
    """NVIDIA's management library with a GPU for each number of GiB. 0: no memory of its own; None: no permission."""

    def __init__(self, memories):
        self.memories = memories

    nvmlInit_v2 = nvmlShutdown = staticmethod(lambda: 0)

    def nvmlSystemGetDriverVersion(self, text, size):
        text.value = b"580.82.07"
        return 0

    def nvmlSystemGetCudaDriverVersion_v2(self, number):
        number._obj.value = 13000
        return 0

    def nvmlDeviceGetCount_v2(self, number):
        number._obj.value = len(self.memories)
        return 0

    def nvmlDeviceGetHandleByIndex_v2(self, index, device):
        device._obj.value = index + 1
        return 0 if self.memories[index] is not None else 4  # NVML_ERROR_NO_PERMISSION

    def nvmlDeviceGetName(self, device, name, size):
        name.value = b"NVIDIA H200"
        return 0

    def nvmlDeviceGetCudaComputeCapability(self, device, major, minor):
        major._obj.value, minor._obj.value = 9, 0
        return 0

    def nvmlDeviceGetMemoryInfo(self, device, memory):
        memory[0] = self.memories[device.value - 1] << 30
        return 0 if memory[0] else 3  # NVML_ERROR_NOT_SUPPORTED


def test_info_gpus_are_those_that_the_driver_describes(monkeypatch):
    monkeypatch.setattr(_info.ctypes, "CDLL", lambda name: Nvml([141, None, 0]))
    described = {"name": "NVIDIA H200", "compute_capability": "9.0"}
    assert _info.info()["gpus"] == [{**described, "memory_gib": 141.0}, {**described, "memory_gib": None}]


@pytest.mark.parametrize(
    ("gpus", "driver", "extra"),
    [
        ([HOPPER], "580.82.07", "cuda13"), ([HOPPER], "570.1", "cuda12"), ([HOPPER], "470.2", None),
        ([HOPPER, PASCAL], "580.82.07", "cuda12"), ([], "580.82.07", None), ([], None, None),
    ],
)  # fmt: skip
def test_info_cuda_extra_fits_driver_and_oldest_gpu(monkeypatch, gpus, driver, extra):
    machine(monkeypatch, *gpus, driver=driver)
    assert _info.cuda_extra() == extra


@pytest.mark.parametrize(
    ("gpus", "driver", "message", "repair"),
    [
        ([HOPPER], "470.2", "driver 470.2 is older than 525, the oldest for CUDA 12", "install driver 525 or newer"),
        ([HOPPER, KEPLER], "560.8", "Tesla K80 has compute capability 3.7, below 5.0, the lowest for CUDA 12", ""),
    ],
)
def test_doctor_names_unsupported_driver_or_gpu(monkeypatch, gpus, driver, message, repair):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    machine(monkeypatch, *gpus, driver=driver)
    *gpu_findings, finding = _doctor._check_driver()
    assert [other.state for other in gpu_findings] == ["ok"] * len(gpus)
    assert (finding.state, finding.message, finding.repair) == ("FAIL", message, repair)


@pytest.mark.parametrize(
    ("gpus", "driver", "wheels", "state", "words", "repair"),
    [
        ([], None, {}, "note", "not needed", ""),
        ([HOPPER], "580.8", {}, "FAIL", "no CuPy", CUDA_13),
        ([HOPPER], "560.8", {}, "FAIL", "no CuPy", CUDA_12),
        ([HOPPER], "580.8", {"cupy_cuda12x": "14.2.0", "cupy_cuda13x": "14.2.0"}, "FAIL", "overwrite each other",
         f"pip uninstall -y cupy-cuda12x cupy-cuda13x && {CUDA_13}"),
        ([HOPPER], "580.8", {"cupy_cuda13x": "14.1.1"}, "FAIL", "older than 14.2",
         "pip install --upgrade cupy-cuda13x"),
        ([HOPPER], "580.8", {"cupy_cuda11x": "13.6.0"}, "FAIL", "older than 14.2",
         f"pip uninstall -y cupy-cuda11x && {CUDA_13}"),
        ([], None, {"cupy": "13.6.0"}, "FAIL", "older than 14.2", "pip install --upgrade cupy"),
        ([HOPPER], "560.8", {"cupy_cuda13x": "14.2.0"}, "FAIL", "newer CUDA",
         f"pip uninstall -y cupy-cuda13x && {CUDA_12}"),
        ([HOPPER], "580.8", {"cupy_cuda12x": "14.2.0"}, "ok", "cupy-cuda12x 14.2.0", ""),
        ([HOPPER], "580.8", {"cupy_cuda12x": "14.2.0", "cupy_xarray": "0.1"}, "ok", "cupy-cuda12x 14.2.0", ""),
    ],
)  # fmt: skip
def test_doctor_on_cupy(monkeypatch, gpus, driver, wheels, state, words, repair):
    machine(monkeypatch, *gpus, driver=driver, **wheels)
    (finding,) = _doctor._check_cupy()
    assert (finding.state, finding.repair) == (state, repair)
    assert words in finding.message


@pytest.mark.parametrize(
    ("value", "is_hidden"), [("", True), ("-1", True), (" -1,0", True), ("0", False), (None, False)]
)
def test_doctor_notes_hidden_gpus(monkeypatch, value, is_hidden):
    machine(monkeypatch, HOPPER)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if value is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
    _, *notes = _doctor._check_driver()
    assert [(note.state, note.repair) for note in notes] == [("note", "unset CUDA_VISIBLE_DEVICES")] * is_hidden


@pytest.mark.jpeg
def test_doctor_on_the_decoder(monkeypatch):
    (fine,) = _doctor._check_jpeg()
    version = _info.info()["libjpeg_turbo"]
    assert (fine.state, fine.message) == ("ok", f"libjpeg-turbo {version} decodes a test image correctly")
    with monkeypatch.context() as patch:
        replace_everywhere(patch, _doctor, "_jpeg_is_correct", lambda: False)
        (wrong,) = _doctor._check_jpeg()
    assert (wrong.state, wrong.repair) == ("FAIL", installation.REINSTALL)
    monkeypatch.setattr(_info.extension, "extension", object)  # an extension without a JPEG decoder
    (missing,) = _doctor._check_jpeg()
    assert (missing.state, missing.repair) == ("note", _info.extension.INSTALL_JPEG)
    assert _info.info()["libjpeg_turbo"] is None


def test_info_and_doctor_of_a_user_without_home_folder(monkeypatch):
    monkeypatch.delenv("HOME")
    monkeypatch.delenv("CUPY_CACHE_DIR", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)  # raises KeyError
    assert _info.info()["kernel_cache"] is None
    (finding,) = _doctor._check_cache()
    assert (finding.state, finding.repair) == ("FAIL", _doctor._CHOOSE_CACHE)
    assert "no home folder" in finding.message
    monkeypatch.setenv("CUPY_CACHE_DIR", "~/kernels")  # CuPy does not expand it
    assert _info.info()["kernel_cache"] == "~/kernels"


@pytest.mark.parametrize("trouble", ["a file in its place", "anyone may write", "anyone may add files", "not writable"])
def test_doctor_on_the_kernel_cache(monkeypatch, tmp_path, trouble):
    folder = tmp_path / "cache"
    monkeypatch.setenv("CUPY_CACHE_DIR", str(folder))
    (fine,) = _doctor._check_cache()
    assert (fine.state, fine.repair) == ("ok", "")
    if trouble == "a file in its place":
        folder.write_text("")
    elif trouble.startswith("anyone"):
        folder.mkdir()
        folder.chmod(0o777 if trouble == "anyone may write" else 0o1777)  # 1: only the owner may delete a file
    else:
        monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write anywhere
    (finding,) = _doctor._check_cache()
    assert finding.state == "FAIL"
    assert finding.repair == (f"chmod 700 {folder}" if trouble.startswith("anyone") else _doctor._CHOOSE_CACHE)


def test_doctor_exits_with_1_on_failure(tmp_path):
    blocked = tmp_path / "cache"
    blocked.write_text("")
    fine, broken = run("doctor", CUPY_CACHE_DIR=str(tmp_path)), run("doctor", CUPY_CACHE_DIR=str(blocked))
    assert (fine.returncode, "FAIL" in fine.stdout) == (0, False), fine.stdout + fine.stderr
    assert broken.returncode == 1
    assert "FAIL  cache" in broken.stdout


def test_doctor_survives_a_failing_check(monkeypatch):
    def broken():
        raise OSError("no such thing")

    broken.__name__ = "_check_driver"
    replace_everywhere(monkeypatch, _doctor, "_check_driver", broken)
    findings = list(_doctor.diagnose())
    assert [f.message for f in findings if f.subject == "driver"] == ["OSError: no such thing"]
    assert findings[-1].subject == "opencv"


def test_doctor_names_the_function_that_needs_opencv(monkeypatch):
    replace_everywhere(monkeypatch, _doctor, "installed_wheels", lambda pattern: {})
    (finding,) = (finding for finding in _doctor.diagnose() if finding.subject == "opencv")
    assert str(finding).startswith(
        "note  opencv     not installed; only cuaug.io.decode_image uses it, for files other"
    )
    assert finding.repair.startswith("pip install ")


@pytest.mark.parametrize(("name", "path"), [("bench", "benchmarks/warp.py"), ("gallery", "docs/gallery.py")])
def test_main_bench_and_gallery_need_source_tree(monkeypatch, capsys, tmp_path, name, path):
    assert (command.SOURCE_ROOT / path).exists()
    monkeypatch.setattr(command, "SOURCE_ROOT", tmp_path)
    assert command.main([name]) == 1
    assert f"{path} is in the source tree only" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["--quick"], ["--gpu", "--only", "x", "--help"], ["x", "--", "--gpu"]])
def test_main_bench_passes_arguments_to_the_script(monkeypatch, tmp_path, capfd, arguments):
    script = tmp_path / "benchmarks" / "warp.py"
    script.parent.mkdir()
    script.write_text("import sys\nprint(sys.argv[1:])\n")
    monkeypatch.setattr(command, "SOURCE_ROOT", tmp_path)
    assert command.main(["bench", *arguments]) == 0
    assert capfd.readouterr().out == f"{arguments}\n"


def test_main_prints_what_is_missing(monkeypatch, capsys):
    def warmup():
        raise BackendError("CuPy is missing")

    monkeypatch.setattr(command.cuaug, "warmup", warmup)
    assert command.main(["warmup"]) == 2
    assert capsys.readouterr().err == "CuPy is missing\n"
