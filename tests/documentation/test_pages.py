"""The programs of README and of the guides run; the names, links and paths in the documentation exist."""

import re
from pathlib import Path

import pytest
import torch
from helpers.arrays import images

import cuaug
from cuaug import transforms as T

DOCS = Path(__file__).parents[2]
# A file has a suffix; a folder ends with a slash or begins with a folder of the repository.
PATHS = re.compile(
    r"(?<![\w./-])(?:[\w.-]+/)*(?:[\w.-]+\.(?:py|cuh?|[ch]pp|md|toml)|[\w.-]+/(?![\w.*<-]))"
    r"|(?<![\w./-])(?:cuaug|tests|benchmarks|docs)/[\w/-]+"
)


def blocks(name, heading=""):
    """The Python blocks of a page, section by section, and its plain blocks."""
    text = (DOCS / name).read_text().partition(heading)[2] if heading else (DOCS / name).read_text()
    section = text.partition("\n## ")[0] if heading else text
    return re.findall(r"```python\n(.*?)```", section, re.S), re.findall(r"\n\n```\n(.*?)```", section, re.S)


def test_readme_recipe_runs_and_prints_its_plan(capsys):
    (program,), (printed,) = blocks("README.md", "## Transforms\n")
    batch = images(("torch", "cpu"), shape=(2, 256, 256, 3))
    names = {"loader": [(batch, None)], "device": "cpu"}
    exec(program, names)
    assert capsys.readouterr().out == printed
    assert names["images"].dtype == torch.float16
    assert tuple(names["images"].shape) == (2, 3, 224, 224)


@pytest.mark.parametrize("page", ["recipes", "migration"])
def test_documentation_programs_run(page):
    programs, names = blocks(f"docs/{page}.md")[0], {}
    assert len(programs) >= 4
    for program in programs:  # in order: a program may use the names of the one before
        exec(program, names)


@pytest.mark.parametrize("page", ["README.md", "docs/recipes.md", "docs/migration.md"])
def test_documentation_names_and_links_exist(page):
    text = (DOCS / page).read_text()
    named = [(T, name) for name in re.findall(r"\bT\.(\w+)", text)]
    named += [(cuaug, name) for name in re.findall(r"\bcuaug\.(\w+)", text)]
    text = re.sub("```.*?```", "", text, flags=re.S)
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert [name for owner, name in named if not hasattr(owner, name) and name != "RandomZoomOut"] == []
    assert named
    assert [link for link in links if not (DOCS / page).parent.joinpath(link).exists()] == []


@pytest.mark.parametrize(("page", "count"), [("docs/path-of-a-call.md", 70), ("CONTRIBUTING.md", 40)])
def test_documentation_paths_exist(page, count):
    """Paths are relative to the repository, to `cuaug`, or to the page; a file name alone is in some folder."""
    named = sorted(set(PATHS.findall((DOCS / page).read_text())))
    names = {path.name for path in (DOCS / "cuaug").rglob("*.*")}
    roots = DOCS, DOCS / "cuaug", (DOCS / page).parent
    assert len(named) >= count
    assert [name for name in named if name not in names and not any((root / name).exists() for root in roots)] == []
