"""What was drawn for a batch."""

from __future__ import annotations

from typing import Any

from .. import _array
from .._images import Images
from .._parameters import Table
from ..fusion.plan import Plan


class Params:
    """A row of numbers for each sample: ``params["2.ColorJitter.hue_factor"]``, ``params.matrices``."""

    def __init__(self, plan: Plan, table: Any, image: Images) -> None:
        self.plan, self._array, self._library = plan, table, image.library
        self.samples = image.samples
        self.table = Table(image.library.pointer(table), plan.columns, 0, 1, 1, table)

    @property
    def names(self) -> list[str]:
        """Of what is drawn: the transform's place in the recipe, its name, the parameter."""
        return list(self.plan.names)

    def __getitem__(self, name: str) -> Any:
        """One number for each sample. [N]"""
        if name not in self.plan.names:
            raise KeyError(f"{name!r} is not drawn; what is: {', '.join(self.plan.names)}")
        return self._library.finish(self._array)[:, self.plan.names[name]]

    @property
    def matrices(self) -> Any:
        """From the pixels of the images to those of the result, pixel centres at integers. [N, 3, 3]"""
        first = self.plan.matrix
        return self._library.finish(self._array)[:, first : first + 9].reshape(-1, 3, 3)

    def to_dict(self) -> dict[str, list[float]]:
        """What was drawn, as lists."""
        values = _array.to_host(self._array)
        return {name: values[:, place].tolist() for name, place in self.plan.names.items()}
