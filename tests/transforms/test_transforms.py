"""Histograms, noise, displacements, masks, mixing: each transform equals its function with the drawn parameters."""

import json

import numpy as np
import pytest
from helpers.arrays import put
from helpers.compare import Tolerance, assert_equal
from helpers.transforms import (
    EFFECTIVE,
    C,
    H,
    N,
    W,
    apply_with_params,
    assert_near,
    batch,
    changed_samples,
    column,
    one_by_one,
)
from scipy import stats

import cuaug
from cuaug import transforms as T

FUNCTIONS = [  # transform, drawn parameter, function
    (T.RandomAutocontrast(0.5), "apply", lambda x, _: cuaug.autocontrast(x)),
    (T.RandomEqualize(0.5), "apply", lambda x, _: cuaug.equalize(x)),
    (T.RandomAdjustSharpness(2.5, 0.5), "sharpness_factor", cuaug.adjust_sharpness),
]


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize(("transform", "name", "function"), FUNCTIONS, ids=["autocontrast", "equalize", "sharpness"])
def test_random_transforms_equal_functions_on_chosen_samples(transform, name, function, dtype):
    images = batch(dtype)
    if dtype != "uint8" and isinstance(transform, T.RandomEqualize):
        with pytest.raises(TypeError, match=r"RandomEqualize: images must be uint8, got float32: put ToDtype"):
            T.Compose([transform])(images)
        return
    result, params = apply_with_params(transform, images)
    value = column(params, name)
    unchanged = value == (1 if name == "sharpness_factor" else 0)
    assert 8 < unchanged.sum() < N - 8
    np.testing.assert_array_equal(result, one_by_one(images, lambda x, n: x if unchanged[n] else function(x, value[n])))
    assert changed_samples(result, images)[~unchanged].all()


def test_random_equalize_autocontrast_read_pixels_of_preceding_op():
    images = batch()
    result = T.Compose([T.RandomPosterize(3, 1.0), T.RandomEqualize(1.0), T.RandomAutocontrast(1.0)], seed=0)(images)
    np.testing.assert_array_equal(result, cuaug.autocontrast(cuaug.equalize(cuaug.posterize(images, 3))))


def test_random_autocontrast_unselected_keeps_values_out_of_range():
    images = np.array([np.nan, -3.0, 7.5, np.inf], np.float32).reshape(1, 2, 2, 1)
    np.testing.assert_array_equal(T.Compose([T.RandomAutocontrast(0.0)])(images), images)


@pytest.mark.parametrize("channels", [1, 3])
def test_grayscale_equals_function(channels):
    images = batch()
    result, _ = apply_with_params(T.Grayscale(channels), images)
    assert_near(result, cuaug.rgb_to_grayscale(images, channels), 0)
    restored, _ = apply_with_params(T.Compose([T.Grayscale(1), T.RandomInvert(1.0), T.Grayscale(3)]), images)
    np.testing.assert_array_equal(restored, 255 - cuaug.rgb_to_grayscale(images, 3))


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_gaussian_noise_transform_equals_function(dtype):
    images, ids = batch(dtype, 4), np.array([0, 5, 2**40 + 3, 2**31])
    aug = T.Compose([T.GaussianNoise(0.05, 0.2, clip=False)], seed=2**61 + 12345)
    result = aug(images, ids=ids, step=2**31 + 7)
    options = {"clip": False, "seed": 2**61 + 12345, "step": 2**31 + 7}
    expected = one_by_one(images, lambda x, n: cuaug.gaussian_noise(x, 0.05, 0.2, ids=int(ids[n]), **options))
    np.testing.assert_array_equal(result, expected)
    assert changed_samples(aug(images, ids=ids, step=1), result).all()


