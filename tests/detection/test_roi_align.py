"""Pooling of regions against float64 NumPy written from the papers, against torch where it coincides, and gradcheck."""

import numpy as np
import pytest
from helpers.arrays import HOMES, home_id, put, seeded, stored
from helpers.compare import Tolerance, assert_equal, describe, to_numpy
from numpy.testing import assert_allclose, assert_array_equal
from tables import detection as reference_ops

import cuaug
from cuaug import _native as native

each_home = pytest.mark.parametrize("home", HOMES, ids=home_id)
TOLERANCE = {
    "float16": Tolerance(2e-3, 1e-3, reason="one rounding to float16"),
    "bfloat16": Tolerance(2e-2, 8e-3, reason="one rounding to bfloat16"),
    "float32": Tolerance(1e-5, 1e-5, reason="float32 coordinates and sums"),
    "float64": Tolerance(1e-12, reason="float64"),
}
FUSED = Tolerance(1e-14, reason="float64; which product a fused multiply-add rounds is the compiler's choice")
N, C, H, W = 2, 21, 12, 9
# sample, left, top, right, bottom: usual, at the edges, beyond them, as wide as all, tiny, empty, inverted, far away
ROIS = np.array(
    [
        (0, 1.25, 2.5, 6.75, 9.0),
        (1, 0.0, 0.0, 9.0, 12.0),
        (1, -3.5, -2.25, 4.0, 5.5),
        (0, 5.0, 7.5, 13.0, 18.0),
        (0, 3.125, 4.25, 3.5, 4.5),
        (1, 4.0, 4.0, 4.0, 4.0),
        (0, 7.0, 8.0, 2.0, 3.0),
        (1, 40.0, 50.0, 60.0, 70.0),
        (0, -2.0, 3.0, 20.0, 4.0),
        (1, 0.5, 1.5, 8.5, 11.5),
    ]
)
TURNED = np.array(
    [
        (0, 4.0, 6.0, 5.0, 3.0, 30.0),
        (1, 4.5, 6.0, 9.0, 12.0, 0.0),
        (1, 4.0, 5.0, 7.0, 2.5, -75.0),
        (0, 8.0, 11.0, 6.0, 6.0, 45.0),
        (1, 2.0, 3.0, 0.25, 0.5, 200.0),
        (0, 50.0, 3.0, 4.0, 4.0, 10.0),
        (0, 4.0, 4.0, 3.0, 5.0, 90.0),
    ]
)
CASES = {
    "7x7": {"output_size": 7},
    "3x5, scaled": {"output_size": (3, 5), "spatial_scale": 0.5},
    "2x2, two samples": {"output_size": 2, "sampling_ratio": 2},
    "1x1, aligned": {"output_size": 1, "aligned": True},
    "4x3, aligned, three samples": {"output_size": (4, 3), "sampling_ratio": 3, "aligned": True},
}
each_case = pytest.mark.parametrize("case", CASES)


def maps(dtype="float64", seed=0, shape=(N, C, H, W)):
    """[N, C, H, W], as the dtype holds them, in float64."""
    values = seeded("maps", seed).normal(0, 1, shape)
    if dtype == "bfloat16":
        return values.astype(pytest.importorskip("ml_dtypes").bfloat16).astype(np.float64)
    return values.astype(dtype).astype(np.float64)


def bins_of(roi, output_size, spatial_scale=1.0, sampling_ratio=-1, aligned=False, extent=(H, W)):
    size = output_size if isinstance(output_size, tuple) else (output_size, output_size)
    return reference_ops.roi_bins(roi[1:].tolist(), size, extent, spatial_scale, sampling_ratio, aligned)


def expected(features, rois, mode="avg", **options):
    return np.stack([reference_ops.pooled(features[int(roi[0])], bins_of(roi, **options), mode) for roi in rois])


def expected_back(features, rois, gradient, mode="avg", **options):
    out = np.zeros(features.shape)
    for roi, own in zip(rois, gradient, strict=True):
        n = int(roi[0])
        out[n] += reference_ops.unpooled(features[n], bins_of(roi, **options), mode, own)
    return out


