"""A plan in words: passes, launches, bytes, and why each pass begins."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from .._arrays.images import ImageBatch
from .._program.dtypes import ITEM_SIZE
from .batched_launch import MOST
from .passes import Head, Pass
from .plan import Plan
from .recipe import Blended, Displaced, Geometric, Op, Pointwise, Relevelled, Resized, Retouch, Stretched


@dataclass(frozen=True)
class PassReport:
    """One reading and writing of the images."""

    transforms: tuple[str, ...]
    source: tuple[str, tuple[int, int]]  # dtype, (H, W); (0, 0): each image has its own
    target: tuple[str, tuple[int, int]]
    read: int  # bytes of a sample, if all of it is read
    written: int
    field: int  # bytes of a sample that drawing and smoothing its displacements moves
    means: int  # statistics that are taken first, each of which reads the sample once
    why: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """What a call does; ``print`` it."""

    passes: tuple[PassReport, ...]
    launches: int  # of kernels, on a GPU: for the draws, statistics, the fields, the passes
    channels: int
    batches: tuple[int, ...] = ()  # of a list: how many of its images go through the passes together

    @property
    def bytes_per_sample(self) -> int:
        """Read and written by the passes; a crop reads less."""
        return sum(each.read + each.written + each.field for each in self.passes)

    def __str__(self) -> str:
        total = f"{self.bytes_per_sample / 1e6:.2f} MB a sample"
        said = [f"{_counted(len(self.passes), 'pass')}, {_counted(self.launches, 'launch')}, {total}"]
        if self.batches:
            ragged = "ragged, " if self.passes[0].source[1] == (0, 0) else ""
            batches = (
                f"in {len(self.batches)} batches, the largest of {max(self.batches)}" if self.batches[1:] else "at once"
            )
            count = sum(self.batches)
            said[0] = f"{ragged}{count} image{'' if count == 1 else 's'} {batches}: {said[0]}"
        for number, each in enumerate(self.passes, 1):
            source, target = (
                f"{dtype} [{f'{h}, {w}' if h else 'H, W'}, {self.channels}]"
                for dtype, (h, w) in (each.source, each.target)
            )
            said.append(f"pass {number}  {source} -> {target}   {each.why}")
            said += [f"        {line}" for line in each.lines]
        return "\n".join(said)

    __repr__ = __str__


def report(
    plan: Plan, images: Sequence[ImageBatch], owners: Mapping[int, str], batches: tuple[int, ...] = ()
) -> Report:
    """Of one batch, or single images of a ragged one. `owners`: which transform an op is of, by the op's id."""
    image = images[0]
    known = {id(each.measures) for each in plan.passes if each.measures}
    passes = tuple(_reported(each, image, owners, known) for each in plan.passes)
    if len(images) > 1:
        pixels = sum(height * width for height, width in (image.size for image in images)) / len(images)
        read = round(pixels * image.channels * ITEM_SIZE[image.dtype])
        passes = (replace(passes[0], source=(image.dtype, (0, 0)), read=read), *passes[1:])
    return Report(passes, 1 + _launches(plan.passes, known), image.channels, batches)


def _launches(passes: Sequence[Pass], known: Set[int]) -> int:
    """Those of branches that do the same go together (together.py)."""
    alone, branches = 0, list[list[Pass]]()
    for each in passes:
        if each.branch:
            branches.append([])
        if any(isinstance(head, Blended) for head in each.heads):
            alone, branches = alone + _launches_of_branches(branches, known), []
        if branches:
            branches[-1].append(each)
        else:
            alone += _launches_of(each, known)
    return alone


