"""The programs of README and of the pages run and print what the pages say; names, links, paths and commands exist."""

import re

import pytest
from helpers import child_process, pages
from helpers.pages import PAGES, ROOT

import cuaug
from cuaug import transforms as T

# A file has a suffix; a folder ends with a slash or begins with a folder of the repository.
PATHS = re.compile(
    r"(?<![\w./-])(?:[\w.-]+/)*(?:[\w.-]+\.(?:py|cuh?|[ch]pp|cmake|md|toml)|[\w.-]+/(?![\w.*<-]))"
    r"|(?<![\w./-])(?:cuaug|tests|benchmarks|docs)/[\w/-]+"
)
# The languages of blocks. Only python blocks are run; of console blocks, test_documentation_commands_exist checks the
# names of targets, commands and extras.
LANGUAGES = {"python", "text", "console", "cpp", "mermaid", "{toctree}", "{include}"}

FILES = [*PAGES, *(file for page in PAGES for file in pages.included(page))]
# The changelog has names and commands that were removed.
CURRENT = [page for page in FILES if page.name != "CHANGELOG.md"]
every_file = pytest.mark.parametrize("page", FILES, ids=lambda page: page.stem)
every_current_file = pytest.mark.parametrize("page", CURRENT, ids=lambda page: page.stem)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    pages.write_files(folder)
    return folder


@pytest.mark.jpeg
@pytest.mark.filterwarnings("ignore:.*fork")  # JAX and Python warn rightly, but the workers use the threads of neither
@pytest.mark.parametrize("page", [page for page in PAGES if pages.programs(page)], ids=lambda page: page.stem)
def test_documentation_programs_run(page, folder, monkeypatch):
    monkeypatch.chdir(folder)
    libraries = pages.run(page) - {"GPU"}  # test_documentation_programs_run_on_a_gpu runs those
    if libraries:
        pytest.skip(f"some programs need {', '.join(libraries)}; the others ran")


@pytest.mark.jpeg
@pytest.mark.parametrize("page", ["README.md", "docs/getting-started.md"])
def test_documentation_begins_without_torch(page, folder):
    """The wheel does not install torch: only programs that say so need it."""
    program = (
        f"import os, sys; sys.modules['torch'] = None; os.chdir({str(folder)!r})\n"
        f"from helpers import pages; print(*pages.run(pages.ROOT / {page!r}))"
    )
    assert "torch" in child_process.python(program)[0].split()


@pytest.mark.gpu
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(pages.need(program) == "GPU" for program, _ in pages.programs(page))],
    ids=lambda page: page.stem,
)
def test_documentation_programs_run_on_a_gpu(page, folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert pages.run(page) == set()


def test_documentation_program_that_prints_something_else_fails(tmp_path):
    page = tmp_path / "page.md"
    for text in ("```text\n3\n```", "```text\nValueError: 2\n```"):
        page.write_text(f"```python\nprint(2)\n```\n\n{text}\n")
        with pytest.raises(AssertionError, match=r"page\.md:2"):
            pages.run(page)
    page.write_text("```python\nraise ValueError(2)\n```\n\n```text\nValueError: 2\n```\n")
    pages.run(page)


def test_documentation_program_that_needs_a_missing_library_is_left_out(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\n# needs no_such_library\nimport no_such_library\n```\n")
    assert pages.run(page) == {"no_such_library"}


@every_file
def test_documentation_blocks_have_a_language(page):
    assert {block.language for block in pages.blocks(page)} <= LANGUAGES
    assert page.read_text().count("```") == 2 * len(pages.blocks(page))


@every_current_file
def test_documentation_names_exist(page):
    text = re.sub("```text.*?```", "", page.read_text(), flags=re.S)  # errors name classes by the package alone
    names = [(T, name) for name in re.findall(r"\bT\.(\w+)", text)]
    names += [(cuaug, name) for name in re.findall(r"\bcuaug\.(\w+)", text)]
    missing = {name for owner, name in names if not hasattr(owner, name)}
    assert missing <= {"ShiftScaleRotate", "HorizontalFlip", "warpAffine"}  # the pages show or name their errors


@every_file
def test_documentation_links_exist(page):
    """Links within the repository, and the headings that they name."""
    text = re.sub("```.*?```", "", page.read_text(), flags=re.S)
    links = [link.partition("#") for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    broken = []
    for path, _, heading in links:
        target = page.parent / path if path else page
        if not target.exists() or (heading and heading not in anchors(target)):
            broken.append(f"{path}#{heading}")
    assert broken == []


def anchors(page):
    """The anchors of a page's headings, as a code host forms them."""
    text = "".join(file.read_text() for file in (page, *pages.included(page)))
    text = re.sub("```.*?```", "", text, flags=re.S)
    titles = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def names_of_extras():
    text = (ROOT / "pyproject.toml").read_text().partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    return set(re.findall(r"^([\w-]+) = ", text, re.M))


@every_current_file
def test_documentation_commands_exist(page):
    """Targets of make, commands of cuaug, and extras."""
    text = page.read_text()
    targets = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.M)
    commands = re.findall(r'add_parser\(\s*"(\w+)"', (ROOT / "cuaug" / "__main__.py").read_text())
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.M)) <= set(targets)
    assert set(re.findall(r"python -m cuaug (\w+)", text)) <= set(commands)
    assert set(re.findall(r"(?:\.|cuaug|whl\))\[([\w-]+)\]", text)) <= names_of_extras()
    assert not re.search(r"pip install (?:-\S+ )*\"?cuaug\b", text)  # the index has no such package


def test_documentation_lists_every_extra():
    """The table has the extras for users. Those for contributors, "test" and "docs", are described elsewhere."""
    table = (ROOT / "docs" / "getting-started.md").read_text().partition("### Extras")[2].partition("\n#")[0]
    rows = "".join(re.findall(r"^\| (`.*?) \|", table, re.M))
    assert {*re.findall(r"`([\w-]+)`", rows), "test", "docs"} == names_of_extras()


def test_contributing_shows_the_source():
    """The blocks that show `solarize`: every line is in one file of the package. The last block shows a pattern."""
    code = [block for block in pages.blocks(ROOT / "CONTRIBUTING.md") if block.language in ("cpp", "python")]
    files = [path.read_text() for suffix in ("py", "cuh") for path in (ROOT / "cuaug").rglob(f"*.{suffix}")]
    assert len(code) == 4
    for block in code[:3]:
        lines = [line.rstrip('"') for line in block.text.splitlines()]  # the first line of a docstring stands alone
        assert any(all(line in text for line in lines) for text in files), f"CONTRIBUTING.md:{block.line}"


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