def in_layout(array, layout):
    return np.ascontiguousarray(np.moveaxis(array, 1, -1)) if layout == "NHWC" else array


@each_home
@each_case
@pytest.mark.parametrize("rois", [ROIS, TURNED], ids=["upright", "rotated"])
@pytest.mark.parametrize("mode", ["avg", "max"])
def test_roi_align_equals_reference(mode, rois, case, home):
    """In each library's own layout, in the other one, and by default."""
    wanted = expected(maps("float32"), rois, mode, **CASES[case])
    for layout in ("NCHW", "NHWC"):
        features = put(in_layout(maps("float32"), layout), home, "float32")
        found = cuaug.roi_align(features, put(rois, home, "float32"), mode=mode, layout=layout, **CASES[case])
        library, device, dtype = describe(features)
        where = {"library": library, "device": device, "dtype": dtype}
        assert_equal(found, in_layout(wanted, layout), tolerance=TOLERANCE["float32"], **where)
    layout = "NCHW" if home[0] == "torch" else "NHWC"
    features = put(in_layout(maps("float32"), layout), home, "float32")
    found = cuaug.roi_align(features, put(rois, home, "float32"), mode=mode, **CASES[case])
    assert_equal(found, in_layout(wanted, layout), tolerance=TOLERANCE["float32"], **where)


@each_home
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("kind", ["avg", "max", "rotated", "pool"])
def test_roi_align_dtypes(kind, dtype, home):
    rois, size = TURNED if kind == "rotated" else ROIS, (3, 2)
    features = put(maps(dtype), home, dtype)
    given = features, put(rois, home, "float32"), size
    if kind == "pool":
        found = cuaug.roi_pool(*given, layout="NCHW")
        wanted = pixels(maps(dtype), rois, size)
    else:
        mode = "max" if kind == "max" else "avg"
        found = cuaug.roi_align(*given, mode=mode, layout="NCHW")
        wanted = expected(maps(dtype), rois, mode, output_size=size)
    library, device, named = describe(features)
    assert_equal(found, wanted, tolerance=TOLERANCE[dtype], library=library, device=device, dtype=named)


def pixels(features, rois, size, scale=1.0):
    bins = [reference_ops.roi_pixels(roi[1:].tolist(), size, features.shape[2:], scale) for roi in rois]
    return np.stack(
        [reference_ops.pooled(features[int(roi[0])], own, "max") for roi, own in zip(rois, bins, strict=True)]
    )


@pytest.mark.parametrize("scale", [1.0, 0.5, 2.0])
@pytest.mark.parametrize("size", [1, (2, 3), 7])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_roi_pool_equals_reference(layout, size, scale):
    found = cuaug.roi_pool(in_layout(maps(), layout), ROIS, size, scale, layout)
    wanted = pixels(maps(), ROIS, (size, size) if isinstance(size, int) else size, scale)
    assert_array_equal(found, in_layout(wanted, layout))


def test_roi_align_layouts_agree():
    features = maps()
    for rois in (ROIS, TURNED):
        for mode in ("avg", "max"):
            planar = cuaug.roi_align(features, rois, 5, mode=mode, layout="NCHW")
            packed = cuaug.roi_align(in_layout(features, "NHWC"), rois, 5, mode=mode, layout="NHWC")
            assert_equal(packed, in_layout(planar, "NHWC"), tolerance=FUSED)