def test_elastic_transform_displacements_are_uniform():
    """A bilinear warp of ramps shows the displacements, which without a Gaussian are the noise itself."""
    y, x = np.mgrid[:120, :121].astype(np.float32)
    ramps = np.broadcast_to(np.stack([x, y], -1), (3, 120, 121, 2))
    result, _ = apply_with_params(T.ElasticTransform((6.0, 14.0), 0.0), ramps)
    noise = (result - ramps)[:, 8:-8, 8:-8] / [3.0, 7.0]  # half of alpha: torchvision's coordinates span -1..1
    for values in noise.reshape(-1, 2).T:
        assert stats.kstest(values, stats.uniform(-1, 2).cdf).pvalue > 1e-4
    across, down = noise[..., 0], noise[..., 1]
    for a, b in (
        (across, down),
        (across[0], across[1]),
        (across[:, :, 1:], across[:, :, :-1]),
        (down[:, 1:], down[:, :-1]),
    ):
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 4 / np.sqrt(a.size)


def test_elastic_transform_takes_sequences_of_one_number_and_a_sigma_of_0():
    """Without smoothing along an axis the result is that of a sigma far below a pixel."""
    images = batch("float32")

    def displaced(**arguments):
        return T.Compose([T.ElasticTransform(**arguments)], seed=1)(images, step=0)

    expected = displaced(alpha=40.0, sigma=2.0)
    np.testing.assert_array_equal(displaced(alpha=[40.0], sigma=(2.0,)), expected)
    for sigma, near_sigma in (((2.0, 0.0), (2.0, 1e-3)), ((0.0, 2.0), (1e-3, 2.0))):
        result = displaced(alpha=40.0, sigma=sigma)
        np.testing.assert_array_equal(result, displaced(alpha=40.0, sigma=near_sigma))
        assert not np.array_equal(result, expected)


def test_antialias_none_is_false():
    images = batch("float32")
    for resize in (
        lambda value: cuaug.resize(images, 5, antialias=value),
        lambda value: cuaug.resized_crop(images, 0, 0, 9, 8, 5, antialias=value),
        lambda value: T.Compose([T.Resize(5, antialias=value)], seed=1)(images),
        lambda value: T.Compose([T.RandomResizedCrop(5, antialias=value)], seed=1)(images),
        lambda value: T.Compose([T.ScaleJitter((9, 9), antialias=value)], seed=1)(images)[0],
        lambda value: T.Compose([T.RandomShortestSize(5, antialias=value)], seed=1)(images)[0],
        lambda value: T.Compose([T.RandomResize(5, 6, antialias=value)], seed=1)(images)[0],
    ):
        np.testing.assert_array_equal(resize(None), resize(False))
        assert not np.array_equal(resize(None), resize(True))


def test_elastic_transform_video_has_one_field():
    """All frames are displaced alike, and like a single image with the clip's id."""
    clips = np.repeat(batch("float32", 2)[:, None], 3, 1)
    aug = T.Compose([T.ElasticTransform(300.0, 3.0)], seed=1)
    result, single = aug(clips, layout="NTHWC", step=0), aug(clips[:, 0], step=0)
    for t in range(3):
        np.testing.assert_array_equal(result[:, t], single)


def test_elastic_transform_ragged_masks_follow_fields():
    images, aug = batch(samples=4), T.Compose([T.ElasticTransform(300.0, 3.0)], seed=1)
    masks = images[..., 0]
    _, batch_masks = aug(images, masks, step=0, ids=9)
    _, listed = aug(images, list(masks), step=0, ids=9)
    assert changed_samples(batch_masks, masks).all()
    np.testing.assert_array_equal(np.stack(listed), batch_masks)


@pytest.mark.parametrize("transform", [T.ElasticTransform(300.0, 3.0), T.AugMix()], ids=repr)
def test_transforms_fields_and_branches_survive_json(transform):
    images = batch(samples=6)
    result, params = apply_with_params(transform, images, ids=2**40)
    other = T.Compose([transform], seed=8)
    restored = other.params_from_dict(json.loads(json.dumps(params.to_dict())), images)
    np.testing.assert_array_equal(other.apply(images, restored), result)
    assert changed_samples(other(images), result).all()


