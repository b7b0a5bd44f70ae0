"""``python -m cuaug migrate``: edits of calls and values; exit codes."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from helpers.compare import Tolerance, assert_equal

from cuaug import __main__ as command_line
from cuaug import _missing_names
from cuaug import transforms as T
from cuaug._equivalents import Equivalent
from cuaug._migration.migrate import migrate

IMPORTS = {"kornia": "import kornia.augmentation as X", "Albumentations": "import albumentations as X"}
# Arguments of parameters without a default.
ARGUMENTS = {
    "alpha": 1, "brightness": (0.8, 1.2), "contrast": (0.8, 1.2), "degrees": 10, "format": "coco", "height": 8,
    "hue": (-0.1, 0.1), "kernel_size": (3, 5), "max_size": 8, "mean": 0.5, "saturation": 0.2, "shear": 5,
    "sigma": (0.1, 2.0), "size": (8, 8), "std": 0.25, "width": 8,
}  # fmt: skip
ROWS = [
    (library, name, row)
    for library in IMPORTS
    for name, row in _missing_names.TRANSFORMS[library].items()
    if isinstance(row, Equivalent)
]


def required_arguments(row):
    names = [text.strip() for text in row.parameters.split(",") if re.fullmatch(r"\s*\w+\s*", text)]
    texts = ["transforms=[X.HorizontalFlip(p=1)]" if name == "transforms" else name for name in names]
    return [text if "=" in text else f"{text}={ARGUMENTS[text]!r}" for text in texts]


@pytest.mark.parametrize(("library", "name", "row"), ROWS, ids=lambda value: value if isinstance(value, str) else "")
def test_migrate_writes_valid_calls_for_every_row(library, name, row):
    is_optional = re.search(r"\bp=(?!1)", row.parameters)  # RandomApply refuses resizes and crops, whose p is 1
    arguments = required_arguments(row) + (["p=0.5"] if is_optional else [])
    migration = migrate(f"{IMPORTS[library]}\nresult = X.{name}({', '.join(arguments)})\n")
    variables = {}
    exec(migration.text, variables)
    assert not migration.missing
    if isinstance(variables["result"], (T.Boxes, T.Keypoints)):
        return
    images = np.random.default_rng(0).integers(0, 256, (2, 9, 9, 3), np.uint8)
    assert T.Compose([variables["result"]])(images).shape[-1] == 3


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("HorizontalFlip()", "RandomHorizontalFlip(0.5)"),
        ("HorizontalFlip(p=P)", "RandomHorizontalFlip(P)"),
        ("Normalize((0.5,), (0.5,), 255.0)", "Normalize((0.5,), (0.5,))"),
        ("RandomCrop(width=7, height=5)", "RandomCrop((5, 7))"),
        ("Resize(5, 7, interpolation=cv2.INTER_AREA)", 'Resize((5, 7), "area", antialias=False)'),
        ("Resize(5, 7, interpolation=2)", 'Resize((5, 7), "bicubic", antialias=False)'),
        ("GaussianBlur(p=0.25)", "RandomApply([X.GaussianBlur(21, (0.5, 3.0))], p=0.25)"),
        ("GaussianBlur((3, 7), p=1)", "GaussianBlur(7, (0.5, 3.0))"),
        ("GaussianBlur((3, 7), 2, p=1)", "GaussianBlur(7, (0.001, 2))"),
        ("Rotate(limit=30, p=1)", 'RandomRotation(30, "bilinear")'),
        ("OneOf([X.ToGray(p=0.5), X.NoOp(p=0.5)], p=1)", "RandomChoice([X.RandomGrayscale(1), X.Identity()])"),
        ("OneOf([X.ToGray(), X.NoOp(p=0.6)], p=1)", "RandomChoice([X.RandomGrayscale(1), X.Identity()], p=[0.5, 0.6])"),
        (
            "ShiftScaleRotate(0.1, (-0.5, 0.2), 0, p=1)",
            'RandomAffine((0, 0), translate=(0.1, 0.1), scale=(0.5, 1.2), interpolation="bilinear")',
        ),
        (
            "ShiftScaleRotate(0, 0, (10, 30), p=1)",
            'RandomAffine((-30, -10), translate=(0, 0), scale=(1.0, 1.0), interpolation="bilinear")',
        ),
        (
            "Affine((1.1, 1.2), 0.1, None, 5, (-9, 9), p=1)",
            "RandomAffine((-5, -5), translate=(0.1, 0.1), scale=(1.1, 1.2), shear=(-9, 9, -9, 9), "
            'interpolation="bilinear")',
        ),
        (
            "Affine(shear=9, p=1)",
            "RandomAffine((0.0, 0.0), translate=(0, 0), scale=(1.0, 1.0), shear=(9, 9, 9, 9), "
            'interpolation="bilinear")',
        ),
        ("Perspective(interpolation=2, p=1)", 'RandomPerspective(0.2, 1, "bicubic")'),
        ("RGBShift(15, 15, 51, p=1)", 'PixelOp("RGBShift", "clamp(rgb(red + r, green + g, blue + b), 0, 1)", '
         "r=(-0.0588235, 0.0588235), g=(-0.0588235, 0.0588235), b=(-0.2, 0.2))"),
        ("OneOf([X.ToGray(p=P), X.NoOp(p=1)], p=1)", "RandomChoice([X.RandomGrayscale(1), X.Identity()], p=[P, 1])"),
        ("Compose([]); y(image=a, mask=b); f(image=a)", 'Compose([]); y({"image": a, "mask": b}); f(image=a)'),
        ("ShiftScaleRotate(0, 1e999, 0, p=1)",
         'RandomAffine((0, 0), translate=(0, 0), scale=(0.0, float("inf")), interpolation="bilinear")'),
        ("HueSaturationValue((9, 18), 0, 0, p=1)",
         "ColorJitter(brightness=(1.0, 1.0), saturation=(1.0, 1.0), hue=(0.05, 0.1))"),
        ("ImageCompression('jpeg', (50, 60), p=1)", "JPEG((50, 60))"),
        ("Pad((1, 2), border_mode=cv2.BORDER_REFLECT_101)", 'Pad((1, 2), padding_mode="reflect")'),
        ("RandomRotate90()", "RandomChoice([X.Identity(), X.RandomRotation((90, 90)), X.RandomRotation((180, 180)), "
         "X.RandomRotation((270, 270))])"),
        (r"BboxParams('a\nb')", r"Boxes('a\nb', compact=True)"),
        ("Compose([X.NoOp(p=1), X.ToTensorV2()])", "Compose([X.Identity()])"),
        ("Compose([X.ToTensorV2()])", "Compose([])"),
        ("Compose([\n    X.ToTensorV2(),\n    X.NoOp(p=1),\n])", "Compose([\n    X.Identity(),\n])"),
        ("Compose([\n    X.NoOp(p=1), X.ToTensorV2(), X.ToTensorV2(),\n    X.NoOp(p=1),\n])",
         "Compose([\n    X.Identity(),\n    X.Identity(),\n])"),
        ("Compose([\n  X.ToTensorV2(),\n  X.ToTensorV2(),\n  X.NoOp(p=1),\n])", "Compose([\n  X.Identity(),\n])"),
    ],
)  # fmt: skip
def test_migrate_edits_calls_of_albumentations(call, expected):
    migration = migrate(f"import albumentations as X\nx = 'é'; y = X.{call}\n")
    assert migration.text == f"from cuaug import transforms as X\nx = 'é'; y = X.{expected}\n"


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ("\n    FLIP,  # keep\n    DROPPED", "\n    FLIP,  # keep\n"),
        ("\n    FLIP,  # keep\n    DROPPED,", "\n    FLIP,  # keep\n"),
        ("\n    FLIP,  # keep, and this,\n    DROPPED\n", "\n    FLIP,  # keep, and this,\n"),
        ("\nFLIP,  # keep,\nDROPPED", "\nFLIP,  # keep,\n"),
        ("  # keep\n    DROPPED", "  # keep\n"),
        ("\n    FLIP,\n    DROPPED\n", "\n    FLIP,\n"),
        ("\n    FLIP  # keep\n    , DROPPED", "\n    FLIP  # keep\n    "),
        ("\n    DROPPED  # dropped\n    , FLIP", "\nFLIP"),
        ("(DROPPED), FLIP", "FLIP"),
        ("FLIP, ((  # dropped\n    DROPPED  # dropped\n))", "FLIP"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_migrate_removes_entries_of_every_form(entries, expected, newline):
    """In the list of a Compose call, and in a list that a variable holds."""
    for code in ("t = X.Compose([{}])", "entries = [{}]\nt = X.Compose(entries)"):
        source = f"import albumentations as X\n{code.format(entries)}\n".replace("\n", newline)
        text = migrate(source.replace("FLIP", "X.HorizontalFlip(p=1)").replace("DROPPED", "X.ToTensorV2()")).text
        compile(text, "", "exec")
        result = f"from cuaug import transforms as X\n{code.format(expected)}\n".replace("\n", newline)
        assert text == result.replace("FLIP", "X.RandomHorizontalFlip(1)")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("X.Resize(8, interpolation=3)", 'X.Resize(8, interpolation="bicubic")'),
        ("X.Resize(8, Image.BICUBIC)", 'X.Resize(8, "bicubic")'),
        ("X.Resize(8, interpolation=PIL.Image.NEAREST)", 'X.Resize(8, interpolation="nearest")'),
        ("f'{X.Pad(2)} é', X.Resize(8, interpolation=3)", "f'{X.Pad(2)} é', X.Resize(8, interpolation=\"bicubic\")"),
        ("X.Resize(8, interpolation=mode)", "X.Resize(8, interpolation=mode)"),
        ("X.ToDtype({tv.Image: f, tv.Mask: i}, scale=True)", "X.ToDtype({tv.Image: f, tv.Mask: i}, scale=True)"),
        ("X.Pad(2, fill={tv.Image: 3, 'others': 0})", "X.Pad(2, fill={tv.Image: 3, 'others': 0})"),
        ("X.Pad(2, fill=defaultdict(lambda: 3))", "X.Pad(2, fill=defaultdict(lambda: 3))"),
        ("X.Pad(2, fill=defaultdict(lambda: 3, {tv.Mask: 0}))", "X.Pad(2, fill=defaultdict(lambda: 3, {tv.Mask: 0}))"),
        ("X.Pad(2, fill={tv.Mask: 255, tv.Image: 3})", "X.Pad(2, fill={tv.Mask: 255, tv.Image: 3})"),
        ("X.Compose([X.Resize(8, interpolation=0)])", 'X.Compose([X.Resize(8, interpolation="nearest")])'),
        ("X.Resize(8, Image.ANTIALIAS)", 'X.Resize(8, "lanczos")'),
        ("X.Resize(8, interpolation=Image.LINEAR)", 'X.Resize(8, interpolation="bilinear")'),
        ("X.Resize(8, 2)", 'X.Resize(8, "bilinear")'),
        ("X.RandomRotation(2, 3, False)", 'X.RandomRotation(2, "bicubic", False)'),
        ("X.functional.rotate(x, 2, 0)", 'X.functional.rotate(x, 2, "nearest")'),
        ("X.RandomRotation(*a, 3)", "X.RandomRotation(*a, 3)"),
        ("X.Pad(2, Image.NEAREST)", "X.Pad(2, Image.NEAREST)"),
        ("self._call_kernel(X.functional.invert, x)", "self._call_kernel(X.functional.invert, x)"),
    ],
)  # fmt: skip
def test_migrate_edits_values_of_torchvision(call, expected):
    migration = migrate(f"from torchvision.transforms import v2 as X\ny = {call}\n")
    assert migration.text == f"from cuaug import transforms as X\ny = {expected}\n"


@pytest.mark.parametrize("module", ["torchvision.transforms", "torchvision.transforms.transforms"])
@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ("X.FiveCrop(8), X.Lambda(f), X.Lambda(g)", "X.FiveCrop(8), f, X.Lambda(g)"),
        ("X.TenCrop(8), X.Lambda(lambd=f)", "X.TenCrop(8), f"),
        (
            "X.TenCrop(8), X.Lambda(lambda crops: [X.Resize(8, interpolation=3)(crop) for crop in crops])",
            'X.TenCrop(8), lambda crops: [X.Resize(8, interpolation="bicubic")(crop) for crop in crops]',
        ),
        ("X.TenCrop(8), X.Lambda(*f)", "X.TenCrop(8), X.Lambda(*f)"),
        ("X.CenterCrop(8), X.Lambda(f)", "X.CenterCrop(8), X.Lambda(f)"),
    ],
)
def test_migrate_passes_functions_of_crops_without_lambda(module, entries, expected):
    """Lambda of torchvision v1 calls its function with all crops, that of v2 and of cuaug with each crop."""
    migration = migrate(f"import {module} as X\na = X.Compose([{entries}])\n")
    assert migration.text == f"from cuaug import transforms as X\na = X.Compose([{expected}])\n"
    assert migrate("from torchvision.transforms import v2 as X\n[X.FiveCrop(8), X.Lambda(f)]").text.endswith(
        ".Lambda(f)]"
    )


def test_migrated_function_of_crops_gets_all_crops():
    torch = pytest.importorskip("torch")
    recipe = "T.Compose([T.FiveCrop(4), T.Lambda(lambda crops: stack(crops) / 255)])"
    source = f"from torchvision import transforms as T\nrecipe = {recipe}\n"
    variables = {"stack": torch.stack}
    exec(migrate(source).text, variables)
    images = torch.arange(192, dtype=torch.uint8).reshape(3, 8, 8)
    assert torch.equal(variables["recipe"](images), torch.stack(T.functional.five_crop(images, 4)) / 255)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("self._call_kernel(F.invert, x, a=1)", "F.invert(x, a=1)"),
        ("self._call_kernel(functional=F.invert, inpt=x)", "F.invert(x)"),
        ("self._call_kernel(F.invert, inpt=x, **a)", "F.invert(x, **a)"),
        ("self._call_kernel(F.invert, *x)", "F.invert(*x)"),
        ("self._call_kernel(lambda x: x, x)", "(lambda x: x)(x)"),
        ("self._call_kernel(*x)", None),
        ("self._call_kernel(**x)", None),
        ("self.other._call_kernel(F.invert, x)", "self.other._call_kernel(F.invert, x)"),
    ],
)
def test_migrate_edits_kernel_calls_of_subclasses(call, expected):
    source = "class A(X.Transform):\n    def transform(self, x, params):\n        return "
    migration = migrate(f"from torchvision.transforms import v2 as X\n{source}{call}\n")
    assert migration.text == f"from cuaug import transforms as X\n{source}{expected or call}\n"
    assert [note.partition(" of ")[0] for _, note in migration.notes] == ["_call_kernel"] * (expected is None)


@pytest.mark.parametrize(
    ("imports", "function", "is_recipe"),
    [
        ("import albumentations as A", "self.transform", True),
        ("import albumentations as A", "train_transforms['train']", True),
        ("import albumentations as A", "get_augmentation(phase)", True),
        ("import albumentations as A", "A.Compose([])", True),
        ("import albumentations as A\nself.flip: A.Compose = A.Compose([])", "self.flip", True),
        ("import albumentations as A\nf, g = A.NoOp(), A.Compose([])", "g", True),
        ("import albumentations as A\nf = A.NoOp() if size else A.Compose([])", "f", True),
        ("import albumentations as A\nf = {'train': A.NoOp(), 'test': None}", "f['train']", True),
        ("import albumentations as A\nif f := A.NoOp(): pass", "f", True),
        ("import albumentations as A\ndef f(): return A.NoOp()", "f()", True),
        ("import albumentations as A\ndef f(): return A.NoOp()\ng = f()", "g", True),
        ("import albumentations as A\ndef f(image, size): return A.NoOp()", "f", False),
        ("import albumentations as A\nf = A.NoOp()({'image': x})", "f", False),
        ("import albumentations as A\nf: A.Compose | None", "f", True),
        ("import albumentations as A\ndef g(f: A.Compose): pass", "f", True),
        ("import albumentations as A\nimport numpy as np\ndef g(f: np.ndarray): pass", "f", False),
        ("import albumentations as A", "transform_image", False),
        ("import albumentations as A", "self.autograph", False),
        ("import albumentations as A\ndef transform(image, size): pass", "transform", False),
        ("import albumentations as A\nfrom .data import transform", "transform", False),
        ("import albumentations as A\nimport data", "data.transform", False),
        ("import albumentations as A\nfrom torchvision.transforms import v2", "v2.Compose([])", False),
        ("from torchvision.transforms import v2", "self.transform", False),
        ("from torchvision.transforms import v2", "transform_image", False),
    ],
)
def test_migrate_edits_calls_of_recipes_of_albumentations(imports, function, is_recipe):
    text = migrate(f"{imports}\ny = {function}(image=x, size=224)\n").text
    arguments = '{"image": x, "size": 224}' if is_recipe else "image=x, size=224"
    assert text.endswith(f"\ny = {function}({arguments})\n")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("f(image=x, **kw)", 'f({"image": x, **kw})'), ("f(**sample)", "f({**sample})"),
        ("f(**sample or {})", "f({**(sample or {})})"), ("f(image=(y := x))", 'f({"image": (y := x)})'),
        ("lambda: f(image=(yield), mask=(yield from m))", 'lambda: f({"image": (yield), "mask": (yield from m)})'),
        ("A.Compose([])(**sample)", "A.Compose([])({**sample})"), ("g()(**sample)", "g()({**sample})"),
        ("transform(image=x, **kw)", 'transform({"image": x, **kw})'), ("transform(**sample)", "transform(**sample)"),
        ("A.Compose(**options)", "A.Compose(**options)"), ("g(**options)", "g(**options)"),
    ],
)  # fmt: skip
def test_migrate_edits_unpacked_arguments_of_recipes(call, expected):
    text = migrate(f"import albumentations as A\nf = A.Compose([])\ndef g(): return A.NoOp()\ny = {call}\n").text
    assert text.endswith(f"\ny = {expected}\n")


@pytest.mark.parametrize("annotation", ["", ": ClassVar"])
def test_migrate_rewrites_transformed_types(annotation):
    types = "(tv.Image, tv.Video, tv.Mask, PIL.Image.Image)"
    source = f"class A(X.Transform):\n    _transformed_types{annotation} = {types}\n"
    expected = 'class A(X.Transform):\n    transformed_kinds = ("images", "masks")\n'
    assert migrate(f"from torchvision.transforms import v2 as X\n{source}").text.endswith(expected)


def test_migrate_prints_a_diff_and_notes(tmp_path, capsys):
    file = tmp_path / "recipe.py"
    file.write_text("import albumentations as A\nt = A.InvertImg(p=0.5)\nu = A.CLAHE()\n")
    assert command_line.main(["migrate", str(file)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line[0] in "+-"][2:] == [
        "-import albumentations as A", "-t = A.InvertImg(p=0.5)",
        "+from cuaug import transforms as A", "+t = A.RandomInvert(0.5)",
    ]  # fmt: skip
    assert lines[-1].startswith(f"{file}:3: CLAHE of Albumentations: there is no counterpart")
    assert file.read_text().startswith("import albumentations")

    file.write_text("t = 1\n")
    assert command_line.main(["migrate", str(file)]) == 0
    assert capsys.readouterr().out == ""
    for content in (b"def f(:\n", b"t = 1\0\n", b"t = '\xff'\n"):
        file.write_bytes(content)
        assert command_line.main(["migrate", str(file)]) == 2
        assert "recipe.py" in capsys.readouterr().err
    assert command_line.main(["migrate", str(tmp_path / "none.py")]) == 2


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("# end", "# \f end"),
        lambda text: text.removesuffix("\n"),
        lambda text: f"\ufeff{text}",
    ],
    ids=["plain", "CRLF", "form feed", "no final newline", "BOM"],
)
@pytest.mark.parametrize("end", ["# end\n", "t = A.Compose([\n    A.ToTensorV2(),\n    A.InvertImg(p=1)\n]) # end\n"])
def test_migrate_prints_a_diff_that_git_applies(tmp_path, monkeypatch, capsys, change, end):
    monkeypatch.chdir(tmp_path)
    source = "import albumentations as A\nfrom albumentations.pytorch import ToTensorV2\nt = A.InvertImg(p=1)\n" + end
    expected = migrate(source).text
    Path("recipe.py").write_bytes(change(source).encode())
    assert command_line.main(["migrate", "recipe.py"]) == 0
    diff, separator, _ = capsys.readouterr().out.partition("\nrecipe.py:")
    diff += "\n" * bool(separator)
    subprocess.run(["git", "apply", "-p0", "-"], input=diff.encode(), check=True, capture_output=True)
    assert Path("recipe.py").read_bytes().decode() == change(expected)


def test_migrate_refuses_expressions_that_are_nested_too_deeply(tmp_path, capsys):
    file = tmp_path / "sum.py"
    file.write_text(f"TEXT = {' + '.join(['x'] * 1500)}\n")
    assert command_line.main(["migrate", str(file)]) == 2
    assert capsys.readouterr().err == f"{file}: an expression is nested too deeply\n"


def test_migrate_does_not_execute_the_file(tmp_path):
    target = tmp_path / "executed"
    call = f"open({str(target)!r}, 'w')"
    source = f"import albumentations as A\n{call}\nA.RandomCrop({call}, [].clear())\n"
    assert "open" in migrate(source).text
    assert not target.exists()


def test_migrated_brightness_contrast_is_that_of_albumentations():
    """Albumentations multiplies by the contrast, then adds the brightness."""
    source = "import albumentations as X\nt = X.RandomBrightnessContrast((0.1, 0.1), (0.3, 0.3), p=1)\n"
    variables = {}
    exec(migrate(source).text, variables)
    images = np.arange(0, 240, 5, dtype=np.uint8).reshape(1, 4, 4, 3)
    expected = np.clip(np.rint(images * 1.3 + 0.1 * 255), 0, 255)
    tolerance = Tolerance(absolute=1, exact=0.9, reason="ties: float32 errors decide how they round")
    assert_equal(variables["t"](images), expected.astype(np.uint8), tolerance=tolerance)
