"""Notes of `python -m cuaug migrate`: what it leaves to the user, and why."""

import re

import numpy as np
import pytest

from cuaug import transforms as T
from cuaug._migration.migrate import migrate

NOTES = """
import albumentations as A
import cv2
import nvidia.dali.fn as fn
from torchvision import datasets, transforms
image = fn.rotate(fn.decoders.image(data), angle=3)
moved = cv2.warpAffine(image, M, (3, 4))
A.Blur(3, p=1)
A.GaussianBlur(LIMIT, p=1)
A.Affine(rotate=5, shift=3)
A.RandomCrop(**SIZE)
A.RandomCrop(8)
A.BboxParams("yolo")
datasets.ImageFolder("x", transform=transforms.ToTensor())
class Photos:
    def __getitem__(self, i):
        return self.transform(image=self.images[i], mask=self.masks[i])
transforms.RandomRotation(5, resample=2)
transforms.CutMix(labels_getter=None)
""".strip()


def test_migrate_notes_manual_steps_with_their_lines():
    migration = migrate(NOTES)
    notes = [f"{line}: {note}" for line, note in migration.notes]
    starts = [
        "5: decoders.image of DALI: use Loader", "5: rotate of DALI: use cuaug.rotate",
        "6: warpAffine of OpenCV: use warp_affine", "7: Blur of Albumentations: there is no counterpart",
        "8: GaussianBlur: a value is not in the file", "8: GaussianBlur: one kernel size",
        "9: Affine(shift=) is dropped: it has no counterpart", "9: Affine: similar, not equal: shifts are symmetric",
        "10: RandomCrop: its arguments are not in the call; use RandomCrop",
        "11: RandomCrop: its arguments are not in the call; use RandomCrop",
        "12: BboxParams: a value is not in the file",
        "13: datasets.ImageFolder(transform=) runs on one image in a worker",
        "16: self.transform(...) runs on one image in a worker",
        "17: RandomRotation(resample=): pass interpolation=",
        "18: CutMix(labels_getter=): cuaug has no such parameter",
    ]  # fmt: skip
    assert len(notes) == len(starts)
    assert all(note.startswith(start) for note, start in zip(notes, starts, strict=True)), notes
    assert migration.missing == ["rotate", "decoders.image", "Blur", "RandomCrop"]
    assert 'self.transform({"image": self.images[i], "mask": self.masks[i]})' in migration.text


F_STRINGS = {  # expression -> how the notes start, missing names
    "A.__version__": (["__version__ of Albumentations: there is no counterpart in cuaug"], ["__version__"]),
    "A.core.x": (["x of Albumentations: there is no counterpart in cuaug"], ["x"]),
    "A.HorizontalFlip.__name__": (["HorizontalFlip of Albumentations: use RandomHorizontalFlip"], ["HorizontalFlip"]),
    "A.Normalize(max_pixel_value=1)": (["Normalize is in an f-string: edit it by hand"], ["Normalize"]),
    "flip(image=image)['image'].shape": (["flip(...) is in an f-string: edit it by hand"], []),
    "x:{cv2.warpAffine}": (["warpAffine of OpenCV: use warp_affine"], []),
    "len([T.Resize(3), T.Compose, torch.ones(3), cv2.imshow(x)])": ([], []),
}


@pytest.mark.parametrize("expression", F_STRINGS)
def test_migrate_notes_names_in_f_strings(expression):
    """They are not edited: Python 3.11 misplaces the nodes of f-strings."""
    notes, missing = F_STRINGS[expression]
    imports = "import albumentations as A\nimport cv2\nimport torch\nfrom torchvision import transforms as T\n"
    code = f'{imports}flip = A.Compose([])\nprint(\n    f"""{{{expression}}}"""\n)\n'
    migration = migrate(code)
    assert [line for line, _ in migration.notes] == [7] * len(notes)
    for (_, note), start in zip(migration.notes, notes, strict=True):
        assert note.startswith(start)
    assert migration.missing == missing
    assert f"{{{expression}}}" in migration.text


