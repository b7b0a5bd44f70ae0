"""roi_align and roi_pool against float64 NumPy written from the papers, and against torch functions."""

import numpy as np
import pytest
from helpers.arrays import every_backend, put, with_memory_order
from helpers.compare import Tolerance, assert_equal, describe, to_numpy
from helpers.regions import (
    GPU_TOLERANCE,
    ROIS,
    ROTATED_ROIS,
    SCALES,
    TOLERANCE,
    H,
    N,
    W,
    bins_of,
    in_layout,
    maps,
    pyramid,
)
from numpy.testing import assert_allclose, assert_array_equal
from tables import detection as reference_ops

import cuaug
from cuaug import _native as native

FUSED = Tolerance(1e-14, reason="float64; which product a fused multiply-add rounds is the compiler's choice")
CASES = {
    "7x7": {"output_size": 7},
    "3x5, scaled": {"output_size": (3, 5), "spatial_scale": 0.5},
    "2x2, sampling ratio 2": {"output_size": 2, "sampling_ratio": 2},
    "1x1, aligned": {"output_size": 1, "aligned": True},
    "4x3, aligned, sampling ratio 3": {"output_size": (4, 3), "sampling_ratio": 3, "aligned": True},
}
every_case = pytest.mark.parametrize("case", CASES)


def expected_align(features, rois, mode="avg", **options):
    return np.stack([reference_ops.pooled(features[int(roi[0])], bins_of(roi, **options), mode) for roi in rois])


@every_backend
@every_case
@pytest.mark.parametrize("rois", [ROIS, ROTATED_ROIS], ids=["upright", "rotated"])
@pytest.mark.parametrize("mode", ["avg", "max"])
def test_roi_align_equals_reference(mode, rois, case, backend):
    """In both layouts, and in the library's default layout."""
    expected = expected_align(maps("float32"), rois, mode, **CASES[case])
    for layout in ("NCHW", "NHWC"):
        features = put(in_layout(maps("float32"), layout), backend, "float32")
        actual = cuaug.roi_align(features, put(rois, backend, "float32"), mode=mode, layout=layout, **CASES[case])
        library, device, dtype = describe(features)
        expected_kind = {"library": library, "device": device, "dtype": dtype}
        assert_equal(actual, in_layout(expected, layout), tolerance=TOLERANCE["float32"], **expected_kind)
    layout = "NCHW" if backend[0] == "torch" else "NHWC"
    features = put(in_layout(maps("float32"), layout), backend, "float32")
    actual = cuaug.roi_align(features, put(rois, backend, "float32"), mode=mode, **CASES[case])
    assert_equal(actual, in_layout(expected, layout), tolerance=TOLERANCE["float32"], **expected_kind)


@every_backend
def test_roi_align_points_of_a_narrow_region_round_to_the_edge(backend):
    """In float32, the points of the first four of seven bins have the coordinate 64, which still is within the map."""
    right = np.nextafter(np.float32(64.5), np.float32(65))
    rois = put(np.array([[0, 64.5, 20, right, 24]], np.float32), backend, "float32")
    features = put(np.full((1, 1, 64, 64), 3.0), backend, "float32")
    actual = cuaug.roi_align(features, rois, (1, 7), sampling_ratio=1, aligned=True, layout="NCHW")
    assert_array_equal(to_numpy(actual).ravel(), [3, 3, 3, 3, 0, 0, 0])


@every_backend
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("kind", ["avg", "max", "rotated", "pool"])
def test_roi_align_roi_pool_dtypes_equal_reference(kind, dtype, backend):
    rois, size = ROTATED_ROIS if kind == "rotated" else ROIS, (3, 2)
    features = put(maps(dtype), backend, dtype)
    arguments = features, put(rois, backend, "float32"), size
    if kind == "pool":
        actual = cuaug.roi_pool(*arguments, layout="NCHW")
        expected = expected_pool(maps(dtype), rois, size)
    else:
        mode = "max" if kind == "max" else "avg"
        actual = cuaug.roi_align(*arguments, mode=mode, layout="NCHW")
        expected = expected_align(maps(dtype), rois, mode, output_size=size)
    library, device, dtype_name = describe(features)
    tolerances = TOLERANCE if device == "cpu" else GPU_TOLERANCE
    assert_equal(actual, expected, tolerance=tolerances[dtype], library=library, device=device, dtype=dtype_name)


