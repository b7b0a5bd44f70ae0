"""The notebooks run from top to bottom, show their pictures and are committed with small outputs."""

import importlib
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
PICTURES = {"quickstart": 4, "custom_op": 3}
MAX_PICTURE_BYTES = 200_000  # of all notebooks, as they stand in the files


def outputs(notebook):
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def printed(notebook):
    return "".join(output.text for output in outputs(notebook) if output.output_type == "stream")


def pictures(notebook, kind):
    return [output.data[kind] for output in outputs(notebook) if kind in output.get("data", {})]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("default")  # those of the notebook machinery; cuaug's would be in the cell's output
def test_notebook_runs(path, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    notebook = importlib.import_module("execute").execute(path)
    assert not [output for output in outputs(notebook) if output.get("name") == "stderr"]
    assert len(pictures(notebook, "image/png")) == PICTURES[path.stem]
    if path.stem == "custom_op":  # the other one prints facts about the machine
        assert printed(notebook) == printed(nbformat.read(path, as_version=4)), "run `python notebooks/execute.py`"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_committed_with_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1)), "run `python notebooks/execute.py`"
    assert {output.output_type for output in outputs(notebook)} <= {"stream", "execute_result"}
    assert not [output for output in outputs(notebook) if output.get("name") == "stderr"]
    assert len(pictures(notebook, "image/jpeg")) == PICTURES[path.stem]


def test_notebooks_have_small_pictures():
    notebooks = [nbformat.read(path, as_version=4) for path in NOTEBOOKS]
    assert sum(len(text) for notebook in notebooks for text in pictures(notebook, "image/jpeg")) <= MAX_PICTURE_BYTES
    assert not any(pictures(notebook, "image/png") for notebook in notebooks)
