"""Describes a plan to the user: passes, launches, bytes, and why each pass begins."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from .._arrays.images import ImageBatch
from .._html import table
from .._passes.batched_launch import MAX_BATCHED
from .._program.dtypes import ITEM_SIZE
from .plan import RecipePlan
from .recipe_ops import (
    Autocontrast,
    Blend,
    CoordinateMap,
    Displacement,
    Grayscale,
    HistogramLut,
    Mix,
    Op,
    OverrideOp,
    Pointwise,
    Resize,
)
from .recipe_pass import FirstOp, Pass


@dataclass(frozen=True)
class PassReport:
    """One pass: the images are read once and written once."""

    transforms: tuple[str, ...]
    source: tuple[str, tuple[int, int]]  # dtype, (H, W) of the input; (0, 0): every image has a size of its own
    target: tuple[str, tuple[int, int]]
    channels: tuple[int, int]  # of the input, of the output
    read: int  # bytes per sample, if the whole sample is read
    written: int
    field: int  # bytes per sample moved to draw and smooth its displacement field
    means: int  # launches before the pass that compute a mean; each reads the sample once
    why: str  # the pass begins here
    lines: tuple[str, ...]  # what the pass does, for `print`


@dataclass(frozen=True)
class Report:
    """The passes of a call; ``print`` it."""

    passes: tuple[PassReport, ...]
    launches: int  # of a batch on a GPU, for draws, statistics, displacement fields and passes
    batches: tuple[int, ...] = ()  # for a list of images: the number of images in each batch
    samples: int = 1  # of the call
    host_us: float | None = None  # measured: the time until a call returns; on a CPU, of the whole call
    device_us: float | None = None  # measured, on a GPU: the time that the device works for a call
    peak_bandwidth: float | None = None  # of the measured GPU's memory, bytes per second; 0: not known

    @property
    def bytes_per_sample(self) -> int:
        """Bytes that the passes and their displacement fields read and write; a crop reads less.

        Of a list in several batches, those of the largest batch. Reads by launches that compute a mean or other
        statistics are not counted.
        """
        return sum(pass_.read + pass_.written + pass_.field for pass_ in self.passes)

    @property
    def memory_us(self) -> float | None:
        """The time that the GPU's memory takes for the bytes of a measured call at its peak bandwidth.

        None for a list in several batches, because only the bytes of the largest batch are known.
        """
        if not self.peak_bandwidth or len(self.batches) > 1:
            return None
        return self.bytes_per_sample * self.samples / self.peak_bandwidth * 1e6

    @property
    def title(self) -> str:
        """Passes, launches and bytes, in a line."""
        total = f"{self.bytes_per_sample / 1e6:.2f} MB a sample"
        title = f"{_plural(len(self.passes), 'pass')}, {_plural(self.launches, 'launch')}, {total}"
        if self.batches:
            ragged = "ragged, " if self.passes[0].source[1] == (0, 0) else ""
            batches = (
                f"in {len(self.batches)} batches; the largest, of {max(self.batches)}"
                if self.batches[1:]
                else "at once"
            )
            count = sum(self.batches)
            title = f"{ragged}{count} image{'' if count == 1 else 's'} {batches}: {title}"
        return title

    @property
    def times(self) -> str:
        """The measured times, in a line; empty if none were measured."""
        if self.host_us is None:
            return ""
        call = f"a call of {self.samples} sample{'' if self.samples == 1 else 's'}"
        if self.device_us is None:
            per_sample = f", {_microseconds(self.host_us / self.samples)} a sample" if self.samples > 1 else ""
            return f"{call}: {_microseconds(self.host_us)}{per_sample}"
        line = f"{call}: host {_microseconds(self.host_us)}, device {_microseconds(self.device_us)}"
        if self.memory_us and self.peak_bandwidth:
            peak = f"{self.peak_bandwidth / 1e12:.2f} TB/s"
            line += f"; its bytes take {_microseconds(self.memory_us)} at the memory's peak of {peak}"
        return line

    def __str__(self) -> str:
        lines = [self.title, self.times] if self.times else [self.title]
        for number, pass_ in enumerate(self.passes, 1):
            source, target = _image_formats(pass_)
            lines.append(f"pass {number}  {source} -> {target}   {pass_.why}")
            lines += [f"        {line}" for line in pass_.lines]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [
            (str(number), *_image_formats(pass_), "\n".join(pass_.lines), pass_.why)
            for number, pass_ in enumerate(self.passes, 1)
        ]
        caption = f"{self.title}\n{self.times}" if self.times else self.title
        return table(caption, ("pass", "reads", "writes", "does", "begins because"), rows)


def _image_formats(pass_: PassReport) -> list[str]:
    """Input and output of the pass, such as ``uint8 [224, 224, 3]``."""
    return [
        f"{dtype} [{f'{height}, {width}' if height else 'H, W'}, {channels}]"
        for (dtype, (height, width)), channels in zip((pass_.source, pass_.target), pass_.channels, strict=True)
    ]


def report(
    plan: RecipePlan, images: Sequence[ImageBatch], transform_titles: Mapping[int, str], batches: tuple[int, ...] = ()
) -> Report:
    """The report for one batch, or for the images of a ragged batch. `transform_titles`: by `id` of the op."""
    first = images[0]
    stored_means = {id(pass_.mean_output) for pass_ in plan.passes if pass_.mean_output}
    passes = [_pass_report(pass_, first.frames, transform_titles, stored_means) for pass_ in plan.passes]
    if len(images) > 1:
        pixels = sum(height * width for height, width in (image.size for image in images)) / len(images)
        read = round(pixels * first.channels * ITEM_SIZE[first.dtype])
        passes[0] = replace(passes[0], source=(first.dtype, (0, 0)), read=read)
    samples = sum(batches) if batches else first.samples
    return Report(tuple(passes), 1 + _launch_count(plan.passes, stored_means), batches, samples)


def _launch_count(passes: Sequence[Pass], stored_means: Set[int]) -> int:
    """The launches of all passes. Equal launches of different branches are batched (batched_launch.py)."""
    count, branches = 0, list[list[Pass]]()
    for pass_ in passes:
        if pass_.branch:
            branches.append([])
        if any(isinstance(op, Blend) for op in pass_.first_ops):
            count, branches = count + _branch_launch_count(branches, stored_means), []
        if branches:
            branches[-1].append(pass_)
        else:
            count += _pass_launch_count(pass_, stored_means)
    return count


def _branch_launch_count(branches: Sequence[Sequence[Pass]], stored_means: Set[int]) -> int:
    counts = [sum(_pass_launch_count(pass_, stored_means) for pass_ in branch) for branch in branches]
    equal = len({tuple(_kernel_key(pass_) for pass_ in branch) for branch in branches}) == 1
    return counts[0] * -(-len(branches) // MAX_BATCHED) if equal else sum(counts)


def _kernel_key(pass_: Pass) -> Any:
    """Equal for passes whose launches can be batched; unique for a pass whose launches cannot."""
    batchable = pass_.overrides or pass_.has_geometry
    if pass_.mean_op_indices or pass_.mean_output or pass_.is_single_override or not batchable:
        return id(pass_)
    sampling, names = pass_.sampling, (op.functor for op in pass_.chain)
    sizes = len(pass_.matrix), pass_.output_size, pass_.output_dtype, len(pass_.overrides)
    return sampling.interpolation, sampling.border, *sizes, *names


def _pass_launch_count(pass_: Pass, stored_means: Set[int]) -> int:
    other_kernels = sum(_extra_launch_count(op) for op in (*pass_.first_ops, *pass_.overrides))
    return 1 + _mean_launch_count(pass_, stored_means) + other_kernels


def _mean_launch_count(pass_: Pass, stored_means: Set[int]) -> int:
    """The launches before the pass that compute a mean; a mean that an earlier pass has stored needs none."""
    return sum(id(pass_.chain[i].mean) not in stored_means for i in pass_.mean_op_indices)


def _extra_launch_count(op: FirstOp | OverrideOp) -> int:
    """Launches of other kernels whose results the pass's own kernel reads."""
    if isinstance(op, Displacement):
        return op.launches
    return 1 if isinstance(op, (Autocontrast, HistogramLut)) else 0


