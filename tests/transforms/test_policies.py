"""RandAugment, TrivialAugmentWide, AutoAugment and AugMix: each sample equals the drawn functions' result."""

import math
from enum import Enum

import numpy as np
import pytest
from helpers.transforms import H, W, apply_with_params, assert_near, batch, changed_samples, column, one_by_one
from scipy import stats

import cuaug
from cuaug import transforms as T
from cuaug.transforms import magnitudes, policy_tables

RANDAUGMENT_OPS = [
    *("Identity", "ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color", "Contrast"),
    *("Sharpness", "Posterize", "Solarize", "AutoContrast", "Equalize"),
]
OP_FUNCTIONS = {  # from torchvision's transforms/v2/_auto_augment.py: the effect of a drawn magnitude
    "ShearX": lambda x, m: cuaug.affine(x, 0.0, (0, 0), 1.0, (m, 0.0), interpolation="nearest", center=(0, 0), fill=9),
    "ShearY": lambda x, m: cuaug.affine(x, 0.0, (0, 0), 1.0, (0.0, m), interpolation="nearest", center=(0, 0), fill=9),
    "TranslateX": lambda x, m: cuaug.affine(x, 0.0, (m, 0), 1.0, (0.0, 0.0), interpolation="nearest", fill=9),
    "TranslateY": lambda x, m: cuaug.affine(x, 0.0, (0, m), 1.0, (0.0, 0.0), interpolation="nearest", fill=9),
    "Rotate": lambda x, m: cuaug.rotate(x, m, interpolation="nearest", fill=9),
    "Brightness": cuaug.adjust_brightness,
    "Color": cuaug.adjust_saturation,
    "Contrast": cuaug.adjust_contrast,
    "Sharpness": cuaug.adjust_sharpness,
    "Posterize": cuaug.posterize,
    "Solarize": cuaug.solarize,
    "Identity": lambda x, _: x,
    "AutoContrast": lambda x, _: cuaug.autocontrast(x),
    "Equalize": lambda x, _: cuaug.equalize(x),
    "Invert": lambda x, _: cuaug.invert(x),
}
FACTORS = "Brightness", "Color", "Contrast", "Sharpness"
OPS_WITHOUT_MAGNITUDE = ("Identity", "AutoContrast", "Equalize", "Invert")


def apply_slot(images, params, position, names):
    """The images after one slot: each sample's op as a function call with its drawn magnitude."""
    op = column(params, "op", position).astype(int)

    def expected(x, n):
        if op[n] < 0:  # none
            return x
        name = names[op[n]]
        return OP_FUNCTIONS[name](
            x, None if name in OPS_WITHOUT_MAGNITUDE else float(column(params, name, position)[n])
        )

    return one_by_one(images, expected)


def test_randaugment_equals_drawn_functions():
    images = batch(samples=120)
    result, params = apply_with_params(T.RandAugment(fill=9), images)
    first_slot = apply_slot(images, params, 0, RANDAUGMENT_OPS)
    assert_near(result, apply_slot(first_slot, params, 1, RANDAUGMENT_OPS), 2)  # rounded once per slot
    first, params = apply_with_params(T.RandAugment(num_ops=1, magnitude=20, fill=9), images)
    assert_near(first, apply_slot(images, params, 0, RANDAUGMENT_OPS))
    assert set(column(params, "op").astype(int)) == set(range(14))
    assert len(params.plan.passes) == 1


def test_trivial_augment_equals_drawn_functions():
    images = batch(samples=200)
    result, params = apply_with_params(T.TrivialAugmentWide(fill=9), images)
    assert set(column(params, "op").astype(int)) == set(range(14))
    expected = apply_slot(images, params, 0, RANDAUGMENT_OPS)
    assert_near(result, expected)
    without_rounding = ("Identity", "Posterize", "Solarize", "AutoContrast", "Equalize")
    is_exact = np.isin(column(params, "op"), [RANDAUGMENT_OPS.index(name) for name in without_rounding])
    np.testing.assert_array_equal(result[is_exact], expected[is_exact])


