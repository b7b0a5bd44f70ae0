"""mixup and cutmix of images and labels, against float64 NumPy."""

import numpy as np
import pytest
from helpers.arrays import (
    IMAGE_DTYPES,
    JAX,
    NUMPY,
    TORCH,
    backend_id,
    default_layout,
    device_of,
    every_backend,
    every_backend_slow_on_jax,
    from_layout,
    images,
    narrower_dtype,
    no_synchronization,
    noise,
    put,
    seeded,
    to_layout,
)
from helpers.compare import EXACT, assert_equal, to_numpy
from tables.row import TOLERANCES

import cuaug
from cuaug import transforms as T
from cuaug._arrays import convert as array_conversion

N, H, W, C = SHAPE = (5, 17, 11, 3)
PARTNER = np.array([3, 3, 0, 4, 4])
BOX = {"top": [-2, 3, 0, 16, 5], "left": [1, -1, 0, 10, 5], "height": [6, 4, 17, 9, 0], "width": [4, 30, 11, 9, 3]}


def blended(batch, lam, partner):
    lam = np.broadcast_to(lam, (len(batch),)).reshape(-1, 1, 1, 1)
    return lam * batch + (1 - lam) * batch[partner]


def pasted(batch, top, left, height, width, partner):
    out, (rows, columns) = batch.copy(), np.mgrid[: batch.shape[1], : batch.shape[2]]
    for n in range(len(batch)):
        inside = (rows >= top[n]) & (rows < top[n] + height[n]) & (columns >= left[n]) & (columns < left[n] + width[n])
        out[n][inside] = batch[partner[n]][inside]
    return out


def check(backend, dtype, op, layout=None, partner=PARTNER, convert=lambda value: value):
    layout = layout or default_layout(backend)
    batch = images(backend, dtype, layout, SHAPE)
    source = from_layout(to_numpy(batch), layout).astype(float)
    lam = seeded("lam").uniform(0, 1, N)
    partners = np.roll(np.arange(N), 1) if partner is None else partner
    partner_argument = None if partner is None else convert(partner)
    if op == "mixup":
        actual = cuaug.mixup(batch, convert(lam), partner_argument, layout=layout)
        expected = blended(source, lam, partners)
    else:
        actual = cuaug.cutmix(
            batch, *(convert(np.array(side)) for side in BOX.values()), partner_argument, layout=layout
        )
        expected = pasted(source, *BOX.values(), partners)
    assert_equal(
        actual,
        to_layout(expected, layout),
        library=backend[0],
        device=device_of(backend),
        dtype=dtype,
        tolerance=EXACT if op == "cutmix" else TOLERANCES[dtype],
    )


@every_backend
@pytest.mark.parametrize("dtype", IMAGE_DTYPES)
@pytest.mark.parametrize("op", ["mixup", "cutmix"])
def test_mixup_cutmix_equal_formula(op, dtype, backend):
    for layout in ("NCHW", "NHWC"):
        for partner in (PARTNER, None, np.arange(N)):
            check(backend, dtype, op, layout, partner)


@every_backend
@pytest.mark.parametrize("op", ["mixup", "cutmix"])
def test_mixup_cutmix_parameters_from_any_library(op, backend):
    for convert in (
        lambda v: v.tolist(),
        lambda v: put(v, ("torch", "cpu")),
        lambda v: put(v, backend, narrower_dtype(v) if backend[0] == "jax" else None),
    ):
        check(backend, "float32", op, convert=convert)


@every_backend_slow_on_jax
def test_mixup_cutmix_channels_views_and_videos(backend):
    for channels in (1, 2, 4, 5, 70):
        batch = images(backend, "float32", "NHWC", (4, 9, 14, channels))
        source = to_numpy(batch).astype(float)
        for view in (lambda a: a, lambda a: a[:, ::2, 1:-2]):
            blend = blended(view(source), 0.3, np.roll(np.arange(4), 1)).astype(np.float32)
            assert_equal(to_numpy(cuaug.mixup(view(batch), 0.3, layout="NHWC")), blend, tolerance=TOLERANCES["float32"])
    clips = noise((3, 2, 9, 14, 3))
    expected = pasted(clips.reshape(3, 18, 14, 3), [0] * 3, [2] * 3, [18] * 3, [5] * 3, [2, 0, 1]).reshape(clips.shape)
    actual = cuaug.cutmix(put(clips, backend), 0, 2, 9, 5, layout="NTHWC")
    assert_equal(to_numpy(actual), expected)


