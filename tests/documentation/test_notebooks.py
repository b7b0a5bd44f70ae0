"""The notebooks run from top to bottom, show their pictures and are committed without outputs."""

from pathlib import Path

import pytest
from helpers.thinning import thinned

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
PICTURES = {"quickstart": 4, "custom_op": 3}


@pytest.mark.parametrize(
    "path", thinned([(path,) for path in NOTEBOOKS], lambda path: path.stem == "quickstart"), ids=lambda path: path.stem
)
@pytest.mark.filterwarnings("default")  # those of the notebook machinery; cuaug's would be in the cell's output
def test_notebook_runs(path):
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": path.parent}}
    ).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == PICTURES[path.stem]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_committed_without_outputs(path):
    cells = nbformat.read(path, as_version=4).cells
    assert all(not cell.outputs and cell.execution_count is None for cell in cells if cell.cell_type == "code")
