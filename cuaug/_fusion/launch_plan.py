"""What a recipe launches on a GPU, written down once for images of a kind.

From then on a call takes memory for the result and for what lies between, and has all of it launched at once: what
follows from shapes and dtypes is not worked out again. The passes run as ever while they are traced, with names for
what differs from call to call, of which records are made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._arrays.descriptor import ArrayDescriptor, contiguous_strides
from .._arrays.images import ImageBatch
from .._arrays.protocol import Library
from .._gpu import streams
from .._gpu.executor import RecordingExecutor, symbol
from .._gpu.launch_sequence import Launch, LaunchSequence
from .._passes.parameters import StridedArray
from .._program.dtypes import ITEM_SIZE
from . import draw, execute, memory
from .batched_launch import merge_launches
from .draw_kernel import Draws
from .plan import RecipePlan

_SOURCE, _RESULT, _BLOCK, _GIVEN = range(4)  # what a call knows: the last of them, and those after it, it is told
_SLOTS = 16  # from here on: memory whose place is not known while it is traced
_MOST = 64  # traces of a plan: batches come in few sizes
_UNKNOWN: Any = object()


class Slot(NamedTuple):
    """Memory that a call takes, as an array that is not there yet."""

    name: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    device: int
    order: Sequence[int] | None


class _Tracing:
    """An array library whose memory has symbolic addresses."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.name, self.channels_first = library.name, library.channels_first
        self.slots: list[Slot] = []
        self.kept: list[Any] = []  # constants that records point to

    def describe(self, array: Any, stream: int | None = None) -> ArrayDescriptor:
        return ArrayDescriptor(self.pointer(array), array.shape, array.strides, array.dtype, array.device, False, array)

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, order: Sequence[int] | None) -> Slot:
        strides = contiguous_strides(shape, order)
        self.slots.append(Slot(_SLOTS + len(self.slots), shape, strides, dtype, device, order))
        return self.slots[-1]

    def pointer(self, array: Any) -> int:
        return symbol(array.name) if isinstance(array, Slot) else self.library.pointer(array)

    def to_user_array(self, array: Any) -> Any:
        return array

    def current_stream(self, device: int) -> int:
        return self.library.current_stream(device)

    def from_numpy(self, values: np.ndarray, device: int) -> Any:
        self.kept.append(self.library.from_numpy(values, device))
        return self.kept[-1]

    def namespace(self) -> Any:
        return self.library.namespace()


@dataclass
class Traced:
    """A recipe's launches, for images of one shape, dtype, layout and alignment on one device."""

    launches: LaunchSequence
    result: Slot
    between: int  # bytes for what lies between the launches
    kept: list[Any]

    def __call__(self, image: ImageBatch, told: Sequence[int]) -> Any:
        """The images, changed as they are told: where the table is, or what to draw."""
        library, device, result = image.library, image.device, self.result
        array = library.empty(result.shape, result.dtype, device, result.order)
        block = library.empty((self.between,), "uint8", device, None)
        values = image.pointer - image.pointer % 16, library.pointer(array), library.pointer(block), *told
        self.launches(library.current_stream(device), values)
        return library.to_user_array(array)


def apply(plan: RecipePlan, image: ImageBatch, table: StridedArray) -> Any:
    """The images, changed as the rows of the table say: as `execute.apply`."""
    named = table._replace(pointer=symbol(_GIVEN), owner=None)
    traced = _known(plan, image, "apply", lambda named_image: execute.apply(plan, named_image, named))
    return traced(image, [table.pointer]) if traced else execute.apply(plan, image, table)


def call(plan: RecipePlan, image: ImageBatch, draws: Draws) -> Any:
    """The images, changed as what is drawn for them says."""
    traced = _known(plan, image, "call", lambda named_image: _called(plan, named_image))
    if traced:
        return traced(image, draws.numbers)
    return apply(plan, image, draw.draw_table(plan, image, draws, with_matrix=False))


def _called(plan: RecipePlan, image: ImageBatch) -> Any:
    ids, replays, seed, step, first = (symbol(_GIVEN + i) for i in range(5))
    named = Draws(ids, replays, seed, step, first, None)
    return execute.apply(plan, image, draw.draw_table(plan, image, named, with_matrix=False))


def _known(plan: RecipePlan, image: ImageBatch, what: str, make: Callable[[ImageBatch], Any]) -> Traced | None:
    """None where nothing is traced: the passes run."""
    if not image.samples:
        return None
    key = what, image.axes, image.pointer % 16, image.dtype, image.device, image.library.name
    found: Traced | None = plan.launch_plans.get(key, _UNKNOWN)
    if found is not _UNKNOWN:
        return found
    stream = image.library.current_stream(image.device)
    if streams.is_capturing(stream):  # of constants, those that a graph holds are not there for other calls
        made = _traced(image, make)
        return None if made is None or made.kept else made
    while len(plan.launch_plans) >= _MOST:
        plan.launch_plans.pop(next(iter(plan.launch_plans)), None)
    made = plan.launch_plans[key] = _traced(image, make)
    if made and made.kept:
        streams.synchronize_stream(stream, image.device)  # once: any stream may read them from now on
    return made


def _traced(image: ImageBatch, make: Callable[[ImageBatch], Any]) -> Traced | None:
    """None where what comes back is not memory that the call takes."""
    tracing, executor = _Tracing(image.library), RecordingExecutor()
    pointer = symbol(_SOURCE, image.pointer % 16)
    result = make(image._replace(pointer=pointer, library=tracing, owner=None, executor=executor))
    if not isinstance(result, Slot):
        return None
    launches = merge_launches(executor.launches)
    places, between = _places(tracing.slots, launches, result)

    def blank(at: int, name: int, offset: int) -> tuple[int, int, int]:
        value, begin = places.get(name, (name, 0))
        return at, value, begin + offset

    filled = [each._replace(relocations=tuple(blank(*known) for known in each.relocations)) for each in launches]
    return Traced(LaunchSequence(filled, image.device), result, between, tracing.kept)


def _places(slots: Sequence[Slot], launches: Sequence[Launch], result: Slot) -> tuple[dict[int, tuple[int, int]], int]:
    """In which of a call's memory each slot begins, and at which byte; and how much there must be beside the result."""
    used: dict[int, list[int]] = {}
    for i, launch in enumerate(launches):
        for _, name, _ in launch.relocations:
            used.setdefault(name, []).append(i)
    spans = {slot.name: _span(slot, used[slot.name]) for slot in slots if slot.name in used}
    own = spans.pop(result.name, _span(result, [0]))._replace(last=len(launches) - 1)
    places, between = memory.placed(own, list(spans.values()))
    where = {name: (_RESULT if in_result else _BLOCK, at) for name, (in_result, at) in zip(spans, places, strict=True)}
    return {result.name: (_RESULT, 0), **where}, between


def _span(slot: Slot, launches: Sequence[int]) -> memory.Span:
    return memory.Span(math.prod(slot.shape) * ITEM_SIZE[slot.dtype], launches[0], launches[-1])
