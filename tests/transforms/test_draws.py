"""Draws equal an independent reference, and do not depend on the batch, the device or the other transforms."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from helpers.draws import CANVAS, SEED, OneDraw, canvas, columns
from tables.draws import Words, draw_parameters, philox
from tables.transforms import DRAWN, ROWS

from cuaug import transforms as T
from cuaug._fusion import host_draws, program
from cuaug._fusion.recipe_ops import Column, Instruction
from cuaug.transforms.transform import Transform

# Random123's kat_vectors: counter, key, result.
KNOWN_ANSWERS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


class DrawAt(Transform):
    """A uniform number from one Philox block of one position."""

    def __init__(self, position, block):
        self.position, self.block = position, block

    def write(self, recipe):
        arguments = 0.0, 1.0, 0.0, 0.0  # as `cuaug::Opcode` lists them (kernels/draws/instruction.cuh)
        recipe.draws.append(Instruction("Uniform", [Column("a")], arguments, self.position, self.block))


@pytest.mark.parametrize(("counter", "key", "result"), KNOWN_ANSWERS)
def test_draws_reference_philox_equals_known_answers(counter, key, result):
    assert philox(counter, key) == result


# Without the key of 64 ones: a seed has 63 bits.
@pytest.mark.parametrize(("counter", "key", "result"), [known for known in KNOWN_ANSWERS if known[1][1] < 1 << 31])
def test_draws_library_philox_equals_known_answers(counter, key, result):
    """The counter holds block, position and the id's upper bits, the id's lower bits, step."""
    seed, sample = key[0] | key[1] << 32, counter[2] | (counter[1] >> 16) << 32
    drawn = columns([DrawAt(counter[1] & 0xFFFF, counter[0])], 1, seed=seed, ids=sample, step=counter[3])
    assert drawn["a"][0] == result[0] / 2**32


def test_draws_philox_uses_every_bit_of_seed_step_and_id():
    """Each single bit gives the reference's value, so no bit is lost or moved."""
    probe, values = [OneDraw("Uniform", ["a"], 0.0, 1.0, 0.0, 0.0)], set()
    bits = (
        [(1 << b, 0, 0) for b in range(63)] + [(0, 1 << b, 0) for b in range(32)] + [(0, 0, 1 << b) for b in range(48)]
    )
    for seed, step, sample in bits:
        value = columns(probe, 1, seed=seed, step=step, ids=sample)["0.OneDraw.a"][0]
        assert value == Words(seed, step, sample).uniform(), (seed, step, sample)
        values.add(value)
    assert len(values) == len(bits)


def reference(transform, step, sample, position=0):
    row = DRAWN[type(transform).__name__]
    return draw_parameters(row, transform, CANVAS, SEED, step, sample, position)


def assert_drawn(drawn, expected):
    """Compare every parameter that the reference has, for every sample."""
    for name in expected[0]:
        values = [sample[name] for sample in expected]
        np.testing.assert_allclose(drawn[name], values, rtol=0, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("transform", [t for row in ROWS for t in row.drawn()], ids=str)
def test_draws_equal_reference(transform):
    drawn = columns([transform], 300, step=5)
    assert_drawn(drawn, [reference(transform, 5, n) for n in range(300)])


def test_draws_position_is_its_own_stream():
    drawn = columns(
        [T.RandomHorizontalFlip(), T.ColorJitter(0.4), T.ColorJitter(0.4), T.Pad(2), T.GaussianBlur(3)], 100
    )
    for position, transform in ((1, T.ColorJitter(0.4)), (2, T.ColorJitter(0.4)), (4, T.GaussianBlur(3))):
        expected = [reference(transform, 0, n, position) for n in range(100)]
        assert_drawn(drawn, expected)


# A draw, its arguments as `cuaug::Opcode` lists them (kernels/draws/instruction.cuh), and the function of its values:
# `w(i)` are the random words of the transform's draw i.
KINDS = [
    (OneDraw("RandInt", ["a"], 7, 3, 0), lambda w: [3 + w(0).below(7)]),
    (OneDraw("Uniform", ["a"], -3.0, 9.0, 1.0, 0.0), lambda w: [round(w(0).uniform(-3, 9))]),
    (OneDraw("Bernoulli", ["a"], 0.25, 5.0, -1.0), lambda w: [5 if w(0).chance(0.25) else -1]),
    (OneDraw("Categorical", ["a"], 3, 0.2, 0.5, 1.0), lambda w: [w(0).choice([0.2, 0.3, 0.5])]),
    (OneDraw("Permutation", list("abcdefg"), 7), lambda w: w(0).permutation(7)),
    (OneDraw("Beta", ["a"], 0.4, 0.4, 1.0), lambda w: [w(0).beta(0.4, 0.4)]),
    (OneDraw("Beta", ["a"], 2.5, 1.0, 1.0), lambda w: [w(0).beta(2.5, 1.0)]),
    (OneDraw("Beta", ["a"], 0.05, 3.0, 1.0), lambda w: [w(0).beta(0.05, 3.0)]),
    (
        OneDraw("CutMixBox", list("abcd"), 61, 83, "first", before=[("Beta", ["lam"], 1.0, 1.0, 1.0)]),
        lambda w: [*w(1).cutmix_box(CANVAS, w(0).beta(1, 1))[0], w(1).cutmix_box(CANVAS, w(0).beta(1, 1))[1]],
    ),
]


@pytest.mark.parametrize(("transform", "reference"), KINDS, ids=lambda v: v.kind if isinstance(v, OneDraw) else "")
def test_draws_instruction_equals_reference(transform, reference):
    drawn = columns([transform], 500, step=9)
    names = [*transform.names, *(name for _, [name], *_ in transform.before)]
    expected = [reference(lambda i, n=n: Words(SEED, 9, n, 0, i)) for n in range(500)]
    actual = np.stack([drawn[f"0.OneDraw.{name}"] for name in names], 1)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-6)