def _pass_report(pass_: Pass, frames: int, transform_titles: Mapping[int, str], stored_means: Set[int]) -> PassReport:
    """`stored_means`: ids of the columns of means that passes sum while they store."""
    channels = pass_.input_channels, pass_.output_channels
    input_format, output_format = (pass_.input_dtype, pass_.input_size), (pass_.output_dtype, pass_.output_size)
    read, written = (
        frames * count * height * width * ITEM_SIZE[dtype]
        for (dtype, (height, width)), count in zip((input_format, output_format), channels, strict=True)
    )
    names = dict.fromkeys(transform_titles[id(op)] for op in pass_.ops)
    means = _mean_launch_count(pass_, stored_means)
    titles = {id(op): transform_titles[id(op)] + _part_suffix(op, pass_, stored_means) for op in pass_.ops}
    lines = tuple(_lines(pass_, titles, means))
    field_bytes = sum(op.bytes for op in pass_.first_ops if isinstance(op, Displacement))
    read *= 1 + sum(len(op.columns) for op in pass_.first_ops if isinstance(op, Blend))
    bytes_moved = read, written, field_bytes
    return PassReport(tuple(names), input_format, output_format, channels, *bytes_moved, means, pass_.reason, lines)


def _part_suffix(op: Op, pass_: Pass, stored_means: Set[int]) -> str:
    """Which part of the op the pass runs, if the op is split at its mean."""
    if not (isinstance(op, Pointwise) and op.parts_at_mean and id(op.mean) in stored_means):
        return ""
    return " up to its mean" if op.mean is pass_.mean_output else " from its mean on"


