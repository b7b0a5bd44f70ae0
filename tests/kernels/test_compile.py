"""Kernels compile for every architecture without a GPU, without CuPy and without a warning, and do not spill.

ptxas reports registers and spills; the summary at the end of the run lists the largest kernels, and all of them with
``--kernel-table``. A name here is a name expression: a kernel with its template arguments.

Not marked slow:
- on sm_90, one name of each kernel, and two kernels with ops of ``PixelOp``;
- on sm_75, ``EVERY_ARGUMENT``: names that together have every template argument, without the kernels that sm_75 cannot
  run and the ones that take longest to compile.

Marked exhaustive:
- every name on either sm_86 or sm_89, which give the same registers and spills;
- in the tests with ``mostly_sm_90``, about five sixths of the names on the architectures other than sm_90.
"""

import itertools
import re

import pytest
from helpers.arrays import IMAGE_DTYPES
from helpers.nvrtc import Program, compile_kernel, load_nvrtc
from tables import kernels as names_of
from tables import pixel_ops
from tables.colors import ALL_ROWS, USES_POSITION, WITHIN_UNIT_RANGE

from cuaug._program import names as kernels
from cuaug._program import sources, user_ops

ARCHITECTURES = [75, 80, 86, 89, 90, 100, 120]
# Of skeletons whose instructions older GPUs lack.
LOWEST_ARCHITECTURE = {"gaussian_blur_u8": 80, "gaussian_blur_packed": 80}
SLOWEST = "gaussian_blur", "jpeg"  # skeletons of which a compilation takes about 5 s
SAME_RESULTS = 86, 89  # 32 names drawn at random had the same registers and spills on both
ONE_OF_EACH_KERNEL, ALL_NAMES = names_of.ONE_OF_EACH_KERNEL, names_of.ALL_NAMES
REGISTER_SPILL = 8  # bytes of one register stored and loaded: a few kernels spill it on some architecture
RARE_SPILL = 128  # bytes that a rarely used kernel may spill: two stores and loads of a pixel of four doubles
LANCZOS_SPILL = 384  # and a kernel with 64 Lanczos taps beside a chain of ops: up to 360 were measured


def with_every_argument(names):
    """A small subset of the names. For each kernel it has every template argument that occurs in the names.

    The first argument, the dtype of the images, counts separately from the same dtype in another position.
    """
    words = {name: [word for word in re.findall(r"\w+", name) if word != "cuaug"] for name in names}
    arguments = {
        name: {(kernels.skeleton_of(name), argument) for argument in (*words[name], tuple(words[name][:2]))}
        for name in words
    }
    missing, chosen = set().union(*arguments.values()), set()
    while missing:
        name = max(arguments, key=lambda name: len(arguments[name] & missing))
        chosen.add(name)
        missing -= arguments[name]
    return chosen


SETS = (
    names_of.COVERING,
    names_of.FUSED,
    names_of.RAGGED,
    names_of.RAW_STAGED,
    names_of.SMALL_OUTPUT,
    names_of.DETECTION,
    names_of.MATRICES,
)
EVERY_ARGUMENT = with_every_argument(
    name for name in itertools.chain(*SETS) if kernels.skeleton_of(name) not in {*LOWEST_ARCHITECTURE, *SLOWEST}
)
USER_OPS = names_of.USER_OPS_POINTWISE[2], names_of.USER_OPS_FUSED[0]  # three channels: the most expressions


def lowest_architecture(name):
    return LOWEST_ARCHITECTURE.get(kernels.skeleton_of(name), ARCHITECTURES[0])


def is_quick(name, architecture):
    chosen = {ARCHITECTURES[0]: EVERY_ARGUMENT, 90: ONE_OF_EACH_KERNEL.union(USER_OPS)}
    return name in chosen.get(architecture, ())


def every_compilation(names, shorten=lambda name: name, *, mostly_sm_90=False, but_not=()):
    """Parametrizes a test with each name on each architecture.

    The first four names are marked exhaustive on sm_86, the next four on sm_89, and so on. `mostly_sm_90`: all other
    cases are marked exhaustive, too, except those on sm_90, those of `ONE_OF_EACH_KERNEL`, and about every sixth one.
    `but_not`: names that another test compiles with the same limit of spilled bytes or a lower one.
    """

    def marks(index, architecture):
        if is_quick(names[index], architecture):
            return []
        position = index + ARCHITECTURES.index(architecture)
        is_required = architecture == 90 or names[index] in ONE_OF_EACH_KERNEL
        is_exhaustive = architecture == SAME_RESULTS[index // 4 % 2] or (
            mostly_sm_90 and not is_required and position % 6 > 0
        )
        return [pytest.mark.slow, *([pytest.mark.exhaustive] if is_exhaustive else [])]

    return pytest.mark.parametrize(
        ("name", "architecture"),
        [
            pytest.param(
                name,
                architecture,
                id=f"{shorten(name).replace('cuaug::', '').replace(' ', '')}-sm_{architecture}",
                marks=marks(index, architecture),
            )
            for architecture in ARCHITECTURES
            for index, name in enumerate(names)
            if name not in but_not and architecture >= lowest_architecture(name)
        ],
    )