RECIPE = [  # every transform gets images of size CANVAS, for which `reference` draws
    T.RandomResizedCrop(CANVAS),
    T.RandomHorizontalFlip(),
    T.RandomAffine(30, (0.2, 0.3), (0.5, 1.5), 9),
    T.ColorJitter(0.4, 0.4, 0.4, 0.2),
    T.RandomErasing(0.5),
]
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def canvas_on(device, samples):
    if device == "cpu":
        return canvas(samples)
    torch = pytest.importorskip("torch")
    return torch.zeros(samples, 3, *CANVAS, dtype=torch.uint8, device="cuda")


def draw_on(device, samples, **options):
    params = T.Compose(RECIPE, seed=SEED).draw(canvas_on(device, samples), **options)
    return {name: np.array(values) for name, values in params.to_dict()["drawn"].items()}


@pytest.mark.parametrize("device", DEVICES)
def test_draws_do_not_depend_on_batch(device):
    large = draw_on(device, 512, step=7)
    batches = {
        "four samples": (draw_on(device, 4, step=7), 3),
        "offset": (draw_on(device, 2, step=7, ids=2), 1),
        "ids": (draw_on(device, 3, step=7, ids=np.array([400, 3, 2**40])), 1),
        "alone": (draw_on(device, 1, step=7, ids=[3]), 0),
    }
    for case, (batch, row) in batches.items():
        for name, values in batch.items():
            assert values[row] == large[name][3], (case, name)
    assert any(values[0] != values[3] for values in large.values())


@pytest.mark.gpu
def test_draws_devices_agree():
    """Whole numbers are equal, others up to the rounding of a logarithm or an exponential."""
    for options in ({"step": 7}, {"step": 2**31 + 5, "ids": 2**40}):
        cpu, gpu = (draw_on(device, 3000, **options) for device in ("cpu", "cuda"))
        for name, values in cpu.items():
            np.testing.assert_allclose(gpu[name], values, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("size", [(1, 3), (7, 49), (224, 299), (511, 1021)])
def test_random_resized_crop_matrix_is_correctly_rounded(device, size):
    """The scales of the inverse matrix equal correctly rounded quotients; the draw program uses reciprocals."""
    params = (
        T.Compose([T.RandomResizedCrop(size, interpolation="nearest")], seed=SEED)
        .draw(canvas_on(device, 300))
        .to_dict()
    )
    drawn, matrix = params["drawn"], np.array(params["matrices"][0])
    for i, side, extent in ((0, "width", size[1]), (4, "height", size[0])):
        np.testing.assert_array_equal(matrix[:, i], np.array(drawn[f"0.RandomResizedCrop.{side}"]) / extent)


def test_draws_steps_count_calls():
    aug, images = T.Compose(RECIPE, seed=SEED), canvas(5)
    first, second = aug.draw(images).to_dict(), aug.draw(images).to_dict()
    assert aug.draw(images, step=0).to_dict() == first
    assert aug.state_dict() == {"seed": SEED, "step": 2}
    aug(np.zeros((1, *CANVAS, 3), np.uint8))
    assert aug.state_dict() == {"seed": SEED, "step": 3}
    assert first != second
    assert T.Compose(RECIPE, seed=SEED).draw(images, step=1).to_dict() == second


def test_draws_state_dict_resumes():
    aug, other, images = T.Compose(RECIPE, seed=SEED), T.Compose(RECIPE), canvas(5)
    for _ in range(3):
        aug.draw(images)
    other.load_state_dict(aug.state_dict())
    assert other.draw(images).to_dict() == aug.draw(images).to_dict()
    assert other.state_dict() == aug.state_dict()


def test_draws_without_seed_differ():
    images = canvas(5)
    assert T.Compose(RECIPE).draw(images).to_dict() != T.Compose(RECIPE).draw(images).to_dict()


@pytest.mark.parametrize(
    ("replaced", "other"),
    [
        (1, T.RandomHorizontalFlip(0.9)),
        (1, T.RandomPerspective(0.4)),
        (2, T.RandomAffine(5)),
        (3, T.ColorJitter(0.1)),
        (4, T.RandomErasing(0.1)),
    ],
    ids=str,
)
def test_draws_do_not_depend_on_neighbours(replaced, other):
    recipe = [*RECIPE[:replaced], other, *RECIPE[replaced + 1 :]]
    drawn = columns(recipe, 200)
    for position, transform in enumerate(recipe):
        expected = [reference(transform, 0, n, position) for n in range(200)]
        assert_drawn(drawn, expected)


def test_draws_probability_only_moves_threshold():
    """A sample that is flipped with p = 0.3 is also flipped with p = 0.6."""
    flips_30, flips_60 = (columns([T.RandomHorizontalFlip(p)], 2000)["0.RandomHorizontalFlip.flip"] for p in (0.3, 0.6))
    assert (flips_30 <= flips_60).all()
    assert flips_30.sum() < flips_60.sum()


def test_draws_of_no_samples_are_empty():
    drawn = columns(RECIPE, 0)
    assert drawn
    assert all(len(values) == 0 for values in drawn.values())


def phases_of(transforms):
    """The phases of a recipe's draws: draws of one phase do not depend on each other. And all draws in order."""
    written = []
    original = program._dependency_phases
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            program,
            "_dependency_phases",
            lambda draws: written.append(list(draws)) or original(written[-1]),
        )
        T.Compose(transforms).plan(size=(64, 64))
    return original(written[-1]), written[-1]