def pass_kinds(plan):
    """The first ops, the overrides and the chain of each pass."""
    return [
        [[type(op).__name__ for op in ops] for ops in (pass_.first_ops, pass_.overrides)]
        + [[op.functor for op in pass_.chain]]
        for pass_ in plan.passes
    ]


def test_policy_slot_is_one_pass_with_following_ops():
    """One sample is never both moved and sharpened, or both sharpened and equalized, so one pass suffices."""
    images, policy = batch(samples=200), T.TrivialAugmentWide(fill=9)
    aug = T.Compose([policy, T.ToDtype("float32", scale=True)], seed=7)
    colours = ["AdjustBrightness", "AdjustSaturation", "Posterize", "Solarize"]
    assert pass_kinds(aug.draw(images).plan) == [
        [["CoordinateMap", "CoordinateMap"], ["Sharpen", "HistogramLut"], colours]
    ]
    plan = aug.plan(images)
    assert (len(plan.passes), plan.launches) == (1, 3)  # the pass, the draws, and the histogram
    params = aug.draw(images, step=3)
    result, rounded = aug.apply(images, params), T.Compose([policy], seed=7)(images, step=3)
    # The other ops give whole levels, which the conversion to float32 keeps.
    has_fractions = np.isin(column(params, "op"), [RANDAUGMENT_OPS.index(name) for name in ("Brightness", "Color")])
    difference = np.abs(result * 255 - rounded)
    assert difference[~has_fractions].max() < 1e-4
    assert 0.4 < difference[has_fractions].max() < 0.5001  # rounded once, as float32


def test_policy_and_independent_filters_are_separate_passes():
    plan = T.Compose([T.TrivialAugmentWide(), T.RandomEqualize(), T.RandomAdjustSharpness(2.0)]).plan(size=(9, 9))
    assert [pass_.transforms for pass_ in plan.passes[1:]] == [("RandomEqualize",), ("RandomAdjustSharpness",)]


def test_random_choice_of_filters_and_moves_is_one_pass():
    """One pass, because each sample gets one entry; ops that are drawn independently have passes of their own."""
    entries = [T.RandomEqualize(1.0), T.RandomAdjustSharpness(2.0, 1.0), T.RandomRotation(30)]
    entries.append(T.RandomHorizontalFlip(1.0))
    images, aug = batch(samples=40), T.Compose([T.RandomChoice(entries), T.ToDtype("float32", scale=True)], seed=1)
    (only,) = pass_kinds(aug.draw(images).plan)
    assert only == [["CoordinateMap", "CoordinateMap"], ["HistogramLut", "Sharpen"], ["Rescale"]]
    params = aug.draw(images)
    result, chosen = aug.apply(images, params), column(params, "chosen").astype(int)
    assert set(chosen) == {0, 1, 2, 3}
    rotated = cuaug.rotate(images, column(params, "angle"))
    expected = cuaug.equalize(images), cuaug.adjust_sharpness(images, 2.0), rotated, cuaug.hflip(images)
    for i, expected_image in enumerate(expected):
        assert_near(np.rint(255 * result[chosen == i]).astype(np.uint8), expected_image[chosen == i])
    separate = T.Compose([T.RandomApply([entries[0]], 0.5), T.RandomApply([entries[1]], 0.5)])
    assert len(pass_kinds(separate.draw(images).plan)) == 2


def test_policy_in_random_apply_changes_selected_samples_only():
    images = batch()
    for policy in (T.RandAugment(), T.TrivialAugmentWide(), T.AutoAugment("cifar10"), T.AugMix()):
        result, params = apply_with_params(T.RandomApply([policy], p=0.5), images)
        unselected = column(params, "apply", 0) == 0
        np.testing.assert_array_equal(result[unselected], images[unselected])
        assert changed_samples(result, images)[~unselected].mean() > 0.5


def shares_of(params):
    """Shares of the image and of its chains, per sample. [N, 1 + chains]"""
    shares, remainder = [], np.ones(params.samples)
    for i in range(sum(".AugMix.share_" in name for name in params.names)):
        shares.append(remainder * column(params, f"share_{i}"))
        remainder = remainder - shares[-1]
    return np.stack([*shares, remainder], 1)


