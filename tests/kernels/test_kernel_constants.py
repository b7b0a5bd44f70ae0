"""Constants and lists that Python repeats from the kernels, and the kernels that wait for the one before them."""

import pytest
from helpers.nvrtc import Program, load_nvrtc
from tables.kernels import ONE_OF_EACH_KERNEL
from tables.warps import BORDERS, INTERPOLATIONS

from cuaug import _check
from cuaug._codecs import copy_boxes
from cuaug._detection import box_pairs, nms_plan, roi_kernels, soft_nms
from cuaug._fusion import draw_kernel
from cuaug._gpu import kernels
from cuaug._matrices import builders
from cuaug._passes import batched_launch, geometry, grids, kernel_config, place_images
from cuaug._program import functors, sources
from cuaug._program.dtypes import IMAGE_DTYPES, LABEL_DTYPES
from cuaug.transforms import upright_boxes


@pytest.fixture(scope="module")
def nvrtc():
    return load_nvrtc()


def assert_compiles(nvrtc, claims):
    source = f"{claims}\n__global__ void probe() {{}}\n"
    program = Program(nvrtc, source, "probe", [*sources.OPTIONS, "--gpu-architecture=compute_90"])
    assert not program.failed, program.log


@pytest.mark.parametrize(
    ("file", "name", "python_value"),
    [
        ("gpu/thread_work.cuh", "pointwise_threads", grids.POINTWISE_THREADS),
        ("gpu/batched_launch.cuh", "max_batched", batched_launch.MAX_BATCHED),
        ("records/nms.cuh", "nms_tile", nms_plan.TILE),
        ("records/nms.cuh", "nms_block", nms_plan.BLOCK),
        ("detection/nms_rank.cu", "nms_rank_threads", nms_plan.RANK_THREADS),
        ("detection/nms.cu", "nms_threads", nms_plan.NMS_THREADS),
        ("detection/nms_small.cuh", "nms_small_max", nms_plan.SMALL_MAX),
        ("detection/nms_small.cuh", "nms_small_warps", nms_plan.SMALL_WARPS),
        ("detection/nms_pairs.cuh", "nms_part", nms_plan.PART),
        ("detection/nms_pairs.cuh", "nms_max_parts", int(nms_plan.MAX_PAIRS**0.5) // nms_plan.PART),
        ("detection/nms_overlap_mask.cu", "nms_boxes_per_lane", nms_plan.WORDS_PER_BLOCK_CHOICES[0]),
        ("detection/nms_resolve.cu", "nms_resolve_threads", 32 * nms_plan.RESOLVE_WARPS),
        ("detection/soft_nms.cu", "soft_nms_threads", soft_nms._THREADS),
        ("detection/rotated_pairs.cu", "pair_side", box_pairs._ROTATED_TILE[0]),
        ("detection/upright_pairs.cu", "upright_rows", box_pairs._UPRIGHT_TILE[0]),
        ("detection/upright_pairs.cu", "upright_columns", box_pairs._UPRIGHT_TILE[1]),
        ("detection/upright_pairs.cu", "upright_threads", box_pairs._UPRIGHT_THREADS),
        ("detection/move_boxes.cu", "move_boxes_threads", upright_boxes._THREADS),
        ("matrices/build_matrices.cu", "builder_threads", builders.BUILDER_THREADS),
        ("matrices/estimate_affine.cu", "max_fit_threads", builders.MAX_FIT_THREADS),
        ("detection/roi_average.cu", "average_threads", roi_kernels._AVERAGE_THREADS),
        ("detection/roi_average.cu", "max_bins", roi_kernels._MAX_AXIS_BINS),
        ("detection/roi_average.cu", "lane_channels<float>", roi_kernels._PLANAR_CHANNELS),
        ("detection/roi_by_point.cu", "by_point_threads", roi_kernels._BY_POINT_THREADS),
        ("detection/roi_backward_separable.cu", "separable_threads", roi_kernels._SEPARABLE_THREADS),
        ("detection/roi_backward_scatter.cu", "scatter_threads", roi_kernels._SCATTER_THREADS),
        ("detection/roi_regions.cu", "regions_threads", roi_kernels._REGIONS_THREADS),
        ("detection/roi_backward_gather.cu", "gather_channels<float>", roi_kernels._GATHER_CHANNELS),
        ("detection/roi_backward_gather.cu", "gather_channels<double>", roi_kernels._GATHER_CHANNELS_FLOAT64),
        ("detection/roi_gather.cuh", "tile_rows", roi_kernels._GATHER_TILE[0]),
        ("detection/roi_gather.cuh", "tile_columns", roi_kernels._GATHER_TILE[1]),
        ("detection/roi_by_point.cuh", "pooled_channels", roi_kernels._POOLED_CHANNELS),
        ("detection/roi_backward_scatter.cuh", "scattered_channels", roi_kernels._PLANAR_CHANNELS),
        ("passes/draw.cu", "draw_samples", draw_kernel.SAMPLES_PER_BLOCK),
        ("passes/copy_boxes.cu", "copy_rows", copy_boxes._BLOCK_ROWS),
        ("passes/place_images.cu", "place_rows", place_images._BLOCK_ROWS),
        ("passes/place_images.cu", "place_rows_at_once", place_images._ROWS_AT_ONCE),
        ("gpu/copy_row.cuh", "BytePattern::max_period", place_images._MAX_PIXEL_BYTES),
        ("geometry/tile_map.cuh", "coordinate_limit", _check.SIDE_LIMIT),
        ("geometry/coordinate_map.cuh", "CoordinateMap::float32_side_limit", geometry._FLOAT32_SIDE_LIMIT),
        ("gpu/thread_work.cuh", "pointwise_threads", kernel_config.KERNEL_TEMPLATES["pointwise"].threads),
    ],
)
def test_kernel_constants_equal_python(file, name, python_value, nvrtc):
    assert_compiles(nvrtc, f'#include "{file}"\nstatic_assert(cuaug::{name} == {python_value});')


@pytest.mark.parametrize(
    ("file", "type_name", "size"),
    [
        ("detection/nms_boxes.cuh", "NmsSortKey", nms_plan.KEY_BYTES),
        *(("detection/nms_boxes.cuh", f"RankedBox<cuaug::{real}>", n) for real, n in nms_plan.RANKED_BOX_BYTES.items()),
    ],
)
def test_kernel_type_sizes_equal_python(file, type_name, size, nvrtc):
    """Python allocates scratch memory for arrays of these types."""
    assert_compiles(nvrtc, f'#include "{file}"\nstatic_assert(sizeof(cuaug::{type_name}) == {size});')


@pytest.mark.parametrize(
    ("file", "type_list", "names"),
    [
        ("samplers/samplers.cuh", "Samplers", [functors.struct_name(name) for name in functors.SAMPLERS]),
        ("borders/border.cuh", "Borders", [functors.struct_name(name) for name in functors.BORDERS]),
        ("dtype.cuh", "ImageDtypes", IMAGE_DTYPES),
        ("dtype.cuh", "Dtypes", dict.fromkeys(name for name in IMAGE_DTYPES + LABEL_DTYPES if name != "bool")),
    ],
)
def test_kernel_type_lists_equal_python(file, type_list, names, nvrtc):
    types = ", ".join(f"cuaug::{name}" for name in names)
    claim = f"static_assert(cuaug::is_same_v<cuaug::{type_list}, cuaug::TypeList<{types}>>);"
    assert_compiles(nvrtc, f'#include "dtype.cuh"\n#include "{file}"\n{claim}')


def test_tables_have_every_sampler_and_border():
    assert (list(functors.SAMPLERS), list(functors.BORDERS)) == (INTERPOLATIONS, BORDERS)


@pytest.mark.parametrize("name", sorted(ONE_OF_EACH_KERNEL), ids=kernels.skeleton_of)
def test_pdl_kernels_wait_for_previous_kernel(name, nvrtc):
    """A kernel that is launched early must wait in its code for the one before it; no other kernel waits."""
    source, options = sources.kernel_source(name)
    program = Program(nvrtc, source, name, [*options, "--gpu-architecture=compute_90"])
    assert ("griddepcontrol.wait" in program.ptx) == (kernels.skeleton_of(name) in kernels.PDL_SKELETONS)
