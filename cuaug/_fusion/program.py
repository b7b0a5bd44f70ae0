"""Assembles a recipe's draws into the program that kernels/draws/program.cuh runs for every sample."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from .._program.records import INSTRUCTION
from .recipe_ops import Column, Instruction

_DRAWS = (
    *("Constant", "Uniform", "RandInt", "Bernoulli", "Permutation", "PermutationOrNone"),
    *("Crop", "ResizedCrop", "RandomErasing"),
    *("Categorical", "ListValue", "Beta", "CutMixBox", "PerspectiveCorners", "StreamColumns"),
)
_COORDINATE_INSTRUCTIONS = (
    *("InverseCropResize", "InverseWindowedResize", "InverseTranslate", "InverseFlip", "StorePassMap"),
    *("InverseAffine", "InversePerspective", "StoreForwardMatrix"),
)
OPCODES = _DRAWS + _COORDINATE_INSTRUCTIONS  # in the order of `cuaug::Opcode` (kernels/draws/instruction.cuh)
# Opcode -> indices of the arguments that are in the images' own range; for ListValue see `rescale_draw`.
_PIXEL_VALUE_ARGUMENTS = {"Constant": (0, 1), "Bernoulli": (1, 2)}


def assemble(instructions: Iterable[Instruction]) -> np.ndarray:
    """The program: `cuaug::ProgramHeader`, then for each instruction its head and its arguments as float64."""
    phases = _dependency_phases(instructions)
    phase_starts = list(itertools.accumulate((len(phase) for phase in phases), initial=0))
    header_ints = 1 + len(phase_starts) + phase_starts[-1]
    offsets, program = list[int](), bytearray()  # offsets in units of 8 bytes
    for instruction in itertools.chain(*phases):
        offsets.append((-(-header_ints // 2)) + len(program) // 8)
        program += _instruction_bytes(instruction)
    header = np.array([len(phases), *phase_starts, *offsets, *[0] * (header_ints % 2)], np.int32)
    return np.frombuffer(bytearray(header.tobytes() + program), np.float64)  # writable memory, which torch requires


def _instruction_bytes(instruction: Instruction) -> bytes:
    columns, gate = instruction.columns, instruction.gate
    indices = [column.index for column in columns]
    assert not indices or indices == list(range(indices[0], indices[0] + len(indices))), indices  # adjacent columns
    head = INSTRUCTION.pack(
        OPCODES.index(instruction.opcode),
        instruction.position,
        instruction.counter,
        gate.column.index if gate else -1,
        indices[0] if indices else 0,
        instruction.sample_arguments_offset,
        gate.value if gate else 0.0,
    )
    arguments = [a.index if isinstance(a, Column) else a for a in instruction.arguments]
    return head + struct.pack(f"{len(arguments)}d", *arguments)


def _dependency_phases(instructions: Iterable[Instruction]) -> list[list[Instruction]]:
    """The draws in phases of independent draws, each as early as possible; then the coordinate instructions.

    A draw comes after the draws that write the columns that it reads or writes, and after those that read the columns
    that it writes.
    """
    last_write, last_read = dict[int, int](), dict[int, int]()  # id of a column -> phase
    phases, coordinate_instructions = list[list[Instruction]]([[]]), list[Instruction]()
    for instruction in instructions:
        if instruction.opcode in _COORDINATE_INSTRUCTIONS:
            coordinate_instructions.append(instruction)
            continue
        argument_ids = [id(a) for a in instruction.arguments if isinstance(a, Column)]
        reads = argument_ids + ([id(instruction.gate.column)] if instruction.gate else [])
        writes = [id(column) for column in instruction.columns]
        if instruction.opcode == "CutMixBox":
            writes += argument_ids  # the fraction kept is corrected to that of the box in whole pixels
        phase = 0
        for column in reads:
            phase = max(phase, last_write.get(column, -1) + 1)
        for column in writes:
            phase = max(phase, last_write.get(column, -1) + 1, last_read.get(column, -1) + 1)
        phases += [[] for _ in range(phase + 1 - len(phases))]
        phases[phase].append(instruction)
        for column in writes:
            last_write[column] = phase
        for column in reads:
            last_read[column] = max(phase, last_read.get(column, 0))
    return [*phases, coordinate_instructions]


def rescale_draw(draw: Instruction, max_value: float) -> Instruction:
    """The same draw for images with another `max_value`, if its column is in the images' own range."""
    column_max_value = draw.columns[0].max_value if draw.columns else None
    if column_max_value is None or column_max_value == max_value:
        return draw
    arguments = list(draw.arguments)
    # ListValue: the addend and the entries (kernels/draws/instruction.cuh). Its else_value needs no rescaling: the only
    # one is a threshold beyond every range (cuaug/transforms/policy_slot.py).
    indices = (3, *range(5, len(arguments))) if draw.opcode == "ListValue" else _PIXEL_VALUE_ARGUMENTS[draw.opcode]
    for i in indices:
        arguments[i] = arguments[i] * max_value / column_max_value
    return replace(draw, arguments=arguments)