def op_positions(params):
    """Positions in the recipe of the slots that draw an op, in order."""
    return sorted(int(name.split(".")[0]) for name in params.names if name.endswith(".op"))


def mixture(images, params, chains, names):
    """The mixture of the functions' results in float64, rounded once; each slot's result has its own rounding."""
    positions = op_positions(params)
    shares = shares_of(params)[..., None, None, None]
    total = shares[:, 0] * images
    for i, chain in enumerate(np.reshape(positions, (chains, -1)), 1):
        result = images
        for position in chain:
            result = apply_slot(result, params, position, names)
        total = total + shares[:, i] * result
    return np.rint(total).astype(np.uint8)


@pytest.mark.parametrize("all_ops", [True, False])
def test_augmix_equals_drawn_functions(all_ops):
    images = batch(samples=150)
    names = RANDAUGMENT_OPS[1:] if all_ops else [name for name in RANDAUGMENT_OPS[1:] if name not in FACTORS]
    options = {"severity": 10, "all_ops": all_ops, "interpolation": "nearest", "fill": 9}
    result, params = apply_with_params(T.AugMix(mixture_width=2, chain_depth=1, **options), images)
    assert_near(result, mixture(images, params, 2, names))
    op = np.concatenate([column(params, "op", position) for position in op_positions(params)])
    assert set(op.astype(int)) == set(range(len(names)))
    result, params = apply_with_params(T.AugMix(**options), images)
    expected = mixture(images, params, 3, names)
    difference = np.abs(result.astype(int) - expected)
    assert (difference <= 1).mean() > 0.999  # a difference of one level grows when later ops stretch or truncate levels
    assert changed_samples(result, images).mean() > 0.9


@pytest.mark.parametrize(("alpha", "width"), [(1.0, 3), (0.4, 2), (3.0, 5), (1.0, 1)])
def test_augmix_shares_are_beta_and_dirichlet(alpha, width):
    _, params = apply_with_params(
        T.AugMix(alpha=alpha, mixture_width=width, chain_depth=1), np.zeros((5000, 1, 1, 1), np.uint8)
    )
    shares = shares_of(params)
    np.testing.assert_allclose(shares.sum(1), 1, atol=1e-12)
    assert stats.kstest(shares[:, 0], stats.beta(alpha, alpha).cdf).pvalue > 1e-4
    if width == 1:
        return
    normalized = shares[:, 1:] / shares[:, 1:].sum(1, keepdims=True)
    for share in normalized.T:
        assert stats.kstest(share, stats.beta(alpha, alpha * (width - 1)).cdf).pvalue > 1e-4
        assert abs(stats.spearmanr(shares[:, 0], share).statistic) < 4 / np.sqrt(5000)
    if width > 2:  # a share divided by the sum of two is Beta, and independent of the sum
        pair_sum = normalized[:, -1] + normalized[:, -2]
        ratio = normalized[:, -1] / pair_sum
        assert stats.kstest(ratio, stats.beta(alpha, alpha).cdf).pvalue > 1e-4
        assert abs(stats.spearmanr(ratio, pair_sum).statistic) < 4 / np.sqrt(5000)


def test_augmix_depths_ops_and_magnitudes_equal_torchvision():
    images = np.zeros((4000, 1, 100, 1), np.uint8)
    _, params = apply_with_params(T.AugMix(severity=4), images)
    positions = op_positions(params)
    depths = [name for name in params.names if name.endswith(".depth")]
    for chain, depth in zip(np.reshape(positions, (3, 3)), depths, strict=True):
        depth = np.asarray(params[depth])
        np.testing.assert_allclose(np.bincount(depth.astype(int), minlength=4)[1:] / len(images), 1 / 3, atol=0.03)
        ops = np.stack([column(params, "op", position) for position in chain], 1)
        np.testing.assert_array_equal(ops >= 0, np.arange(3) < depth[:, None])
        np.testing.assert_allclose(np.bincount(ops[:, 0].astype(int)) / len(images), 1 / 13, atol=0.02)
    op = column(params, "op", positions[0])
    table = torch_tables(10, 0.3, (1 / 3, 100 / 3), 30.0, 0.9, 4, max_bits=4)
    for name, values in table.items():
        actual = column(params, name, positions[0])[op == RANDAUGMENT_OPS[1:].index(name)]
        values = [255 * v for v in values[:4]] if name == "Solarize" else values[:4]
        signs = (1,) if name in ("Posterize", "Solarize") else (1, -1)
        assert set(actual) == {float(name in FACTORS) + s * v for v in values for s in signs}, name