def test_migrate_notes_the_key_that_labels_of_boxes_need():
    """T.Boxes(compact=True) drops the labels of removed boxes only from the entries that the note names."""
    code = 'import albumentations as A\nA.BboxParams("coco", label_fields=["class_labels"])\n'
    ((_, note),) = migrate(code).notes
    assert note.startswith('BboxParams(label_fields=) is dropped: name the entry of the labels "labels": only entries ')
    keys = re.findall(r'"(\w+)"', note.partition("only entries")[2])
    values = {key: ["cat", "dog"] for key in [*keys, "class_labels"]}
    sample = {"image": np.zeros((8, 8, 3), np.uint8), "bboxes": np.array([[0, 0, 1, 1], [3, 3, 2, 2]]), **values}
    result = T.Compose([T.CenterCrop((4, 4))], boxes=T.Boxes("XYWH", compact=True))(sample)
    expected = {key: ["dog"] if key in keys else ["cat", "dog"] for key in values}
    assert {key: result[key] for key in values} == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("X.RandomErasing(0.5, (0.1, 0.2), (1, 1), 'random')", ['RandomErasing(value="random"): pass a number']),
        ("X.RandomErasing(value=3)", []),
        ("X.RandomRotation(5, expand=True)", ["RandomRotation(expand=True): put Pad before"]),
        ("X.RandomRotation(5, expand=False)", []),
        ("X.Pad(2, fill={tv.Image: 3, tv.Mask: 255})", []),
        ("X.Pad(2, fill={tv.Image: (1, 2, 3), tv.Mask: i})", []),
        ("X.Pad(2, fill={tv.Image: 0.5, tv.Mask: -100.5})", ["Pad: fill of masks must be an int, got -100.5"]),
        ("X.Pad(2, {'others': (1, 2, 3)})", ["Pad: fill of masks must be an int, got (1, 2, 3)"]),
        ("X.Pad(2, fill=defaultdict(lambda: 3))", []),
        ("X.Pad(2, fill=defaultdict(lambda: 3, {tv.Mask: 0}))", []),
        ("X.ToDtype({tv.Mask: i, 'others': None})", []),
        ("X.ToDtype({tv.Mask: i, tv.BoundingBoxes: i})", ["boxes, keypoints and labels keep their dtype"]),
        ("torch.manual_seed(0); X.Pad(2)", ["torch.manual_seed: it does not seed the draws of recipes"]),
        ("torch.manual_seed(0); X.Compose([], seed=3)", []),
        ("torch.manual_seed(0)", []),
        ("i, j, h, w = X.RandomCrop.get_params(image, (3, 3))", ["get_params of a transform: call crop(image, mask)"]),
        (
            "t = X.RandomInvert(); t.p = 0.3; t.training = False",
            ["t.p = ...: it takes effect before the first call only"],
        ),
        (
            "t = X.Compose(); t.transforms = []; t.transforms[0].p = 1; u.p = 1",
            ["t.transforms[0].p = ...: it takes effect"],
        ),
        ("F.resize_image(image, 3)", ["resize_image of torchvision: call resize: it dispatches on the type"]),
        ("f = F.crop_mask", ["crop_mask of torchvision: call crop: it dispatches on the type"]),
        ("class A(Other): _transformed_types = TYPES", []),
        ("class A(X.Transform): _transformed_types = TYPES", ["_transformed_types of a transform: name the kinds"]),
        ("class A(X.Transform): _transformed_types = (tv.Image, tv.Mask)", []),
        *(
            (f"class A(X.Transform):\n def {name}(self): pass", [f"{name} of a transform: name it {name[1:]}"])
            for name in ("_transform", "_check_inputs")
        ),
        ("class A(X.Transform):\n def _get_params(self): pass", ["_get_params of a transform: name it make_params"]),
        (
            "class A(X.RandomCrop):\n def transform(self, a, b): super().transform(a, self.get_params(a))",
            ["get_params of a transform: call", "super().transform of a transform: define transform without super,"],
        ),
        ("class A(X.Transform):\n def make_params(self, a): return super().make_params(a)", []),
        ("class A(X.Transform):\n def get_params(self): pass", []),
        (
            "class A(X.Transform): pass\nclass B(A):\n def _transform(self): super().transform()",
            ["_transform of a transform: name it transform"],
        ),
        (
            "class A(X.RandomCrop): pass\nclass B(A):\n def transform(self): super().transform()",
            ["super().transform of a transform: define transform without super,"],
        ),
        ("class B(A):\n def _transform(self): pass\nclass A(X.Transform): pass", []),
        ("class A(X.Transform): _transformed_types: ClassVar = TYPES", ["_transformed_types of a transform: name"]),
        ("class A(X.Transform): _transformed_types: ClassVar", ["_transformed_types of a transform: name the kinds"]),
        ("class A(X.Transform): _transformed_types += (tv.Image,)", ["_transformed_types of a transform: name the"]),
        ("t: X.RandomInvert = X.RandomInvert(); t.p = 0.3", ["t.p = ...: it takes effect before the first call only"]),
        ("X.Resize(8, Image.BOX)", ["Resize(interpolation=Image.BOX): cuaug does not have this filter"]),
        ("X.Resize(8, 5)", ["Resize(interpolation=5): cuaug does not have this filter"]),
        ('X.PixelOp("f", "px", b=1)', []),
    ],
)
def test_migrate_notes_code_that_cuaug_reads_in_another_way(code, expected):
    imports = (
        "import torch\nfrom torchvision.transforms import v2 as X\nimport torchvision.transforms.v2.functional as F\n"
    )
    notes = [note for _, note in migrate(f"{imports}{code}\n").notes]
    assert len(notes) == len(expected)
    assert all(note.startswith(start) for note, start in zip(notes, expected, strict=True)), notes


