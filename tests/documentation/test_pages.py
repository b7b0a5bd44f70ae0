"""The programs of README and of the guides run; the names, links and paths in the documentation exist."""

import re
from pathlib import Path

import pytest
import torch
from helpers.arrays import images

import cuaug
from cuaug import transforms as T

ROOT = Path(__file__).parents[2]
# A file has a suffix; a folder ends with a slash or begins with a folder of the repository.
PATHS = re.compile(
    r"(?<![\w./-])(?:[\w.-]+/)*(?:[\w.-]+\.(?:py|cuh?|[ch]pp|md|toml)|[\w.-]+/(?![\w.*<-]))"
    r"|(?<![\w./-])(?:cuaug|tests|benchmarks|docs)/[\w/-]+"
)


def blocks(name, heading=""):
    """The Python blocks of a page, section by section, and its plain blocks."""
    text = (ROOT / name).read_text().partition(heading)[2] if heading else (ROOT / name).read_text()
    section = text.partition("\n## ")[0] if heading else text
    return re.findall(r"```python\n(.*?)```", section, re.S), re.findall(r"\n\n```\n(.*?)```", section, re.S)


def test_readme_recipe_runs_and_prints_its_plan(capsys):
    (program,), (printed,) = blocks("README.md", "## Transforms\n")
    batch = images(("torch", "cpu"), shape=(2, 256, 256, 3))
    namespace = {"loader": [(batch, None)], "device": "cpu"}
    exec(program, namespace)
    assert capsys.readouterr().out == printed
    assert namespace["images"].dtype == torch.float16
    assert tuple(namespace["images"].shape) == (2, 3, 224, 224)


@pytest.mark.parametrize("page", ["recipes", "migration"])
def test_documentation_programs_run(page):
    programs, namespace = blocks(f"docs/{page}.md")[0], {}
    assert len(programs) >= 4
    for program in programs:  # in order: a program may use the names of the one before
        exec(program, namespace)


@pytest.mark.parametrize("page", ["README.md", "docs/recipes.md", "docs/migration.md"])
def test_documentation_names_and_links_exist(page):
    text = (ROOT / page).read_text()
    attributes = [(T, name) for name in re.findall(r"\bT\.(\w+)", text)]
    attributes += [(cuaug, name) for name in re.findall(r"\bcuaug\.(\w+)", text)]
    text = re.sub("```.*?```", "", text, flags=re.S)
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    # migration.md shows the error for a name that cuaug lacks.
    assert [name for owner, name in attributes if not hasattr(owner, name) and name != "RandomZoomOut"] == []
    assert attributes
    assert [link for link in links if not (ROOT / page).parent.joinpath(link).exists()] == []


@pytest.mark.parametrize(("page", "count"), [("docs/path-of-a-call.md", 70), ("CONTRIBUTING.md", 40)])
def test_documentation_paths_exist(page, count):
    """Paths are relative to the repository, to `cuaug`, or to the page; a file name alone is in some folder."""
    paths = sorted(set(PATHS.findall((ROOT / page).read_text())))
    file_names = {path.name for path in (ROOT / "cuaug").rglob("*.*")}
    roots = ROOT, ROOT / "cuaug", (ROOT / page).parent
    assert len(paths) >= count
    assert [
        path for path in paths if path not in file_names and not any((root / path).exists() for root in roots)
    ] == []
