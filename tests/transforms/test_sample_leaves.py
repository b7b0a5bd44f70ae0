"""Samples of one structure have their images and targets at the same paths, which later calls read without a search."""

import collections
import gc
import itertools
import tracemalloc
import weakref

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image

from cuaug import transforms as T
from cuaug._arrays.pillow_library import PillowPixels
from cuaug.transforms import sample_leaves, sample_structure
from cuaug.transforms.sample_kinds import is_array
from cuaug.transforms.sample_leaves import leaves_of
from cuaug.transforms.sample_pillow import with_pixels
from cuaug.transforms.sample_search import find_leaves
from cuaug.transforms.sample_structure import parse_sample
from cuaug.transforms.sample_target import Crops

Pair = collections.namedtuple("Pair", "images labels")
KEYS = (*["image", "images", "masks", "boxes", "valid", "valid_other", "keypoints", "labels", "image_id", "other"], 0)
SCALARS = ("int", "float", "bool", "str", "none", "object")
DTYPES = ("uint8", "float32", "int64")

arrays = st.tuples(st.sampled_from(("numpy", "torch")), st.integers(0, 5), st.sampled_from(DTYPES))
numbers = st.tuples(st.just("numbers"), st.sampled_from(("int", "float", "mixed")), st.integers(0, 3))
pillow_images = st.tuples(st.just("pillow"), st.sampled_from(("RGB", "L", "P", "F")))
leaf_templates = arrays | pillow_images | numbers | st.sampled_from(SCALARS)


def containers(entries):
    """Templates of containers with entries of these templates."""
    sequences = st.tuples(st.sampled_from((list, tuple)), st.lists(entries, max_size=3))
    crops = st.tuples(st.just(Crops), st.lists(arrays | pillow_images, min_size=1, max_size=3))
    equal_entries = st.builds(lambda entry, count: (list, [entry] * count), entries, st.integers(1, 3))
    pairs = st.tuples(st.just(Pair), st.lists(entries, min_size=2, max_size=2))
    dicts = st.tuples(st.just(dict), st.dictionaries(st.sampled_from(KEYS), entries, max_size=4))
    return sequences | crops | equal_entries | pairs | dicts


templates = st.recursive(leaf_templates, containers, max_leaves=6)


def instance(template, rng):
    """A sample of this structure: sizes and values are random."""
    kind = template if isinstance(template, str) else template[0]
    if kind in ("numpy", "torch"):
        _, ndim, dtype = template
        array = rng.integers(0, 9, rng.integers(0, 4, ndim)).astype(dtype)
        return array if kind == "numpy" else torch.from_numpy(np.asarray(array))
    if kind == "pillow":
        return Image.new(template[1], tuple(map(int, rng.integers(1, 5, 2))))
    if kind == "numbers":
        _, number, rows = template
        row = [int(rng.integers(9)) if number != "float" else float(rng.random()) for _ in range(4)]
        return [[*row[:3], 0.5] if number == "mixed" else row for _ in range(rows)]
    if kind is dict:
        return {key: instance(entry, rng) for key, entry in template[1].items()}
    if kind in (list, tuple, Crops):
        return kind(instance(entry, rng) for entry in template[1])
    if kind is Pair:
        return Pair(*(instance(entry, rng) for entry in template[1]))
    scalars = (int(rng.integers(9)), float(rng.random()), bool(rng.integers(2)), str(rng.integers(9)), None, object())
    return scalars[SCALARS.index(kind)]


def outcome(find, sample):
    """Kind, paths and values of each leaf, or the error."""
    try:
        leaves = find(sample)
    except (TypeError, ValueError) as error:
        return type(error), str(error)
    return [(leaf.kind, leaf.paths, leaf.gathered, comparable(leaf.value)) for leaf in leaves]


def comparable(value):
    if isinstance(value, (list, tuple)):
        return type(value), [comparable(entry) for entry in value]
    if isinstance(value, np.ndarray):
        return type(value), value.dtype, value.shape, value.tobytes()
    return id(value)


def searched(sample):
    return find_leaves(with_pixels(sample))


@given(templates, st.integers(0, 2**32))
@example((Pair, [("torch", 4, "uint8"), "int"]), 0)
@example((list, [(dict, {"image": ("numpy", 3, "uint8"), "boxes": ("numpy", 2, "float32")})] * 2), 0)
@example((dict, {"image": ("numpy", 3, "uint8"), "boxes": ("numbers", "float", 2)}), 0)
def test_sample_leaves_are_those_of_a_search(template, seed):
    rng = np.random.default_rng(seed)
    sample_leaves._leaves_by_structure.clear()
    for _ in range(3):
        sample = instance(template, rng)
        assert outcome(leaves_of, sample) == outcome(searched, sample)


