"""Sets that must agree: the functions of a module, ``cuaug.__all__``, the tables of rows, the examples."""

import doctest
import importlib.util
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from helpers.child_process import python
from tables import colors as color_table
from tables import filters as filter_table
from tables.warps import ROW_OF_OP

import cuaug
from cuaug import color, levels, noise, ops, roi_modules
from cuaug import filter as filters
from cuaug import io as IO
from cuaug import transforms as T
from cuaug.transforms import functional as F

WARP_MODULES = [importlib.import_module(f"cuaug.{name}") for name in ("warp", "crop_resize")]

COLOR_MODULES = [color, levels, noise]
IMAGE_MODULES = [*COLOR_MODULES, *WARP_MODULES, filters, importlib.import_module("cuaug.mix")]
DETECTION_MODULES = [importlib.import_module(f"cuaug.{name}") for name in ("boxes", "iou", "roi", "suppression")]
MODULES = [
    *IMAGE_MODULES,
    *DETECTION_MODULES,
    *(importlib.import_module(f"cuaug.{name}") for name in ("geometry", "fit")),
]


def functions(module):
    """The public functions of a module, in the order of its text."""
    public = {name: value for name, value in vars(module).items() if inspect.isfunction(value)}
    return {
        n: f
        for n, f in public.items()
        if not n.startswith("_") and f"{f.__module__}.".startswith(f"{module.__name__}.")
    }


PUBLIC = [(module, name) for module in MODULES for name in functions(module)]

DOCUMENTED = [
    *PUBLIC,
    *((module, name) for module in (IO, F) for name in functions(module)),
    *((roi_modules, name) for name in roi_modules.__all__),
]
every_function = pytest.mark.parametrize(
    ("module", "name"),
    [pytest.param(*entry, marks=pytest.mark.jpeg if entry[0] is IO else ()) for entry in DOCUMENTED],
    ids=[name for _, name in DOCUMENTED],
)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_public_functions_are_exported(module):
    listed = {name for name in cuaug.__all__ if getattr(cuaug, name).__module__ == module.__name__}
    assert listed == set(functions(module))
    assert listed
    assert all(getattr(cuaug, name) is getattr(module, name) for name in listed)


def test_ops_has_every_name_of_detection():
    assert sorted(ops.__all__) == sorted(
        name for module in (*DETECTION_MODULES, roi_modules) for name in module.__all__
    )
    assert all(getattr(ops, name) is getattr(cuaug, name) for name in ops.__all__)


@pytest.mark.parametrize("name", cuaug.__all__)
def test_public_name_is_listed_and_has_a_docstring(name):
    assert name in dir(cuaug)
    assert getattr(cuaug, name).__doc__


def test_dir_lists_the_public_names():
    """The packages are listed even in a process that has not used them."""
    program = """
import cuaug
names = dir(cuaug)
print(*sorted(set(names) - set(cuaug.__all__) - {n for n in names if n.startswith("__")}), "__version__" in names)
for module in (cuaug.transforms, cuaug.io, cuaug.data):
    names = {n for n in dir(module) if not n.startswith("__")}
    print(sorted(names - set(module.__all__)), set(module.__all__) <= names)
"""
    assert python(program)[0].splitlines() == [
        "data io ops transforms typing True", "['functional'] True", "[] True", "[] True",
    ]  # fmt: skip


def test_warp_ops_have_rows():
    assert set(ROW_OF_OP) == {name for module in WARP_MODULES for name in functions(module)}


# Headers in the folder of the ops that define no op.
NO_OPS = {"blendsharpness", "chain", "color", "histogramlut", "pixelcontext", "userop", "expressionvalue", "ops"}


def test_color_ops_have_rows_and_functors():
    assert set(color_table.ROW_OF_OP) == {name for module in COLOR_MODULES for name in functions(module)}
    assert all(row.oracle for row in color_table.ROWS)
    ops = Path(cuaug.__file__).parent / "kernels" / "ops"
    files = {path.stem.replace("_", "") for path in ops.glob("*.cuh")} - NO_OPS
    assert files == {name.lower() for name in color_table.FUNCTORS}


DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def gallery():
    spec = importlib.util.spec_from_file_location("gallery", DOCS / "gallery.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_gallery_has_picture_of_every_image_function_and_transform(gallery):
    image_functions = {name for module in IMAGE_MODULES for name in functions(module)} - {"mix_labels"}
    others = {"Params", "from_dict", "mixed_labels", "AutoAugmentPolicy", "InterpolationMode"}
    others |= gallery.gallery_calls.WITHOUT_PICTURE
    classes = {f"T.{name}" for name in set(T.__all__) - others}
    assert set(gallery.PICTURES) == image_functions | classes
    assert {path.stem for path in (DOCS / "gallery").iterdir()} == set(gallery.PICTURES)
    assert sum(path.stat().st_size for path in (DOCS / "gallery").iterdir()) < 1.5e6


def test_gallery_pictures_are_up_to_date(gallery):
    photos = gallery.photographs()
    for name, (photo, _) in gallery.PICTURES.items():
        strip, side = gallery.draw_picture(name, photos), gallery.SIDE
        file = DOCS / "gallery" / f"{name}.jpg"
        assert gallery.is_up_to_date(file, strip), f"{name}: run `python -m cuaug gallery`"
        # A strip of one row begins with the photograph, and an op changes the photograph.
        if photo != "all" and strip.shape[0] == side and name not in {"to_dtype", "T.ToDtype", "T.Identity"}:
            cells = [strip[:, left : left + side] for left in range(0, strip.shape[1], side + 4)]
            assert any(not np.array_equal(cells[0], cell) for cell in cells[1:]), name


# docs/gallery_calls.py derives no call for these: elastic's displacement has the size of the row's images, mixes have
# no row, the others need special arguments.
WITHOUT_RULE = ["elastic", "mixup", "cutmix", "T.PixelOp", "T.Boxes", "T.Keypoints"]
WITHOUT_RULE += ["T.Compose", "T.RandomApply", "T.RandomChoice", "T.RandomOrder"]


def test_gallery_draws_op_without_chosen_call(gallery, monkeypatch):
    """A new op gets its picture from its row: docs/ needs no edit."""
    calls = gallery.gallery_calls.calls
    chosen = {name: gallery.PICTURES[name] for name in WITHOUT_RULE}
    monkeypatch.setattr(gallery, "PICTURES", calls(chosen))
    assert gallery.PICTURES.keys() == calls().keys()
    photos = gallery.photographs()
    for name in gallery.PICTURES.keys() - chosen.keys():
        assert gallery.draw_picture(name, photos).ndim == 3, name


def test_gallery_page_is_up_to_date(gallery):
    assert (DOCS / "gallery.md").read_text() == gallery.page(), "run `python -m cuaug gallery`"


def test_filter_ops_have_rows():
    assert set(filter_table.ROW_OF_OP) == set(functions(filters))


@every_function
def test_docstring_example_runs(module, name):
    function = getattr(module, name)
    test = doctest.DocTestParser().get_doctest(function.__doc__, dict(vars(module)), name, None, 0)
    assert [example for example in test.examples if example.want], f"{name} has no example with a result"
    message = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    with np.printoptions():  # restores the options that an example sets
        runner.run(test, out=message.append)
    assert runner.failures == 0, "".join(message)


def descriptions(module, name):
    """The docstring, and those of the functions that it refers to."""
    text = getattr(module, name).__doc__
    following = [
        (at, other)
        for at, other in DOCUMENTED
        if (at, other) != (module, name)
        and f"are those of :func:`{other if (at is F) == (module is F) else f'cuaug.{other}'}`"
        in " ".join(text.split())
    ]
    return text + "".join(descriptions(*other) for other in following)


def describes(text, parameter):
    """Whether the text has an entry for the parameter, alone or with others (``top, left:``), or refers to one."""
    entry = rf"^ +(\w+, )*\*{{0,2}}{parameter}(, \w+)*: "
    reference = rf"``{parameter}`` is (that|``\w+``) of :func:"
    return re.search(f"{entry}|{reference}", text, re.M) is not None


def test_docstring_with_a_mention_of_a_parameter_does_not_describe_it():
    assert describes("    Args:\n        top, left: First row.", "left")
    assert describes("    ``left`` is that of :func:`crop`.", "left")
    assert not describes("    Move by ``left``.\n    Args:\n        bottom_left: A corner.", "left")


@every_function
def test_docstring_describes_every_parameter(module, name):
    text, parameters = descriptions(module, name), inspect.signature(getattr(module, name)).parameters
    assert not [p for p in parameters if not describes(text, p)]


@every_function
def test_docstring_first_line_is_a_sentence(module, name):
    first = getattr(module, name).__doc__.splitlines()[0]
    assert first.endswith((".", "``."))
    assert len(first) <= 120