VIEWS = {
    "channels last in memory": lambda a: stored(a, (0, 2, 3, 1)),
    "every second channel": lambda a: a[:, ::2],
    "rows and columns swapped": lambda a: a.swapaxes(2, 3),
    "backwards": lambda a: a[::-1, ::-1, ::-1, ::-1],
    "crop": lambda a: a[:, :, 1:-2, 2:],
    "one sample seen twice": lambda a: np.broadcast_to(a[:1], a.shape),
    "one pixel seen everywhere": lambda a: np.broadcast_to(a[..., :1, :1], a.shape),
    "samples inside": lambda a: stored(a, (2, 3, 1, 0)),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("mode", ["avg", "max"])
def test_roi_align_view_equals_copy(mode, view):
    features, rois = VIEWS[view](maps()), np.asfortranarray(ROIS)
    found = cuaug.roi_align(features, rois[::-1], 3, mode=mode, layout="NCHW")
    wanted = cuaug.roi_align(features.copy(), rois[::-1].copy(), 3, mode=mode, layout="NCHW")
    assert_equal(found, wanted, tolerance=FUSED)


def test_roi_align_keeps_torch_memory_format():
    torch = pytest.importorskip("torch")
    features, rois = torch.from_numpy(maps()), torch.from_numpy(ROIS)
    inside = features.contiguous(memory_format=torch.channels_last).requires_grad_()
    found = cuaug.roi_align(inside, rois, 3)
    assert found.is_contiguous(memory_format=torch.channels_last)
    found.sum().backward()
    assert inside.grad.is_contiguous(memory_format=torch.channels_last)
    assert cuaug.roi_align(features, rois, 3).is_contiguous()
    assert_allclose(found.detach(), cuaug.roi_align(features, rois, 3), atol=1e-14)


@each_home
@pytest.mark.parametrize("rois", [ROIS, TURNED], ids=["upright", "rotated"])
def test_roi_align_list_of_boxes_per_image(rois, home):
    features = put(maps(), home, "float32")
    each = [rois[rois[:, 0] == n] for n in range(N)]
    found = cuaug.roi_align(features, [put(own[:, 1:], home, "float32") for own in each], 3, layout="NCHW")
    whole = cuaug.roi_align(features, put(np.concatenate(each), home, "float32"), 3, layout="NCHW")
    assert_equal(found, whole)


PYRAMID = [(2, 5, 64, 48), (2, 5, 32, 24), (2, 5, 16, 12), (2, 5, 8, 6)]
SCALES = [1 / 4, 1 / 8, 1 / 16, 1 / 32]


def pyramid():
    """Maps of an image of 192 x 256, and regions of all levels: of sizes about where one begins, too."""
    rng = seeded("pyramid")
    sizes = [10, 60, 111.9, 112, 112.1, 160, 223.99, 224, 300, 447, 448, 449, 900, 0, 2000]
    rois = []
    for i, size in enumerate(sizes):
        lean, corner = rng.uniform(0.7, 1.4) if size % 7 else 1.0, rng.uniform(-20, 60, 2)
        rois.append((i % 2, *corner, *(corner + np.array([size * lean, size / lean]))))
    return [maps(seed=i, shape=shape) for i, shape in enumerate(PYRAMID)], np.array(rois)


@each_home
def test_roi_align_levels_in_one_call(home):
    levels, rois = pyramid()
    rotated = np.concatenate(
        [rois[:, :1], (rois[:, 1:3] + rois[:, 3:]) / 2, rois[:, 3:] - rois[:, 1:3], 40 + rois[:, :1]], 1
    )
    for own in (rois, rotated):
        own = own.astype(np.float32).astype(float)
        found = cuaug.roi_align(
            [put(level, home, "float32") for level in levels],
            put(own, home, "float32"), 3, SCALES, 2, True, layout="NCHW",
        )  # fmt: skip
        chosen = [reference_ops.roi_level(roi[1:], 4) for roi in own]
        assert {0, 1, 2, 3} == set(chosen)
        for k, level in enumerate(chosen):
            alone = cuaug.roi_align(put(levels[level], home, "float32"), put(own[k : k + 1], home, "float32"), 3,
                                    SCALES[level], 2, True, layout="NCHW")  # fmt: skip
            assert_array_equal(to_numpy(found)[k : k + 1], to_numpy(alone))
    found = cuaug.roi_align(levels, rois, 1, SCALES, layout="NCHW", canonical_size=32, canonical_level=2)
    sizes = np.sqrt(np.maximum((rois[:, 3:] - rois[:, 1:3]).prod(1), 1e-9))
    for k, level in enumerate(np.clip(np.floor(2 + np.log2(sizes / 32) + 1e-6), 2, 5).astype(int) - 2):
        assert_array_equal(
            found[k], cuaug.roi_align(levels[level], rois[k : k + 1], 1, SCALES[level], layout="NCHW")[0]
        )


def test_roi_align_whole_image_is_interpolation():
    torch = pytest.importorskip("torch")
    features = torch.from_numpy(maps())
    all_of_it = torch.tensor([(n, 0, 0, W, H) for n in range(N)]).double()
    for size in ((5, 4), (H, W), (30, 7)):
        found = cuaug.roi_align(features, all_of_it, size, 1.0, 1, True)
        wanted = torch.nn.functional.interpolate(features, size, mode="bilinear", align_corners=False)
        assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize("rotated", [False, True])
def test_roi_align_equals_grid_sample(rotated):
    torch = pytest.importorskip("torch")
    features, bins, ratio = torch.from_numpy(maps()), 4, 3
    turn = torch.tensor(35.0 if rotated else 0.0).double()
    centre, size = torch.tensor([4.0, 5.0]).double(), torch.tensor([4.0, 5.0]).double()
    along = (torch.arange(bins * ratio).double() + 0.5) / (bins * ratio) - 0.5
    y, x = torch.meshgrid(along * size[1], along * size[0], indexing="ij")
    cosine, sine = torch.cos(torch.deg2rad(turn)), torch.sin(torch.deg2rad(turn))
    places = torch.stack([x * cosine + y * sine + centre[0], y * cosine - x * sine + centre[1]], -1)
    grid = (
        places / torch.tensor([W, H]) * 2 - 1
    ).double()  # align_corners=False counts from corners, as aligned=True does
    sampled = torch.nn.functional.grid_sample(features[1:], grid[None], align_corners=False)
    wanted = torch.nn.functional.avg_pool2d(sampled, ratio)
    box = torch.cat([centre, size, turn[None]]) if rotated else torch.cat([centre - size / 2, centre + size / 2])
    found = cuaug.roi_align(features, torch.cat([torch.ones(1).double(), box])[None], bins, 1.0, ratio, True)
    assert_allclose(found, wanted, atol=1e-12)
    greatest = cuaug.roi_align(features, torch.cat([torch.ones(1).double(), box])[None], bins, 1.0, ratio, True, "max")
    assert_allclose(greatest, torch.nn.functional.max_pool2d(sampled, ratio), atol=1e-12)


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("bad", [NAN, INF, -INF, 1e20, -1e35])
@pytest.mark.parametrize("mode", ["avg", "max", "pool"])
@pytest.mark.parametrize("aligned", [False, True])
def test_roi_align_invalid_region_is_zero(aligned, mode, bad):
    rois = np.array([(0, 1, 2, 5, 6.0)] * 5)
    rois[np.arange(4), np.arange(1, 5)] = bad
    turned = np.array([(0, 3, 4, 4, 5, 20.0)] * 6)
    turned[np.arange(5), np.arange(1, 6)] = bad
    for own in (rois,) if mode == "pool" else (rois, turned):
        if mode == "pool":
            found = cuaug.roi_pool(maps(), own, 2, layout="NCHW")
        else:
            found = cuaug.roi_align(maps(), own, 2, mode=mode, aligned=aligned, layout="NCHW")
        assert not found[:-1].any()
        assert found[-1].all()


@pytest.mark.parametrize("mode", ["avg", "max", "pool"])
@pytest.mark.parametrize("bad", [NAN, INF, -1e30])
def test_roi_align_invalid_region_has_no_gradient(bad, mode):
    torch = pytest.importorskip("torch")
    rois = torch.tensor([(1, 1, 2, 5, 6.0)] * 4 + [(1, -3e9, -3e9, 3e9, 3e9)], dtype=torch.float64)
    rois[torch.arange(4), torch.arange(1, 5)] = bad
    own = torch.from_numpy(maps()).requires_grad_()
    call = (
        (lambda: cuaug.roi_pool(own, rois, 2)) if mode == "pool" else (lambda: cuaug.roi_align(own, rois, 2, mode=mode))
    )
    call().sum().backward()
    assert not own.grad.any()


def test_roi_align_huge_region_terminates():
    huge = np.array([(0, -1e8, -1e8, 1e8, 1e8)])
    turned = np.array([(0, 4, 5, 2e8, 1e8, 30.0)])
    ones = np.ones((1, 1, H, W))
    for rois in (huge, turned):
        for mode in ("avg", "max"):
            found = cuaug.roi_align(ones, rois, 3, mode=mode, layout="NCHW")
            assert (found[0, 0, 1, 1] > 0) if mode == "avg" else (found[0, 0, 1, 1] == 1)
            assert found[0, 0, 0, 0] == 0


def test_roi_align_zero_weight_pixels_do_not_count():
    """An infinite neighbour of an exact sample, or of another bin, leaves it alone."""
    features = maps("float32", shape=(1, 3, 8, 8)).astype(np.float32)
    bad = features.copy()
    bad[0, :, 3, :] = np.inf
    bad[0, :, :, 3] = np.nan
    rois = np.array([(0, 0, 0, 8, 8.0)])
    touched = np.zeros((8, 8), bool)
    touched[3], touched[:, 3] = True, True
    for array, layout in ((bad, "NCHW"), (in_layout(bad, "NHWC"), "NHWC")):
        for mode in ("avg", "max"):
            found = cuaug.roi_align(array, rois, 8, 1.0, 1, True, mode, layout)
            found = found if layout == "NCHW" else np.moveaxis(found, -1, 1)
            assert_allclose(found[0][:, ~touched], features[0][:, ~touched], rtol=1e-6)
            assert not np.isfinite(found[0][:, touched]).any()
    assert np.isnan(cuaug.roi_align(bad, rois, 1, 1.0, 8, True, "max", "NCHW")).all()
    assert np.isnan(cuaug.roi_pool(bad, rois, 1, layout="NCHW")).all()


@each_home
def test_roi_align_no_regions_and_no_samples(home):
    none = put(np.zeros((0, 5)), home, "float32")
    for shape in ((N, C, H, W), (0, C, H, W)):
        found = cuaug.roi_align(put(np.zeros(shape), home, "float32"), none, (2, 3), layout="NCHW")
        assert tuple(found.shape) == (0, C, 2, 3)
        assert describe(found) == describe(none)
    empty = [none[:, 1:]] * N
    assert tuple(cuaug.roi_align(put(np.zeros((N, C, H, W)), home, "float32"), empty, 2, layout="NCHW").shape) == (
        0,
        C,
        2,
        2,
    )


def test_roi_align_instruction_sets_and_threads_agree():
    isa, features = native.instruction_set(), maps("float32").astype(np.float32)
    calls = [
        lambda: cuaug.roi_align(features, ROIS, 7, layout="NCHW"),
        lambda: cuaug.roi_align(features, TURNED, 7, mode="max", layout="NCHW"),
        lambda: cuaug.roi_pool(features, ROIS, 7, layout="NCHW"),
    ]
    try:
        for call in calls:
            wanted = call()
            for other in native.instruction_sets():
                native.set_instruction_set(other)
                assert_allclose(call(), wanted, atol=1e-5)
    finally:
        native.set_instruction_set(isa)
    many = np.tile(ROIS, (40, 1))
    try:
        found = []
        for threads in (1, 2, 5):
            native.set_threads(threads)
            found.append(cuaug.roi_align(features, many, 7, layout="NCHW"))
    finally:
        native.set_threads(0)
    assert_array_equal(found[0], found[1])
    assert_array_equal(found[0], found[2])


KINDS = {
    "avg": (lambda f, r, **o: cuaug.roi_align(f, r, (3, 2), aligned=True, **o), ROIS, "avg"),
    "max": (lambda f, r, **o: cuaug.roi_align(f, r, (3, 2), mode="max", aligned=True, **o), ROIS, "max"),
    "rotated": (lambda f, r, **o: cuaug.roi_align(f, r, (3, 2), aligned=True, **o), TURNED, "avg"),
    "rotated max": (lambda f, r, **o: cuaug.roi_align(f, r, (3, 2), mode="max", aligned=True, **o), TURNED, "max"),
    "pool": (lambda f, r, **o: cuaug.roi_pool(f, r, (3, 2), **o), ROIS, "pixels"),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


@each_kind
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("inside", [False, True], ids=["planes", "channels inside"])
def test_roi_align_gradient_equals_reference(inside, dtype, kind):
    torch = pytest.importorskip("torch")
    call, rois, mode = KINDS[kind]
    values = maps(dtype)
    features = torch.from_numpy(values).to(getattr(torch, dtype))
    features = features.to(memory_format=torch.channels_last if inside else torch.contiguous_format).requires_grad_()
    out = call(features, torch.from_numpy(rois))
    gradient = torch.from_numpy(seeded("gradient").normal(0, 1, out.shape)).to(out.dtype)
    out.backward(gradient)
    if mode == "pixels":
        wanted = np.zeros(values.shape)
        for roi, own in zip(rois, to_numpy(gradient), strict=True):
            bins = reference_ops.roi_pixels(roi[1:].tolist(), (3, 2), (H, W))
            wanted[int(roi[0])] += reference_ops.unpooled(values[int(roi[0])], bins, "max", own)
    else:
        wanted = expected_back(values, rois, to_numpy(gradient), mode, output_size=(3, 2), aligned=True)
    assert_equal(features.grad, wanted, tolerance=TOLERANCE[dtype], library="torch", dtype=dtype)


@each_kind
def test_roi_align_gradcheck(kind):
    torch = pytest.importorskip("torch")
    call, rois, _ = KINDS[kind]
    features = torch.from_numpy(maps()[:, :2, :7, :6].copy()).requires_grad_()
    assert torch.autograd.gradcheck(lambda f: call(f, torch.from_numpy(rois[:4])), (features,))


def test_roi_align_gradient_of_levels():
    torch = pytest.importorskip("torch")
    levels, rois = pyramid()
    levels = [torch.from_numpy(level[:, :2, :6, :5].copy()).requires_grad_() for level in levels]
    rois = torch.from_numpy(rois)
    assert torch.autograd.gradcheck(lambda *given: cuaug.roi_align(list(given), rois, 2, SCALES, 2, True), levels)


def test_roi_align_gradient_is_deterministic():
    torch = pytest.importorskip("torch")
    rng, found = seeded("runs"), []
    corner = rng.uniform(0, 8, (300, 2))
    rois = np.concatenate([rng.integers(0, N, (300, 1)), corner, corner + rng.uniform(1, 5, (300, 2))], 1)
    gradient = torch.from_numpy(rng.normal(0, 1, (300, C, 7, 7))).float()
    try:
        for threads in (1, 2, 7, 7):
            native.set_threads(threads)
            features = torch.from_numpy(maps("float32")).float().requires_grad_()
            cuaug.roi_align(features, torch.from_numpy(rois), 7).backward(gradient)
            found.append(features.grad)
    finally:
        native.set_threads(0)
    assert all(torch.equal(found[0], other) for other in found[1:])


def test_roi_align_rejects_second_derivative():
    torch = pytest.importorskip("torch")
    features = torch.from_numpy(maps()).requires_grad_()
    out = cuaug.roi_align(features, torch.from_numpy(ROIS), 2)
    (first,) = torch.autograd.grad((out * out).sum(), features, create_graph=True)
    with pytest.raises(RuntimeError, match="twice"):
        first.sum().backward()


def test_roi_align_without_grad_records_nothing():
    torch = pytest.importorskip("torch")
    features, rois = torch.from_numpy(maps()).requires_grad_(), torch.from_numpy(ROIS).requires_grad_()
    with torch.no_grad():
        assert not cuaug.roi_align(features, rois, 2).requires_grad
    assert not cuaug.roi_align(features.detach(), rois, 2).requires_grad
    with torch.inference_mode():
        assert not cuaug.roi_align(features, rois, 2).requires_grad
    cuaug.roi_align(features, rois, 2).sum().backward()
    assert rois.grad is None


FINE = np.zeros((2, 8, 8, 3)), np.zeros((4, 5))
WRONG = [
    (ValueError, "boxes must have shape", lambda: cuaug.roi_align(FINE[0], np.zeros((4, 4)), 2)),
    (ValueError, r"boxes must have shape \(K, 5\), or be", lambda: cuaug.roi_pool(FINE[0], np.zeros((4, 6)), 2)),
    (ValueError, "features must have the axes NHWC", lambda: cuaug.roi_align(FINE[0][0], FINE[1], 2)),
    (ValueError, "features must have channels", lambda: cuaug.roi_align(FINE[0][..., :0], FINE[1], 2)),
    (TypeError, "features must be one of float16", lambda: cuaug.roi_align(FINE[0].astype(int), FINE[1], 2)),
    (TypeError, "features must be an array", lambda: cuaug.roi_align(3, FINE[1], 2)),
    (TypeError, "boxes must be one of float16", lambda: cuaug.roi_align(FINE[0], FINE[1].astype(int), 2)),
    (ValueError, "samples 0..1 first, got 2.0 in region 1", lambda: cuaug.roi_align(FINE[0], indexed(0, 2), 2)),
    (ValueError, "samples 0..1 first, got -1.0 in region 0", lambda: cuaug.roi_align(FINE[0], indexed(-1, 0), 2)),
    (ValueError, "samples 0..1 first, got 0.5 in region 1", lambda: cuaug.roi_align(FINE[0], indexed(1, 0.5), 2)),
    (ValueError, "samples 0..1 first, got nan in region 0", lambda: cuaug.roi_align(FINE[0], indexed(np.nan, 9), 2)),
    (ValueError, "output_size must be", lambda: cuaug.roi_align(*FINE, (2, 2, 2))),
    (ValueError, "output_size must be at least 1", lambda: cuaug.roi_align(*FINE, 0)),
    (ValueError, "spatial_scale must be at least", lambda: cuaug.roi_align(*FINE, 2, 0)),
    (ValueError, "spatial_scale must have an entry", lambda: cuaug.roi_align(*FINE, 2, [1.0, 0.5])),
    (ValueError, "spatial_scale must halve", lambda: cuaug.roi_align([FINE[0]] * 2, FINE[1], 2, [1.0, 0.25])),
    (ValueError, "or 1 to 8 levels, got 9", lambda: cuaug.roi_align([FINE[0]] * 9, FINE[1], 2, [1.0] * 9)),
    (ValueError, "one library, device and dtype", lambda: cuaug.roi_align(
        [FINE[0], FINE[0].astype(np.float32)], FINE[1], 2, [1.0, 0.5])),
    (ValueError, "same samples and channels", lambda: cuaug.roi_align([FINE[0], FINE[0][:1]], FINE[1], 2, [1.0, 0.5])),
    (ValueError, "mode must be one of", lambda: cuaug.roi_align(*FINE, 2, mode="mean")),
    (ValueError, "layout must be one of", lambda: cuaug.roi_align(*FINE, 2, layout="CHW")),
    (TypeError, "sampling_ratio must be an int", lambda: cuaug.roi_align(*FINE, 2, 1.0, 2.0)),
    (TypeError, "aligned must be True or False", lambda: cuaug.roi_align(*FINE, 2, aligned=1)),
    (ValueError, "boxes must have an entry for each image", lambda: cuaug.roi_align(FINE[0], [], 2)),
    (ValueError, r"boxes\[1\] must be an array of shape", lambda: cuaug.roi_align(
        FINE[0], [np.zeros((1, 4)), np.zeros((1, 6))], 2)),
    (ValueError, "all upright", lambda: cuaug.roi_align(FINE[0], [np.zeros((1, 4)), np.zeros((1, 5))], 2)),
]  # fmt: skip


def indexed(*samples):
    return np.array([(n, 0, 0, 4, 4) for n in samples], float)


@pytest.mark.parametrize(("kind", "said", "call"), WRONG, ids=[said for _, said, _ in WRONG])
def test_roi_align_rejects_invalid_arguments(kind, said, call):
    with pytest.raises(kind, match=r"^cuaug\.roi_\w+: .*" + said):
        call()
