"""A recipe's draws as numbers that kernels/draws/program.cuh runs for every sample."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from .recipe import Column, Instruction

# In the order of `cuaug::Kind`.
KINDS = (
    *("Constant", "Uniform", "Below", "Chance", "Choice", "Permutation", "Order", "Entry", "Beta"),
    *("Crop", "ResizedCrop", "Erased", "Cut", "Corners", "Words", "Barrier"),
    *("Box", "Shift", "Mirror", "Affine", "Perspective"),
    *("KeepPass", "KeepAll", "Toggle"),
)
_HEADER = struct.Struct("7i 4x d")  # `cuaug::Instruction`
# Which arguments of a kind are in the images' own range, and so scale with what is white there.
_RANGED = {"Constant": (0, 1), "Chance": (1, 2)}


def assembled(instructions: Iterable[Instruction]) -> np.ndarray:
    """The program: again and again a header and, as float64, arguments."""
    program = bytearray()  # not bytes: torch warns of memory that must not be written
    for it in _with_barriers(instructions):
        arguments = np.array([a.place if isinstance(a, Column) else a for a in it.arguments], np.float64)
        gate, value = (-1, 0.0) if it.gate is None else (it.gate.column.place, it.gate.value)
        first = it.columns[0].place if it.columns else 0
        _adjoining(it.columns)
        length = _HEADER.size // 8 + len(arguments)
        header = KINDS.index(it.kind), length, it.position, it.index, gate, first, it.own, value
        program += _HEADER.pack(*header) + arguments.tobytes()
    return np.frombuffer(bytearray(program), np.float64)  # torch takes no memory that is read only


def _with_barriers(instructions: Iterable[Instruction]) -> Iterator[Instruction]:
    """Before an instruction that reads what was written since the last barrier, another."""
    written: set[int] = set()
    for it in instructions:
        columns = [a for a in it.arguments if isinstance(a, Column)] + ([it.gate.column] if it.gate else [])
        # Coordinates and matrices come from several columns from the one that is named on.
        if written and (KINDS.index(it.kind) > KINDS.index("Barrier") or written & {id(c) for c in columns}):
            yield Instruction("Barrier", (), ())
            written.clear()
        if KINDS.index(it.kind) < KINDS.index("Barrier"):
            written |= {id(c) for c in it.columns}
        yield it


def in_units_of(instruction: Instruction, white: float) -> Instruction:
    """The same draw where full scale is another number."""
    own = instruction.columns[0].white if instruction.columns else None
    if own is None or own == white:
        return instruction
    arguments = list(instruction.arguments)
    for i in (3, *range(5, len(arguments))) if instruction.kind == "Entry" else _RANGED[instruction.kind]:
        arguments[i] = arguments[i] * white / own
    return replace(instruction, arguments=arguments)


def _adjoining(columns: Sequence[Column]) -> None:
    places = [column.place for column in columns]
    assert places == list(range(places[0], places[0] + len(places))) if places else True, places