@pytest.mark.parametrize("policy", ["imagenet", "cifar10", "svhn"])
def test_autoaugment_equals_drawn_functions(policy):
    images = batch(samples=200)
    result, params = apply_with_params(T.AutoAugment(policy, fill=9), images)
    first_slot = apply_slot(images, params, 0, names_of(policy, 0))
    assert_near(result, apply_slot(first_slot, params, 1, names_of(policy, 1)), 2)  # rounded once per slot


def names_of(policy, position):
    """The ops of the policy's first or second slot, in the order of their drawn numbers."""
    return list(dict.fromkeys(["Identity", *(pair[position].op for pair in policy_tables.POLICIES[policy])]))


def torch_tables(bins, shear, shift, angle, factor, bits, max_bits=8):
    """torchvision's magnitude tables, in torch's arithmetic."""
    torch = pytest.importorskip("torch")
    shears = [math.degrees(math.atan(m)) for m in torch.linspace(0.0, shear, bins).tolist()]
    factors = torch.linspace(0.0, factor, bins).tolist()
    return {
        **dict.fromkeys(("ShearX", "ShearY"), shears),
        "TranslateX": [float(int(m)) for m in torch.linspace(0.0, shift[1], bins).tolist()],
        "TranslateY": [float(int(m)) for m in torch.linspace(0.0, shift[0], bins).tolist()],
        "Rotate": torch.linspace(0.0, angle, bins).tolist(),
        **dict.fromkeys(("Brightness", "Color", "Contrast", "Sharpness"), factors),
        "Posterize": (max_bits - (torch.arange(bins) / ((bins - 1) / bits))).round().tolist(),
        "Solarize": torch.linspace(1.0, 0.0, bins).tolist(),
    }


@pytest.mark.parametrize("bins", [2, 5, 10, 31, 61])
def test_policy_magnitudes_equal_torchvision(bins):
    for size in ((32, 32), (224, 331), (H, W), (640, 96)):
        expected = torch_tables(bins, 0.3, [150.0 / 331.0 * extent for extent in size], 30.0, 0.9, 4)
        assert magnitudes.standard_magnitudes(bins, size) == expected
        if bins == 10:
            expected = torch_tables(bins, 0.3, [extent / 3 for extent in size], 30.0, 0.9, 4, max_bits=4)
            assert magnitudes.augmix_magnitudes(size) == expected
    assert magnitudes.wide_magnitudes(bins) == torch_tables(bins, 0.99, (32.0, 32.0), 135.0, 0.99, 6)


def test_policy_magnitudes_have_either_sign():
    images = np.zeros((6000, 1, 331, 1), np.uint8)
    _, params = apply_with_params(T.TrivialAugmentWide(), images)
    table, op = torch_tables(31, 0.99, (32.0, 32.0), 135.0, 0.99, 6), column(params, "op")
    np.testing.assert_allclose(np.bincount(op.astype(int)) / len(images), 1 / 14, atol=0.015)
    for name, values in table.items():
        actual = column(params, name)[op == RANDAUGMENT_OPS.index(name)]
        neutral = 1.0 if name in FACTORS else 0.0  # magnitudes are added to it or subtracted from it
        values = [255 * v for v in values] if name == "Solarize" else values
        signed = name not in ("Posterize", "Solarize")
        assert set(actual) == {neutral + s * v for v in values for s in ((1, -1) if signed else (1,))}, name
        if signed:
            assert abs((actual < neutral).mean() - 0.5) < 0.08
    _, params = apply_with_params(T.RandAugment(1, magnitude=7, num_magnitude_bins=10), images)
    table = torch_tables(10, 0.3, (150.0 / 331.0, 150.0), 30.0, 0.9, 4)
    for name in ("ShearX", "TranslateX", "Rotate"):
        actual = column(params, name)[column(params, "op") == RANDAUGMENT_OPS.index(name)]
        assert set(actual) == {table[name][7], -table[name][7]}


