"""GPU kernels run on the CPU: the C++ compiler compiles their text against cuda.hpp in this folder.

They get the records, grids and threads that Python plans for a GPU. A block takes milliseconds, and the compilation of
a kernel seconds.
"""

import ctypes
import functools
import re
import subprocess
import tempfile
from pathlib import Path

from cuaug._gpu import executor
from cuaug._host import compiler
from cuaug._passes import run as run_module
from cuaug._program import sources
from helpers.replace import replace_everywhere

EMULATOR = Path(__file__).parent
# Hidden symbols: each library has variables of its own. Else all libraries share those of the first, which may be over
# 2 GB away from another's shared memory: too far for the 32 bits of an address there (cuda.hpp).
OPTIONS = (
    *("-std=c++20", "-O1", "-shared", "-fPIC", "-w", "-fpermissive", "-frounding-math", "-ffp-contract=off"),
    *("-fvisibility=hidden", "-fsanitize=alignment"),
)
PROGRAM = """\
#include "cuda.hpp"
{text}
extern "C" __attribute__((visibility("default")))
const char* launch(const void* record, const unsigned int* grid, int threads, int shared_bytes) {{
    using Record = decltype(emulator::record_of(&{name}));
    return emulator::launch<Record>(&{name}, *static_cast<const Record*>(record), grid, threads, shared_bytes);
}}
"""


def patch(monkeypatch, skeletons):
    """Passes of CPU arrays by these skeletons run the GPU's kernel until the test ends.

    Returns a list, to which each such pass adds its skeleton.
    """
    run_by_loops, launches = run_module.run_pass, []

    def run(plan, image, data, *names):
        if plan.skeleton not in skeletons:
            run_by_loops(plan, image, data, *names)
            return
        assert image.executor is executor.DIRECT, "the pass is being recorded: its arrays have no addresses yet"
        launch = kernel(plan.kernel, sources.kernel_source(plan.kernel)[0])
        fault = launch(data, plan.grid, plan.threads, plan.shared_bytes)
        assert not fault, f"{plan.kernel}: {fault}"
        launches.append(plan.skeleton)

    replace_everywhere(monkeypatch, run_module, "run_pass", run)
    return launches


@functools.cache
def kernel(name, text):
    """A function of a record, a grid, and a block's threads and bytes of dynamic shared memory.

    It returns a fault that a GPU would have, or ''.
    """
    program = _folder() / f"{len(list(_folder().glob('*.cpp')))}.cpp"
    program.write_text(PROGRAM.format(text=text, name=name))
    library = program.with_suffix(".so")
    includes = f"-I{EMULATOR}", f"-I{_folder() / 'kernels'}"
    command = [*compiler.compiler_command(), *OPTIONS, *includes, "-o", str(library), str(program)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[:4000]
    launch = ctypes.CDLL(str(library)).launch
    launch.restype = ctypes.c_char_p

    def call(record, grid, threads, shared_bytes=0):
        return (launch(record, (ctypes.c_uint * 3)(*grid), threads, shared_bytes) or b"").decode()

    return call


@functools.cache
def _scratch():
    return tempfile.TemporaryDirectory(prefix="emulated-")


@functools.cache
def _folder():
    """A folder with the kernels, translated for the C++ compiler."""
    folder = Path(_scratch().name)
    for path in sources.KERNELS.rglob("*.cu*"):
        to = folder / "kernels" / path.relative_to(sources.KERNELS)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(translated(path.read_text()))
    return folder


def translated(text):
    """The text with calls in place of inline PTX, and with dynamic shared memory as a pointer to cuda.hpp's array.

    ``asm("add.u32 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b))`` becomes ``ptx_add_u32(c, a, b)``, and an ``asm`` without
    an instruction becomes ``(void)0``.
    """
    out, end = [], 0
    for match in re.finditer(r"\basm\s*(?:volatile\s*)?\(", text):
        close = _closing(text, match.end() - 1)
        instruction = re.match(r'\s*"([\w.]*)', text[match.end() :])[1]
        operands = [text[start : _closing(text, start) + 1] for start in _operands(text, match.end(), close)]
        call = f"ptx_{instruction.replace('.', '_')}({', '.join(operands)})" if instruction else "(void)0"
        out += [text[end : match.start()], call]
        end = close + 1
    # cuda.hpp defines __shared__ as static, and alignas must stand before static.
    dynamic = r"extern __shared__ (?:__align__\(16\) )?([\w ]+) (\w+)\[\]"
    pointer = r"\1* const \2 = reinterpret_cast<\1*>(emulator::dynamic_shared)"
    text = re.sub(dynamic, pointer, "".join([*out, text[end:]]))
    return re.sub(r"__shared__ (alignas\(\d+\))", r"\1 __shared__", text)


def _operands(text, start, end):
    """Offsets of the opening parentheses after constraints."""
    while (match := re.compile(r'"[=+]?[a-z]"\s*\(').search(text, start, end)) is not None:
        yield match.end() - 1
        start = _closing(text, match.end() - 1)


def _closing(text, opening):
    """Offset of the parenthesis that closes the one at ``opening``."""
    depth = 0
    for index in range(opening, len(text)):
        depth += (text[index] == "(") - (text[index] == ")")
        if depth == 0:
            return index
    raise ValueError(f"a parenthesis is not closed: {text[opening : opening + 80]}")