ARRAY, IMAGES, MASK, BOXES = (("torch", ndim, "uint8") for ndim in (3, 4, 2, 2))
LEAVES = [
    *itertools.product(("numpy", "torch"), range(6), ("uint8", "float32")),
    *itertools.product(("pillow",), ("RGB", "L")),
    *itertools.product(("numbers",), ("int", "float", "mixed"), range(3)),
    *SCALARS,
    (list, [ARRAY] * 2),
    (list, []),
    (dict, {"boxes": BOXES}),
]
BASES = [
    ARRAY,
    (list, [ARRAY, ARRAY]),
    (list, [ARRAY, "int"]),
    (tuple, [("pillow", "RGB"), ("pillow", "RGB")]),
    (tuple, [IMAGES, ("torch", 1, "int64")]),
    (tuple, [("pillow", "RGB"), ("torch", 1, "int64")]),
    (Pair, [ARRAY, "int"]),
    (dict, {"image": ARRAY, "masks": MASK, "boxes": BOXES, "other": MASK}),
    (tuple, [ARRAY, (dict, {"boxes": BOXES, "labels": "int", "valid": ("torch", 1, "uint8")})]),
    (list, [(dict, {"image": ARRAY, "boxes": BOXES}), (dict, {"image": ARRAY, "boxes": BOXES})]),
    (list, [(tuple, [ARRAY, "int"]), (tuple, [ARRAY, "int"])]),
    (tuple, [(Crops, [ARRAY, ARRAY]), "int"]),
]


def changed(template):
    """Templates with another container, key or leaf in one place. A few are equal to this one."""
    yield from LEAVES
    if not isinstance(template, tuple) or template[0] not in (list, tuple, Crops, Pair, dict):
        return
    kind, entries = template
    if kind is dict:
        for key, entry in entries.items():
            yield from ((dict, {**entries, key: other}) for other in changed(entry))
            others = {other: value for other, value in entries.items() if other != key}
            yield from ((dict, {**others, new_key: entry}) for new_key in KEYS)
        return
    for other in (list, tuple, Crops):
        yield other, entries
    for i, entry in enumerate(entries if kind is not Crops else ()):
        yield from ((kind, [*entries[:i], other, *entries[i + 1 :]]) for other in changed(entry))


@pytest.mark.parametrize("base", BASES, ids=range(len(BASES)))
def test_sample_leaves_found_for_one_structure_are_not_read_for_another(base):
    rng = np.random.default_rng(0)
    for other in changed(base):
        sample, other_sample = instance(base, rng), instance(other, rng)
        for pair in ((sample, other_sample), (other_sample, sample)):
            sample_leaves._leaves_by_structure.clear()
            for value in pair:
                assert outcome(leaves_of, value) == outcome(searched, value), (base, other)


def newly_parsed(sample):
    return sample_structure._parse(sample, sample_leaves.structure_of(sample))


def described_targets(parse, sample):
    """The targets, and those of validity, without their values; or the error."""
    try:
        result = parse(sample)
    except (TypeError, ValueError) as error:
        return type(error), str(error)

    def described(target):
        value, is_list = target.value, isinstance(target.value, list)
        shapes = [(type(entry), entry.dtype, entry.shape) for entry in value if is_array(entry)] if is_list else ()
        shape = shapes if is_list else (type(value), getattr(value, "shape", value))
        return target._replace(value=shape, original=comparable(target.original))

    is_pillow = any(isinstance(target.original, PillowPixels) for target in result.targets)  # made anew by each call
    targets = [described(target) for target in result.targets] if not is_pillow else len(result.targets)
    try:
        validity = [described(target)._replace(original=None) for target in result.validity_targets]
    except ValueError as error:
        validity = str(error)
    return result.samples, result.is_single, targets, validity


WITH_FORM = {0, 2, 4, 6, 7, 8, 11}  # of `BASES`: each target is one value of the sample


@pytest.mark.parametrize("index", range(len(BASES)))
def test_parsed_samples_of_a_known_structure_equal_new_ones(index):
    """The second sample of a structure is read by the form of the first."""
    rng, base = np.random.default_rng(0), BASES[index]
    read_count = 0
    for other in changed(base):
        sample_structure._form_by_structure.clear()
        for template in (base, other, base, other):
            sample = instance(template, rng)
            expected = described_targets(newly_parsed, sample)
            assert described_targets(parse_sample, sample) == expected, template
            read_count += template is base and is_read_by_form(sample)
    assert (read_count > 0) == (index in WITH_FORM)


def is_read_by_form(sample):
    try:
        return parse_sample(sample).form is not None
    except (TypeError, ValueError):
        return False


def test_parsed_samples_of_a_known_structure_have_their_own_number_of_samples():
    sample_structure._form_by_structure.clear()
    first = {"images": torch.zeros(4, 3, 8, 8), "boxes": torch.zeros(4, 5, 4)}
    assert parse_sample(first).form is None
    assert parse_sample(first).form is not None
    assert parse_sample({"images": torch.zeros(2, 3, 8, 8), "boxes": torch.zeros(2, 5, 4)}).samples == 2
    with pytest.raises(ValueError, match=r"boxes at \['boxes'\] must hold 2 entries, one per sample, got 3"):
        parse_sample({"images": torch.zeros(2, 3, 8, 8), "boxes": torch.zeros(3, 5, 4)})


