"""The structure of a sample: which of its values are targets, by position and by name, and where results return."""

import collections
import types

import numpy as np
import pytest
import torch
from helpers.arrays import put, zeros
from hypothesis import given
from hypothesis import strategies as st

from cuaug.transforms.sample_structure import parse_sample

Pair = collections.namedtuple("Pair", "x y")
Batch = collections.namedtuple("Batch", "images index labels")


def describe_targets(sample):
    """Kind, shapes and paths of every target."""
    return [(target.kind, shapes(target.value), target.paths) for target in parse_sample(sample).targets]


def shapes(value):
    return [shapes(entry) for entry in value] if isinstance(value, list) else getattr(value, "shape", value)


def marked(sample):
    """The sample with the kind in capitals in place of every target."""

    def mark(kind, value):
        return [mark(kind, entry) for entry in value] if isinstance(value, list) else kind.upper()

    parsed = parse_sample(sample)
    kinds = {target.kind for target in parsed.targets}
    results = {kind: [mark(kind, entry.value) for entry in parsed.targets_of(kind)] for kind in kinds}
    return parsed.rebuild(results, (7, 9))


def test_structure_array_is_images():
    assert describe_targets(zeros(4, 3, 8, 8)) == [("images", (4, 3, 8, 8), ((),))]
    assert parse_sample(zeros(4, 3, 8, 8)).samples == 4
    assert parse_sample(zeros(4, 2, 3, 8, 8)).samples == 4
    assert parse_sample(zeros(3, 8, 8)).samples == 1
    assert parse_sample(zeros(8, 8)).samples == 1
    assert marked(zeros(4, 3, 8, 8)) == "IMAGES"


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_structure_finds_arrays_of_every_library(library):
    images, labels = put(zeros(4, 3, 8, 8), (library, "cpu")), put(zeros(4), (library, "cpu"))
    parsed = parse_sample([images, {"labels": labels}])
    assert [target.value is array for target, array in zip(parsed.targets, (images, labels), strict=True)] == [True] * 2


def test_structure_list_of_images_is_ragged():
    ragged = [zeros(3, 8, 8), zeros(3, 9, 4)]
    assert describe_targets(ragged) == [("images", [(3, 8, 8), (3, 9, 4)], ((),))]
    assert parse_sample(tuple(ragged)).samples == 2
    assert parse_sample([zeros(8, 8)]).samples == 1
    assert marked(ragged) == ["IMAGES"] * 2
    assert marked(tuple(ragged)) == ("IMAGES",) * 2
    assert parse_sample(ragged).rebuild({"images": [zeros(2, 3, 5, 5)]}, (5, 5)).shape == (2, 3, 5, 5)


@pytest.mark.parametrize("container", [list, tuple, lambda pair: Pair(*pair)])
def test_structure_second_of_pair_is_labels(container):
    for labels in (zeros(4), zeros(4, 10), ["a", "b", "c", "d"]):
        sample = container([zeros(4, 3, 8, 8), labels])
        image_target, label_target = parse_sample(sample).targets
        assert (image_target.kind, label_target.kind) == ("images", "labels")
        assert label_target.paths == ((1,),)
    rebuilt = marked(container([zeros(4, 3, 8, 8), zeros(4)]))
    assert rebuilt == container(["IMAGES", "LABELS"])
    assert type(rebuilt) is type(sample)


def test_structure_single_image_has_one_label():
    sample = (zeros(3, 8, 8), 7)
    assert describe_targets(sample) == [("images", (3, 8, 8), ((0,),)), ("labels", [7], ((1,),))]
    assert marked(sample) == ("IMAGES", "LABELS")
    assert describe_targets((zeros(3, 8, 8), zeros(10)))[1] == ("labels", [(10,)], ((1,),))


def test_structure_ragged_images_have_list_of_labels():
    sample = ([zeros(3, 8, 8), zeros(3, 9, 4)], [1, 2])
    assert [kind for kind, _, _ in describe_targets(sample)] == ["images", "labels"]
    assert marked(sample) == (["IMAGES"] * 2, ["LABELS"] * 2)


