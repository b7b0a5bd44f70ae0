"""NVRTC called directly: kernels compile without a GPU and without CuPy."""

import ctypes
import importlib.util
import re
from pathlib import Path

import pytest

PTXAS_REPORT = re.compile(
    r"Compiling entry function '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
    r".*?Used (\d+) registers",
    re.DOTALL,
)


def load_nvrtc():
    """The library of the ``nvidia-cuda-nvrtc`` wheel, or the machine's own."""
    spec = importlib.util.find_spec("nvidia")
    folders = [Path(folder) for folder in spec.submodule_search_locations] if spec else []
    wheels = sorted(path for folder in folders for path in folder.glob("*/lib/libnvrtc.so.*"))
    for name in [*map(str, reversed(wheels)), "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return pytest.skip("NVRTC is not installed: pip install nvidia-cuda-nvrtc")


class Program:
    """One source text and one name expression, compiled for one architecture."""

    def __init__(self, nvrtc, source, name, options):
        self.nvrtc, self.program = nvrtc, ctypes.c_void_p()
        self.check_status(
            nvrtc.nvrtcCreateProgram(ctypes.byref(self.program), source.encode(), b"cuaug.cu", 0, None, None)
        )
        try:
            self.check_status(nvrtc.nvrtcAddNameExpression(self.program, name.encode()))
            arguments = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
            self.failed = nvrtc.nvrtcCompileProgram(self.program, len(options), arguments)
            self.log = self.text("ProgramLog")
            self.ptx = "" if self.failed else self.text("PTX")
            lowered = ctypes.c_char_p()
            if not self.failed:
                self.check_status(nvrtc.nvrtcGetLoweredName(self.program, name.encode(), ctypes.byref(lowered)))
            self.entry = (lowered.value or b"").decode()
        finally:
            nvrtc.nvrtcDestroyProgram(ctypes.byref(self.program))

    @staticmethod
    def check_status(status):
        assert status == 0, f"NVRTC status {status}"

    def text(self, kind):
        size = ctypes.c_size_t()
        self.check_status(getattr(self.nvrtc, f"nvrtcGet{kind}Size")(self.program, ctypes.byref(size)))
        text = ctypes.create_string_buffer(size.value)
        self.check_status(getattr(self.nvrtc, f"nvrtcGet{kind}")(self.program, text))
        return text.value.decode()


def compile_kernel(nvrtc, source, name, architecture, options):
    """Bytes of the kernel's stack, spill stores and spill loads, and its registers.

    Fails on an error or a warning.
    """
    strict_options = [f"--gpu-architecture=sm_{architecture}", "--ptxas-options=-v", "--warning-as-error=all-warnings"]
    program = Program(nvrtc, source, name, [*options, *strict_options])
    assert not program.failed, f"{name} on sm_{architecture}:\n{program.log}"
    assert "warning" not in program.log.lower(), f"{name} on sm_{architecture}:\n{program.log}"
    counts = {entry: [int(n) for n in numbers] for entry, *numbers in PTXAS_REPORT.findall(program.log)}
    assert program.entry in counts, f"ptxas reported nothing about {program.entry}:\n{program.log}"
    return counts[program.entry]
