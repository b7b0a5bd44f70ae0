"""The reference, the examples of public names, the tables of speeds, and the list of messages are complete."""

import ast
import doctest
import enum
import importlib
import inspect
import json
import re
import sys
import warnings
from xml.etree import ElementTree as ET

import pytest
from helpers import pages
from helpers.pages import PAGES, ROOT

import cuaug
from cuaug import data
from cuaug import io as IO
from cuaug import transforms as T
from cuaug.transforms import functional as F

DOCS = ROOT / "docs"
PUBLIC = [(module, name) for module in (cuaug, T, F, IO, data) for name in module.__all__]


@pytest.fixture(scope="module")
def import_from_docs():
    """A function that imports a script of docs/."""
    sys.path.insert(0, str(DOCS))
    yield importlib.import_module
    sys.path.remove(str(DOCS))


def names_in(program):
    nodes = list(ast.walk(ast.parse(program)))
    return {node.id for node in nodes if isinstance(node, ast.Name)} | {
        node.attr for node in nodes if isinstance(node, ast.Attribute)
    }


def test_every_public_name_has_an_example(import_from_docs):
    """An example is in a program of a page, in a docstring, or in a call of the gallery; tests run all of these."""
    calls = import_from_docs("gallery_calls").calls()
    used = {name.removeprefix("T.") for name in calls}
    for page in PAGES:
        used = used.union(*(names_in(program.text) for program, _ in pages.programs(page)))
    for module, name in PUBLIC:
        examples = doctest.DocTestParser().get_examples(inspect.getdoc(getattr(module, name)) or "")
        if any(name in names_in(example.source) for example in examples if not example.options):
            used.add(name)
    assert [f"{module.__name__}.{name}" for module, name in PUBLIC if name not in used] == []


def test_reference_documents_every_public_name():
    text = "\n".join(page.read_text() for page in (DOCS / "reference").glob("*.rst"))
    documented = re.findall(r"^\.\. auto(?:function|exception|class):: (\w+)$", text, re.M)
    for module in re.findall(r"^\.\. public:: \S+ (\S+)$", text, re.M):
        documented += importlib.import_module(module).__all__
    assert sorted(documented) == sorted(name for _, name in PUBLIC)


def public_objects():
    """The public functions and classes, and the methods of the classes, by name."""
    for module, name in PUBLIC:
        public = getattr(module, name)
        yield f"{module.__name__}.{name}", public
        for member, value in vars(public).items() if inspect.isclass(public) else ():
            if not member.startswith("_") or member == "__call__":
                yield f"{module.__name__}.{name}.{member}", value


def test_docstrings_of_results_are_sentences():
    """A colon in the first line of a Returns section makes a type of the words before it."""
    napoleon = pytest.importorskip("sphinx.ext.napoleon")
    config = napoleon.Config(napoleon_numpy_docstring=False)
    garbled = [
        f"{name}: {line}"
        for name, public in public_objects()
        for line in str(napoleon.GoogleDocstring(inspect.getdoc(public) or "", config, what="function")).splitlines()
        if ":rtype:" in line or ":ytype:" in line
    ]
    assert garbled == []


def test_docstrings_name_no_internal_module():
    """Internal modules are not for users, and help() does not follow Sphinx's references to them."""
    internal = [
        f"{name}: {reference}"
        for name, public in public_objects()
        for reference in re.findall(r":mod:`([^`]+)`", inspect.getdoc(public) or "")
        if reference not in ("cuaug.transforms", "cuaug.io", "cuaug.data", "cuaug.typing")
    ]
    assert internal == []


def test_reference_documents_every_method_of_classes_that_are_no_transforms(import_from_docs):
    """Also methods whose names transforms have, too, such as ``Params.to_dict`` and ``RoIAlign.forward``."""
    pytest.importorskip("sphinx")
    directive, methods = import_from_docs("reference").directive, []
    for name, public in public_objects():
        if inspect.isclass(public) and not issubclass(public, (T.Transform, enum.Enum, Exception)):
            options = " ".join(directive(public)[1])
            documented = re.sub(r":[\w-]+:|,", " ", options).split()
            methods += [
                (f"{name}.{member}", member in documented)
                for member, value in vars(public).items()
                if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))
                if value.__doc__
            ]
    assert {"cuaug.transforms.Params.to_dict", "cuaug.RoIAlign.forward"} <= {method for method, _ in methods}
    assert [method for method, is_documented in methods if not is_documented] == []