@pytest.mark.parametrize(
    ("imports", "value"),
    [
        ("from PIL import Image", "Image.Resampling.{}"),
        ("import PIL.Image", "PIL.Image.{}"),
        ("import PIL.Image as PI", "PI.{}"),
        ("from PIL.Image import Resampling as R", "R.{}"),
        ("from torchvision.transforms import InterpolationMode", "InterpolationMode.{}"),
        ("from torchvision.transforms.functional import InterpolationMode as Mode", "Mode.{}"),
        ("", "X.InterpolationMode.{}"),
    ],
)
def test_migrate_notes_filters_that_cuaug_does_not_have(imports, value):
    start = f"from torchvision.transforms import v2 as X\n{imports}\n"
    for name in ("BOX", "HAMMING"):
        text = value.format(name)
        notes = [note for _, note in migrate(f"{start}X.Resize(8, {text})\n").notes]
        assert notes == [f"Resize(interpolation={text}): cuaug does not have this filter"]
    migration = migrate(f"{start}X.Resize(8, {value.format('BICUBIC')})\n")
    is_kept = "torchvision" in imports or not imports
    assert migration.notes == []
    assert ('X.Resize(8, "bicubic")' in migration.text) != is_kept


@pytest.mark.parametrize(
    ("call", "dropped"),
    [
        ('A.KeypointParams("yx", remove_invisible=False)', ["format", "remove_invisible"]),
        ('A.KeypointParams(format="xy", remove_invisible=True)', []),
        ('A.ImageCompression(compression_type="webp")', ["compression_type"]),
        ('A.ImageCompression(compression_type="jpeg")', []),
        ("A.CoarseDropout(num_holes_range=(3, N))", ["num_holes_range"]),
        ("A.ToGray(3, method='max')", ["method"]),
        ("A.Perspective(interpolation=2, fit_output=True)", ["fit_output"]),
        ("A.Normalize(max_pixel_value=255)", []),
        ("A.Normalize(max_pixel_value=1)", ["max_pixel_value"]),
        ("K.Resize(8, 'long', align_corners=False)", ["side"]),
        ("K.RandomAffine(9, padding_mode='border', same_on_batch=True)", ["padding_mode", "same_on_batch"]),
        ("K.RandomAffine(9, padding_mode='zeros', same_on_batch=False, align_corners=True, keepdim=True, p=P)", []),
        ("K.RandomGrayscale(rgb_weights=weights)", ["rgb_weights"]),
        ("K.RandomBrightness(clip_output=False)", ["clip_output"]),
        ("K.RandomHorizontalFlip(p_batch=0.5)", ["p_batch"]),
        ("K.AugmentationSequential(K.RandomInvert(), data_keys=['input'])", ["data_keys"]),
    ],
)
def test_migrate_notes_dropped_arguments_that_have_an_effect(call, dropped):
    notes = [note for _, note in migrate(f"import albumentations as A, kornia.augmentation as K\n{call}\n").notes]
    expected = [f"{call[2:].partition('(')[0]}({argument}=)" for argument in dropped]
    assert [note.partition(" is dropped: ")[0] for note in notes if " is dropped: " in note] == expected