def _launches_of_branches(branches: Sequence[Sequence[Pass]], known: Set[int]) -> int:
    counts = [sum(_launches_of(each, known) for each in branch) for branch in branches]
    alike = len({tuple(_kind(each) for each in branch) for branch in branches}) == 1
    return counts[0] * -(-len(branches) // MOST) if alike else sum(counts)


def _kind(each: Pass) -> Any:
    """The same of passes that launch the same kernels; another one for each whose launches go alone."""
    if each.means or each.measures or each.retouches_alone or not (each.retouches or each.moves):
        return id(each)
    how, names = each.resampling, (op.op for op in each.chain)
    return how.interpolation, how.border, len(each.matrix), each.result, each.target, len(each.retouches), *names


def _launches_of(each: Pass, known: Set[int]) -> int:
    return 1 + _means(each, known) + sum(_launches_before(op) for op in (*each.heads, *each.retouches))


def _means(each: Pass, known: Set[int]) -> int:
    """But for those that a pass takes on the way."""
    return sum(id(each.chain[i].mean) not in known for i in each.means)


def _launches_before(op: Head | Retouch) -> int:
    """Of other kernels, before the one that makes the pass."""
    if isinstance(op, Displaced):
        return op.launches
    return 1 if isinstance(op, (Stretched, Relevelled)) else 0


def _reported(each: Pass, image: ImageBatch, owners: Mapping[int, str], known: Set[int]) -> PassReport:
    """`known`: the means that passes take on the way, by their columns' ids."""
    frames, channels = image.axes.extents[1:3]
    read, written = (
        frames * channels * height * width * ITEM_SIZE[dtype]
        for dtype, (height, width) in ((each.source, each.size), (each.target, each.result))
    )
    named = [owners[id(op)] for op in each.taken]
    means = _means(each, known)
    source, target = (each.source, each.size), (each.target, each.result)
    titles = {id(op): owners[id(op)] + _half(op, each, known) for op in each.taken}
    lines = tuple(_lines(each, titles, means))
    field = sum(head.bytes for head in each.heads if isinstance(head, Displaced))
    read *= 1 + sum(len(head.columns) for head in each.heads if isinstance(head, Blended))
    return PassReport(tuple(dict.fromkeys(named)), source, target, read, written, field, means, each.why, lines)


def _half(op: Op, each: Pass, known: Set[int]) -> str:
    """Which of its halves a pass does of an op that is parted."""
    if not (isinstance(op, Pointwise) and op.halves and id(op.mean) in known):
        return ""
    return " up to its mean" if op.mean is each.measures else " from its mean on"


def _lines(each: Pass, titles: Mapping[int, str], means: int) -> list[str]:
    moving, retouching = ({id(op) for op in ops} for ops in (each.heads, each.retouches))
    heads = [op for op in each.taken if id(op) in moving]
    retouches = [op for op in each.taken if id(op) in retouching]
    rest = [op for op in each.taken if id(op) not in moving | retouching]
    said = []
    if heads:
        said.append(f"{_names(heads, titles)}: {_how(each)}")
    if retouches:
        others = "; of other samples" if heads else ""
        said.append(f"{_names(retouches, titles)}{others}: {' or '.join(map(_retouched, retouches))}")
    changes = [_names(rest, titles)] if rest else []
    if means:
        changes.append("a mean is taken first")
    if each.measures:
        changes.append("a mean is taken on the way")
    return [*said, "; ".join(changes)] if changes else said


def _how(each: Pass) -> str:
    first = each.heads[0]
    if isinstance(first, Resized):
        return f"one resize, {first.interpolation}{', antialiased' if first.antialias else ''}"
    if isinstance(first, Blended):
        return f"the image and {_counted(len(first.columns), 'branch')}, in a sum that is rounded once"
    if isinstance(first, Displaced):
        blur = ", smoothed by {} x {} taps".format(*first.window) if first.sigma[0] else ""
        made = f"{_counted(first.launches, 'launch')}, {first.bytes / 1e6:.2f} MB a sample"
        return f"one resample, {first.interpolation}, by a field of noise{blur}: {made}"
    if isinstance(first, Geometric):
        moved = all(head.whole for head in each.heads if isinstance(head, Geometric))
        return f"one {'move' if moved else 'resample'}, {each.resampling.interpolation}"
    return "from the pixels around, or another sample's"


def _retouched(op: Op) -> str:
    return "new levels, by a count of the old ones" if isinstance(op, Relevelled) else "sharpened by the pixels around"


def _names(ops: list[Op], titles: Mapping[int, str]) -> str:
    """Each transform once for all ops that it has here."""
    return ", ".join(name for name, _ in itertools.groupby(titles[id(op)] for op in ops))


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 'es'}"