def _lines(pass_: Pass, titles: Mapping[int, str], means: int) -> list[str]:
    first_ids, override_ids = ({id(op) for op in ops} for ops in (pass_.first_ops, pass_.overrides))
    first_ops = [op for op in pass_.ops if id(op) in first_ids]
    overrides = [op for op in pass_.ops if id(op) in override_ids]
    pointwise = [op for op in pass_.ops if id(op) not in first_ids | override_ids]
    lines = []
    if first_ops:
        lines.append(f"{_names(first_ops, titles)}: {_first_op_text(pass_)}")
    if overrides:
        suffix = "; of other samples" if first_ops else ""
        lines.append(f"{_names(overrides, titles)}{suffix}: {' or '.join(map(_override_text, overrides))}")
    changes = [_names(pointwise, titles)] if pointwise else []
    if means:
        changes.append("a mean is taken first")
    if pass_.mean_output:
        changes.append("a mean is taken while storing")
    return [*lines, "; ".join(changes)] if changes else lines


def _first_op_text(pass_: Pass) -> str:
    first = pass_.first_op
    if isinstance(first, Resize):
        return f"one resize, {first.interpolation}{', antialiased' if first.antialias else ''}"
    if isinstance(first, Blend):
        return f"the image and {_plural(len(first.columns), 'branch')}, in a sum that is rounded once"
    if isinstance(first, Displacement):
        blur = ", smoothed by {} x {} taps".format(*first.kernel_size) if first.sigma[0] else ""
        cost = f"{_plural(first.launches, 'launch')}, {first.bytes / 1e6:.2f} MB a sample"
        return f"one resample, {first.interpolation}, by a field of noise{blur}: {cost}"
    if isinstance(first, CoordinateMap):
        aligned = all(op.pixel_aligned for op in pass_.first_ops if isinstance(op, CoordinateMap))
        return f"one {'move' if aligned else 'resample'}, {pass_.sampling.interpolation}"
    if isinstance(first, Autocontrast):
        return "each channel's range of values, stretched to the full range"
    if isinstance(first, Grayscale):
        return "the luma" if pass_.input_channels > 1 else "the channel, repeated"
    return "from another sample's pixels" if isinstance(first, Mix) else "from neighbouring pixels"


def _override_text(op: Op) -> str:
    return "new levels from the histogram" if isinstance(op, HistogramLut) else "sharpened with their neighbours"


def _names(ops: list[Op], titles: Mapping[int, str]) -> str:
    """The name of each transform, once for consecutive ops of it."""
    return ", ".join(name for name, _ in itertools.groupby(titles[id(op)] for op in ops))


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 'es'}"


def _microseconds(value: float) -> str:
    return f"{value:,.{0 if value >= 1000 else 1 if value >= 1 else 2}f} us"
