"""The passes that a recipe takes: each reads the images once, moves their pixels, changes them, and stores them.

A pass begins where the mathematics force one, and says why. What it runs is what the functions run (`_pass.py`), with
parameters from the table of draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .._check import WHITE
from .recipe import (
    Alone,
    Blended,
    Blur,
    Branch,
    Cast,
    Column,
    Displaced,
    Gated,
    Geometric,
    Instruction,
    Only,
    Op,
    Pointwise,
    Recipe,
    Relevelled,
    Resized,
    Retouch,
    Stretched,
)

Head = Geometric | Resized | Displaced | Alone
_MEAN = "a mean of all pixels comes before what changes them"
_LEVELS = "the levels of the whole image are needed as they are by now"
_NEIGHBOURS = "every pixel needs its neighbours, or another sample's, as they are by now"


@dataclass
class Pass:
    """Heads move pixels (several maps of coordinates are one), then `chain` changes them, and they are stored.

    `retouches` change a whole image's levels, or pixels by their neighbours, of samples that nothing else here changes.
    """

    why: str
    source: str  # dtype
    size: tuple[int, int]  # of what it reads
    heads: list[Head] = field(default_factory=list)
    retouches: list[Retouch] = field(default_factory=list)
    chain: list[Pointwise] = field(default_factory=list)
    target: str = ""
    unscaled: bool = False  # a conversion has changed what full scale is
    branch: Branch | None = None  # what it reads, if not what the pass before has made
    matrix: list[Column] = field(default_factory=list)  # result to source, of a pass that moves pixels
    taken: list[Op] = field(default_factory=list)  # all of it, in the user's order
    measures: Column | None = None  # the mean of its result that it takes on the way, for the pass that follows
    measured_by: Pass | None = None  # which has taken the first mean that this one needs
    resized: bool = False  # reads what a kernel has made that resizes and nothing else

    @property
    def result(self) -> tuple[int, int]:
        return next((head.size for head in reversed(self.heads) if isinstance(head, (Geometric, Resized))), self.size)

    @property
    def white(self) -> float:
        return WHITE.get(self.source, 1.0)

    @property
    def columns(self) -> list[Column]:
        """Of the chain, one after the other as the kernel reads them."""
        return [column for op in self.chain for column in op.columns]

    @property
    def means(self) -> list[int]:
        """The ops of the chain that need a mean of what comes before them."""
        return [i for i, op in enumerate(self.chain) if op.mean is not None]

    @property
    def _resamples(self) -> bool:
        """Pixels are moved by what may change them as well."""
        first = self.heads[0]
        return isinstance(first, (Geometric, Displaced)) or (isinstance(first, Resized) and first.mild)

    @property
    def pointwise(self) -> bool:
        """Whether a pixel of the result needs no other pixel, but for means."""
        return not (self.heads or self.retouches)

    @property
    def retouches_alone(self) -> bool:
        """By a function's own kernels, which are faster where there is nothing else to do."""
        return (
            len(self.retouches) == 1 and not (self.heads or self.chain or self.measures) and self.target == self.source
        )

    @property
    def resizes(self) -> bool:
        """By a kernel that does nothing else."""
        return bool(self.heads) and isinstance(self.heads[0], Resized) and not self.heads[0].mild

    @property
    def _blurs(self) -> bool:
        return bool(self.heads) and isinstance(self.heads[0], Blur)

    @property
    def _changes(self) -> bool:
        """What is made from more than a pixel's own place may be changed by the kernel that makes it."""
        return not self.heads or self._resamples or isinstance(self.heads[0], Blended)

    @property
    def window(self) -> Sequence[Column]:
        """The box that alone counts as the image."""
        first = self.heads[0] if self.heads else None
        return first.columns if isinstance(first, Resized) or (isinstance(first, Geometric) and first.box) else ()

    @property
    def moves(self) -> bool:
        """Whether pixels change places."""
        return bool(self.heads) and isinstance(self.heads[0], (Geometric, Resized, Displaced))

    @property
    def resampling(self) -> Geometric | Displaced:
        """The map of coordinates that decides how pixels are read."""
        if self.heads and isinstance(self.heads[0], Displaced):
            return self.heads[0]
        maps = [head for head in self.heads if isinstance(head, Geometric)]
        if not maps:
            return Geometric(Instruction("", (), ()), (), self.result, border="edge")
        chosen = next((m for m in maps if not m.whole), maps[0])
        outside = next((m for m in maps if m.shows_outside), chosen)
        how = {"border": outside.border, "fill": outside.fill}
        return Geometric(chosen.carry, (), self.result, chosen.interpolation, **how)

    def refuses(self, op: Op) -> str:
        """Why an op cannot join; empty where it can."""
        if isinstance(op, Branch):
            return self._refuses_branch(op)
        if isinstance(op, Blended):
            return "what the branches have made is blended"
        if isinstance(op, Cast):
            return self._refuses_cast(op) if op.dtype != self.target else ""
        if isinstance(op, Pointwise):
            return self._refuses_pointwise(op)
        if isinstance(op, Retouch):
            return self._refuses_retouch(op)
        if not self._may_be_moved(op):
            return "pixels are changed before they are moved"
        if not self.heads:
            return ""
        if isinstance(op, Stretched):
            return _LEVELS
        if isinstance(op, Alone) or isinstance(self.heads[-1], Alone):
            return _NEIGHBOURS
        if isinstance(op, Displaced) or isinstance(self.heads[0], Displaced):
            return "displacements of single pixels are no matrix, which others could be multiplied by"
        if isinstance(op, Resized):
            return "an antialiased resize reads the pixels as they are by now"
        if isinstance(self.heads[0], Resized):
            return "" if op.mirror else "an antialiased resize comes before"
        return self._refuses_map(op, [head for head in self.heads if isinstance(head, Geometric)])

    def _may_be_moved(self, op: Op) -> bool:
        """Whether all that is changed here are other samples, on a canvas that stays as they know it."""
        changes = (*self.retouches, *self.chain)
        if self.target != self.source or self.means or not all(_exclude_each_other(op, each) for each in changes):
            return False
        return not changes or (isinstance(op, Geometric) and op.size == self.result)

    def _refuses_retouch(self, op: Retouch) -> str:
        """One of each kind may join, as a warp's record has one table for it; none behind what needs a mean first."""
        others = (*self.heads, *self.retouches, *self.chain)
        changed = self.target != self.source or self.means or self.result != self.size
        again = any(type(each) is type(op) for each in self.retouches)
        if not changed and not again and all(_exclude_each_other(op, other) for other in others):
            return ""
        return _LEVELS if isinstance(op, Relevelled) else _NEIGHBOURS

    def _refuses_branch(self, op: Branch) -> str:
        if not self.taken and self.branch is None:
            return ""
        return (
            "branches begin with the images as they are by now" if op.first else "another branch, from where they began"
        )

    def _refuses_cast(self, op: Cast) -> str:
        if not self._changes and not (op.scale and self._blurs):
            return "a resize, a filter or a mix keeps the dtype"
        if self.unscaled:
            return "another conversion"
        if self._rounded:
            return self._rounded
        counted = not op.scale and WHITE.get(op.dtype) != WHITE.get(self.target)
        if counted and WHITE.get(self.target) != WHITE.get(self.source):
            return f"it keeps the numbers of {self.target}"
        return ""

    @property
    def _rounded(self) -> str:
        integers = self.target in WHITE and self.target != self.source
        return f"values are rounded to {self.target} before they are changed" if integers else ""

    def _refuses_pointwise(self, op: Pointwise) -> str:
        if not self._changes or (op.mean is not None and self.heads and not self._resamples):
            return "a resize, a filter or a mix stores its pixels before they are changed"
        if self._rounded:
            return self._rounded
        in_range = op.ranged or op.mean is not None or any(column.white is not None for column in op.columns)
        if (op.ranged and self.source in WHITE and self.target not in WHITE) or (in_range and self.unscaled):
            return f"it works with the levels of {self.target}"
        return _MEAN if op.mean is not None and self._ends_at(op) else ""

    def _ends_at(self, op: Pointwise) -> bool:
        """Whether the mean of op ends the pass: behind a resize, whichever kernel that is, as it rounds the pixels."""
        behind = self.resized and self.target == self.source and not self.means
        return not self.pointwise or (behind and bool(self.chain or op.halves))

    @staticmethod
    def _refuses_map(op: Geometric, maps: Sequence[Geometric]) -> str:
        resampled = [m for m in maps if not m.whole]
        if resampled and not op.whole and resampled[0].interpolation != op.interpolation:
            return f"interpolation changes to {op.interpolation!r}"
        moved = [m for m in maps if not m.mirror and not _exclude_each_other(m, op)]
        if op.box and not op.whole and maps:
            return "a crop is resized with its own edge, which lies within what was moved before"
        if op.shows_outside and moved and not (moved == maps[:1] and moved[0].box and moved[0].whole):
            return f"a border ({op.border}) around the canvas as it is by now"
        if op.shows_outside and op.border != "edge" and any(m.box and not m.whole for m in maps):
            return f"a border ({op.border}), and a crop that is resized with its own edge"
        if op.shows_outside and any(m.shows_outside and (m.border, m.fill) != (op.border, op.fill) for m in maps):
            return f"another border ({op.border}) or fill"
        return ""

    def add(self, op: Op) -> None:
        if isinstance(op, Branch):
            self.branch = op
            return
        self.taken.append(op)
        if isinstance(op, Cast):
            if WHITE.get(op.dtype) != WHITE.get(self.target):
                if not op.scale:
                    self.chain.append(Pointwise("ConvertRange", ()))
                    self.unscaled = True
                elif not self.chain and not self._blurs:
                    self.chain.append(Pointwise("Rescale", ()))
            self.target = op.dtype
        elif isinstance(op, Pointwise):
            self.chain.append(op)
        elif isinstance(op, Retouch):
            self.retouches.append(op)
        else:
            self.heads.append(op)

    def cut(self, op: Pointwise) -> Pass:
        """The pass that follows, with what op does once its mean is known."""
        return self._measured(op) if self.target == self.source else self._postponed(op)

    def _measured(self, op: Pointwise) -> Pass:
        """What comes before the mean happens here, as does the mean itself."""
        self.measures = op.mean
        self.chain += op.before
        self.taken += [op] if op.before else []
        rest = Pass(_MEAN, self.source, self.result, target=self.target, measured_by=self)
        rest.chain, rest.taken = [op.after], [op]
        return rest

    def _postponed(self, op: Pointwise) -> Pass:
        """Pixels are only moved here: in the dtype to come they would take more room, or what comes first be lost."""
        moving = [id(head) for head in (*self.heads, *self.retouches)]
        rest = Pass(_MEAN, self.source, self.result, target=self.target, unscaled=self.unscaled)
        rest.chain, rest.taken = [*self.chain, op], [*(each for each in self.taken if id(each) not in moving), op]
        self.chain, self.taken = [], [each for each in self.taken if id(each) in moving]
        self.target, self.unscaled = self.source, False
        return rest


def _exclude_each_other(a: Op, b: Op) -> bool:
    """No sample is changed by both."""
    return any(one is other and not values & others for one, values in _only(a) for other, others in _only(b))


def _only(op: Op) -> Only:
    return op.only if isinstance(op, Gated) else ()


def passes_of(recipe: Recipe, dtype: str, size: tuple[int, int]) -> list[Pass]:
    """`dtype` and `size` are those of the images."""
    made = [Pass("the images are read", dtype, size, target=dtype)]
    for op in recipe.ops:
        last, why = made[-1], made[-1].refuses(op)
        if why and why != _MEAN:
            resized = last.resizes and isinstance(op, (Pointwise, Cast))
            made.append(Pass(why, last.target, last.result, target=last.target, resized=resized))
        if isinstance(op, Pointwise) and made[-1].refuses(op) == _MEAN:
            made.append(made[-1].cut(op))
        else:
            made[-1].add(op)
    for each in made:
        if each.heads and isinstance(each.heads[0], (Geometric, Resized)):
            projective = any(isinstance(head, Geometric) and head.projective for head in each.heads)
            each.matrix = [Column("") for _ in range(9 if projective else 6)]
    return made