def test_structure_list_of_pairs_is_images_and_labels():
    sample = [(zeros(3, 8, 8), 1), (zeros(3, 9, 4), 2)]
    assert describe_targets(sample) == [
        ("images", [(3, 8, 8), (3, 9, 4)], ((0, 0), (1, 0))),
        ("labels", [1, 2], ((0, 1), (1, 1))),
    ]
    assert marked(sample) == [("IMAGES", "LABELS")] * 2


def test_structure_other_values_stay():
    index, name = zeros(4), object()
    rebuilt = marked([zeros(4, 3, 8, 8), zeros(4), index, name, None])
    assert rebuilt[:2] == ["IMAGES", "LABELS"]
    assert rebuilt[2] is index
    assert rebuilt[3] is name


def test_structure_keys_name_targets():
    sample = {
        "image": zeros(4, 3, 8, 8), "masks": zeros(4, 8, 8), "bboxes": zeros(4, 5, 4), "valid": zeros(4, 5),
        "keypoints": zeros(4, 17, 3), "label": zeros(4), "id": zeros(4), 5: zeros(4, 3, 8, 8),
    }  # fmt: skip
    rebuilt = marked(sample)
    assert list(rebuilt) == list(sample)
    assert {key: rebuilt[key] for key in rebuilt if isinstance(rebuilt[key], str)} == {
        "image": "IMAGES", "masks": "MASKS", "bboxes": "BOXES", "valid": "VALID",
        "keypoints": "KEYPOINTS", "label": "LABELS",
    }  # fmt: skip
    assert rebuilt["id"] is sample["id"]
    assert rebuilt[5] is sample[5]


def test_structure_namedtuple_fields_name_targets():
    sample = Batch(zeros(4, 3, 8, 8), zeros(4), [1, 2, 3, 4])
    assert describe_targets(sample) == [
        ("images", (4, 3, 8, 8), (("images",),)),
        ("labels", [1, 2, 3, 4], (("labels",),)),
    ]
    rebuilt = marked(sample)
    assert isinstance(rebuilt, Batch)
    assert rebuilt == Batch("IMAGES", sample.index, ["LABELS"] * 4)


def test_structure_nested_keys_name_targets():
    rest = {"deep": [object()]}
    sample = {"batch": [{"images": zeros(4, 3, 8, 8)}, "text"], "rest": rest}
    rebuilt = marked(sample)
    assert rebuilt["batch"] == [{"images": "IMAGES"}, "text"]
    assert rebuilt["rest"] is rest
    assert not isinstance(sample["batch"][0]["images"], str)


def test_structure_dict_of_masks_is_several_masks():
    sample = {"images": zeros(4, 3, 8, 8), "masks": {"road": zeros(4, 8, 8), "lane": [zeros(8, 8)] * 4}}
    assert marked(sample)["masks"] == {"road": "MASKS", "lane": ["MASKS"] * 4}


def test_structure_containers_keep_their_type():
    ordered = collections.OrderedDict(images=zeros(4, 3, 8, 8))
    assert type(marked(ordered)) is collections.OrderedDict
    default = collections.defaultdict(int, images=zeros(4, 3, 8, 8))
    assert marked(default).default_factory is int
    assert marked(types.MappingProxyType({"images": zeros(4, 3, 8, 8)})) == {"images": "IMAGES"}


def test_structure_two_batches_are_both_images():
    sample = {"left": {"images": zeros(4, 3, 8, 8)}, "right": {"images": zeros(4, 3, 8, 8)}}
    assert [path for _, _, path in describe_targets(sample)] == [(("left", "images"),), (("right", "images"),)]
    assert describe_targets(({"image": zeros(4, 3, 8, 8)}, {"image": zeros(4, 3, 8, 8)}))[1][2] == ((1, "image"),)


