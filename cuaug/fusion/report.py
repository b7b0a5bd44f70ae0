"""A plan in words: passes, launches, bytes, and why each pass begins."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from .._array import ITEM_SIZE
from .._images import Images
from .passes import Pass
from .plan import Plan
from .recipe import Geometric, Op, Pointwise, Resized


@dataclass(frozen=True)
class PassReport:
    """One reading and writing of the images."""

    transforms: tuple[str, ...]
    source: tuple[str, tuple[int, int]]  # dtype, (H, W)
    target: tuple[str, tuple[int, int]]
    read: int  # bytes of a sample, if all of it is read
    written: int
    means: int  # statistics that are taken first, each of which reads the sample once
    why: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """What a call does; ``print`` it."""

    passes: tuple[PassReport, ...]
    launches: int  # of kernels, on a GPU: for the draws, the means, the passes
    channels: int

    @property
    def bytes_per_sample(self) -> int:
        """Read and written by the passes; a crop reads less."""
        return sum(each.read + each.written for each in self.passes)

    def __str__(self) -> str:
        total = f"{self.bytes_per_sample / 1e6:.2f} MB a sample"
        said = [f"{_counted(len(self.passes), 'pass')}, {_counted(self.launches, 'launch')}, {total}"]
        for number, each in enumerate(self.passes, 1):
            source, target = (f"{dtype} [{h}, {w}, {self.channels}]" for dtype, (h, w) in (each.source, each.target))
            said.append(f"pass {number}  {source} -> {target}   {each.why}")
            said += [f"        {line}" for line in each.lines]
        return "\n".join(said)

    __repr__ = __str__


def report(plan: Plan, image: Images, owners: Mapping[int, str]) -> Report:
    """`owners`: which transform an op is of, by the op's id."""
    passes = tuple(_reported(each, image, owners) for each in plan.passes)
    apart = sum(len(each.means) - each.measured for each in plan.passes)
    return Report(passes, 1 + apart + len(passes), image.channels)


def _reported(each: Pass, image: Images, owners: Mapping[int, str]) -> PassReport:
    frames, channels = image.axes.extents[1:3]
    read, written = (
        frames * channels * height * width * ITEM_SIZE[dtype]
        for dtype, (height, width) in ((each.source, each.size), (each.target, each.result))
    )
    named = [owners[id(op)] for op in each.taken]
    means = len(each.means)
    source, target = (each.source, each.size), (each.target, each.result)
    lines = tuple(_lines(each, owners))
    return PassReport(tuple(dict.fromkeys(named)), source, target, read, written, means, each.why, lines)


def _lines(each: Pass, owners: Mapping[int, str]) -> list[str]:
    moving = {id(head) for head in each.heads}
    heads = [op for op in each.taken if id(op) in moving]
    rest = [op for op in each.taken if id(op) not in moving]
    said = []
    if heads:
        said.append(f"{_names(heads, owners)}: {_how(each)}")
    if rest:
        mean = "; a mean is taken first" if any(isinstance(op, Pointwise) and op.mean for op in rest) else ""
        said.append(f"{_names(rest, owners)}{mean}")
    return said


def _how(each: Pass) -> str:
    first = each.heads[0]
    if isinstance(first, Resized):
        return f"one resize, {first.interpolation}{', antialiased' if first.antialias else ''}"
    if isinstance(first, Geometric):
        moved = all(head.whole for head in each.heads if isinstance(head, Geometric))
        return f"one {'move' if moved else 'resample'}, {each.resampling.interpolation}"
    return "from the pixels around, or another sample's"


def _names(ops: list[Op], owners: Mapping[int, str]) -> str:
    """Each transform once for all ops that it has here."""
    return ", ".join(name for name, _ in itertools.groupby(owners[id(op)] for op in ops))


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 'es'}"