@every_backend
def test_mixup_cutmix_keep_batches_of_zero_and_one_samples(backend):
    batch = images(backend, "uint8")
    for partner in (None, 0, []):
        assert_equal(cuaug.mixup(batch[:0], 0.5, partner), batch[:0])
        assert_equal(cuaug.cutmix(batch[:0], 0, 0, 4, 4, partner), batch[:0])
    assert_equal(cuaug.mixup(batch[:1], 0.5), batch[:1])


@pytest.mark.gpu
def test_mixup_invalid_device_partner_leaves_sample():
    batch = images(("torch", "cuda"), "uint8")
    bad = put(np.array([7.0, np.nan, 1e30]), ("torch", "cuda"))
    assert_equal(cuaug.mixup(batch, 0.5, bad), batch)


@every_backend_slow_on_jax
def test_mix_labels_follow_images(backend):
    classes, lam = np.array([0, 2, 1, 2, 0]), seeded("labels").uniform(0, 1, N).astype(np.float32)
    one_hot = np.eye(3)[classes]
    for partner in (None, PARTNER):
        partner_labels = one_hot[np.roll(np.arange(N), 1) if partner is None else partner]
        expected = (lam[:, None] * one_hot + (1 - lam[:, None]) * partner_labels).astype(np.float32)
        for labels, options in ((classes.astype(np.int32), {"num_classes": 3}), (one_hot.astype(np.float32), {})):
            actual = cuaug.mix_labels(put(labels, backend), lam, partner, **options)
            assert_equal(to_numpy(actual), expected, tolerance=TOLERANCES["float32"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: cuaug.mixup(x, 1.5), r"lam must be in 0..1"),
        (lambda x: cuaug.mixup(x, [0.1, 0.2]), "must hold 1 or 5 entries"),
        (lambda x: cuaug.mixup(x, 0.5, [0, 1, 2, 3, 5]), r"partner must be in 0..4"),
        (lambda x: cuaug.mixup(x, 0.5, 0.5), r"partner must hold whole numbers in 0..4, got 0.5"),
        (lambda x: cuaug.cutmix(x, 0, 0, 1, float("inf")), "width must be a finite number"),
        (
            lambda x: cuaug.mix_labels(np.arange(5), 0.5),
            "num_classes must be an int if labels are class indices, got None",
        ),
        (lambda x: cuaug.mix_labels(np.zeros((5, 2, 2)), 0.5), r"labels must have shape"),
    ],
)
def test_mixup_cutmix_mix_labels_reject_invalid_arguments(call, message):
    with pytest.raises(ValueError, match=rf"cuaug\.\w+: .*{message}"):
        call(noise(SHAPE))


def test_mixup_rejects_label_images():
    with pytest.raises(TypeError, match=r"cuaug\.mixup: images must be one of uint8, .*, got int64"):
        cuaug.mixup(noise(dtype="int64"), 0.5)


@pytest.mark.parametrize("partner", [[0, 1, 2, 3, 5], [0, 1, 2, 3, -1], [0, 1, 2, 3, 0.5], [0, 1]])
def test_mix_labels_reject_partners_that_images_reject(partner):
    for partners in (partner, put(np.array(partner), ("torch", "cpu"))):
        with pytest.raises(ValueError, match=r"mix_labels: partner must (be in 0..4|hold 1 or 5|hold whole numbers)"):
            cuaug.mix_labels(np.eye(5), 0.5, partners)