@pytest.fixture(scope="module")
def reference_text(import_from_docs, tmp_path_factory):  # Sphinx imports the extension docs/reference.py
    """A reference page of two classes and four functions, as text."""
    pytest.importorskip("myst_parser")
    application = pytest.importorskip("sphinx.application")
    folder = tmp_path_factory.mktemp("reference")
    (folder / "index.rst").write_text(
        ".. currentmodule:: cuaug.transforms\n\n"
        ".. autoclass:: cuaug.transforms.RandomErasing\n\n.. autoclass:: cuaug.transforms.Boxes\n\n"
        ".. autofunction:: cuaug.warp_affine\n\n.. autofunction:: cuaug.get_rotation_matrix\n\n"
        ".. autofunction:: cuaug.nms\n\n.. autofunction:: cuaug.transform_boxes\n"
    )
    settings = {"extensions": ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "reference"], "nitpicky": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of Sphinx about its extensions
        application.Sphinx(folder, DOCS, folder / "text", folder / "trees", "text", settings, status=None).build()
    return " ".join((folder / "text" / "index.txt").read_text().split())


def test_reference_shows_parameters_and_aliases(reference_text):
    assert "class cuaug.transforms.RandomErasing( p: float = 0.5, scale: Sequence[float] = (0.02" in reference_text
    assert "Boxes( format: str = 'XYXY', min_area: float = 0.0," in reference_text
    assert "interpolation: Interpolation = 'bilinear', border: Border = 'constant', fill: Fill = 0," in reference_text
    assert "dtype: DType | None = None, out: AnyArray | None = None, ) -> Array" in reference_text
    assert "get_rotation_matrix(angle, scale=1.0, center=(0.0, 0.0))" in reference_text


def test_reference_shows_one_signature_of_an_overloaded_function(reference_text):
    """That of the implementation, which has every option; the overloads are for type checkers."""
    assert reference_text.count("cuaug.nms(") == reference_text.count("cuaug.transform_boxes(") == 1
    assert "cuaug.transform_boxes(boxes, M, format: BoxFormat = 'XYXY') Map boxes by" in reference_text
    options = (
        "score_threshold: float | None = None, max_output: int | None = None, fixed_size: bool = False, counts=None"
    )
    assert f"cuaug.nms( boxes, scores, iou_threshold: float, *, {options}, ) Indices of" in reference_text


@pytest.mark.parametrize(
    "name", [name for name in T.__all__ if inspect.isclass(getattr(T, name)) and name not in ("Lambda", "Transform")]
)
def test_signature_of_a_class_has_its_parameters(name):
    """Editors show this signature. The user chooses the names of the parameters of ``T.PixelOp(..., **parameters)``."""
    parameters = inspect.signature(getattr(T, name)).parameters.values()
    assert not any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
    assert name == "PixelOp" or not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)


def test_every_page_is_in_the_index():
    listed = set(re.findall(r"^([\w/-]+)$", (DOCS / "index.md").read_text(), re.M))
    existing = {
        str(page.relative_to(DOCS).with_suffix("")) for suffix in ("md", "rst") for page in DOCS.rglob(f"*.{suffix}")
    }
    assert listed == existing - {"index"}


@pytest.mark.parametrize("page", ["README.md", "docs/placement.md", "docs/performance.md"])
def test_tables_of_speeds_are_those_of_the_results(import_from_docs, page):
    speeds = import_from_docs("speeds")
    assert set(speeds.TABLES) == {"README.md", "docs/placement.md", "docs/performance.md"}
    assert (ROOT / page).read_text() == speeds.page_with_tables(page), "run `python docs/speeds.py`"