def test_parsed_samples_with_a_mask_of_validity_without_axes():
    """Such a mask is accepted in an empty batch only, also if the structure is known from an empty batch."""
    sample_structure._form_by_structure.clear()
    for count in (0, 0, 2):
        sample = {"images": np.zeros((count, 3, 8, 8), np.uint8), "valid": np.array(True)}
        assert described_targets(parse_sample, sample) == described_targets(newly_parsed, sample)


def test_parsed_samples_tell_fields_of_a_namedtuple_apart():
    """The samples have equal types, and differ in which field is None."""
    fields = collections.namedtuple("Fields", "labels area")
    image = torch.zeros(3, 8, 8)
    for values, kind in (((3, None), "labels"), ((None, 3), "area"), ((None, 3), "area"), ((3, None), "labels")):
        targets = parse_sample({"image": image, "target": fields(*values)}).targets
        assert [target.kind for target in targets] == ["images", kind]


def test_parsed_samples_keep_the_format_of_each_sample(tv):
    """Two samples of one structure: their BoundingBoxes state different formats."""
    sample_structure._form_by_structure.clear()
    for format in ("XYXY", "XYWH", "XYXY"):
        boxes = tv.BoundingBoxes(torch.ones(2, 4), format=format, canvas_size=(8, 8))
        result = parse_sample({"image": torch.zeros(3, 8, 8), "boxes": boxes})
        assert [target.format for target in result.targets_of("boxes")] == [format]


def test_sample_leaves_found_with_any_mode_are_not_reused_without_it(tv):
    """A Pillow image with a palette (mode P) beside the targets is refused unless `any_mode` is True."""
    sample = tv.Image(torch.zeros(3, 8, 8)), 5, Image.new("P", (8, 8))
    assert [leaf.kind for leaf in leaves_of(sample, any_mode=True)] == ["images", "labels"]
    with pytest.raises(TypeError, match="got P"):
        leaves_of(sample)


@pytest.mark.parametrize(
    "sample",
    [
        (torch.zeros(2, 3, 8, 8), torch.zeros(2)),
        {"image": torch.zeros(3, 8, 8), "boxes": torch.zeros(5, 4), "other": None},
        [{"image": np.zeros((8, 8, 3), np.uint8), "labels": [1, 2]}] * 2,
        (Image.new("RGB", (8, 8)), 5),
    ],
    ids=["pair", "dict", "list of dicts", "image of Pillow"],
)
def test_sample_leaves_of_a_known_structure_take_no_search(sample, monkeypatch):
    expected = outcome(leaves_of, sample)
    monkeypatch.setattr(sample_leaves, "find_leaves", lambda sample: pytest.fail("searched again"))
    assert outcome(leaves_of, sample) == expected != []


def test_sample_leaves_keep_few_structures(monkeypatch):
    monkeypatch.setattr(sample_leaves, "_MAX_STRUCTURES", 8)
    sample_leaves._leaves_by_structure.clear()
    for count in range(20):
        leaves_of([torch.zeros(3, 8, 8), *[0, object()] * count])
        assert len(sample_leaves._leaves_by_structure) == min(count + 1, 8)


def test_sample_leaves_of_long_lists_take_little_memory():
    image = torch.zeros(3, 8, 8)
    tracemalloc.start()
    try:
        for count in range(100, 110):
            leaves_of({"image": image, "words": ["a"] * count, "polygons": [[[1.0, 2.0, 3.0]] for _ in range(count)]})
        assert tracemalloc.get_traced_memory()[0] < 1 << 17
    finally:
        tracemalloc.stop()


def test_sample_leaves_keep_no_key_of_a_user():
    class Key:
        pass

    key = Key()
    reference = weakref.ref(key)
    leaves_of({"image": torch.zeros(3, 8, 8), key: 1})
    del key
    gc.collect()
    assert reference() is None


def test_sample_leaves_take_no_more_reads_of_a_lazy_mapping_than_a_search():
    class Lazy(collections.UserDict):
        reads = 0

        def __getitem__(self, key):
            self.reads += 1
            return np.zeros((1, 4, 4, 3), np.uint8)

    counts = []
    for _ in range(3):
        sample = Lazy(image=None)
        leaves_of(sample)
        counts.append(sample.reads)
    plain = Lazy(image=None)
    searched(plain)
    assert set(counts) == {plain.reads}


def test_pair_of_images_and_labels_gives_what_the_images_give():
    images, labels = torch.randint(0, 256, (4, 3, 8, 9), dtype=torch.uint8), torch.arange(4)
    aug = T.Compose([T.RandomHorizontalFlip(), T.RandomAffine(30), T.ColorJitter(0.5)], seed=3)
    for ids in (None, 7, [3, 1, 4, 1]):
        alone = aug(images, ids=ids, step=2)
        for sample in ((images, labels), {"images": images, "labels": labels}, [images, {"labels": labels}]):
            result = aug(sample, ids=ids, step=2)
            values = result.values() if isinstance(result, dict) else result
            assert torch.equal(next(iter(values)), alone)
