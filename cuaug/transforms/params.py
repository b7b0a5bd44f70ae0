"""`Params`: the parameters that were drawn for a batch; a batch transformed with them, and moved back."""

from __future__ import annotations

import math
from reprlib import repr  # shortens: a description may be long
from typing import Any, Protocol

import numpy as np

from .._arrays import convert
from .._arrays.images import BatchAxes, ImageBatch, describe_images
from .._arrays.tv_tensors import is_video, wrap_like
from .._descriptions import MAX_VALUES, check_nesting
from .._fusion import execute, launch_plan
from .._fusion.plan import RecipePlan
from .._fusion.recipe_ops import Resize
from .._passes.parameters import StridedArray
from .._value_text import value_text
from ..typing import Interpolation

__all__ = ["Params"]


class _Recipe(Protocol):
    def to_dict(self) -> dict[str, Any]:
        """A description for JSON, with the transforms under "transforms"."""


class Params:
    """A row of numbers for each sample: ``params["2.ColorJitter.hue_factor"]``, ``params.matrices``."""

    def __init__(self, plan: RecipePlan, table: StridedArray, batch: ImageBatch, recipe: _Recipe) -> None:
        self.plan: RecipePlan = plan
        self.table: StridedArray = table
        self.samples: int = batch.samples
        self.recipe: _Recipe = recipe
        self.axes: BatchAxes = batch.axes
        self.dtype: str = batch.dtype
        self.device: int = batch.device
        self._library = batch.library

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy's table has an address of its own."""
        vars(self).update(state)
        self.table = self.table._replace(pointer=self._library.pointer(self.table.owner))

    def __repr__(self) -> str:
        return f"Params of {self.samples} samples: {', '.join(self.names)}"

    @property
    def names(self) -> list[str]:
        """Names of the drawn parameters, from the transform's position in the recipe, its name, and the parameter."""
        return list(self.plan.parameter_columns)

    @property
    def size(self) -> tuple[int, int]:
        """Size of the images, (H, W)."""
        return self.axes.extents[3:]

    @property
    def result_size(self) -> tuple[int, int]:
        """Size of the recipe's result, (H, W)."""
        return self.plan.result_size

    def __getitem__(self, name: str) -> Any:
        """One number for each sample. [N]"""
        if not isinstance(name, str):
            raise KeyError(
                f"{value_text(name)} is no name of a drawn parameter; the numbers of one sample: "
                "{name: params[name][i] for name in params.names}"
            )
        if name not in self.plan.parameter_columns:
            raise KeyError(f"{name!r} is not a drawn parameter; there are: {', '.join(self.plan.parameter_columns)}")
        return table_columns(self, self.plan.parameter_columns[name], 1)[:, 0]

    @property
    def matrices(self) -> Any:
        """Maps from pixels of the images to pixels of the result, with pixel centres at integers. [N, 3, 3]

        Raises:
            ValueError: The recipe moves pixels in a way that no matrix describes.
        """
        if self.plan.op_without_matrix:
            raise ValueError(
                f"params.matrices do not describe this recipe: {self.plan.op_without_matrix} has no matrix"
            )
        return table_columns(self, self.plan.matrix_column, 9).reshape(-1, 3, 3)

    def to_dict(self) -> dict[str, Any]:
        """For JSON: recipe, images, drawn parameters by name, and matrices; see :meth:`Compose.params_from_dict`.

        Waits for the device.
        """
        values = convert.to_host(self.table.owner)
        return {
            "recipe": self.recipe.to_dict()["transforms"],
            "images": _shape_description(self.samples, self.axes, self.dtype),
            "drawn": {name: values[:, column].tolist() for name, column in self.plan.parameter_columns.items()},
            "matrices": [values[:, columns].tolist() for columns in _map_columns(self.plan)],
        }


def describe_one_array(images: Any, layout: str | None) -> ImageBatch:
    """The images of `Compose.draw` and `Compose.apply`: parameters belong to images of one shape."""
    if isinstance(images, (list, tuple)):
        raise TypeError(
            f"images must be one array, of one image or of a batch, got {type(images).__name__}: "
            "call it on each image, as in params = aug.draw(image, ids=i, step=step)"
        )
    return describe_typed(images, layout)


def describe_typed(images: Any, layout: str | None) -> ImageBatch:
    """Describes an array as a call reads it: torchvision's Video is NTCHW, and one sample if it has no axis N."""
    if not is_video(images):
        return describe_images(images, layout)
    return describe_images(images[None] if images.ndim == 4 else images, "NTCHW")


def like_typed(result: Any, images: Any) -> Any:
    """The result for images of `describe_typed`, without an axis N that they lack."""
    return wrap_like(result[0], images) if is_video(images) and images.ndim == 4 else result


def table_array(params: Params) -> Any:
    """The table, as an array of the images' library. [N, columns]"""
    return params._library.to_user_array(params.table.owner)


