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
    """Its names are advice only, also those that cuaug has."""
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