NESTED = T.RandomApply([T.RandomChoice([T.RandomRotation(9), T.RandomApply([T.RandomHorizontalFlip()], 0.5)])], 0.5)


@pytest.mark.parametrize(
    ("transforms", "count"),
    [
        ([T.RandomResizedCrop(24), T.ColorJitter(0.1, 0.1, 0.1, 0.1)], 1),
        ([T.RandomApply([T.RandomRotation(9)], 0.5) for _ in range(20)], 2),
        ([T.RandomResizedCrop(24), T.CutMix(num_classes=10)], 2),
        ([NESTED], 4),
        ([T.AugMix()], None),
    ],
)
def test_draws_begin_as_early_as_possible(transforms, count):
    """A draw is in a later phase than those it conflicts with, and conflicts with one of the phase before its own."""
    phases, draws = phases_of(transforms)
    assert count is None or len(phases) == count
    phase_of = {id(draw): i for i, phase in enumerate(phases) for draw in phase}
    assert sum(map(len, phases)) == len(draws)
    reads = {
        id(draw): {id(a) for a in draw.arguments if isinstance(a, Column)}
        | ({id(draw.gate.column)} if draw.gate else set())
        for draw in draws
    }
    # CutMixBox replaces the share that it reads by the share of its box in whole pixels.
    writes = {
        id(draw): {id(c) for c in draw.columns} | (reads[id(draw)] if draw.opcode == "CutMixBox" else set())
        for draw in draws
    }

    def conflict(first, second):
        return writes[id(first)] & (reads[id(second)] | writes[id(second)]) or reads[id(first)] & writes[id(second)]

    for i, first in enumerate(draws):
        for second in draws[i + 1 :]:
            assert not conflict(first, second) or phase_of[id(first)] < phase_of[id(second)]
    for earlier, phase in itertools.pairwise(phases):
        for second in phase:
            assert any(conflict(first, second) for first in earlier), second


def test_draws_of_the_host_are_those_of_their_repetition_in_concurrent_threads(monkeypatch):
    """A rejected crop is drawn again as repetition 1: the numbers of repetition 0 would be rejected again."""
    barrier, assemble = threading.Barrier(2, timeout=10), host_draws.assemble

    def assemble_in_both_threads(draws):
        program = assemble(draws)
        barrier.wait()
        return program

    ids = np.arange(3)
    draws, sequential = (host_draws.HostDraws(T.RandomIoUCrop().write_draws, "RandomIoUCrop", 0) for _ in range(2))
    expected = [sequential.table(ids, SEED, 0, repetition) for repetition in range(2)]
    assert not np.array_equal(*expected)
    monkeypatch.setattr(host_draws, "assemble", assemble_in_both_threads)
    with ThreadPoolExecutor(2) as pool:
        for repetition in range(2):
            for table in pool.map(lambda turn: draws.table(ids, SEED, 0, turn), [repetition] * 2):
                np.testing.assert_array_equal(table, expected[repetition])
