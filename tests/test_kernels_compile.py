"""Kernels compile without a GPU, without CuPy and without a warning, and the usual ones do not spill.

NVRTC is called directly: the kernels of ``warmup()`` for every architecture, and for two architectures a set of names
in which each value of each template argument meets each value of each other one. Registers and spills are those that
ptxas reports; the summary at the end of the run holds the largest kernels, and all of them with ``--kernel-table``.
"""

import ctypes
import importlib.util
import itertools
import re
from pathlib import Path

import pixel_cases
import pytest
from arrays import IMAGE_DTYPES
from cases import BORDERS, INTERPOLATIONS
from color_cases import IN_RECIPES, STRUCTS

from cuaug import _names as kernels
from cuaug import _sources as sources
from cuaug import _user_ops as user_ops
from cuaug import _warmup as warmup

ARCHITECTURES = [75, 80, 86, 89, 90, 100, 120]
USED = re.compile(
    r"Compiling entry function '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
    r".*?Used (\d+) registers",
    re.DOTALL,
)


def load_nvrtc():
    """The library of the ``nvidia-cuda-nvrtc`` wheel, or the machine's own."""
    found = importlib.util.find_spec("nvidia")
    folders = [Path(folder) for folder in found.submodule_search_locations] if found else []
    wheels = sorted(path for folder in folders for path in folder.glob("*/lib/libnvrtc.so.*"))
    for name in [*map(str, reversed(wheels)), "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return pytest.skip("NVRTC is not installed: pip install nvidia-cuda-nvrtc")


@pytest.fixture(scope="module")
def nvrtc():
    return load_nvrtc()


class Program:
    """One source text and one name expression, compiled for one architecture."""

    def __init__(self, nvrtc, source, name, options):
        self.nvrtc, self.program = nvrtc, ctypes.c_void_p()
        self.ok(nvrtc.nvrtcCreateProgram(ctypes.byref(self.program), source.encode(), b"cuaug.cu", 0, None, None))
        try:
            self.ok(nvrtc.nvrtcAddNameExpression(self.program, name.encode()))
            arguments = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
            self.failed = nvrtc.nvrtcCompileProgram(self.program, len(options), arguments)
            self.log = self.text("ProgramLog")
            lowered = ctypes.c_char_p()
            if not self.failed:
                self.ok(nvrtc.nvrtcGetLoweredName(self.program, name.encode(), ctypes.byref(lowered)))
            self.entry = (lowered.value or b"").decode()
        finally:
            nvrtc.nvrtcDestroyProgram(ctypes.byref(self.program))

    @staticmethod
    def ok(status):
        assert status == 0, f"NVRTC status {status}"

    def text(self, what):
        size = ctypes.c_size_t()
        self.ok(getattr(self.nvrtc, f"nvrtcGet{what}Size")(self.program, ctypes.byref(size)))
        text = ctypes.create_string_buffer(size.value)
        self.ok(getattr(self.nvrtc, f"nvrtcGet{what}")(self.program, text))
        return text.value.decode()


def compiled(nvrtc, source, name, architecture, options):
    """Stack, spill and register counts of the kernel; fails on an error, a warning or a remark."""
    strict = [f"--gpu-architecture=sm_{architecture}", "--ptxas-options=-v", "--warning-as-error=all-warnings"]
    program = Program(nvrtc, source, name, [*options, *strict])
    assert not program.failed, f"{name} on sm_{architecture}:\n{program.log}"
    assert "warning" not in program.log.lower(), f"{name} on sm_{architecture}:\n{program.log}"
    counts = {entry: [int(n) for n in numbers] for entry, *numbers in USED.findall(program.log)}
    assert program.entry in counts, f"ptxas said nothing of {program.entry}:\n{program.log}"
    return counts[program.entry]


LAYOUTS = ["Planar", "Packed", "Strided"]
WARPS = {
    "source": [*IMAGE_DTYPES, "int32", "int64"],
    "target": [*IMAGE_DTYPES, "int32", "int64"],
    "layout": LAYOUTS,
    "result": LAYOUTS,
    "channels": [1, 2, 3, 4],
    "geometry": ["Affine", "Perspective", "CoordinateMap", "CoordinateMap64"],
    "sampler": [name.capitalize() for name in INTERPOLATIONS],
    "border": [name.capitalize() for name in BORDERS],
}
RETOUCHED = [f"SampleOverride<cuaug::{sampler}>" for sampler in WARPS["sampler"]]
AROUND = [f"WindowedBorder<cuaug::{border}>" for border in ("Constant", "Edge")]
FILTERS = ["Triangle", "CatmullRom", "Cubic75", "Lanczos3", "Lanczos4"]
RESAMPLES = {
    "source": IMAGE_DTYPES,
    "target": IMAGE_DTYPES,
    "layout": LAYOUTS,
    "result": LAYOUTS,
    "channels": [1, 2, 3, 4],
    "filter": FILTERS,
}
OPS = sorted(STRUCTS | IN_RECIPES)
POINTWISES = {
    "source": IMAGE_DTYPES,
    "target": IMAGE_DTYPES,
    "layout": LAYOUTS,
    "result": LAYOUTS,
    "channels": [1, 2, 3, 4],
    "op": OPS,
}
MIXES = {
    "source": IMAGE_DTYPES,
    "layout": LAYOUTS,
    "result": LAYOUTS,
    "channels": [1, 2, 3, 4],
    "mix": ["Mixup", "Cutmix"],
}
BLURS = {"source": IMAGE_DTYPES, "layout": LAYOUTS, "channels": [1, 2, 3, 4], "result": LAYOUTS}
MEANS = {"source": IMAGE_DTYPES, "layout": LAYOUTS, "channels": [1, 3]}
EXTREMES = {"source": IMAGE_DTYPES, "layout": LAYOUTS, "channels": [1, 2, 3, 4]}
LUTS = {**BLURS, "source": ["uint8"]}
# What a recipe's pass does to pixels: chains of ops behind a resample.
JITTERED = ("ColorJitter", "RandomGrayscale", "Normalize")
PARTED = (
    "JitterAfterMean",
    "RandomGrayscale",
    "Normalize",
)  # by the pass before, which does what comes before the mean
COLOURED = {"jittered": JITTERED, "grey": ("RandomGrayscale",)}
SLOT = ("AdjustBrightness", "AdjustSaturation", "Posterize", "Solarize")  # of a policy
CHAINS = {
    **COLOURED,
    "erased": ("Erase",),
    "scaled": ("Rescale", "Normalize"),
    "unscaled": ("ConvertRange",),
    "stepped": ("Solarize", "Posterize", "Erase"),
    "slot": SLOT,
}
BLENDED = {"none": (), "scaled": CHAINS["scaled"], "stepped": CHAINS["stepped"]}
BLENDS = {**BLURS, "chain": list(BLENDED), "target": ["uint8", "float16", "float32"]}
FUSED = {
    **WARPS,
    "source": IMAGE_DTYPES,
    "target": ["uint8", "float16", "bfloat16", "float32", "float64"],
    "geometry": ["Affine", "Perspective"],
    "sampler": [*WARPS["sampler"], "Antialiased", *RETOUCHED],
    "border": [*WARPS["border"], *AROUND],
    "chain": list(CHAINS),
}
# Passes that do what comes before a mean, and take it on the way.
BEFORE = {"none": (), "first": ("JitterBeforeMean",), "second": ("ColorJitter", "RandomGrayscale", "JitterBeforeMean")}
MEASURED = {
    **{name: values for name, values in FUSED.items() if name != "target"},
    "channels": [1, 3],
    "chain": list(BEFORE),
}
# By a field of displacements.
DISPLACING = {
    "geometry": ["CoordinateMap", "CoordinateMap64"],
    "sampler": ["Nearest", "Bilinear", "Bicubic"],
    "border": ["Constant"],
}
DISPLACED, MEASURED_DISPLACED = {**FUSED, **DISPLACING}, {**MEASURED, **DISPLACING}


def exists(row):
    """Whether the library would ask for this; rules that name a factor the row does not have yet are silent."""
    packed = "Packed" in (row.get("layout"), row.get("result")) and row.get("channels") == 1
    labels = {"int32", "int64"} & {row.get("source"), row.get("target")}
    mixed = labels and ("source" in row and "target" in row) and row["source"] != row["target"]
    colourless = row.get("chain") in COLOURED and row.get("channels") in (2, 4)
    boxed = {"geometry": "Affine", "border": AROUND[1]} if row.get("sampler") == "Antialiased" else {}
    if any(row.get(factor, value) != value for factor, value in boxed.items()):
        return False
    return not packed and not mixed and not colourless and not (labels and row.get("sampler", "Nearest") != "Nearest")


def covering(factors):
    """Rows in which every pair of two factors' values that may stand together does; greedy, in a fixed order."""
    left = dict.fromkeys(
        pair
        for f, g in itertools.combinations(factors, 2)
        for pair in itertools.product([(f, v) for v in factors[f]], [(g, w) for w in factors[g]])
        if exists(dict(pair))
    )
    rows = []
    while left:
        row = dict(next(iter(left)))
        for factor in sorted(set(factors) - set(row), key=lambda name: (-len(factors[name]), name)):
            choices = [{**row, factor: value} for value in factors[factor]]
            row = max(
                (c for c in choices if completable(c, factors)), key=lambda c: len(left.keys() & pairs(c, factors))
            )
        for pair in pairs(row, factors):
            left.pop(pair, None)
        rows.append([row[factor] for factor in factors])
    return rows


def pairs(row, factors):
    return set(itertools.combinations([(factor, row[factor]) for factor in factors if factor in row], 2))


def completable(row, factors):
    """Whether each factor that is open has a value left to it."""
    return exists(row) and all(any(exists({**row, f: v}) for v in factors[f]) for f in factors if f not in row)


def covering_names():
    warps = [
        kernels.name_expression(
            "warp_image", source, layout, channels, geometry, sampler, border, kernels.chain(()), target, result
        )
        for source, target, layout, result, channels, geometry, sampler, border in covering(WARPS)
    ]
    resamples = [
        kernels.name_expression("resample", source, layout, channels, chosen, target, result)
        for source, target, layout, result, channels, chosen in covering(RESAMPLES)
    ]
    pointwises = [
        kernels.name_expression("pointwise", source, layout, channels, kernels.chain([op]), target, result, channels)
        for source, target, layout, result, channels, op in covering(POINTWISES)
    ]
    greys = [
        kernels.name_expression("pointwise", "uint8", a, 3, kernels.chain(["Grayscale"]), "uint8", b, 1)
        for a, b in itertools.product(LAYOUTS, ["Planar", "Strided"])
    ]
    long = kernels.name_expression("pointwise", "uint8", "Packed", 3, kernels.chain(OPS), "float16", "Planar", 3)
    mixes = [
        kernels.name_expression("mix", source, layout, channels, mix, result)
        for source, layout, result, channels, mix in covering(MIXES)
    ]
    stencils = [
        *(
            kernels.name_expression("gaussian_blur", *row[:3], "float16" if row[0] == "uint8" else row[0], row[3])
            for row in covering(BLURS)
        ),
        *(kernels.name_expression("adjust_sharpness", *row) for row in covering(BLURS)),
    ]
    statistics = [
        *(kernels.name_expression("luma_mean", *row, kernels.chain(())) for row in covering(MEANS)),
        *(
            kernels.name_expression("luma_mean", *row, kernels.chain(BEFORE["first"]), "StoreInPlace")
            for row in covering(MEANS)
        ),
        *(kernels.name_expression("channel_min_max", *row) for row in covering(EXTREMES)),
        *(kernels.name_expression("histogram_lut", *row) for row in covering({**EXTREMES, "source": ["uint8"]})),
    ]
    blends = [
        kernels.name_expression("blend", source, layout, channels, kernels.chain(BLENDED[chain]), target, result)
        for source, layout, channels, result, chain, target in covering(BLENDS)
    ]
    luts = [kernels.name_expression("lut", *row) for row in covering(LUTS)]
    return [*warps, *resamples, *pointwises, *greys, long, *statistics, *mixes, *blends, *stencils, *luts]


def fused_names():
    fused = [warp_of(row, kernels.chain(CHAINS[row["chain"]])) for row in rows_of(FUSED) + rows_of(DISPLACED)]
    rows = rows_of(MEASURED) + rows_of(MEASURED_DISPLACED)
    measured = [measuring(row, kernels.chain(BEFORE[row["chain"]])) for row in rows]
    return list(dict.fromkeys([*fused, *measured]))


def rows_of(factors):
    return [dict(zip(factors, row, strict=True)) for row in covering(factors)]


def warp_of(row, chain, *use):
    head = (row[name] for name in ("source", "layout", "channels", "geometry", "sampler", "border"))
    return kernels.name_expression("warp_image", *head, chain, row["target"], row["result"], *use)


def measuring(row, chain):
    return warp_of({**row, "target": row["source"]}, chain, "StoreAndMean")


def user_names():
    """Each case in one chain for each number of channels, and in recipes, behind a resample and before a mean."""
    structs = {c: [case.struct() for case in pixel_cases.CASES if c in case.channels] for c in (1, 2, 3, 4)}
    alone = [
        kernels.name_expression("pointwise", source, layout, c, kernels.chain(structs[c]), target, result, c)
        for c, source, layout, target, result in (
            (1, "uint8", "Planar", "uint8", "Planar"),
            (2, "float16", "Packed", "float32", "Strided"),
            (3, "uint8", "Packed", "float16", "Planar"),
            (4, "bfloat16", "Strided", "bfloat16", "Packed"),
            (3, "float64", "Planar", "float64", "Packed"),
        )
    ]
    vignette = pixel_cases.BY_NAME["Vignette"].struct()
    rows = {**CROP, "layout": "Planar", "target": "float16", "result": "Planar"}
    fused = [
        warp_of(rows, kernels.chain((vignette, *JITTERED))),
        measuring(rows, kernels.chain([vignette, "JitterBeforeMean"])),
        kernels.name_expression("luma_mean", "uint8", "Planar", 3, kernels.chain([vignette])),
    ]
    return alone, fused


COVERING = covering_names()
RECIPES = fused_names()
# Of the usual recipe: the draws, then a crop that is resized, flipped, jittered and normalized, in a pass or two.
CROP = {"source": "uint8", "channels": 3, "geometry": "Affine", "sampler": "Bilinear", "border": AROUND[1]}
USUAL = [
    "cuaug::draw",
    *(
        name
        for layout in ("Planar", "Packed")
        for row in [{**CROP, "layout": layout, "result": layout}]
        for name in (
            warp_of({**row, "target": "float16"}, kernels.chain(JITTERED)),
            warp_of({**row, "target": "float32"}, kernels.chain(JITTERED)),
            measuring(row, kernels.chain(["JitterBeforeMean"])),
            *(
                kernels.name_expression("pointwise", "uint8", layout, 3, kernels.chain(ops), "float16", "Planar", 3)
                for ops in (JITTERED, PARTED)
            ),
            *(
                warp_of({**row, "border": "Constant", "sampler": sampler, "target": target}, kernels.chain(chain))
                for sampler in RETOUCHED[:2]
                for target, chain in (("uint8", SLOT), ("float16", (*SLOT, "Rescale", "Normalize")))
            ),
            kernels.name_expression("histogram_lut", "uint8", layout, 3),
            kernels.name_expression("histogram_lut", "uint8", layout, 3, "BatchedLaunch"),
            warp_of(
                {**row, "border": "Constant", "sampler": RETOUCHED[1], "target": "uint8"},
                kernels.chain(SLOT),
                "BatchedLaunch",
            ),
            kernels.name_expression("blend", "uint8", layout, 3, kernels.chain(CHAINS["scaled"]), "float16", layout),
        )
    ),
]


USERS_ALONE, USERS_FUSED = user_names()


def ragged_names():
    """The first pass over images each of a size of its own: where they lie is read, not told."""
    made = []
    for own, layout in itertools.product(("uint8", "float16", "float32"), LAYOUTS):
        each, chosen = f"Ragged<cuaug::{layout}>", "CatmullRom" if own == "uint8" else "Triangle"
        row = {**CROP, "source": own, "target": own, "layout": each, "result": layout}
        made.append(warp_of(row, kernels.chain(())))
        made.append(warp_of({**row, "border": "Constant"}, kernels.chain(())))
        made.append(kernels.name_expression("resample", own, each, 3, chosen, own, layout))
    labels = {**CROP, "sampler": "Nearest", "border": "Edge", "layout": "Ragged<cuaug::Planar>", "result": "Planar"}
    made += [
        warp_of({**labels, "source": own, "target": own}, kernels.chain(())) for own in ("uint8", "int32", "int64")
    ]
    for layout in ("Planar", "Packed"):
        row = {**CROP, "layout": f"Ragged<cuaug::{layout}>", "result": layout}
        made.append(warp_of({**row, "target": "float16"}, kernels.chain(JITTERED)))
        made.append(measuring(row, kernels.chain(["JitterBeforeMean"])))
        made.append(warp_of({**row, "geometry": "Perspective", "border": "Edge", "target": "uint8"}, kernels.chain(())))
    return made


RAGGED = ragged_names()
# Warps from boxes that hold what is in memory as it lies there.
COPIED = [
    kernels.name_expression(
        "warp_image", dtype, layout, channels, "Affine", "Bilinear", "Constant", kernels.chain(()), dtype, layout
    )
    for dtype in IMAGE_DTYPES
    if dtype != "float64"
    for layout in ("Planar", "Packed")
    for channels in (1, 2, 3, 4)
]


def detection_names():
    """Suppression, and pooling of each shape and its gradient, with channels apart, single and as vectors."""
    names = [kernels.name_expression(s, real) for s in ("nms_rank", "nms") for real in ("float64", "Rotated")]
    names += [
        kernels.name_expression(skeleton, "float64") for skeleton in ("nms_small_overlap_mask", "nms_overlap_mask")
    ]
    names += ["cuaug::soft_nms", "cuaug::rotated_pairs"]
    for dtype, wide in (("float16", 8), ("bfloat16", 1), ("float32", 4), ("float64", 2)):
        real = "cuaug::float64" if dtype == "float64" else "cuaug::float32"
        for own in (0, wide):
            names.append(kernels.name_expression("roi_average", dtype, own))
            names += [
                kernels.name_expression("roi_by_sample", dtype, *shape, own)
                for shape in (
                    ("RoiAlignBins", 0),
                    ("RoiAlignBins", 1),
                    ("RoiAlignBins", 2),
                    ("RoiPoolBins", 1),
                    ("RoiPoolBins", 2),
                )
            ]
        names += [kernels.name_expression("roi_regions", dtype, shape) for shape in ("RoiAlignBins", "RoiPoolBins")]
        touches = [f"SeparableGather<{real}>", f"SampleGather<cuaug::RoiAlignBins<{real}>, 0>"]
        touches += [f"SampleGather<cuaug::{shape}<{real}>, 1>" for shape in ("RoiAlignBins", "RoiPoolBins")]
        names += [kernels.name_expression("roi_backward_gather", dtype, touch) for touch in touches]
        for inside in (0, 1):
            names.append(kernels.name_expression("roi_backward_separable", dtype, inside))
            names += [
                kernels.name_expression("roi_backward_scatter", dtype, *shape, inside)
                for shape in (("RoiAlignBins", 0), ("RoiAlignBins", 1), ("RoiPoolBins", 1))
            ]
    return names


DETECTION = detection_names()


def each_name(names):
    return pytest.mark.parametrize("name", names, ids=[name.replace("cuaug::", "").replace(" ", "") for name in names])


FEW = 128  # bytes that a seldom used kernel may spill: two stores and loads of a pixel of four doubles
MANY = 384  # and one that holds 64 taps of Lanczos beside a chain of ops: to be won back, up to 360 were seen


def check_kernel(nvrtc, name, architecture, record_property, most):
    source, options = sources.sources(name)
    stack, stores, loads, registers = compiled(nvrtc, source, name, architecture, options)
    record_property("kernel", (name, architecture, registers, stores + loads))
    assert stores + loads <= most, f"{name} on sm_{architecture} spills {stores} + {loads} bytes; stack {stack}"


# One of 64 registers may go to memory and back, as it does in a kernel or two on one architecture or another.
ONE_REGISTER = 8


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@each_name(warmup.warmup_names())
def test_usual_kernels_compile_without_a_warning_or_a_spill(name, architecture, nvrtc, record_property):
    check_kernel(nvrtc, name, architecture, record_property, ONE_REGISTER)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_what_takes_boxes_from_an_engine_compiles_without_a_warning_or_a_spill(architecture, nvrtc, record_property):
    check_kernel(nvrtc, "cuaug::copy_boxes", architecture, record_property, 0)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@each_name(USUAL)
def test_the_usual_recipe_compiles_without_a_warning_or_a_spill(name, architecture, nvrtc, record_property):
    check_kernel(nvrtc, name, architecture, record_property, ONE_REGISTER)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@each_name(RAGGED)
def test_images_of_different_sizes_compile_without_a_warning_or_a_spill(name, architecture, nvrtc, record_property):
    check_kernel(nvrtc, name, architecture, record_property, ONE_REGISTER)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@each_name(DETECTION)
def test_the_kernels_of_detection_compile_without_a_warning_or_a_spill(name, architecture, nvrtc, record_property):
    # A thread of roi_backward_gather.cu keeps 32 registers of sums; a block of soft_nms.cu has 1,024 threads.
    few = name.startswith(("cuaug::roi_backward_gather", "cuaug::soft_nms"))
    check_kernel(nvrtc, name, architecture, record_property, FEW if few else 0)


@pytest.mark.parametrize("architecture", [75, 90])
@each_name(RECIPES)
def test_each_pair_of_a_recipes_template_arguments_compiles(name, architecture, nvrtc, record_property):
    check_kernel(nvrtc, name, architecture, record_property, MANY if "Lanczos" in name else FEW)


@pytest.mark.parametrize("architecture", [75, 90])
@each_name(COVERING)
def test_each_pair_of_template_arguments_compiles(name, architecture, nvrtc, record_property):
    check_kernel(nvrtc, name, architecture, record_property, FEW)


@pytest.mark.parametrize("architecture", [75, 90])
@each_name(COPIED)
def test_warps_of_copied_boxes_compile_without_a_warning_or_a_spill(name, architecture, nvrtc, record_property):
    check_kernel(nvrtc, name, architecture, record_property, ONE_REGISTER)


def test_the_grid_and_the_kernel_agree_on_which_boxes_are_copied(nvrtc):
    """`copies` of _plans.py, which chooses the columns of a region, and `is_raw_staged` of warp_config.cuh."""
    from cuaug import _plans as plans

    factors = (
        ["uint8", "float16", "float64"], ["uint8", "float16", "float64"], ["Affine", "Perspective", "CoordinateMap"],
        ["Bilinear", "Nearest", "Antialiased"], ["Constant", "Edge", "WindowedBorder<cuaug::Constant>"], [(), ("Invert",)],
        ["StoreOnly", "StoreAndMean"], ["Planar", "Packed", "Strided", "Ragged<cuaug::Packed>", "Ragged<cuaug::Strided>"],
    )  # fmt: skip
    said = []
    for *names, ops, use, layout in itertools.product(*factors):
        source, target, geometry, sampler, border = names
        given = (*names, kernels.chain(ops), *(["StoreAndMean"] if use == "StoreAndMean" else []))
        arguments = geometry, sampler, border, layout, source, kernels.chain(ops), target, use
        listed = ", ".join(f"cuaug::{argument}" for argument in arguments)
        said.append((plans.copies(given, layout), f"cuaug::is_raw_staged<{listed}>"))
    assert {copied for copied, _ in said} == {True, False}
    row = {**CROP, "border": "Constant", "layout": "Packed", "target": "uint8", "result": "Packed"}
    name = warp_of(row, kernels.chain(("Invert",)))  # whose text has that op
    text, options = sources.sources(name)
    claims = "\n".join(f"static_assert({claim} == {str(truth).lower()});" for truth, claim in said)
    compiled(nvrtc, f"{text}\n{claims}\n", name, 90, options)


def test_a_warp_is_launched_with_the_threads_that_its_blocks_have(nvrtc):
    from cuaug import _images as images
    from cuaug import _plans as plans

    claims = []
    for dtype, channels, border in itertools.product(IMAGE_DTYPES, [1, 2, 3, 4], ["Constant", "Edge"]):
        names = dtype, dtype, "Affine", "Bilinear", border, kernels.chain(())
        axes = images.imagined((4, 64, 64, channels), dtype).axes
        copied = str(plans.copies(names, "Packed")).lower()
        threads = plans.plan("warp_image", names, axes, 0, axes, 0).threads
        claims.append(f"static_assert(cuaug::block_threads<cuaug::{dtype}, {channels}, {copied}> == {threads});")
    text, options = sources.sources(COPIED[0])
    compiled(nvrtc, "\n".join([text, *claims, ""]), COPIED[0], 90, options)


@pytest.mark.parametrize("architecture", [100, 120])
@each_name(COVERING[::8])
def test_a_sample_compiles_for_the_newest_architectures(name, architecture, nvrtc, record_property):
    check_kernel(nvrtc, name, architecture, record_property, FEW)


@pytest.mark.parametrize("architecture", [75, 90, 120])
@each_name(USERS_FUSED)
def test_a_user_s_op_in_a_recipe_compiles_without_a_warning(name, architecture, nvrtc, record_property):
    check_kernel(nvrtc, name, architecture, record_property, FEW)


@pytest.mark.parametrize("architecture", [75, 80, 90])
@pytest.mark.parametrize("name", USERS_ALONE, ids=[name.partition(", cuaug::Chain")[0] for name in USERS_ALONE])
def test_every_expression_compiles_without_a_warning(name, architecture, nvrtc, record_property):
    check_kernel(nvrtc, name, architecture, record_property, FEW)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("px * (1 - k * r2", 'expected a ")"'),
        (
            "px > k ? px : 1",
            "a condition is one number, not a pixel: compare a channel, or write select(condition, a, b)",
        ),
        ("px + sin(k, k)", 'no instance of overloaded function "sin" matches the argument list'),
    ],
)
def test_what_nvrtc_says_of_an_expression_is_shown_with_it(expression, said, nvrtc):
    fine = pixel_cases.BY_NAME["Half"].struct()
    wrong = user_ops.register(user_ops.checked("Mine", expression, ["k"]))
    name = kernels.name_expression(
        "pointwise", "uint8", "Planar", 3, kernels.chain([fine, wrong]), "uint8", "Planar", 3
    )
    source, options = sources.sources(name)
    program = Program(nvrtc, source, name, [*options, "--gpu-architecture=sm_90"])
    assert program.failed
    complaint = user_ops.complaint(kernels.ops_of(name), program.log)
    assert str(complaint) == f"Mine does not compile:\n    {expression}\n    {said}"