def table_columns(params: Params, first: int, count: int) -> Any:
    """Adjacent columns of the table, as an array of the images' library. [N, count]"""
    return table_array(params)[:, first : first + count]


def params_from_dict(plan: RecipePlan, description: dict[str, Any], batch: ImageBatch, recipe: _Recipe) -> Params:
    """The parameters that `Params.to_dict` described, in the memory of the images' library.

    Raises:
        ValueError: The description is of another recipe, or of images of another shape or dtype; a parameter is not
            finite, or is not one of the integers that an op accepts.
    """
    expected = {
        "recipe": recipe.to_dict()["transforms"],
        "images": _shape_description(batch.samples, batch.axes, batch.dtype),
    }
    if not isinstance(description, dict):
        raise TypeError(f"params must be a dict, a result of Params.to_dict, got {type(description).__name__}")
    check_nesting("params", description, MAX_VALUES + 2 * batch.samples * plan.column_count)
    for key, value in expected.items():
        if key not in description:
            raise ValueError(
                f"params must be a result of Params.to_dict, which has {key!r}, got {repr(list(description))}"
            )
        difference = _first_difference(value, description[key], key)
        if difference is not None:
            path, expected_value, given = difference
            raise ValueError(
                f"params must be of the same {key}: {path} must be {repr(expected_value)}, got {repr(given)}"
            )
    values = np.zeros((batch.samples, plan.column_count))  # the passes compute the means, which are not described
    drawn, matrices, matrix_columns = description.get("drawn"), description.get("matrices"), _map_columns(plan)
    if not isinstance(drawn, dict) or not plan.parameter_columns.keys() <= drawn.keys():
        raise ValueError(f"params must have 'drawn' with {', '.join(plan.parameter_columns)}, got {repr(drawn)}")
    if not isinstance(matrices, (list, tuple)) or len(matrices) != len(matrix_columns):
        raise ValueError(f"params must have 'matrices', a list of {len(matrix_columns)}, got {repr(matrices)}")
    for name, column in plan.parameter_columns.items():
        values[:, column] = _drawn_values(name, drawn[name], batch.samples, plan.integer_ranges.get(name))
    for columns, matrix in zip(matrix_columns, matrices, strict=True):
        values[:, columns] = _matrix_values(matrix, batch.samples, columns.stop - columns.start)
    for pass_ in plan.passes:
        if isinstance(pass_.first_op, Resize):
            _check_windows(pass_.first_op, pass_.output_size, values)
    array = batch.library.from_numpy(values, batch.device)
    table = StridedArray(
        pointer=batch.library.pointer(array),
        sample_stride=plan.column_count,
        row_stride=0,
        column_stride=1,
        is_double=1,
        owner=array,
    )
    return Params(plan, table, batch, recipe)


def check_params(params: Any) -> None:
    if not isinstance(params, Params):
        raise TypeError(f"params must be a result of Compose.draw, got {type(params).__name__}")


def apply_params(plan: RecipePlan, images: ImageBatch, params: Params) -> Any:
    """The images, transformed with the parameters. `plan`: that of the images."""
    check_params(params)
    if plan is not params.plan or images.samples != params.samples:
        expected, given = (_images_text(batch.samples, batch.axes, batch.dtype) for batch in (params, images))
        if given != expected:
            raise ValueError(f"images must be as those that params were drawn for, {expected}, got {given}: draw again")
        raise ValueError(
            "params must have been drawn by this Compose, and must not be pickled or deep-copied: pass "
            "aug.params_from_dict(params.to_dict(), images)"
        )
    if images.device != params.device:
        raise ValueError("images must be on the device on which params were drawn")
    table = params.table
    if plan.writes_table:  # several threads or streams may apply the same parameters
        array, pointer = convert.copy(
            table.owner, images.library, images.device
        )  # the table may be of another library than the images
        table = table._replace(pointer=pointer, owner=array)
    return launch_plan.apply(plan, images, table)


def apply_inverse(images: Any, params: Params, interpolation: Interpolation, fill: Any, layout: str | None) -> Any:
    """Results of the recipe, moved back to the pixels of the images for which the parameters were drawn."""
    check_params(params)
    if params.plan.op_without_matrix:
        raise ValueError(f"images cannot be moved back by a matrix: {params.plan.op_without_matrix} has none")
    shape = tuple(getattr(images, "shape", ()))
    if len(shape) in (2, 3) and shape[-1] == 4 and params.result_size not in (shape[:2], shape[-2:]):
        raise ValueError(
            f"images must have the size of the recipe's result, {params.result_size}, got shape {shape}: "
            "move boxes by cuaug.transform_boxes(boxes, cuaug.invert_affine(params.matrices))"
        )
    results = describe_typed(images, layout)
    if results.samples != params.samples or results.size != params.result_size:
        are_masks = results.axes.layout == "CHW" and shape == (params.samples, *params.result_size)
        hint = ": masks need an axis of channels, masks[:, None]" if are_masks else ""
        raise ValueError(
            f"images must be {params.samples} of size {params.result_size}, as the recipe's result, "
            f"got {results.samples} of {results.size}{hint}"
        )
    if results.device != params.device:
        raise ValueError("images must be on the device on which params were drawn")
    inverse = execute.apply_inverse(params.plan, results, params.table, params.size, interpolation, fill)
    return like_typed(inverse, images)