def test_structure_targets_of_single_image_are_one_entry():
    sample = {
        "image": zeros(8, 8, 3),
        "mask": zeros(8, 8),
        "bboxes": zeros(5, 4),
        "keypoints": zeros(17, 3),
        "label": 3,
    }
    assert [(kind, value) for kind, value, _ in describe_targets(sample)] == [
        ("images", (8, 8, 3)),
        ("masks", (8, 8)),
        ("boxes", [(5, 4)]),
        ("keypoints", [(17, 3)]),
        ("labels", [3]),
    ]
    assert marked(sample) == {
        "image": "IMAGES", "mask": "MASKS", "bboxes": "BOXES", "keypoints": "KEYPOINTS", "label": "LABELS",
    }  # fmt: skip


def test_structure_list_of_masks_of_single_image_is_several_masks():
    sample = {"image": zeros(8, 8, 3), "masks": [zeros(8, 8), zeros(8, 8)]}
    assert [path for kind, _, path in describe_targets(sample) if kind == "masks"] == [(("masks", 0),), (("masks", 1),)]
    assert marked(sample)["masks"] == ["MASKS"] * 2


def detection():
    """Arguments of torchvision's detection models: a tuple of images, and a dict per image."""
    images = (zeros(3, 8, 8), zeros(3, 9, 4), zeros(3, 8, 8))
    targets = [{"boxes": zeros(n, 4), "labels": zeros(n), "masks": zeros(n, 8, 8), "image_id": n} for n in (2, 0, 5)]
    return images, targets


def test_structure_dicts_per_image_are_joined():
    images, targets = detection()
    assert describe_targets((images, targets)) == [
        ("images", [(3, 8, 8), (3, 9, 4), (3, 8, 8)], ((0,),)),
        ("boxes", [(2, 4), (0, 4), (5, 4)], tuple((1, i, "boxes") for i in range(3))),
        ("labels", [(2,), (0,), (5,)], tuple((1, i, "labels") for i in range(3))),
        ("masks", [(2, 8, 8), (0, 8, 8), (5, 8, 8)], tuple((1, i, "masks") for i in range(3))),
    ]
    rebuilt = marked((images, targets))
    assert rebuilt[0] == ("IMAGES",) * 3
    assert rebuilt[1] == [{"boxes": "BOXES", "labels": "LABELS", "masks": "MASKS", "image_id": n} for n in (2, 0, 5)]


def test_structure_list_of_dicts_is_a_batch():
    sample = [{"image": zeros(3, 8, 8), "boxes": zeros(n, 4)} for n in (1, 2)]
    assert describe_targets(sample)[0] == ("images", [(3, 8, 8)] * 2, ((0, "image"), (1, "image")))
    assert marked(sample) == [{"image": "IMAGES", "boxes": "BOXES"}] * 2
    dense = parse_sample(sample).rebuild({"images": [zeros(2, 3, 5, 5)]}, (5, 5))
    assert dense[1]["image"].shape == (3, 5, 5)


def test_structure_valid_goes_beside_boxes():
    images, targets = detection()
    valid = [np.ones(len(target["boxes"]), bool) for target in targets]
    rebuilt = parse_sample((images, targets)).rebuild({"valid": [valid]}, (8, 8))
    assert [target["valid"] is flags for target, flags in zip(rebuilt[1], valid, strict=True)] == [True] * 3
    assert "valid" not in targets[0]
    rebuilt = parse_sample({"images": zeros(2, 3, 8, 8), "boxes": zeros(2, 5, 4)}).rebuild({"valid": ["flags"]}, (8, 8))
    assert rebuilt["valid"] == "flags"
    rebuilt = parse_sample({"image": zeros(3, 8, 8), "boxes": zeros(5, 4)}).rebuild({"valid": [["flags"]]}, (8, 8))
    assert rebuilt["valid"] == "flags"
    sample = {"images": zeros(2, 3, 8, 8), "boxes": zeros(2, 5, 4), "valid": zeros(2, 5)}
    assert parse_sample(sample).rebuild({"valid": ["flags"]}, (8, 8))["valid"] == "flags"


