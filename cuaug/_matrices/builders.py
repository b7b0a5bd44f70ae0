"""Matrix builders: functions of numbers, points and matrices that run as one kernel, or as one loop on a CPU.

The kernel and the loop have the same functor (kernels/matrices). Calls that torch differentiates or traces take the
formulas of `formulas.py` instead.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._arrays import autograd, small_matrices
from .._arrays.small_matrices import MATRIX, NUMBER, PAIR, POINTS
from .._host.extension import extension
from .._program.names import name_expression
from .._program.records import MATRIX_BUILDER, MAX_BUILDER_INPUTS, SAMPLE_NUMBERS
from . import formulas
from .inputs import Domain, Inputs, describe_inputs, share_numbers
from .plans import MAX_PLANS, Plan, call_key, split_record

Numbers: TypeAlias = tuple[float, ...] | None  # one more input, which all samples share

BUILDER_THREADS = 128  # kernels/matrices/build_matrices.cu
MAX_FIT_THREADS = 512  # kernels/matrices/estimate_affine.cu
_INPUT_BYTES = MAX_BUILDER_INPUTS * SAMPLE_NUMBERS.size
_PACKER = MATRIX_BUILDER.packer(("input", "input"))  # takes the inputs as bytes


class _Sizes(NamedTuple):
    """The shape of a result, and the numbers in `cuaug::MatrixBuilderRecord`."""

    result: tuple[int, ...]
    items: int
    samples: int
    items_per_sample: int
    points: int  # that an item is fitted to
    item_size: int


@dataclasses.dataclass(frozen=True)
class Builder:
    """A function of matrices, points or numbers, and how to run it.

    Attributes:
        functor: The struct in kernels/matrices.
        domains: Of the inputs. A call may have fewer inputs; inputs beyond the last domain have the last domain.
        formula: The same function in the operations of an array library.
        result_shape: Checks the shapes of one sample's inputs and returns the shape of its result.
        rules: The index of an input, and the rule that it may break. A functor returns the number of the rule, from 1.
        option: `MatrixBuilderRecord::option`.
        kernel: For fits: a block computes one fit. None: an instance of `build_matrices`, a thread per item.
        is_exact: Whether the result is float64 for inputs of every dtype.
        is_per_point: Whether the result has an item for each point of the first input.
        plans: Of earlier calls on a GPU, by the keys of `call_key`.
    """

    functor: str
    domains: tuple[Domain, ...]
    formula: Callable[..., Any]
    result_shape: Callable[[Sequence[tuple[int, ...]]], tuple[int, ...]]
    rules: tuple[tuple[int, str], ...] = ()
    option: int = 0
    kernel: str | None = None
    is_per_point: bool = False
    is_exact: bool = False
    plans: dict[Any, Plan] = dataclasses.field(default_factory=dict)

    def __call__(self, numbers: Numbers = None, /, **values: Any) -> Any:
        """The result. `values` has the names of the inputs in messages."""
        if autograd.context_needs_torch_ops():
            return self._apply_formula(numbers, values)
        key, addresses = call_key(numbers, values.values())
        plan = self.plans.get(key)
        if plan is not None:
            return plan.run(addresses)
        if autograd.values_need_torch_ops(*values.values()):
            return self._apply_formula(numbers, values)
        inputs = describe_inputs(values, self._domains(len(values)))
        if self.is_exact:
            inputs = inputs._replace(dtype="float64")
        if inputs.device < 0:
            return self._run_loop(numbers, tuple(values), inputs)
        plan, addresses, is_reusable = self._plan(numbers, inputs, tuple(values.values()))
        if key is not None and is_reusable:
            if len(self.plans) >= MAX_PLANS:
                self.plans.clear()
            self.plans[key] = plan
        return plan.run(addresses)

    def result(self, inputs: Inputs) -> Any:
        """The result for described inputs. For builders without rules."""
        if inputs.device < 0:
            return self._run_loop(None, (), inputs)
        plan, addresses, _ = self._plan(None, inputs, (None,) * len(inputs.numbers))
        return plan.run(addresses)

    def _domains(self, count: int) -> tuple[Domain, ...]:
        return self.domains[:count] + self.domains[-1:] * (count - len(self.domains))

    def _apply_formula(self, numbers: Numbers, values: Mapping[str, Any]) -> Any:
        pairs = list(zip(values.items(), self._domains(len(values)), strict=True))
        may_be_nonfinite = tuple(name for (name, _), domain in pairs if domain.numbers == "any")
        arguments = {name: (value, domain.sizes) for (name, value), domain in pairs}
        arrays = small_matrices.broadcast_arguments(may_be_nonfinite, **arguments)
        for ((name, _), domain), array in zip(pairs, arrays, strict=True):
            if domain.numbers == "positive":
                small_matrices.require(name, array, array > 0, "must be greater than 0")
        self.result_shape(
            [tuple(a.shape)[a.ndim - len(domain.sizes) :] for (_, domain), a in zip(pairs, arrays, strict=True)]
        )
        options = {} if numbers is None else {"numbers": numbers}
        return self.formula(*arrays, **options)

    def _run_loop(self, numbers: Numbers, names: tuple[str, ...], inputs: Inputs) -> Any:
        sizes = self._sizes(inputs)
        result = inputs.library.empty(sizes.result, inputs.dtype, -1, None)
        if sizes.items:
            failures = np.zeros(sizes.items, np.int32) if self.rules else None
            address = 0 if failures is None else failures.ctypes.data
            record = self._pack(numbers, inputs, sizes, inputs.library.pointer(result), address)
            extension().build_matrices(record, self.functor)
            if failures is not None and failures.any():
                self._refuse(names, inputs, failures)
        return inputs.library.to_user_array(result)

    def _plan(self, numbers: Numbers, inputs: Inputs, values: tuple[Any, ...]) -> tuple[Plan, list[int], bool]:
        """The plan of a call, the addresses to run it with, and whether it serves all calls with the same key."""
        sizes = self._sizes(inputs)
        record, addresses, is_reusable = split_record(self._pack(numbers, inputs, sizes, 0, 0), values, inputs.numbers)
        name, blocks, threads = self.kernel_and_grid(sizes.items, sizes.points)
        if blocks >= 1 << 31:
            raise ValueError(f"the batch must need fewer than 2**31 blocks of threads, got {blocks}")
        grid = blocks, 1, 1
        plan = Plan(record, name, grid, threads, inputs.library, sizes.result, inputs.dtype, inputs.device)
        return plan, addresses, is_reusable

    def kernel_and_grid(self, items: int, points: int) -> tuple[str, int, int]:
        """The kernel, its number of blocks and of threads in a block. `points`: that a fit has per item."""
        if self.kernel is not None:
            return self.kernel, items, min(-(-points // 32) * 32, MAX_FIT_THREADS)
        return _kernel_name(self.functor), -(-items // BUILDER_THREADS), BUILDER_THREADS

    def _sizes(self, inputs: Inputs) -> _Sizes:
        shape, samples = self.result_shape([entry.shape for entry in inputs.numbers]), math.prod(inputs.batch)
        items, item_size = shape if self.is_per_point else (1, math.prod(shape))
        points = inputs.numbers[0].shape[0] if self.kernel else 1
        return _Sizes((*inputs.batch, *shape), samples * items, samples, items, points, item_size)

    def _pack(self, numbers: Numbers, inputs: Inputs, sizes: _Sizes, out: int, failures: int) -> bytes:
        """`cuaug::MatrixBuilderRecord`."""
        packed = [entry.packed for entry in inputs.numbers]
        if numbers is not None:
            packed.append(share_numbers(numbers, (len(numbers),)).packed)
        return _PACKER.pack(
            b"".join(packed).ljust(_INPUT_BYTES, b"\0"),
            out,
            failures,
            sizes.samples,
            sizes.items_per_sample,
            sizes.points,
            formulas.ERROR_BOUND[inputs.dtype],
            sizes.item_size,
            inputs.dtype == "float64",
            self.option,
            len(packed),
        )

    def _refuse(self, names: tuple[str, ...], inputs: Inputs, failures: np.ndarray) -> None:
        """Raises the error of the first rule that a sample breaks."""
        number = int(failures[failures > 0].min())
        index, rule = self.rules[number - 1]
        if names[index] == "src" and "weights" in names:
            rule += formulas.WITH_WEIGHTS
        entry = inputs.numbers[index]
        array = entry.array
        # The axes of the batch may be one axis of the array.
        if tuple(array.shape) == (math.prod(inputs.batch), *entry.shape):
            array = array.reshape((*inputs.batch, *entry.shape))
        array = np.broadcast_to(array, (*inputs.batch, *entry.shape))
        small_matrices.require(names[index], array, failures.reshape(inputs.batch) != number, rule)


@functools.cache
def _kernel_name(functor: str) -> str:
    return name_expression("build_matrices", functor)


def _always(*shape: int) -> Callable[[Sequence[tuple[int, ...]]], tuple[int, ...]]:
    return lambda shapes: shape


def _largest(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return max(shapes)


def _fit_shape(kind: str, min_points: int, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    (count, _), (dst_count, _), *weights = shapes
    if count < min_points:
        raise ValueError(f"src must have at least {min_points} points for {kind!r}, got {count}")
    if dst_count != count:
        raise ValueError(f"dst must have as many points as src, {count}, got {dst_count}")
    if weights and weights[0] != (count,):
        raise ValueError(f"weights must have one number per point, {count}, got {weights[0][0]}")
    return 2, 3


_NUMBER, _PAIR, _POINTS, _MATRIX = (Domain(sizes) for sizes in (NUMBER, PAIR, POINTS, MATRIX))
_NOT_SINGULAR = ((0, "must not be singular"),)

ROTATION_MATRIX = Builder("GetRotationMatrix", (_NUMBER, _NUMBER, _PAIR), formulas.rotation_matrix, _always(2, 3))
AFFINE_MATRIX = Builder(
    "AffineMatrix",
    (_NUMBER, _PAIR, Domain(NUMBER, "positive"), _PAIR, _PAIR),
    formulas.affine_matrix,
    _always(2, 3),
)
INVERSE = Builder("InvertAffine", (_MATRIX,), formulas.inverse, _largest, _NOT_SINGULAR)
COMPOSITION = Builder("ComposeAffine", (_MATRIX,), formulas.compose, _largest)
CONVERSION = Builder("ConvertMatrix", (_MATRIX,), formulas.convert, _largest)
INVERSE_CONVERSION = Builder(
    "ConvertMatrix", (_MATRIX,), functools.partial(formulas.convert, inverted=True), _largest, _NOT_SINGULAR, option=1
)
MAPPED_POINTS = Builder(
    "TransformPoints",
    (Domain(POINTS, "any"), _MATRIX),
    formulas.map_points,
    lambda shapes: shapes[0],
    is_per_point=True,
)
PERSPECTIVE_TRANSFORM = Builder(
    "GetPerspectiveTransform",
    (Domain(((4,), (2,))),) * 2,
    formulas.quad_to_quad,
    _always(3, 3),
    tuple((i, "must not have three collinear points") for i in (0, 1)),
)
PERSPECTIVE_COEFFICIENTS = Builder(
    "PerspectiveCoefficients", (Domain(((8,),), "any"),), formulas.coefficient_matrix, _always(3, 3)
)
NUMBER_COLUMNS = Builder(
    "StackNumbers", (_NUMBER,), formulas.stack_numbers, lambda shapes: (len(shapes),), is_exact=True
)
FIT = {
    kind: Builder(
        "EstimateAffine",
        (_POINTS, _POINTS, Domain(((),))),
        functools.partial(formulas.fit, kind=kind),
        functools.partial(_fit_shape, kind, 3 if kind == "affine" else 2),
        (
            (0, "must not be collinear or coincident"),
            (0, "must not be coincident"),
            (1, "must determine a rotation: its points coincide, or all rotations of src fit equally well"),
            (2, "must not be negative, nor all zero"),
        ),
        option=i,
        kernel="cuaug::estimate_affine",
    )
    for i, kind in enumerate(("affine", "similarity", "rigid"))  # the order of `cuaug::FitKind`
}
THREE_POINT_FIT = dataclasses.replace(FIT["affine"], domains=(Domain(((3,), (2,))),) * 2, plans={})