def test_params_matrices_unavailable_without_matrix():
    images = batch(samples=2)
    aug = T.Compose([T.RandomHorizontalFlip(), T.ElasticTransform()], seed=1)
    params = aug.draw(images)
    with pytest.raises(ValueError, match=r"params.matrices do not describe .*: ElasticTransform has no matrix"):
        _ = params.matrices
    with pytest.raises(
        ValueError, match=r"cuaug.transforms.Compose.inverse: images cannot be moved back .*: ElasticTransform"
    ):
        aug.inverse(images, params)
    for kind, last in (("boxes", 4), ("keypoints", 2)):
        with pytest.raises(ValueError, match=rf"{kind} must not be given .* \(ElasticTransform\)"):
            aug(images, **{kind: np.zeros((2, 1, last))})
    assert aug(images, images[..., 0])[1].shape == (2, H, W)
    mixed = T.Compose([T.AugMix()], seed=1)
    for kind, value in (("masks", images[..., 0]), ("boxes", np.zeros((2, 1, 4))), ("keypoints", np.zeros((2, 1, 2)))):
        with pytest.raises(ValueError, match=rf"{kind} must not be given where branches are blended \(AugMix\)"):
            mixed(images, **{kind: value})
    with pytest.raises(ValueError, match=r"AugMix has no matrix"):
        _ = mixed.draw(images).matrices
    np.testing.assert_array_equal(mixed(images, labels=np.array([1, 2]))[1], [1, 2])


@pytest.mark.parametrize(
    ("transform", "uses_position"),
    [
        (T.ColorJitter(0.4, 0.4, 0.4, 0.1), False),
        (T.RandomGrayscale(0.5), False),
        (T.RandomMask(1.0, "pixels", 0.3, 2), True),
        (T.RandomMask(1.0, "grid", 0.3, 9), True),
    ],
    ids=repr,
)
def test_transforms_without_position_commute_with_rearrangement(transform, uses_position):
    """Checks `uses_position` of functors that no public function applies.

    Where it is false, kernels may split the pixels into rows of another length.
    """

    def rearranged(images):
        return images.reshape(N, -1, C)[:, ::-1].reshape(N, 2 * H, 23, C)

    images, aug = batch("float32")[:, :, :46], T.Compose([transform], seed=7)
    expected, result = rearranged(aug(images, step=3)), aug(rearranged(images), step=3)
    if uses_position:
        assert changed_samples(result, expected).all()
    else:
        assert_near(result, expected)


def test_random_mask_drops_whole_squares():
    images = batch(samples=400)
    result, params = apply_with_params(T.RandomMask(0.5, "pixels", 0.3, 4, value=(1, 2, 3)), images)
    hidden = (result == (1, 2, 3)).all(-1)
    np.testing.assert_array_equal(result[~hidden], images[~hidden])
    cells = hidden[:, ::4, ::4]
    np.testing.assert_array_equal(cells.repeat(4, 1).repeat(4, 2)[:, :H, :W], hidden)
    share = column(params, "share")
    assert set(share) == {0.0, 0.3}
    assert not cells[share == 0].any()
    assert abs(cells[share > 0].mean() - 0.3) < 0.01
    deviations = cells[share > 0].astype(float) - cells[share > 0].mean()
    assert abs((deviations[:, 1:] * deviations[:, :-1]).mean()) < 0.01  # neighbours are independent
    assert abs((deviations[1:] * deviations[:-1]).mean()) < 0.01  # samples are independent


