"""Sizes: more than 2^31 elements, more samples than a grid axis, one row or column, every row end, other batches."""

import numpy as np
import pytest
from helpers.compare import Tolerance, assert_equal

import cuaug

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.gpu, pytest.mark.alone]  # tens of gigabytes

M = np.array([[0.9, -0.2, 30.0], [0.15, 1.1, -20.0]])


@pytest.fixture
def require_memory():
    """Skip where the device has too little free memory; free the memory of a test."""

    def require(gigabytes):
        torch.cuda.empty_cache()
        free, _ = torch.cuda.mem_get_info()
        if free < gigabytes * 1e9:
            pytest.skip(f"needs {gigabytes} GB of free device memory, found {free / 1e9:.0f}")

    yield require
    torch.cuda.empty_cache()


def noise_on_gpu(shape):
    """Noise made on the device, in parts of 2**28 elements."""
    generator = torch.Generator("cuda").manual_seed(20261120)
    image = torch.empty(shape, dtype=torch.uint8, device="cuda")
    for part in image.view(-1).split(1 << 28):
        part.random_(0, 256, generator=generator)
    return image


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_op_batch_of_more_than_2_31_elements(dtype, require_memory):
    """A float32 result has byte offsets above 2**33. The last images are compared with calls of their own."""
    require_memory(60)
    images = noise_on_gpu((684, 1024, 1024, 3))
    assert images.numel() > 2**31
    for call in (
        lambda x: cuaug.warp_affine(x, M, layout="NHWC", dtype=dtype),
        lambda x: cuaug.resize(x, (1024, 1024), antialias=False, layout="NHWC", dtype=dtype),
        lambda x: cuaug.hflip(x, layout="NHWC", dtype=dtype),
    ):
        result = call(images)
        for n in (0, 341, 682, 683):
            assert_equal(result[n : n + 1], call(images[n : n + 1].clone()))
        del result


def bilinear_pixels(image, x, y):
    """Bilinear at float64 positions inside the image, computed pixel by pixel. [P, C]"""
    left, top = x.floor().long(), y.floor().long()
    fx, fy = (x - left)[:, None], (y - top)[:, None]
    taps = [image[top + j, left + i].double() for j in (0, 1) for i in (0, 1)]
    return (1 - fy) * ((1 - fx) * taps[0] + fx * taps[1]) + fy * ((1 - fx) * taps[2] + fx * taps[3])


