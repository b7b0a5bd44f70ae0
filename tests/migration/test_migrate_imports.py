"""``python -m cuaug migrate``: edits of imports and of the names that they bind."""

import pytest

from cuaug import _missing_names
from cuaug._migration.migrate import migrate


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from torchvision.transforms import v2", "from cuaug import transforms as v2"),
        ("from torchvision.transforms import v2 as T", "from cuaug import transforms as T"),
        ("from torchvision import transforms", "from cuaug import transforms"),
        (
            "from torchvision import datasets, transforms",
            "from torchvision import datasets\nfrom cuaug import transforms",
        ),
        ("import torchvision.transforms as transforms", "from cuaug import transforms"),
        ("import torchvision.transforms.v2 as v2", "from cuaug import transforms as v2"),
        ("from torchvision.transforms.v2 import functional as F", "from cuaug.transforms import functional as F"),
        ("import torchvision.transforms.functional as F", "from cuaug.transforms import functional as F"),
        ("from torchvision import ops, tv_tensors", "from torchvision import tv_tensors\nfrom cuaug import ops"),
        ("from torchvision.ops import nms as f", "from cuaug.ops import nms as f"),
        ("from torchvision.transforms import InterpolationMode", "from cuaug.transforms import InterpolationMode"),
        (
            "from torchvision.transforms.functional import horizontal_flip, InterpolationMode",
            "from cuaug.transforms.functional import horizontal_flip\nfrom cuaug.transforms import InterpolationMode",
        ),
        (
            "if True:\n    from torchvision import io, transforms",
            "if True:\n    from torchvision import io\n    from cuaug import transforms",
        ),
        (
            "import torchvision\nt = torchvision.transforms.v2.Resize(8)",
            "import torchvision\nimport cuaug.transforms\nt = cuaug.transforms.Resize(8)",
        ),
        ("import kornia.augmentation as K", "from cuaug import transforms as K"),
        (
            "from kornia.augmentation import RandomRotation\nt = RandomRotation(9, p=1.0)",
            'from cuaug import transforms as T\nt = T.RandomRotation(9, interpolation="bilinear")',
        ),
        ("import numpy as np\nfrom . import transforms\nx = np.float32(1)", None),
        (
            "from torchvision.transforms import Compose as C, Resize\nt, u = C([Resize(8)]), C",
            "from cuaug.transforms import Compose as C, Resize\nt, u = C([Resize(8)]), C",
        ),
        (
            "from torchvision.transforms.functional import resize as f, InterpolationMode as M\n"
            "y = f(x, 8, M.BICUBIC), f",
            "from cuaug.transforms.functional import resize as f\n"
            "from cuaug.transforms import InterpolationMode as M\n"
            "y = f(x, 8, M.BICUBIC), f",
        ),
        (
            "from albumentations import pytorch, NoOp, HorizontalFlip as H\nt = H(p=1), NoOp(p=1)",
            "from cuaug import transforms as pytorch\nfrom cuaug import transforms as T\n"
            "t = T.RandomHorizontalFlip(1), T.Identity()",
        ),
    ],
)
def test_migrate_edits_imports_and_references(source, expected):
    migration = migrate(f"{source}\n")
    assert migration.text == f"{expected or source}\n"
    assert migration.missing == []


@pytest.mark.parametrize(
    ("statement", "alias"),
    [
        ("N, T = 3, 4", "T_"),
        ("def f(T): pass", "T_"),
        ("class T: pass", "T_"),
        ("import torch as T", "T_"),
        ("from .typing import T", "T_"),
        ("match x:\n    case [*T]: pass", "T_"),
        ("T, T_ = 3, 4", "T__"),
        ("f(T=3).T", "T"),
        ("from cuaug import transforms as T", "T"),
    ],
)
def test_migrate_imports_transforms_under_a_free_name(statement, alias):
    migration = migrate(f"from albumentations import NoOp\n{statement}\nt = NoOp(p=1)\n")
    assert migration.text == f"from cuaug import transforms as {alias}\n{statement}\nt = {alias}.Identity()\n"


def test_migrate_takes_the_name_that_the_file_has_for_transforms():
    source = "import torchvision.transforms as T\nfrom albumentations import NoOp\nt = T.Resize(8), NoOp(p=1)\n"
    line = "from cuaug import transforms as T\n"
    assert migrate(source).text == f"{line}{line}t = T.Resize(8), T.Identity()\n"


def test_migrate_leaves_references_to_imgaug():
    """`migrate` gives advice only, also for names that cuaug has."""
    source = "import imgaug.augmenters as iaa\nt = iaa.Resize\n"
    migration = migrate(source)
    assert migration.text == source
    assert migration.missing == ["Resize"]


