"""One pass of a recipe: read the images once, sample them, run the chain of pointwise ops, store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .._program.dtypes import MAX_VALUE
from .recipe_ops import (
    Blend,
    Blur,
    Branch,
    Cast,
    Column,
    CoordinateMap,
    Displacement,
    Grayscale,
    Instruction,
    Op,
    OverrideOp,
    Pointwise,
    Resize,
    StandaloneOp,
)

FirstOp = CoordinateMap | Resize | Displacement | StandaloneOp
MEAN_FIRST = "the mean of all pixels is needed first"


@dataclass
class Pass:
    """A pass runs `first_ops` (consecutive coordinate maps are one resample), then the op chain, then the store.

    An override replaces the sampling, for samples that no other op of the pass changes. It reads the histogram of the
    whole image, or neighbouring pixels.
    """

    reason: str  # why the pass begins
    input_dtype: str
    input_size: tuple[int, int]
    input_channels: int
    first_ops: list[FirstOp] = field(default_factory=list)
    overrides: list[OverrideOp] = field(default_factory=list)
    chain: list[Pointwise] = field(default_factory=list)
    output_dtype: str = ""
    range_changed: bool = False  # a conversion without scaling has changed the full range
    branch: Branch | None = None  # the pass reads the input of the branches, not the result of the previous pass
    # From output to input; empty unless the first op is a coordinate map or a resize.
    matrix: list[Column] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)  # all ops of the pass, in the user's order
    mean_output: Column | None = None  # the mean of the result, summed while storing, for the next pass
    mean_from: Pass | None = None  # the pass whose `mean_output` is the first mean that this pass reads
    follows_resample: bool = False  # reads the output of the resample kernel
    mask_dtypes: Sequence[str] = ()  # of the casts of label masks that the pass makes before its geometry

    @property
    def output_size(self) -> tuple[int, int]:
        sizes = (op.size for op in reversed(self.first_ops) if isinstance(op, (CoordinateMap, Resize)))
        return next(sizes, self.input_size)

    @property
    def output_channels(self) -> int:
        return self.first_op.channels if isinstance(self.first_op, Grayscale) else self.input_channels

    @property
    def max_value(self) -> float:
        return MAX_VALUE.get(self.input_dtype, 1.0)

    @property
    def chain_columns(self) -> list[Column]:
        """The parameters of the chain, in the order in which the kernel reads them."""
        return [column for op in self.chain for column in op.columns]

    @property
    def means_in_parts(self) -> list[Column]:
        """The means that the pass stores as partial sums: of its result, and the first that it computes for itself."""
        own_means = [] if self.mean_from else [op.mean for op in self.chain if op.mean][:1]
        return [self.mean_output, *own_means] if self.mean_output else own_means

    @property
    def mean_op_indices(self) -> list[int]:
        """The indices of the chain's ops that need the mean of the result of the ops before them."""
        return [i for i, op in enumerate(self.chain) if op.mean is not None]

    @property
    def first_op(self) -> FirstOp | None:
        return self.first_ops[0] if self.first_ops else None

    @property
    def is_pointwise(self) -> bool:
        """An output pixel depends only on the input pixel at the same position, and on means."""
        return not (self.first_ops or self.overrides)

    @property
    def is_single_override(self) -> bool:
        """The pass is one override and nothing else: the kernels of its public function are faster than a warp."""
        others = self.first_ops or self.chain or self.mean_output
        return len(self.overrides) == 1 and not others and self.output_dtype == self.input_dtype

    @property
    def is_warp(self) -> bool:
        """On a GPU, the first op runs in the warp kernel, which can run the chain as well."""
        op = self.first_op
        return isinstance(op, (CoordinateMap, Displacement)) or (isinstance(op, Resize) and op.fits_warp)

    @property
    def is_resample(self) -> bool:
        """The first op runs in the resample kernel."""
        return isinstance(self.first_op, Resize) and not self.first_op.fits_warp

    @property
    def reads_border(self) -> bool:
        """Whether the result may show border around the input, or around the resized input."""
        return any(op.reads_border for op in self.first_ops if isinstance(op, CoordinateMap))

    @property
    def crops_resize(self) -> bool:
        """If the pass begins with a resize: whether the result may be a part of the resized image, or show border."""
        return any(not op.flip_axis for op in self.first_ops[1:] if isinstance(op, CoordinateMap))

    @property
    def runs_channel_ops(self) -> bool:
        """The kernel of the first op can run a chain of `CHANNEL_OPS` before it stores."""
        return self.is_resample or isinstance(self.first_op, Blur)

    @property
    def runs_chain(self) -> bool:
        """The kernel of the first op can run the chain before it stores."""
        return not self.first_ops or self.is_warp or isinstance(self.first_op, Blend)

    @property
    def source_box(self) -> Sequence[Column]:
        """The box outside which the first op treats its input as border."""
        op = self.first_op
        if isinstance(op, Resize):
            return op.box
        return op.columns if isinstance(op, CoordinateMap) and op.within_box else ()

    @property
    def map_columns(self) -> list[Sequence[Column]]:
        """Runs of columns that the coordinate instructions of the pass fill."""
        window = self.first_op.window if isinstance(self.first_op, Resize) else ()
        return [columns for columns in (window, self.matrix) if columns]

    @property
    def has_geometry(self) -> bool:
        return isinstance(self.first_op, (CoordinateMap, Resize, Displacement))

    @property
    def sampling(self) -> CoordinateMap | Displacement:
        """The interpolation, border and fill of the pass, as an op."""
        if isinstance(self.first_op, Displacement):
            return self.first_op
        maps = [op for op in self.first_ops if isinstance(op, CoordinateMap)]
        if not maps:
            return CoordinateMap(Instruction("", (), ()), (), self.output_size, border="edge")
        interpolating = next((op for op in maps if not op.pixel_aligned), maps[0])
        bordered = next((op for op in maps if op.reads_border), interpolating)
        options = {"border": bordered.border, "fill": bordered.fill}
        return CoordinateMap(interpolating.inverse_map, (), self.output_size, interpolating.interpolation, **options)

    def add(self, op: Op) -> None:
        if isinstance(op, Branch):
            self.branch = op
            return
        self.ops.append(op)
        if isinstance(op, Cast):
            if MAX_VALUE.get(op.dtype) != MAX_VALUE.get(self.output_dtype):
                if not op.scale:
                    self.chain.append(Pointwise("ConvertRange", ()))
                    self.range_changed = True
                # Any op rescales, as it sees 0..1 for every dtype.
                elif not self.chain:
                    self.chain.append(Pointwise("Rescale", ()))
            self.output_dtype = op.dtype
        elif isinstance(op, Pointwise):
            self.chain.append(op)
        elif isinstance(op, OverrideOp):
            self.overrides.append(op)
        else:
            self.first_ops.append(op)

    def successor(self, reason: str) -> Pass:
        """A new pass over the result of this one."""
        return Pass(reason, self.output_dtype, self.output_size, self.output_channels, output_dtype=self.output_dtype)

    def split_at_mean(self, op: Pointwise) -> Pass:
        """Ends this pass at the mean that the op needs. Returns the next pass, which runs the op after the mean."""
        return self._split_after_mean(op) if self.output_dtype == self.input_dtype else self._split_before_chain(op)

    def _split_after_mean(self, op: Pointwise) -> Pass:
        """This pass keeps the ops before the mean, and sums the mean while it stores."""
        self.mean_output = op.mean
        self.chain += op.before_mean
        self.ops += [op] if op.before_mean else []
        next_pass = self.successor(MEAN_FIRST)
        next_pass.mean_from = self
        next_pass.chain, next_pass.ops = [op.after_mean], [op]
        return next_pass

    def _split_before_chain(self, op: Pointwise) -> Pass:
        """This pass keeps its first ops and overrides, without the chain, and stores the input dtype.

        A wider output dtype would take more memory between the passes, a narrower one would lose precision.
        """
        non_chain_ids = [id(first) for first in (*self.first_ops, *self.overrides)]
        next_pass = self.successor(MEAN_FIRST)
        next_pass.input_dtype, next_pass.range_changed = self.input_dtype, self.range_changed
        next_pass.chain = [*self.chain, op]
        next_pass.ops = [*(other for other in self.ops if id(other) not in non_chain_ids), op]
        self.chain, self.ops = [], [other for other in self.ops if id(other) in non_chain_ids]
        self.output_dtype, self.range_changed = self.input_dtype, False
        return next_pass