@pytest.mark.parametrize("samples", [2, 3])
def test_op_images_of_more_than_2_31_pixels(samples, require_memory):
    """One image has more than 2**31 pixels; of three, the last begins beyond 2**32."""
    require_memory(60)
    side = 46_342
    images = noise_on_gpu((samples, side, side, 1))
    shift = np.array([[1.0, 0.0, -0.25], [0.0, 1.0, -0.5]])  # source is destination plus (0.25, 0.5): exact in float32
    result = cuaug.warp_affine(images, shift, layout="NHWC")
    flipped = cuaug.vflip(images, layout="NHWC")
    generator = torch.Generator("cuda").manual_seed(1)
    for n in range(samples):
        x, y = (torch.randint(0, side - 1, (10_000,), device="cuda", generator=generator) for _ in "xy")
        x[:3], y[:3] = side - 2, torch.tensor([0, side // 2, side - 2], device="cuda")
        expected = bilinear_pixels(images[n], x + 0.25, y + 0.5).cpu().numpy()
        level = Tolerance(absolute=1, exact=0.98, reason="one level where the exact value is nearly a tie")
        actual = result[n, y, x].cpu()
        assert_equal(actual, expected, library="torch", dtype="uint8", tolerance=level)
        assert_equal(flipped[n, y, x], images[n, side - 1 - y, x])


@pytest.mark.parametrize("samples", [65_535, 65_536, 70_000, 140_000])
@pytest.mark.parametrize("channels", [1, 3, 6])
def test_op_more_samples_than_grid_axis(samples, channels):
    """Six channels are two groups per sample: the grid's limit is reached at half as many samples."""
    images = noise_on_gpu((samples, 8, 8, channels))
    matrices = torch.eye(3, dtype=torch.float64, device="cuda")[:2].repeat(samples, 1, 1)
    matrices[:, 0, 2] = torch.arange(samples, device="cuda") % 7 - 3
    moved = cuaug.warp_affine(images, matrices, layout="NHWC")
    small = cuaug.resize(images, (5, 4), layout="NHWC")
    tables = torch.randint(0, 256, (samples, channels, 256), dtype=torch.uint8, device="cuda")
    parts = (slice(0, 3), slice(32_766, 32_770), slice(65_533, 65_540), slice(samples - 3, samples))
    for call in (
        lambda x, part: cuaug.lut(x, tables[part], layout="NHWC"),
        lambda x, part: cuaug.autocontrast(x, layout="NHWC"),
        lambda x, part: cuaug.equalize(x.repeat(1, 6, 6, 1), layout="NHWC"),
        lambda x, part: cuaug.adjust_sharpness(x, torch.linspace(0, 2, samples, device="cuda")[part], layout="NHWC"),
        lambda x, part: cuaug.gaussian_noise(x, seed=1, ids=torch.arange(samples, device="cuda")[part], layout="NHWC"),
    ):
        full = call(images, slice(None))
        for part in parts:
            assert_equal(full[part], call(images[part].clone(), part))
    flip = torch.arange(samples, device="cuda") % 3 == 0
    flipped = cuaug.hflip(images, flip, layout="NHWC")
    assert_equal(flipped, torch.where(flip[:, None, None, None], images.flip(2), images))
    for part in parts:
        assert_equal(moved[part], cuaug.warp_affine(images[part].clone(), matrices[part].clone(), layout="NHWC"))
        assert_equal(small[part], cuaug.resize(images[part].clone(), (5, 4), layout="NHWC"))


def test_op_image_of_one_row_and_one_column():
    for shape in ((2, 1, 1_000_000, 1), (2, 1_000_000, 1, 1)):
        images = noise_on_gpu(shape)
        assert_equal(cuaug.hflip(images, layout="NHWC"), images.flip(2))
        assert_equal(cuaug.vflip(images, layout="NHWC"), images.flip(1))
        assert_equal(cuaug.resize(images, shape[1:3], layout="NHWC"), images)


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32"])
@pytest.mark.parametrize("border", ["constant", "edge"])
def test_op_sample_is_the_same_in_any_batch_and_layout(border, dtype):
    """Large batches have taller output regions, and some layouts wider ones: a pixel's coordinates do not depend on
    its region. The law holds for bilinear warps whose source boxes fit into shared memory."""
    rng = np.random.default_rng(20261122)
    angle, scale = rng.uniform(-np.pi, np.pi, 250), rng.uniform(0.8, 1.6, 250)
    rotation = scale * np.stack([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    middle, shift = np.array([115.5, 111.5]), rng.uniform(-20, 20, (250, 2))
    rotation = rotation.transpose(2, 0, 1)
    matrices = np.concatenate([rotation, (middle + shift - rotation @ middle)[..., None]], 2)
    images = noise_on_gpu((250, 224, 232, 4)).to(getattr(torch, dtype))
    views = {"NHWC": images[..., :3].contiguous(), "NCHW": images[..., :3].permute(0, 3, 1, 2).contiguous()}

    def warped(view, matrix, layout):
        result = cuaug.warp_affine(view, matrix, border=border, layout=layout)
        return result if layout == "NHWC" else result.permute(0, 2, 3, 1)

    by_layout = {layout: warped(view, matrices, layout) for layout, view in views.items()}
    assert torch.equal(by_layout["NCHW"], by_layout["NHWC"])
    assert torch.equal(warped(images[..., :3], matrices, "NHWC"), by_layout["NHWC"])  # a strided view
    for part in (slice(0, 1), slice(17, 20), slice(249, 250)):
        for layout, view in views.items():
            assert torch.equal(warped(view[part].clone(), matrices[part], layout), by_layout["NHWC"][part])


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "bfloat16", "float32"])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("border", ["constant", "edge"])
def test_op_row_ends(border, layout, dtype):
    """Lanes store words of several columns, or single elements at the end of a row: in a new array, and in a view."""
    matrix = np.array([[0.9, -0.3, 4.0], [0.3, 0.9, -2.0]])
    images = noise_on_gpu((2, 40, 48, 3)).to(getattr(torch, dtype))
    images = images if layout == "NHWC" else images.permute(0, 3, 1, 2).contiguous()
    column_axis = -2 if layout == "NHWC" else -1
    full = cuaug.warp_affine(images, matrix, (9, 150), border=border, layout=layout)
    for width in range(1, 140):
        expected = full.narrow(column_axis, 0, width)
        assert torch.equal(cuaug.warp_affine(images, matrix, (9, width), border=border, layout=layout), expected)
        for extra in (3, 6, 8):
            shape = (2, 9, width + extra, 3) if layout == "NHWC" else (2, 3, 9, width + extra)
            padded = torch.full(shape, 77, dtype=images.dtype, device="cuda")
            out = padded.narrow(column_axis, 0, width)
            cuaug.warp_affine(images, matrix, (9, width), border=border, layout=layout, out=out)
            assert torch.equal(out, expected)
            assert (padded.narrow(column_axis, width, extra) == 77).all()


@pytest.mark.parametrize("sizes", [(256, 192), (640, 480), (512, 224), (256, 224)])
def test_resize_nearest_takes_right_pixel_at_halfway_positions(sizes):
    """Some positions are halfway between two pixels: the right one is taken, as in Pillow and torchvision."""
    size, new_size = sizes
    image = noise_on_gpu((2, size, size, 3))
    index = torch.floor((torch.arange(new_size, dtype=torch.float64) + 0.5) * size / new_size).long().cuda()
    result = cuaug.resize(image, (new_size, new_size), interpolation="nearest", layout="NHWC")
    assert torch.equal(result, image[:, index][:, :, index])