@pytest.mark.parametrize("module", ["albumentations", "torchvision.transforms"])
def test_migrate_leaves_star_imports_with_a_note(module):
    source = f"from {module} import *\nt = HorizontalFlip()\n"
    migration = migrate(source)
    assert migration.text == source
    assert [line for line, note in migration.notes if note.endswith(_missing_names.STAR_IMPORT)] == [1]
    assert migration.missing == ["*"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "def f():\n\tfrom torchvision import transforms, io\n\treturn transforms",
            "def f():\n\tfrom torchvision import io\n\tfrom cuaug import transforms\n\treturn transforms",
        ),
        (
            "if True:\n\timport torchvision\nt = torchvision.ops.nms",
            "if True:\n\timport torchvision\n\timport cuaug.ops\nt = cuaug.ops.nms",
        ),
        (
            "if True: from torchvision import transforms, io",
            "if True: from torchvision import io; from cuaug import transforms",
        ),
        ("try:\n    from albumentations import ToTensorV2\nfinally:\n    f()", "try:\n    pass\nfinally:\n    f()"),
        (
            "if True:\n    from albumentations import ToTensorV2\n    from albumentations import ToTensorV2 as X",
            "if True:\n    pass",
        ),
        ("def f():\n    from albumentations import ToTensorV2\n    return 1", "def f():\n    return 1"),
        ("if True: from albumentations import ToTensorV2", "if True: pass"),
        ("from albumentations import ToTensorV2 ; x = 1", "pass ; x = 1"),
        (
            "try:\n    from albumentations.pytorch import ToTensorV2 as X\n"
            "except ImportError:\n    from albumentations.pytorch import ToTensor as X\n"
            "import albumentations as A\nt = A.Compose([X()])",
            "try:\n    pass\nexcept ImportError:\n    from cuaug import transforms as T\n"
            "from cuaug import transforms as A\nt = A.Compose([])",
        ),
    ],
)
def test_migrate_keeps_blocks_of_imports_valid(source, expected):
    assert migrate(f"{source}\n").text == f"{expected}\n"


def test_migrate_leaves_statements_whose_edit_is_not_python():
    source = "if True: \\\n    from torchvision import transforms, io\nt = transforms.Resize(8, 2)\n"
    migration = migrate(source)
    assert migration.text == source.replace("2)", '"bilinear")')
    ((line, note),) = migration.notes
    assert line == 2
    assert note.endswith(": edit it by hand")


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("def f():\n    import torchvision\n    return torchvision.ops.nms, torchvision.ops.batched_nms", [3]),
        ("import torchvision\nx = torchvision.ops.nms\ndef f():\n    import torchvision.io", [2]),
        ("def f():\n    import torchvision\n    torchvision.ops.nms\ndef g():\n    import torchvision", [3, 7]),
        ("try:\n    from torchvision import ops\nexcept ImportError:\n    import own as ops\nx = ops.nms", []),
    ],
)
def test_migrate_imports_modules_once_where_the_file_needs_them(source, lines):
    text = migrate(f"{source}\n").text
    assert [line for line, code in enumerate(text.splitlines(), 1) if code.strip() == "import cuaug.ops"] == lines


@pytest.mark.parametrize(
    ("source", "expected", "note_starts"),
    [
        (
            "from torchvision.ops import MLP, nms",
            "from torchvision.ops import MLP\nfrom cuaug.ops import nms",
            ["MLP of torchvision: it is a part of a network"],
        ),
        (
            "from torchvision.transforms import functional_tensor",
            None,
            ["functional_tensor of torchvision: there is no counterpart"],
        ),
        (
            "from torchvision.transforms.functional import resize_image as f, resize\nf(x, 3)",
            "from torchvision.transforms.functional import resize_image as f\n"
            "from cuaug.transforms.functional import resize\nf(x, 3)",
            ["resize_image of torchvision: call resize"],
        ),
        ("from albumentations import Blur", None, ["Blur of Albumentations: there is no counterpart"]),
        (
            "from albumentations.core.transforms_interface import ImageOnlyTransform",
            None,
            ["ImageOnlyTransform of Albumentations: there is no counterpart"],
        ),
    ],
)
def test_migrate_leaves_imports_of_names_that_cuaug_lacks_with_a_note(source, expected, note_starts):
    migration = migrate(f"{source}\n")
    assert migration.text == f"{expected or source}\n"
    notes = [note for _, note in migration.notes]
    assert len(notes) == len(note_starts) == len(migration.missing)
    assert all(note.startswith(start) for note, start in zip(notes, note_starts, strict=True))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "from albumentations.core.composition import Compose\nt = Compose([])",
            "from cuaug import transforms as T\nt = T.Compose([])",
        ),
        (
            "import albumentations as A\nt = A.augmentations.transforms.NoOp(p=1), A.Compose.from_dict",
            "from cuaug import transforms as A\nt = A.Identity(), A.Compose.from_dict",
        ),
        (
            "from albumentations.augmentations import transforms as A\nt = A.NoOp(p=1)",
            "from albumentations.augmentations import transforms as A\nimport cuaug.transforms\n"
            "t = cuaug.transforms.Identity()",
        ),
        (
            "import albumentations.augmentations.transforms as A\nt = A.NoOp(p=1)",
            "import albumentations.augmentations.transforms as A\nimport cuaug.transforms\n"
            "t = cuaug.transforms.Identity()",
        ),
        (
            "from kornia.augmentation.container import ImageSequential\nt = ImageSequential()",
            "from cuaug import transforms as T\nt = T.Compose([])",
        ),
        (
            "import torchvision.transforms as X\nt = X.v2.Resize(8), X.v2.functional.hflip",
            "from cuaug import transforms as X\nt = X.Resize(8), X.functional.hflip",
        ),
    ],
)
def test_migrate_edits_names_of_submodules(source, expected):
    migration = migrate(f"{source}\n")
    assert migration.text == f"{expected}\n"
    assert migration.missing == []


def test_migrate_removes_entries_imported_from_submodules():
    source = "from albumentations.pytorch.transforms import ToTensorV2\nimport albumentations as A\n"
    migration = migrate(f"{source}t = A.Compose([A.NoOp(p=1), ToTensorV2()])\n")
    assert migration.text == "from cuaug import transforms as A\nt = A.Compose([A.Identity()])\n"


def test_migrate_notes_a_name_of_a_submodule_once():
    migration = migrate("import albumentations as A\nt = A.augmentations.Blur\n")
    assert migration.missing == ["Blur"]