@pytest.fixture(scope="module")
def nvrtc():
    return load_nvrtc()


def check_kernel(nvrtc, name, architecture, record_property, max_spill):
    source, options = sources.kernel_source(name)
    stack, stores, loads, registers = compile_kernel(nvrtc, source, name, architecture, options)
    record_property("kernel", (name, architecture, registers, stores + loads))
    assert stores + loads <= max_spill, f"{name} on sm_{architecture} spills {stores} + {loads} bytes; stack {stack}"


@every_compilation(names_of.WARMUP, but_not=names_of.MATRICES)
def test_warmup_kernels_compile_without_warning_or_spill(name, architecture, nvrtc, record_property):
    check_kernel(nvrtc, name, architecture, record_property, REGISTER_SPILL)


@every_compilation(["cuaug::copy_boxes"])
def test_nvjpeg_crop_kernel_compiles_without_warning_or_spill(name, architecture, nvrtc, record_property):
    check_kernel(nvrtc, name, architecture, record_property, 0)


@every_compilation(names_of.USUAL_RECIPES)
def test_compose_usual_recipe_compiles_without_warning_or_spill(name, architecture, nvrtc, record_property):
    check_kernel(nvrtc, name, architecture, record_property, REGISTER_SPILL)


@every_compilation(names_of.RAGGED, mostly_sm_90=True)
def test_compose_ragged_kernels_compile_without_warning_or_spill(name, architecture, nvrtc, record_property):
    check_kernel(nvrtc, name, architecture, record_property, REGISTER_SPILL)


@every_compilation([*names_of.RAW_STAGED, *names_of.SMALL_OUTPUT], but_not=names_of.WARMUP)
def test_warp_raw_staged_compiles_without_warning_or_spill(name, architecture, nvrtc, record_property):
    check_kernel(nvrtc, name, architecture, record_property, REGISTER_SPILL)


@every_compilation(names_of.DETECTION, mostly_sm_90=True)
def test_detection_kernels_compile_without_warning_or_spill(name, architecture, nvrtc, record_property):
    # The sums of a thread of roi_backward_gather.cu take 32 registers; a block of soft_nms.cu has 1,024 threads.
    has_many_registers = name.startswith(("cuaug::roi_backward_gather", "cuaug::soft_nms"))
    check_kernel(nvrtc, name, architecture, record_property, RARE_SPILL if has_many_registers else 0)


@every_compilation(names_of.MATRICES)
def test_matrix_builders_compile_without_warning_or_spill(name, architecture, nvrtc, record_property):
    check_kernel(nvrtc, name, architecture, record_property, 0)


@every_compilation(names_of.FUSED, mostly_sm_90=True)
def test_compose_pairs_of_template_arguments_compile(name, architecture, nvrtc, record_property):
    check_kernel(nvrtc, name, architecture, record_property, LANCZOS_SPILL if "Lanczos" in name else RARE_SPILL)


@every_compilation(names_of.COVERING, mostly_sm_90=True, but_not=names_of.USUAL)
def test_op_pairs_of_template_arguments_compile(name, architecture, nvrtc, record_property):
    check_kernel(nvrtc, name, architecture, record_property, RARE_SPILL)


@every_compilation(names_of.USER_OPS_FUSED)
def test_pixel_op_in_recipe_compiles_without_warning(name, architecture, nvrtc, record_property):
    check_kernel(nvrtc, name, architecture, record_property, RARE_SPILL)


@every_compilation(names_of.USER_OPS_POINTWISE, lambda name: name.partition(", cuaug::Chain")[0])
def test_pixel_op_every_expression_compiles_without_warning(name, architecture, nvrtc, record_property):
    check_kernel(nvrtc, name, architecture, record_property, RARE_SPILL)


def test_kernel_names_cover_every_kernel():
    assert {kernels.skeleton_of(name) for name in ALL_NAMES} == {path.stem for path in sources.KERNELS.rglob("*.cu")}