def test_structure_valid_without_dict_is_dropped(tv):
    boxes = tv.BoundingBoxes(torch.zeros(5, 4), format="XYXY", canvas_size=(8, 8))
    sample = (tv.Image(torch.zeros(3, 8, 8)), boxes)
    rebuilt = parse_sample(sample).rebuild({"valid": [["flags"]]}, (8, 8))
    assert [output is input_ for output, input_ in zip(rebuilt, sample, strict=True)] == [True, True]


def test_structure_valid_replaces_its_field():
    Target = collections.namedtuple("Target", "images boxes valid")
    sample = Target(zeros(2, 3, 8, 8), zeros(2, 5, 4), zeros(2, 5))
    assert parse_sample(sample).rebuild({"valid": ["flags"]}, (8, 8)).valid == "flags"
    boxes_in_dict = Batch(zeros(2, 3, 8, 8), 0, {"bboxes": zeros(2, 5, 4)})
    assert parse_sample(boxes_in_dict).rebuild({"valid": ["flags"]}, (8, 8)).labels["valid"] == "flags"


def test_structure_empty_batch_keeps_its_targets():
    sample = {"images": zeros(0, 3, 8, 8), "masks": zeros(0, 8, 8), "boxes": [], "labels": zeros(0)}
    assert parse_sample(sample).samples == 0
    assert describe_targets(sample)[1:] == [
        ("masks", (0, 8, 8), (("masks",),)), ("boxes", [], (("boxes",),)), ("labels", (0,), (("labels",),)),
    ]  # fmt: skip
    rebuilt = parse_sample(sample).rebuild({"images": [zeros(0, 3, 4, 4)], "boxes": [[]]}, (4, 4))
    assert rebuilt["images"].shape == (0, 3, 4, 4)
    assert rebuilt["boxes"] == []
    assert parse_sample({"images": []}).samples == 0


def test_structure_results_may_be_lists():
    compacted = [zeros(2, 4), zeros(0, 4)]
    rebuilt = parse_sample({"images": zeros(2, 3, 8, 8), "boxes": zeros(2, 5, 4)}).rebuild(
        {"boxes": [compacted]}, (8, 8)
    )
    assert rebuilt["boxes"] == compacted


BATCH = zeros(4, 3, 8, 8)
REFUSED = {
    "nothing": ({"pictures": BATCH}, "no image found in the argument \\(a dict\\): pass an array"),
    "a path": ("photo.jpg", "no image found in the argument \\(a str\\)"),
    "an empty list": ([], "no image found in the argument \\(a list\\)"),
    "boxes alone": ({"boxes": zeros(4, 5, 4)}, "no image found"),
    "labels first": ((zeros(4), BATCH), "no image found in the argument \\(a tuple\\)"),
    "masks unnamed": ((BATCH, zeros(4, 8, 8)), r"shape \(4, 8, 8\) at \[1\] could be masks, boxes or other images: "),
    "mask of one": ((zeros(8, 8, 3), zeros(8, 8)), r"an array of shape \(8, 8\) at \[1\] could be masks"),
    "mask with an axis": ((zeros(3, 8, 8), zeros(1, 8, 8)), r"an array of shape \(1, 8, 8\) at \[1\] could be masks"),
    "mask, packed": ((zeros(8, 8, 3), zeros(8, 8, 1)), r"an array of shape \(8, 8, 1\) at \[1\] could be masks"),
    "one-hot mask": ((zeros(3, 8, 8), zeros(3), zeros(9, 8, 8)), r"an array of shape \(9, 8, 8\) at \[2\] could be"),
    "masks third": ((BATCH, zeros(4), zeros(4, 8, 8)), r"shape \(4, 8, 8\) at \[2\] could be"),
    "masks listed": (([zeros(3, 8, 8)], [zeros(8, 8)]), r"shape \(8, 8\) at \[1\] could be"),
    "two names": ({"image": BATCH, "images": BATCH}, r"images are both \['image'\] and \['images'\]: rename one"),
    "two labels": ({"image": BATCH, "a": {"label": 1, "labels": 1}}, r"labels are both \['a'\]\['label'\] and"),
    "two batches": (
        ({"image": BATCH}, {"image": BATCH[:2]}),
        r"batches of one length, got 4 at \[0\]\['image'\] and 2 at \[1\]\['image'\]: make one call for each",
    ),
    "one and many": ({"a": {"image": BATCH}, "b": {"image": BATCH[0]}}, "got 4 at .* and a single one at"),
    "unlike samples": (
        [{"image": BATCH[0]}, {"image": BATCH[0], "boxes": zeros(1, 4)}],
        r"samples must have the same targets, got \['image'\] in sample 0 and \['image'\], \['boxes'\] in sample 1",
    ),
    "a list of batches": ({"images": [BATCH, BATCH]}, r"images at \['images'\] must be single images if they"),
    "nested lists": ({"images": BATCH, "masks": [[1, 2, 3, 4]] * 4}, r"masks at \['masks'\] must be .* a list of list"),
    "an object": ({"images": BATCH, "mask": object()}, r"masks at .* must be an array, or a list of arrays, got obj"),
    "too few masks": ({"images": BATCH, "masks": zeros(3, 8, 8)}, r"masks at \['masks'\] must hold 4 .* got 3"),
    "too few boxes": ({"images": BATCH, "boxes": [zeros(5, 4)]}, r"boxes at \['boxes'\] must hold 4 entries, .* got 1"),
    "no axis": ({"images": BATCH, "boxes": np.array(1.0)}, "must hold 4 entries, one per sample, got 0"),
}  # fmt: skip


