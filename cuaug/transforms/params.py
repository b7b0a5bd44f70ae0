"""What was drawn for a batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import convert
from .._arrays.images import BatchAxes, ImageBatch
from .._fusion.plan import Plan
from .._passes.parameters import StridedArray
from .transform import Transform


class Params:
    """A row of numbers for each sample: ``params["2.ColorJitter.hue_factor"]``, ``params.matrices``."""

    def __init__(self, plan: Plan, table: StridedArray, image: ImageBatch, recipe: Transform) -> None:
        self.plan, self.table, self.samples, self.recipe = plan, table, image.samples, recipe
        self.axes, self.dtype, self.device, self._library = image.axes, image.dtype, image.device, image.library

    def __repr__(self) -> str:
        return f"Params of {self.samples} samples: {', '.join(self.names)}"

    @property
    def names(self) -> list[str]:
        """Of what is drawn: the transform's place in the recipe, its name, the parameter."""
        return list(self.plan.names)

    @property
    def size(self) -> tuple[int, int]:
        """Of the images, (H, W)."""
        return self.axes.extents[3:]

    @property
    def result_size(self) -> tuple[int, int]:
        """Of what the recipe makes of them, (H, W)."""
        return self.plan.passes[-1].result

    def __getitem__(self, name: str) -> Any:
        """One number for each sample. [N]"""
        if name not in self.plan.names:
            raise KeyError(f"{name!r} is not drawn; what is: {', '.join(self.plan.names)}")
        return self._library.finish(self.table.owner)[:, self.plan.names[name]]

    @property
    def matrices(self) -> Any:
        """From the pixels of the images to those of the result, pixel centres at integers. [N, 3, 3]

        Raises:
            ValueError: The recipe moves pixels as no matrix can.
        """
        if self.plan.no_matrix:
            raise ValueError(f"params.matrices are not all that moves the pixels: {self.plan.no_matrix} has no matrix")
        first = self.plan.matrix
        return self._library.finish(self.table.owner)[:, first : first + 9].reshape(-1, 3, 3)

    def to_dict(self) -> dict[str, Any]:
        """For JSON: recipe, images, what was drawn by name, and the matrices; see :meth:`Compose.params_from_dict`.

        Waits for the device.
        """
        values = convert.to_host(self.table.owner)
        return {
            "recipe": self.recipe.to_dict()["transforms"],
            "images": _described(self.samples, self.axes, self.dtype),
            "drawn": {name: values[:, place].tolist() for name, place in self.plan.names.items()},
            "matrices": [values[:, places].tolist() for places in _matrices(self.plan)],
        }


def restored(plan: Plan, description: dict[str, Any], image: ImageBatch, recipe: Transform) -> Params:
    """What `Params.to_dict` wrote down, in the memory of the images' library: for images of that shape and dtype."""
    wanted = {
        "recipe": recipe.to_dict()["transforms"],
        "images": _described(image.samples, image.axes, image.dtype),
    }
    for part, own in wanted.items():
        if part not in description:
            raise ValueError(f"params must be what Params.to_dict gave, which has {part!r}, got {list(description)}")
        if description[part] != own:
            raise ValueError(f"params must be of the same {part}, {own}, got {description[part]}")
    values = np.zeros((image.samples, plan.columns))  # room for means is to be 0
    for name, place in plan.names.items():
        values[:, place] = description["drawn"][name]
    for places, matrices in zip(_matrices(plan), description["matrices"], strict=True):
        values[:, places] = np.reshape(matrices, (image.samples, -1))
    array = image.library.load(values, image.device)
    return Params(plan, StridedArray(image.library.pointer(array), plan.columns, 0, 1, 1, array), image, recipe)


def _described(samples: int, axes: BatchAxes, dtype: str) -> dict[str, Any]:
    _, frames, channels, height, width = axes.extents
    shape = {"samples": samples, "frames": frames, "channels": channels, "height": height, "width": width}
    return {**shape, "dtype": dtype}


def _matrices(plan: Plan) -> list[slice]:
    """Where those of the passes stand in a table, and that of the whole recipe."""
    passes = [slice(each.matrix[0].place, each.matrix[-1].place + 1) for each in plan.passes if each.matrix]
    return [*passes, slice(plan.matrix, plan.matrix + 9)]