def test_warp_grid_and_kernel_agree_on_raw_staging(nvrtc):
    """`stages_raw` of kernel_config.py, which decides a region's columns, equals `is_raw_staged` of warp_config.cuh."""
    from cuaug._passes.kernel_config import stages_raw

    factors = (
        ["uint8", "float16", "float64"],
        ["uint8", "float16", "float64"],
        ["Affine", "Perspective", "CoordinateMap"],
        ["Bilinear", "Nearest", "Antialiased"],
        ["Constant", "Edge", "WindowedBorder<cuaug::Constant>"],
        [(), ("Invert",)],
        ["StoreOnly", "StoreAndMean"],
        ["Planar", "Packed", "Strided", "Ragged<cuaug::Packed>", "Ragged<cuaug::Strided>"],
    )
    answers = []
    for *names, ops, epilogue, layout in itertools.product(*factors):
        in_dtype, out_dtype, geometry, sampler, border = names
        template_names = (*names, kernels.chain(ops), *(["StoreAndMean"] if epilogue == "StoreAndMean" else []))
        arguments = geometry, sampler, border, layout, in_dtype, kernels.chain(ops), out_dtype, epilogue
        listed = ", ".join(f"cuaug::{argument}" for argument in arguments)
        answers.append((stages_raw(template_names, layout), f"cuaug::is_raw_staged<{listed}>"))
    assert {raw_staged for raw_staged, _ in answers} == {True, False}
    row = {
        **names_of.CROP,
        "border": "Constant",
        "input_layout": "Packed",
        "output_dtype": "uint8",
        "output_layout": "Packed",
    }
    # Some of the static_asserts name Invert, so the source has to include it.
    name = names_of.warp_of(row, kernels.chain(("Invert",)))
    text, options = sources.kernel_source(name)
    claims = "\n".join(f"static_assert({claim} == {str(truth).lower()});" for truth, claim in answers)
    compile_kernel(nvrtc, f"{text}\n{claims}\n", name, 90, options)


@pytest.mark.parametrize(
    ("trait", "functors"),
    [("op_keeps_unit_range", WITHIN_UNIT_RANGE), ("op_uses_position", USES_POSITION)],
    ids=["unit range", "position"],
)
def test_color_ops_have_traits_of_their_rows(trait, functors, nvrtc):
    """A kernel stores bytes without a clamp if its ops keep the unit range, and treats a contiguous frame as one long
    row if none of its ops uses the position.

    test_op_result_stays_within_unit_range and test_op_without_position_commutes_with_rearrangement check the table.
    """
    rows = {row.functor: row.functor in functors for row in ALL_ROWS if row.functor}
    name = kernels.name_expression("pointwise", "uint8", "Packed", 3, kernels.chain(list(rows)), "float16", "Planar", 3)
    text, options = sources.kernel_source(name)
    claims = [
        f"static_assert(cuaug::{trait}<cuaug::{op}<float, 3>>(0) == {str(expected).lower()});"
        for op, expected in rows.items()
    ]
    compile_kernel(nvrtc, "\n".join([text, *claims, ""]), name, 90, options)


def test_warp_launch_has_threads_of_its_blocks(nvrtc):
    from cuaug._arrays import images
    from cuaug._passes.kernel_config import kernel_config, stages_raw

    claims, has_small_output = [], []
    for dtype, channels, border, height in itertools.product(
        IMAGE_DTYPES, [1, 2, 3, 4], ["Constant", "Edge"], [32, 33]
    ):
        names = dtype, dtype, "Affine", "Bilinear", border, kernels.chain(())
        axes = images.placeholder((4, height, 32, channels), dtype).axes
        config = kernel_config("warp_image", names, axes, 0, axes, 0)
        raw_staged, out_layout = str(stages_raw(names, "Packed")).lower(), config.kernel.split(", ")[-1][:-1]
        size = f"cuaug::block_size<cuaug::{dtype}, {channels}, {raw_staged}, {out_layout}>"
        claims.append(f"static_assert({size}.threads == {config.threads});")
        has_small_output.append("SmallOutput" in config.kernel)
    assert {True, False} == set(has_small_output)
    text, options = sources.kernel_source(names_of.RAW_STAGED[0])
    compile_kernel(nvrtc, "\n".join([text, *claims, ""]), names_of.RAW_STAGED[0], 90, options)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("px * k +", "expected an expression"),
        (
            "px > k ? px : 1",
            "a condition is one number, not a pixel: compare a channel, or write select(condition, a, b)",
        ),
        (
            "rgb(px, 1, k)",
            'function "lambda [](number, number, number)->pixel" cannot be called with the given argument list',
        ),
    ],
)
def test_pixel_op_shows_nvrtc_errors_with_expression(expression, message, nvrtc):
    fine = pixel_ops.BY_NAME["Half"].struct()
    wrong = user_ops.register(user_ops.make_user_op("Mine", expression, ["k"]))
    name = kernels.name_expression(
        "pointwise", "uint8", "Planar", 3, kernels.chain([fine, wrong]), "uint8", "Planar", 3
    )
    source, options = sources.kernel_source(name)
    program = Program(nvrtc, source, name, [*options, "--gpu-architecture=sm_90"])
    assert program.failed
    error = user_ops.compile_error_for(kernels.op_structs(name), program.log)
    assert str(error) == f"Mine does not compile:\n    {expression}\n    {message}"