@pytest.mark.parametrize(
    ("imports", "prefix"),
    [
        ("import albumentations as A", "A."),
        ("import albumentations", "albumentations."),
        ("from albumentations import", ""),
    ],
)
@pytest.mark.parametrize(
    ("call", "is_refused"),
    [
        ("Posterize(num_bits=(3, 5))", True),
        ("Posterize(num_bits=3)", False),
        ("Posterize(num_bits=BITS)", False),
        ("LongestMaxSize([512, 1024], p=1)", True),
        ("LongestMaxSize(512)", False),
        ("LongestMaxSize(SIZE)", False),
        ("CoarseDropout(hole_height_range=(8, 16), hole_width_range=(8, 16))", True),
        ("CoarseDropout(hole_height_range=(0.1, 0.2))", False),
        ("Affine(scale={'x': (1, 2), 'y': 1})", True),
        ("Affine(scale=(1, 2), fill=cv2.BORDER_CONSTANT)", False),
    ],
)
def test_migrate_leaves_values_that_cuaug_refuses(imports, prefix, call, is_refused):
    imports += "" if prefix else f" {call.partition('(')[0]}"
    notes = [note for _, note in migrate(f"{imports}\n{prefix}{call}\n").notes]
    assert any(note.endswith(" by hand") for note in notes) == is_refused


@pytest.mark.parametrize(
    ("call", "text", "is_complete"),
    [
        ("RandomCrop(H, W, p=1)", "RandomCrop((H, W))", True),
        ("RandomCrop(H, 5, p=1)", "RandomCrop((H, 5))", True),
        ("Resize(sizes[0], 2 * W, p=1)", 'Resize((sizes[0], 2 * W), "bilinear", antialias=False)', True),
        ("GaussianBlur(blur_limit=B, p=1)", "GaussianBlur(kernel_size(B, (0.5, 3.0)), (0.5, 3.0))", False),
    ],
)
def test_migrate_takes_variables_as_sizes(call, text, is_complete):
    migration = migrate(f"import albumentations as A\nx = A.{call}\n")
    assert f"x = A.{text}\n" in migration.text
    assert any(note.endswith(" by hand") for _, note in migration.notes) != is_complete


@pytest.mark.parametrize(
    ("entries", "expected", "has_note"),
    [
        ("[H(p=0.3), V()]", "[H(1), V(1)], p=[0.3, 0.5]", False),
        ("[H(p=0.3), V(), A.ToTensorV2()]", "[H(1), V(1)], p=[0.3, 0.5]", False),
        ("[H(p=0.3), *more]", "[H(1), *more]", True),
        ("[A.HorizontalFlip(**k), V(p=0.7)]", "[A.HorizontalFlip(**k), V(1)], p=[0.5, 0.7]", True),
        ("[H(p=0.3), A.Blur(p=0.9)]", "[H(1), A.Blur(p=0.9)], p=[0.3, 0.9]", True),
        ("[H(p=0.3), extra(p=0.9), flip]", "[H(1), extra(p=0.9), flip], p=[0.3, 0.9, 0.5]", True),
        ("flips", "flips", True),
    ],
)
def test_migrate_notes_choices_whose_weights_are_not_in_the_call(entries, expected, has_note):
    entries = entries.replace("H(", "A.HorizontalFlip(").replace("V(", "A.VerticalFlip(")
    expected = expected.replace("H(", "A.RandomHorizontalFlip(").replace("V(", "A.RandomVerticalFlip(")
    migration = migrate(f"import albumentations as A\nt = A.OneOf({entries}, p=1)\n")
    assert migration.text == f"from cuaug import transforms as A\nt = A.RandomChoice({expected})\n"
    assert any("are weights" in note for _, note in migration.notes) == has_note


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("A.RandomCrop(\n    4,  # rows\n    5,\n    p=1,\n)", [2]),
        ('A.RandomCrop(\n    4,\n    5,\n    p=1,\n)  # "outside"', []),
        ("A.Compose([\n    A.HorizontalFlip(p=0.5),  # half\n    # A.Old(),\n    A.RandomCrop(4, 5),\n])", []),
        ("A.OneOf([\n    A.HorizontalFlip(p=0.5),\n    # A.Old(),\n    A.RandomCrop(4, 5),\n])", []),
    ],
)
def test_migrate_notes_dropped_comments(code, lines):
    notes = migrate(f"import albumentations as A\nx = {code}\n").notes
    assert [line for line, note in notes if note.endswith(": comments inside the call are dropped")] == lines