def test_the_covering_set_leaves_no_pair_out():
    """Counted apart from the code that built it."""
    for factors in (WARPS, RESAMPLES, POINTWISES, MEANS, EXTREMES, MIXES, BLURS, LUTS, FUSED, MEASURED, DISPLACED):
        rows = [dict(zip(factors, row, strict=True)) for row in covering(factors)]
        assert all(exists(row) for row in rows)
        for f, g in itertools.combinations(factors, 2):
            met = {(row[f], row[g]) for row in rows}
            missing = [
                p for p in itertools.product(factors[f], factors[g]) if p not in met and exists({f: p[0], g: p[1]})
            ]
            assert not missing, (f, g, missing)


WARNS = "__global__ void planted(int* out) { int unused; out[0] = 1; }"
FAILS = "__global__ void planted(int* out) { out[0] = missing; }"
CROWDED = "__global__ void planted(int* out) { __shared__ int box[12289]; box[threadIdx.x] = *out; *out = box[0]; }"
SPILLS = """__global__ void __launch_bounds__(1024, 2) planted(float* out, int n) {
    float v[64];
    #pragma unroll
    for (int i = 0; i < 64; ++i) v[i] = out[i * n];
    #pragma unroll 1
    for (int k = 0; k < n; ++k) {
        #pragma unroll
        for (int i = 0; i < 64; ++i) v[i] = sqrtf(v[i]) * v[(i + 7) % 64];
    }
    #pragma unroll
    for (int i = 0; i < 64; ++i) out[i] = v[i];
}"""


@pytest.mark.parametrize(
    ("source", "said"), [(WARNS, "never referenced"), (FAILS, "undefined"), (CROWDED, "planted on sm_90")]
)
def test_a_planted_warning_error_or_excess_of_shared_memory_is_found(source, said, nvrtc):
    with pytest.raises(AssertionError, match=said):
        compiled(nvrtc, source, "planted", 90, [])


def test_a_planted_spill_is_found(nvrtc):
    _, stores, loads, registers = compiled(nvrtc, SPILLS, "planted", 90, [])
    assert stores + loads > 0
    assert registers == 32
