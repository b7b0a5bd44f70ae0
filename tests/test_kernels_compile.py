"""Every kernel compiles for every architecture, without a GPU, without CuPy and without a warning; none spills.

NVRTC is called directly. Registers and spills are those that ptxas reports; the summary at the end of the run holds
the largest kernels, and all of them with ``--kernel-table``.
"""

import ctypes
import importlib.util
import re
from pathlib import Path

import pytest

cuda = pytest.importorskip("cuaug._cuda")

ARCHITECTURES = [75, 80, 86, 89, 90, 100, 120]
USED = re.compile(
    r"Compiling entry function '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
    r".*?Used (\d+) registers",
    re.DOTALL,
)


def load_nvrtc():
    """The library of the ``nvidia-cuda-nvrtc`` wheel, or the machine's own."""
    found = importlib.util.find_spec("nvidia")
    folders = [Path(folder) for folder in found.submodule_search_locations] if found else []
    wheels = sorted(path for folder in folders for path in folder.glob("*/lib/libnvrtc.so.*"))
    for name in [*map(str, reversed(wheels)), "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return pytest.skip("NVRTC is not installed: pip install nvidia-cuda-nvrtc")


@pytest.fixture(scope="module")
def nvrtc():
    return load_nvrtc()


class Program:
    """One source text and one name expression, compiled for one architecture."""

    def __init__(self, nvrtc, source, name, options):
        self.nvrtc, self.program = nvrtc, ctypes.c_void_p()
        self.ok(nvrtc.nvrtcCreateProgram(ctypes.byref(self.program), source.encode(), b"cuaug.cu", 0, None, None))
        try:
            self.ok(nvrtc.nvrtcAddNameExpression(self.program, name.encode()))
            arguments = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
            self.failed = nvrtc.nvrtcCompileProgram(self.program, len(options), arguments)
            self.log = self.text("ProgramLog")
            lowered = ctypes.c_char_p()
            if not self.failed:
                self.ok(nvrtc.nvrtcGetLoweredName(self.program, name.encode(), ctypes.byref(lowered)))
            self.entry = (lowered.value or b"").decode()
        finally:
            nvrtc.nvrtcDestroyProgram(ctypes.byref(self.program))

    @staticmethod
    def ok(status):
        assert status == 0, f"NVRTC status {status}"

    def text(self, what):
        size = ctypes.c_size_t()
        self.ok(getattr(self.nvrtc, f"nvrtcGet{what}Size")(self.program, ctypes.byref(size)))
        text = ctypes.create_string_buffer(size.value)
        self.ok(getattr(self.nvrtc, f"nvrtcGet{what}")(self.program, text))
        return text.value.decode()


def compiled(nvrtc, source, name, architecture, options):
    """Stack, spill and register counts of the kernel; fails on an error, a warning or a remark."""
    strict = [f"--gpu-architecture=sm_{architecture}", "--ptxas-options=-v", "--warning-as-error=all-warnings"]
    program = Program(nvrtc, source, name, [*options, *strict])
    assert not program.failed, f"{name} on sm_{architecture}:\n{program.log}"
    assert "warning" not in program.log.lower(), f"{name} on sm_{architecture}:\n{program.log}"
    counts = {entry: [int(n) for n in numbers] for entry, *numbers in USED.findall(program.log)}
    assert program.entry in counts, f"ptxas said nothing of {program.entry}:\n{program.log}"
    return counts[program.entry]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", cuda.warmup_names())
def test_kernel_compiles_without_a_warning_or_a_spill(name, architecture, nvrtc, record_property):
    source, options = cuda.sources(name)
    stack, stores, loads, registers = compiled(nvrtc, source, name, architecture, options)
    record_property("kernel", (name, architecture, registers, stores + loads))
    assert stores + loads == 0, f"{name} on sm_{architecture} spills {stores} + {loads} bytes; stack {stack}"


WARNS = "__global__ void planted(int* out) { int unused; out[0] = 1; }"
FAILS = "__global__ void planted(int* out) { out[0] = missing; }"
SPILLS = """__global__ void __launch_bounds__(1024, 2) planted(float* out, int n) {
    float v[64];
    #pragma unroll
    for (int i = 0; i < 64; ++i) v[i] = out[i * n];
    #pragma unroll 1
    for (int k = 0; k < n; ++k) {
        #pragma unroll
        for (int i = 0; i < 64; ++i) v[i] = sqrtf(v[i]) * v[(i + 7) % 64];
    }
    #pragma unroll
    for (int i = 0; i < 64; ++i) out[i] = v[i];
}"""


@pytest.mark.parametrize(("source", "said"), [(WARNS, "never referenced"), (FAILS, "undefined")])
def test_a_planted_warning_or_error_is_found(source, said, nvrtc):
    with pytest.raises(AssertionError, match=said):
        compiled(nvrtc, source, "planted", 90, [])


def test_a_planted_spill_is_found(nvrtc):
    _, stores, loads, registers = compiled(nvrtc, SPILLS, "planted", 90, [])
    assert stores + loads > 0
    assert registers == 32