def _drawn_values(name: str, numbers: Any, samples: int, integer_range: tuple[int, int] | None) -> np.ndarray:
    """One number per sample, checked against the values that the ops accept. [N]"""
    values = _float64_array(name, numbers)
    if values.shape != (samples,):
        raise ValueError(f"params must have {samples} numbers as {name}, got shape {values.shape}")
    allowed, rule = np.isfinite(values), "finite numbers"
    if integer_range is not None:
        low, high = integer_range
        allowed, rule = (values >= low) & (values <= high) & (values == np.rint(values)), f"integers in {low}..{high}"
    if not allowed.all():
        sample = int(np.argmin(allowed))
        raise ValueError(f"params must have {rule} as {name}, got {values[sample]} for sample {sample}")
    return values


def _matrix_values(matrix: Any, samples: int, count: int) -> np.ndarray:
    """One matrix per sample. If a drawn map has no inverse, its matrix is not finite, and the sample becomes the fill.

    [N, count]
    """
    shape, values = (samples, count), _float64_array("matrices", matrix)
    if values.shape != shape and (samples or values.size):  # lists of no samples have no second axis
        raise ValueError(f"params must have matrices of shape {shape}, got shape {values.shape}")
    return values.reshape(shape)


def _float64_array(name: str, numbers: Any) -> np.ndarray:
    """Real numbers as float64; None becomes NaN. NumPy would also convert text, and complex numbers with a warning."""
    cause = None
    try:
        values = np.asarray(numbers)
        is_of_numbers = values.dtype.kind == "O" and all(isinstance(v, int | float | None) for v in values.flat)
        if values.dtype.kind in "biuf" or is_of_numbers:
            return np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:  # RuntimeError: a tensor that requires grad
        cause = error
    raise ValueError(f"params must have numbers as {name}, got {repr(numbers)}") from cause


def _check_windows(resize: Resize, result_size: tuple[int, int], values: np.ndarray) -> None:
    """Raises if a window is not a part of the resized image. The kernels do not check windows."""
    first, last = resize.window[0].index, resize.window[-1].index
    extent, step, origin = values[:, first : last + 1].reshape(-1, 2, 3).transpose(2, 0, 1)  # [N, (y, x)] each
    with np.errstate(invalid="ignore", over="ignore"):
        end = origin + step * (np.array(result_size) - 1)
    inside = (np.minimum(origin, end) >= 0) & (np.maximum(origin, end) < extent) & (origin == np.rint(origin))
    if not (inside & (extent == resize.size) & (np.abs(step) == 1)).all():
        raise ValueError(f"params must have windows of {result_size} inside the resized images, {resize.size}")


def _first_difference(expected: Any, given: Any, path: str) -> tuple[str, Any, Any] | None:
    """Where two descriptions differ, and the two values there; None if they agree. NaN agrees with NaN."""
    keys: Any
    if isinstance(expected, dict) and isinstance(given, dict) and expected.keys() == given.keys():
        keys = expected
    elif isinstance(expected, list) and isinstance(given, list) and len(expected) == len(given):
        keys = range(len(expected))
    else:
        is_array = getattr(given, "ndim", 0) > 0  # whose comparison is an array
        is_equal = not is_array and (expected == given or (_is_nan(expected) and _is_nan(given)))
        return None if is_equal else (path, expected, given)
    differences = (_first_difference(expected[key], given[key], f"{path}[{key!r}]") for key in keys)
    return next((difference for difference in differences if difference is not None), None)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _shape_description(samples: int, axes: BatchAxes, dtype: str) -> dict[str, Any]:
    _, frames, channels, height, width = axes.extents
    shape = {"samples": samples, "frames": frames, "channels": channels, "height": height, "width": width}
    return {**shape, "dtype": dtype}


def _images_text(samples: int, axes: BatchAxes, dtype: str) -> str:
    _, frames, channels, height, width = axes.extents
    video = f" of {frames} frames" if frames > 1 else ""
    return f"{samples} of {dtype}{video}, {height}x{width} pixels with {channels} channels"


def _map_columns(plan: RecipePlan) -> list[slice]:
    """The columns of each pass's maps, then of the recipe's matrix."""
    runs = (columns for pass_ in plan.passes for columns in pass_.map_columns)
    passes = [slice(run[0].index, run[-1].index + 1) for run in runs]
    return [*passes, slice(plan.matrix_column, plan.matrix_column + 9)]