def test_plot_of_training_is_that_of_the_results(import_from_docs):
    speeds = import_from_docs("speeds")
    assert speeds.PLOT.read_text() == speeds.training_plot(), "run `python docs/speeds.py`"


def training_result(date, rates):
    """A file of benchmarks/training.py; ``rates``: the step's and three loaders', by number of processors."""
    names = "the step alone", "cuaug Loader", "DataLoader, cuaug in Collate", "DataLoader, torchvision v2"
    tables = {
        f"training, {cpus} processors": {
            "device": "NVIDIA H200", "cpus": cpus, "batch": 256, "bytes": 70186.5,
            "rows": [
                {"name": name, "images_per_s": rate, "share_of_step": rate / values[0], "rounds": [round(rate)]}
                for name, rate in zip(names, values, strict=True)
            ],
        }
        for cpus, values in rates.items()
    }  # fmt: skip
    return json.dumps({"date": date, "machine": {"gpus": [{"name": "NVIDIA H200"}]}, "tables": tables})


def test_training_table_and_plot_show_the_newest_result(import_from_docs, monkeypatch, tmp_path):
    speeds = import_from_docs("speeds")
    monkeypatch.setattr(speeds, "RESULTS", tmp_path)
    old, new = {8: [9000, 99, 98, 97]}, {4: [5900, 4200, 1800, 750], 16: [6000.4, 5292.6, 3470.2, 2808.7]}
    (tmp_path / "2026-01-02-gpu-training.json").write_text(training_result("2026-01-02T09:00:00+00:00", old))
    (tmp_path / "2026-01-02-gpu-training-2.json").write_text(training_result("2026-01-02T10:00:00+00:00", new))

    text = speeds.training()
    assert "![16 processors: the step alone, no files: 6,000 (100%); cuaug Loader: 5,293 (88%); " in text
    assert "torchvision v2: 2,809 (47%)](training.svg)" in text
    assert "| ResNet-50 | 16 processors | 4 processors |" in text
    assert "| cuaug `Loader` | 5,293 (88%) | 4,200 (71%) |" in text
    assert "2026-01-02-gpu-training-2.json`, NVIDIA H200" in text
    assert "9,000" not in text

    root = ET.fromstring(speeds.training_plot())
    bars = [element for element in root.findall(".//{*}rect") if "class" in element.attrib]
    rates = [rate for cpus in (16, 4) for rate in new[cpus]]
    lengths = [float(element.get("width")) for element in bars]
    assert lengths == pytest.approx([lengths[0] * rate / rates[0] for rate in rates], abs=0.1)
    assert [element.get("class") for element in bars] == 2 * ["step", "cuaug", "cuaug", "other"]
    words = ["".join(element.itertext()) for element in root.findall(".//{*}text")]
    assert words[0] == "16 processors"
    assert words[3:5] == ["cuaug Loader", "5,293 (88%)"]


def test_troubleshooting_lists_every_message_of_the_set_up():
    """The first column of a table has a piece of the message of each BackendError."""
    rows = re.findall(r"^\| (`.*?`) \|", (DOCS / "troubleshooting.md").read_text(), re.M)
    listed = [phrase for row in rows for phrase in re.findall("`([^`]{10,})`", row)]
    messages = [
        (f"{path.name}:{call.lineno}", parts)
        for path in (ROOT / "cuaug").rglob("*.py")
        for call, parts in messages_of_backend_errors(ast.parse(path.read_text()))
    ]
    assert len(messages) > 25
    assert [entry for entry in messages if not any(phrase in part for phrase in listed for part in entry[1])] == []


def messages_of_backend_errors(module):
    """The calls of BackendError in a module, each with the pieces of its message, also those of module constants."""
    constants = {
        target.id: statement.value
        for statement in module.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    for call in ast.walk(module):
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("BackendError"):
            names = [node.id for node in ast.walk(call) if isinstance(node, ast.Name)]
            yield (
                call,
                [part for node in (call, *(constants[n] for n in names if n in constants)) for part in texts(node)],
            )


def texts(node):
    """The pieces of a message that are in the source, without the short ones between values."""
    parts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
    return [part for part in parts if isinstance(part, str) and len(part) >= 10]