@pytest.mark.parametrize("policy", ["imagenet", "cifar10", "svhn"])
def test_autoaugment_pairs_and_ops_have_their_probabilities(policy):
    pairs = policy_tables.POLICIES[policy]
    images = np.zeros((25000, 1, 1, 1), np.uint8)
    _, params = apply_with_params(T.AutoAugment(policy), images)
    pair = column(params, "pair").astype(int)
    np.testing.assert_allclose(np.bincount(pair, minlength=25) / len(images), 1 / 25, atol=0.006)
    applied = []
    for position in range(2):
        names, op = names_of(policy, position), column(params, "op", position).astype(int)
        for i, steps in enumerate(pairs):
            drawn_ops = op[pair == i]
            assert set(drawn_ops) <= {0, names.index(steps[position].op)}
            assert abs((drawn_ops != 0).mean() - steps[position].probability) < 0.07
        applied.append(op != 0)
    expected = np.mean([first.probability * second.probability for first, second in pairs])
    assert abs((applied[0] & applied[1]).mean() - expected) < 0.015  # independent of each other
    for position in range(2):
        op, names = column(params, "op", position).astype(int), names_of(policy, position)
        rotated = op == names.index("Rotate") if "Rotate" in names else np.zeros(len(op), bool)
        if rotated.any():
            angles = np.array([30 * (steps[position].magnitude or 0) / 9 for steps in pairs])
            np.testing.assert_allclose(
                np.abs(column(params, "Rotate", position)[rotated]), angles[pair[rotated]], atol=1e-5
            )


def test_autoaugment_policies_equal_torchvision():
    policies = pytest.importorskip("torchvision.transforms.v2")
    for name, pairs in policy_tables.POLICIES.items():
        expected = policies.AutoAugment(policies.AutoAugmentPolicy(name))._policies
        assert [tuple(map(tuple, pair)) for pair in pairs] == expected


def test_policy_accepts_torchvision_enumerations():
    policy, mode = (
        Enum("AutoAugmentPolicy", {"CIFAR10": "cifar10"}),
        Enum("InterpolationMode", {"BILINEAR": "bilinear"}),
    )
    assert T.AutoAugment(policy.CIFAR10).policy == "cifar10"
    assert T.RandAugment(interpolation=mode.BILINEAR).interpolation == "bilinear"


def test_augmix_rejects_several_depths():
    with pytest.raises(TypeError, match=r"^cuaug\.transforms\.AugMix: chain_depth must be an int, got an array"):
        T.AugMix(chain_depth=np.array([1, 2]))


def test_policy_rejects_float32():
    for transform in (T.RandAugment(), T.TrivialAugmentWide(), T.AutoAugment(), T.AugMix()):
        with pytest.raises(TypeError, match="images must be uint8, got float32"):
            T.Compose([transform])(batch("float32", 2))


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_policy_libraries_agree(library):
    module = pytest.importorskip(library)
    images = batch(samples=8)
    expected = T.Compose([T.RandAugment(), T.AugMix(), T.RandomMask(1.0), T.GaussianNoise()], seed=5)(images)
    other = module.from_numpy(images) if library == "torch" else module.numpy.asarray(images)
    result = T.Compose([T.RandAugment(), T.AugMix(), T.RandomMask(1.0), T.GaussianNoise()], seed=5)(
        other, layout="NHWC"
    )
    assert type(result) is type(other)
    np.testing.assert_array_equal(np.asarray(result), expected)