def expected_pool(features, rois, size, scale=1.0):
    bins = [reference_ops.roi_pixels(roi[1:].tolist(), size, features.shape[2:], scale) for roi in rois]
    return np.stack(
        [reference_ops.pooled(features[int(roi[0])], roi_bins, "max") for roi, roi_bins in zip(rois, bins, strict=True)]
    )


@pytest.mark.parametrize("scale", [1.0, 0.5, 2.0])
@pytest.mark.parametrize("size", [1, (2, 3), 7])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_roi_pool_equals_reference(layout, size, scale):
    actual = cuaug.roi_pool(in_layout(maps(), layout), ROIS, size, scale, layout)
    expected = expected_pool(maps(), ROIS, (size, size) if isinstance(size, int) else size, scale)
    assert_array_equal(actual, in_layout(expected, layout))


def test_roi_align_layouts_agree():
    features = maps()
    for rois in (ROIS, ROTATED_ROIS):
        for mode in ("avg", "max"):
            planar = cuaug.roi_align(features, rois, 5, mode=mode, layout="NCHW")
            packed = cuaug.roi_align(in_layout(features, "NHWC"), rois, 5, mode=mode, layout="NHWC")
            assert_equal(packed, in_layout(planar, "NHWC"), tolerance=FUSED)


VIEWS = {
    "channels last in memory": lambda a: with_memory_order(a, (0, 2, 3, 1)),
    "every second channel": lambda a: a[:, ::2],
    "rows and columns swapped": lambda a: a.swapaxes(2, 3),
    "backwards": lambda a: a[::-1, ::-1, ::-1, ::-1],
    "crop": lambda a: a[:, :, 1:-2, 2:],
    "one sample seen twice": lambda a: np.broadcast_to(a[:1], a.shape),
    "one pixel seen everywhere": lambda a: np.broadcast_to(a[..., :1, :1], a.shape),
    "samples last": lambda a: with_memory_order(a, (2, 3, 1, 0)),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("mode", ["avg", "max"])
def test_roi_align_view_equals_copy(mode, view):
    features, rois = VIEWS[view](maps()), np.asfortranarray(ROIS)
    actual = cuaug.roi_align(features, rois[::-1], 3, mode=mode, layout="NCHW")
    expected = cuaug.roi_align(features.copy(), rois[::-1].copy(), 3, mode=mode, layout="NCHW")
    assert_equal(actual, expected, tolerance=FUSED)


def test_roi_align_keeps_torch_memory_format():
    torch = pytest.importorskip("torch")
    features, rois = torch.from_numpy(maps()), torch.from_numpy(ROIS)
    channels_last = features.contiguous(memory_format=torch.channels_last).requires_grad_()
    actual = cuaug.roi_align(channels_last, rois, 3)
    assert actual.is_contiguous(memory_format=torch.channels_last)
    actual.sum().backward()
    assert channels_last.grad.is_contiguous(memory_format=torch.channels_last)
    assert cuaug.roi_align(features, rois, 3).is_contiguous()
    assert_allclose(actual.detach(), cuaug.roi_align(features, rois, 3), atol=1e-14)


@every_backend
@pytest.mark.parametrize("rois", [ROIS, ROTATED_ROIS], ids=["upright", "rotated"])
def test_roi_align_list_of_boxes_per_image(rois, backend):
    features = put(maps(), backend, "float32")
    per_image = [rois[rois[:, 0] == n] for n in range(N)]
    actual = cuaug.roi_align(
        features, [put(image_rois[:, 1:], backend, "float32") for image_rois in per_image], 3, layout="NCHW"
    )
    expected = cuaug.roi_align(features, put(np.concatenate(per_image), backend, "float32"), 3, layout="NCHW")
    assert_equal(actual, expected)


@every_backend
def test_roi_align_levels_in_one_call(backend):
    levels, rois = pyramid()
    rotated = np.concatenate(
        [rois[:, :1], (rois[:, 1:3] + rois[:, 3:]) / 2, rois[:, 3:] - rois[:, 1:3], 40 + rois[:, :1]], 1
    )
    for regions in (rois, rotated):
        regions = regions.astype(np.float32).astype(float)
        actual = cuaug.roi_align(
            [put(level, backend, "float32") for level in levels],
            put(regions, backend, "float32"), 3, SCALES, 2, True, layout="NCHW",
        )  # fmt: skip
        chosen = [reference_ops.roi_level(roi[1:], 4) for roi in regions]
        assert {0, 1, 2, 3} == set(chosen)
        for k, level in enumerate(chosen):
            features, region = put(levels[level], backend, "float32"), put(regions[k : k + 1], backend, "float32")
            single = cuaug.roi_align(features, region, 3, SCALES[level], 2, True, layout="NCHW")
            assert_array_equal(to_numpy(actual)[k : k + 1], to_numpy(single))
    actual = cuaug.roi_align(levels, rois, 1, SCALES, layout="NCHW", canonical_size=32, canonical_level=2)
    sizes = np.sqrt(np.maximum((rois[:, 3:] - rois[:, 1:3]).prod(1), 1e-9))
    for k, level in enumerate(np.clip(np.floor(2 + np.log2(sizes / 32) + 1e-6), 2, 5).astype(int) - 2):
        assert_array_equal(
            actual[k], cuaug.roi_align(levels[level], rois[k : k + 1], 1, SCALES[level], layout="NCHW")[0]
        )


def test_roi_align_whole_image_is_interpolation():
    torch = pytest.importorskip("torch")
    features = torch.from_numpy(maps())
    whole_images = torch.tensor([(n, 0, 0, W, H) for n in range(N)]).double()
    for size in ((5, 4), (H, W), (30, 7)):
        actual = cuaug.roi_align(features, whole_images, size, 1.0, 1, True)
        expected = torch.nn.functional.interpolate(features, size, mode="bilinear", align_corners=False)
        assert_allclose(actual, expected, atol=1e-12)


@pytest.mark.parametrize("rotated", [False, True])
def test_roi_align_equals_grid_sample(rotated):
    torch = pytest.importorskip("torch")
    features, bins, ratio = torch.from_numpy(maps()), 4, 3
    angle = torch.tensor(35.0 if rotated else 0.0).double()
    centre, size = torch.tensor([4.0, 5.0]).double(), torch.tensor([4.0, 5.0]).double()
    along = (torch.arange(bins * ratio).double() + 0.5) / (bins * ratio) - 0.5
    y, x = torch.meshgrid(along * size[1], along * size[0], indexing="ij")
    cosine, sine = torch.cos(torch.deg2rad(angle)), torch.sin(torch.deg2rad(angle))
    positions = torch.stack([x * cosine + y * sine + centre[0], y * cosine - x * sine + centre[1]], -1)
    # align_corners=False counts from corners, as aligned=True does.
    grid = (positions / torch.tensor([W, H]) * 2 - 1).double()
    sampled = torch.nn.functional.grid_sample(features[1:], grid[None], align_corners=False)
    expected = torch.nn.functional.avg_pool2d(sampled, ratio)
    box = torch.cat([centre, size, angle[None]]) if rotated else torch.cat([centre - size / 2, centre + size / 2])
    actual = cuaug.roi_align(features, torch.cat([torch.ones(1).double(), box])[None], bins, 1.0, ratio, True)
    assert_allclose(actual, expected, atol=1e-12)
    maxima = cuaug.roi_align(features, torch.cat([torch.ones(1).double(), box])[None], bins, 1.0, ratio, True, "max")
    assert_allclose(maxima, torch.nn.functional.max_pool2d(sampled, ratio), atol=1e-12)


def test_roi_align_roi_pool_instruction_sets_and_threads_agree():
    isa, features = native.instruction_set(), maps("float32").astype(np.float32)
    calls = [
        lambda: cuaug.roi_align(features, ROIS, 7, layout="NCHW"),
        lambda: cuaug.roi_align(features, ROTATED_ROIS, 7, mode="max", layout="NCHW"),
        lambda: cuaug.roi_pool(features, ROIS, 7, layout="NCHW"),
    ]
    try:
        for call in calls:
            expected = call()
            for other in native.instruction_sets():
                native.set_instruction_set(other)
                assert_allclose(call(), expected, atol=1e-5)
    finally:
        native.set_instruction_set(isa)
    many_rois = np.tile(ROIS, (40, 1))
    try:
        results = []
        for threads in (1, 2, 5):
            native.set_threads(threads)
            results.append(cuaug.roi_align(features, many_rois, 7, layout="NCHW"))
    finally:
        native.set_threads(0)
    assert_array_equal(results[0], results[1])
    assert_array_equal(results[0], results[2])
