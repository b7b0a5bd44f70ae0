"""Assembles a recipe's draws into the program that kernels/draws/program.cuh runs for every sample."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from .._program.records import INSTRUCTION
from .recipe_ops import Column, Instruction

OPCODES = (  # in the order of `cuaug::Opcode` (kernels/draws/instruction.cuh)
    *("Constant", "Uniform", "RandInt", "Bernoulli", "Permutation", "PermutationOrNone"),
    *("Crop", "ResizedCrop", "RandomErasing"),
    *("Categorical", "ListValue", "Beta", "CutMixBox", "PerspectiveCorners", "StreamColumns"),
    *("InverseCropResize", "InverseWindowedResize", "InverseTranslate", "InverseFlip", "StorePassMap"),
    *("InverseAffine", "InversePerspective", "StoreForwardMatrix"),
)
# Opcode -> indices of the arguments that are in the images' own range; for ListValue see `rescale_draw`.
_PIXEL_VALUE_ARGUMENTS = {"Constant": (0, 1), "Bernoulli": (1, 2)}


def assemble(
    draws: Iterable[Instruction],
    pass_maps: Sequence[Sequence[Instruction]] = (),
    forward_matrices: Sequence[Instruction] = (),
) -> np.ndarray:
    """The program: `cuaug::ProgramHeader`, then for each instruction its head and its arguments as float64.

    `pass_maps`: for each pass the instructions that compose its map. `forward_matrices`: the instructions that store
    the matrix from source to result, of the recipe and of each of its moves (moves.py).
    """
    phases = _dependency_phases(draws)
    groups = [*phases, *pass_maps, forward_matrices]
    group_starts = list(itertools.accumulate((len(group) for group in groups), initial=0))
    header_ints = 2 + len(group_starts) + group_starts[-1]
    offsets, program = list[int](), bytearray()  # offsets in units of 8 bytes
    for instruction in itertools.chain(*groups):
        offsets.append((-(-header_ints // 2)) + len(program) // 8)
        program += _instruction_bytes(instruction)
    header = np.array([len(phases), len(pass_maps), *group_starts, *offsets, *[0] * (header_ints % 2)], np.int32)
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


def _dependency_phases(draws: Iterable[Instruction]) -> list[list[Instruction]]:
    """The draws in phases of independent draws, each as early as possible.

    A draw comes after the draws that write the columns that it reads or writes, and after those that read the columns
    that it writes.
    """
    last_write, last_read = dict[int, int](), dict[int, int]()  # id of a column -> phase
    phases = list[list[Instruction]]()
    for draw in draws:
        argument_ids = [id(a) for a in draw.arguments if isinstance(a, Column)]
        reads = argument_ids + ([id(draw.gate.column)] if draw.gate else [])
        writes = [id(column) for column in draw.columns]
        if draw.opcode == "CutMixBox":
            writes += argument_ids  # replaces the fraction to keep by the one that the drawn box leaves
        phase = 0
        for column in reads:
            phase = max(phase, last_write.get(column, -1) + 1)
        for column in writes:
            phase = max(phase, last_write.get(column, -1) + 1, last_read.get(column, -1) + 1)
        phases += [[] for _ in range(phase + 1 - len(phases))]
        phases[phase].append(draw)
        for column in writes:
            last_write[column] = phase
        for column in reads:
            last_read[column] = max(phase, last_read.get(column, 0))
    return phases


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
