"""A recipe's draws as numbers that kernels/draws/instruction.cuh runs for every sample."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from .._program.records import INSTRUCTION
from .recipe_ops import Column, Instruction

# In the order of `cuaug::Opcode` (kernels/draws/instruction.cuh).
KINDS = (
    *("Constant", "Uniform", "RandInt", "Bernoulli", "Permutation", "PermutationOrNone"),
    *("Crop", "ResizedCrop", "RandomErasing"),
    *("Categorical", "ListValue", "Beta", "CutMixBox", "PerspectiveCorners", "StreamColumns"),
    *("InverseCropResize", "InverseTranslate", "InverseFlip", "StorePassMap", "XorFlag"),
    *("InverseAffine", "InversePerspective", "StoreForwardMatrix"),
)
# Which arguments of a kind are in the images' own range, and so scale with what is white there.
_RANGED = {"Constant": (0, 1), "Bernoulli": (1, 2)}


def assembled(instructions: Iterable[Instruction]) -> np.ndarray:
    """The program: contents, then again and again a header and, as float64, arguments."""
    phases = _phases(instructions)
    starts = list(itertools.accumulate((len(phase) for phase in phases), initial=0))
    numbers = 1 + len(starts) + starts[-1]  # of the contents, as `cuaug::ProgramHeader` has them
    begins, program = list[int](), bytearray()
    for it in itertools.chain(*phases):
        begins.append((-(-numbers // 2)) + len(program) // 8)
        arguments = np.array([a.index if isinstance(a, Column) else a for a in it.arguments], np.float64)
        gate, value = (-1, 0.0) if it.gate is None else (it.gate.column.index, it.gate.value)
        first = it.columns[0].index if it.columns else 0
        _adjoining(it.columns)
        header = KINDS.index(it.kind), it.position, it.index, gate, first, it.sample_arguments_offset, value
        program += INSTRUCTION.pack(*header) + arguments.tobytes()
    contents = np.array([len(phases), *starts, *begins, *[0] * (numbers % 2)], np.int32)
    return np.frombuffer(bytearray(contents.tobytes() + program), np.float64)  # torch takes no memory that is read only


def _phases(instructions: Iterable[Instruction]) -> list[list[Instruction]]:
    """Draws, as early as what they read is written and what they write over is read; then what is no draw."""
    written, read = dict[int, int](), dict[int, int]()  # in which phase a column was last
    phases, coordinates = list[list[Instruction]]([[]]), list[Instruction]()
    for it in instructions:
        if KINDS.index(it.kind) > KINDS.index("StreamColumns"):
            coordinates.append(it)
            continue
        named = [id(a) for a in it.arguments if isinstance(a, Column)]
        reads = named + ([id(it.gate.column)] if it.gate else [])
        writes = [id(column) for column in it.columns] + (
            named if it.kind == "CutMixBox" else []
        )  # its share becomes exact
        phase = max(
            [0, *(written[c] + 1 for c in reads + writes if c in written), *(read[c] + 1 for c in writes if c in read)]
        )
        phases += [[] for _ in range(phase + 1 - len(phases))]
        phases[phase].append(it)
        written |= dict.fromkeys(writes, phase)
        read |= {c: max(phase, read.get(c, 0)) for c in reads}
    return [*phases, coordinates]


def in_units_of(instruction: Instruction, white: float) -> Instruction:
    """The same draw where full scale is another number."""
    own = instruction.columns[0].max_value if instruction.columns else None
    if own is None or own == white:
        return instruction
    arguments = list(instruction.arguments)
    for i in (3, *range(5, len(arguments))) if instruction.kind == "ListValue" else _RANGED[instruction.kind]:
        arguments[i] = arguments[i] * white / own
    return replace(instruction, arguments=arguments)


def _adjoining(columns: Sequence[Column]) -> None:
    places = [column.index for column in columns]
    assert places == list(range(places[0], places[0] + len(places))) if places else True, places