def test_random_mask_grid_follows_offset():
    images = batch()
    result, params = apply_with_params(T.RandomMask(0.5, "grid", 0.25, 10, value=7), images)
    side = column(params, "side")
    assert set(side) == {0.0, 5.0}
    y, x = np.mgrid[:H, :W]
    top, left = (column(params, name)[:, None, None] for name in ("top", "left"))
    hidden = ((y + top) % 10 < side[:, None, None]) & ((x + left) % 10 < side[:, None, None])
    np.testing.assert_array_equal(result, np.where(hidden[..., None], 7, images))
    assert len(set(top.ravel())) > 5


def test_mixup_equals_functions():
    images, labels = batch(), np.arange(N) % 5
    result, params = apply_with_params(T.MixUp(alpha=0.4, num_classes=5), images)
    lam = column(params, "lam")
    assert len(set(lam)) == N
    assert_near(result, cuaug.mixup(images, lam))
    shares = T.mixed_labels(params, labels)
    one_hot, partners = np.eye(5)[labels], np.eye(5)[np.roll(labels, 1)]
    np.testing.assert_allclose(shares, lam[:, None] * one_hot + (1 - lam[:, None]) * partners, atol=1e-6)


def test_cutmix_labels_are_shares_of_pixels():
    images = np.broadcast_to(np.arange(N, dtype=np.uint8)[:, None, None, None], (N, H, W, 1)).copy()
    result, params = apply_with_params(T.CutMix(num_classes=N), images)
    box = [column(params, name) for name in ("top", "left", "height", "width")]
    np.testing.assert_array_equal(result, cuaug.cutmix(images, *box))
    kept_share = (result == images).mean((1, 2, 3))
    np.testing.assert_allclose(column(params, "lam"), kept_share, atol=1e-12)
    np.testing.assert_allclose(T.mixed_labels(params, np.arange(N)).diagonal(), kept_share, atol=1e-6)