@pytest.mark.gpu
def test_mix_labels_invalid_device_partner_leaves_labels():
    backend = ("torch", "cuda")
    one_hot = put(np.eye(3, dtype=np.float32), backend)
    assert_equal(cuaug.mix_labels(one_hot, 0.5, put(np.array([7.0, np.nan, 1e30]), backend)), one_hot)


def test_mix_labels_names_invalid_labels_and_lam():
    with pytest.raises(TypeError, match=r"cuaug.mix_labels: labels must be an array, got list"):
        cuaug.mix_labels([0, 1], 0.5, num_classes=2)
    with pytest.raises(TypeError, match=r"cuaug.mix_labels: lam must hold numbers, got None"):
        cuaug.mix_labels(np.eye(2), None)


@pytest.mark.parametrize("backend", [NUMPY, TORCH, JAX], ids=backend_id)
@pytest.mark.parametrize("bad", [-1, 3, 255, 1.5, float("nan")])
def test_mix_labels_reject_host_label_that_is_no_class(bad, backend):
    labels = put(np.array([0, bad, 2], np.int32 if isinstance(bad, int) else np.float32), backend)
    message = rf"^cuaug.mix_labels: labels must be whole numbers in 0..2 \(num_classes is 3\), sample 1 is {bad}$"
    with pytest.raises(ValueError, match=message):
        cuaug.mix_labels(labels, 0.5, num_classes=3)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32"])
def test_mix_labels_accept_every_class(dtype):
    for backend in (NUMPY, TORCH):
        labels = put(np.array([0, 1], dtype), backend)
        assert_equal(to_numpy(cuaug.mix_labels(labels, 1.0, num_classes=2)), np.eye(2, dtype=np.float32))
    assert cuaug.mix_labels(np.array([], np.int64), 0.5, num_classes=2).shape == (0, 2)


def test_mix_labels_accept_weights_of_zero():
    """A sample without a label has no weights."""
    assert_equal(cuaug.mix_labels(np.zeros((2, 3), np.float32), 0.5), np.zeros((2, 3), np.float32))


@pytest.mark.parametrize("transform", [T.MixUp, T.CutMix])
def test_mixup_cutmix_reject_host_label_that_is_no_class(transform):
    aug, batch = T.Compose([transform(num_classes=3)], seed=1), noise((3, 8, 8, 3))
    for labels in (np.array([0, 1, -1]), put(np.array([0, 1, 3]), TORCH)):
        calls = (lambda: aug(batch, labels=labels), lambda: T.mixed_labels(aug.draw(batch), labels))  # noqa: B023
        for call in calls:
            with pytest.raises(ValueError, match=r"^cuaug.mix_labels: labels .* \(num_classes is 3\), sample 2 is"):
                call()


# Samples 1 and 3 have labels that are no classes; the partner is the sample before, and 0 in the second case.
DEVICE_LABELS = np.array([0, -1, 2, 3, 1])
NAN_ROWS = {None: [1, 2, 3, 4], 0: [1, 3]}


def check_nan_rows(labels):
    for partner, rows in NAN_ROWS.items():
        actual = to_numpy(cuaug.mix_labels(labels, 0.75, partner, num_classes=3))
        one_hot = (DEVICE_LABELS[:, None] == np.arange(3)).astype(np.float32)
        expected = 0.75 * one_hot + 0.25 * (np.roll(one_hot, 1, 0) if partner is None else one_hot[partner])
        expected[rows] = np.nan
        assert_equal(actual, expected.astype(np.float32))


def test_mix_labels_unread_label_that_is_no_class_gives_nan(monkeypatch):
    labels, is_host = put(DEVICE_LABELS, TORCH), array_conversion.is_host
    monkeypatch.setattr(array_conversion, "is_host", lambda value: value is not labels and is_host(value))
    check_nan_rows(labels)


@pytest.mark.gpu
@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_mix_labels_device_label_that_is_no_class_gives_nan(library):
    labels = put(DEVICE_LABELS, (library, "cuda"))
    check_nan_rows(labels)
    if library == "torch":
        with no_synchronization():
            cuaug.mix_labels(labels, 0.75, num_classes=3)