@pytest.mark.parametrize(("sample", "message"), REFUSED.values(), ids=REFUSED)
def test_structure_rejects_ambiguous_samples(sample, message):
    with pytest.raises((TypeError, ValueError), match=message):
        parse_sample(sample)


def test_structure_of_two_views_is_not_that_of_an_image_and_its_mask(tv):
    """Both are tuples of two arrays [C, H, W]. The type Image, a list or different sizes mean that both are images."""
    views, masks = (zeros(3, 8, 8), zeros(3, 8, 8)), (zeros(3, 8, 8), zeros(1, 8, 8))
    typed = tuple(tv.Image(torch.zeros(count, 8, 8)) for count in (3, 1))
    for _ in range(2):
        for sample in (views, list(masks), typed, (zeros(3, 8, 8), zeros(1, 8, 9))):
            assert [target.kind for target in parse_sample(sample).targets] == ["images"]
        with pytest.raises(ValueError, match="could be masks"):
            parse_sample(masks)


def test_structure_of_listed_images_does_not_depend_on_earlier_samples():
    """A tuple of images beside labels is a list of images, whatever their channels."""
    labels = zeros(2)
    for images in ((zeros(3, 8, 8), zeros(1, 8, 8)), (zeros(3, 8, 8), zeros(3, 8, 8))):
        assert [target.kind for target in parse_sample((images, labels)).targets] == ["images", "labels"]


def test_structure_tensor_beside_a_typed_image_stays(tv):
    sample = tv.Image(torch.zeros(3, 8, 8)), torch.zeros(1, 8, 8)
    (target,) = parse_sample(sample).targets
    assert target.paths == ((0,),)


leaf = st.sampled_from(["text", 3, None, 2.5])
trees = st.recursive(
    leaf,
    lambda children: (
        st.lists(children, max_size=3)
        | st.tuples(children, children)
        | st.dictionaries(st.sampled_from("abc"), children)
    ),
)


@given(trees, trees)
def test_structure_any_nested_values_are_unchanged(one, other):
    images = zeros(2, 3, 4, 4)
    for sample in ({"images": images, "x": one, "y": other}, [one, {"images": images}, other], (images, None, one)):
        rebuilt = parse_sample(sample).rebuild({"images": [images]}, (4, 4))
        assert repr(rebuilt) == repr(sample)
        assert type(rebuilt) is type(sample)