def test_mixup_cutmix_labels_follow_repeated_mixing():
    images = np.eye(N, dtype=np.float32)[:, None, None, :]  # each channel is a class: pixels and labels mix alike
    mixing = T.MixUp(num_classes=N)
    members = [mixing, T.RandomApply([mixing], 0.5), T.RandomApply([mixing], 0.0)]
    result, params = apply_with_params(T.Compose(members), images)
    np.testing.assert_allclose(T.mixed_labels(params, np.arange(N)), result[:, 0, 0], atol=1e-6)
    unmixed, params = apply_with_params(members[2], images)
    np.testing.assert_array_equal(unmixed, images)
    np.testing.assert_array_equal(T.mixed_labels(params, np.arange(N)), np.eye(N))
    _, params = apply_with_params(T.Identity(), images)
    assert T.mixed_labels(params, "as they came") == "as they came"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: T.RandomApply(T.Identity()), TypeError, "transforms must be a list"),
        (lambda: T.RandomOrder([abs, 3]), TypeError, "every transform must be a transform or a function, got 3"),
        (lambda: T.RandomApply([T.Identity()], p=1.5), ValueError, "p must be in"),
        (lambda: T.RandomChoice([T.Identity()], p=[1, 2]), ValueError, "one weight for each of the 1"),
        (lambda: T.RandomChoice([T.Identity()], p=[0]), ValueError, "one weight for each"),
        (lambda: T.RandomChoice([T.Identity()], p=[-1]), ValueError, "p must be at least 0"),
        (lambda: T.RandomAutocontrast(2), ValueError, "p must be in"),
        (lambda: T.RandomEqualize("x"), TypeError, "p must be a finite number"),
        (lambda: T.RandomAdjustSharpness(-1), ValueError, "sharpness_factor must be at least 0"),
        (lambda: T.GaussianNoise(sigma=-0.1), ValueError, "sigma must be at least 0"),
        (lambda: T.ElasticTransform(alpha="x"), TypeError, "alpha must be a finite number"),
        (lambda: T.ElasticTransform(sigma=-1), ValueError, "sigma must be at least 0"),
        (lambda: T.ElasticTransform(sigma=15.875), ValueError, "sigma must be below 15.875"),
        (lambda: T.ElasticTransform(sigma=1e308), ValueError, "sigma must be below 15.875"),
        (lambda: T.ElasticTransform(interpolation="lanczos"), ValueError, "interpolation must be one of"),
        (lambda: T.Grayscale(2), ValueError, "num_output_channels must be 1 or 3"),
        (lambda: T.RandomMask(kind="round"), ValueError, "kind must be one of"),
        (lambda: T.RandomMask(share=1.1), ValueError, "share must be in"),
        (lambda: T.RandomMask(size=0), ValueError, "size"),
        (lambda: T.RandomMask(kind="grid", share=0.01, size=3), ValueError, "size must leave squares"),
        (lambda: T.MixUp(alpha=0), ValueError, "alpha must be greater than 0"),
        (lambda: T.CutMix(num_classes=0), ValueError, "num_classes"),
        (lambda: T.RandAugment(magnitude=31), ValueError, "magnitude must be below num_magnitude_bins"),
        (lambda: T.RandAugment(num_ops=0), ValueError, "num_ops"),
        (lambda: T.AugMix(severity=11), ValueError, r"severity must be at most 10, got 11"),
        (lambda: T.AugMix(mixture_width=9), ValueError, "mixture_width must be at most 8, got 9"),
        (lambda: T.AugMix(alpha=0), ValueError, "alpha must be greater than 0"),
        (lambda: T.TrivialAugmentWide(1), ValueError, "num_magnitude_bins"),
        (lambda: T.AutoAugment("cifar"), ValueError, "policy must be one of"),
        (lambda: T.RandAugment(interpolation="cubic"), ValueError, "interpolation must be one of"),
        (lambda: T.RandomAffine(10, interpolation="area"), ValueError, "interpolation must be one of 'nearest'"),
        (lambda: T.Resize(8, interpolation=2), TypeError, "numbers of Pillow and OpenCV differ"),
        (lambda: T.Resize(224.0), TypeError, "size must be an int or a list of ints, got 224.0"),
        (lambda: T.Resize((8, 9, 3)), ValueError, r"size must be an int or \(H, W\), got"),
        (lambda: T.Resize(8, max_size=8), ValueError, "max_size must be greater than size"),
        (lambda: T.CenterCrop(8.0), TypeError, "size must be an int or a list of ints"),
        (lambda: T.Pad(1.5), TypeError, "padding must be an int or a list of ints, got 1.5"),
        (lambda: T.Normalize("x", 1), TypeError, "mean must be a finite number"),
        (lambda: T.Normalize(0, [1, None]), TypeError, "std must be a finite number"),
    ],
)
def test_transforms_reject_invalid_arguments(make, error, message):
    with pytest.raises(error, match=message):
        make()


POLICIES = [
    T.RandAugment(),
    T.TrivialAugmentWide(),
    T.AugMix(),
    *(T.AutoAugment(name) for name in ("imagenet", "cifar10", "svhn")),
]
OTHER_TRANSFORMS = [T.RandomEqualize(1.0), T.RandomOrder(EFFECTIVE[:3]), T.RandomChoice(EFFECTIVE[-3:]), T.Grayscale(1)]


@pytest.mark.gpu
@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("transform", [*EFFECTIVE, *POLICIES, *OTHER_TRANSFORMS], ids=repr)
def test_transforms_gpu_equals_cpu(transform, library):
    images = batch()
    expected = T.Compose([transform], seed=3)(images, ids=11)
    result = T.Compose([transform], seed=3)(put(images, (library, "cuda")), ids=11, layout="NHWC")
    halfway = "the nearest pixel is another one where a coordinate is halfway between two"
    tolerance = Tolerance(absolute=1, beyond=0.005, reason=halfway)
    dtype = str(expected.dtype)
    assert_equal(result, expected, library=library, device="cuda:0", dtype=dtype, tolerance=tolerance)
