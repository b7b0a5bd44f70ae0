"""The workflows of CI: they parse, their actions are pinned to a commit, and their steps call targets of make."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
every_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)


def jobs(path):
    return list(yaml.safe_load(path.read_text())["jobs"].values())


def steps(path):
    return [step for job in jobs(path) for step in job.get("steps", [])]


def targets(commands):
    """The arguments of `make` in shell commands, without options and variables."""
    calls = re.findall(r"\bmake((?: +[^\s;&|]+)+)", commands)
    return {word for call in calls for word in call.split() if not word.startswith("-") and "=" not in word}


def test_targets_of_commands():
    assert targets("make lint -j2 A=1 test && echo; make docs | tail") == {"lint", "test", "docs"}


def test_workflows_exist():
    assert [path.name for path in WORKFLOWS] == ["release.yml", "tests.yml", "wheels.yml"]


@every_workflow
def test_workflow_actions_are_pinned(path):
    """To a commit, with the version beside it; or to a workflow of this repository, which exists."""
    used = [part["uses"] for part in jobs(path) + steps(path) if "uses" in part]
    assert used
    for action in used:
        if action.startswith("./"):
            assert (ROOT / action).is_file()
            assert "workflow_call" in yaml.safe_load((ROOT / action).read_text())[True]  # YAML 1.1 reads `on` as true
        else:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action), action
            for line in (line for line in path.read_text().splitlines() if action in line):
                assert re.search(re.escape(action) + r"  # v\d+\.\d+\.\d+$", line), line


@every_workflow
def test_workflow_permissions_are_to_read_and_to_sign(path):
    """A job's own permissions replace the workflow's; `id-token: write` gives it a token that proves its identity."""
    assert yaml.safe_load(path.read_text())["permissions"] == {"contents": "read"}
    allowed = {"contents": "read", "id-token": "write"}
    for job in jobs(path):
        assert job.get("permissions", {}).items() <= allowed.items()


@every_workflow
def test_workflow_matrix_names_are_defined(path):
    for job in jobs(path):
        rows = job.get("strategy", {}).get("matrix", {}).get("include", [])
        names = set(re.findall(r"\$\{\{ *matrix\.(\w+) *\}\}", yaml.safe_dump(job)))
        assert all(names == row.keys() for row in rows) if rows else not names


@pytest.mark.skipif(not shutil.which("make"), reason="no make")
@every_workflow
def test_workflow_steps_call_targets_of_make(path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    listing = subprocess.run(["make", "help"], cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
    existing = set(re.findall(r"^ *make ([a-z-]+)", listing.stdout, re.M))
    assert targets("\n".join(step.get("run", "") for step in steps(path))) <= existing


@pytest.mark.parametrize(("name", "code"), [("cuaug-1.2.0-cp311.whl", 0), ("cuaug-1.2.0rc1-cp311.whl", 1)])
def test_release_refuses_wheels_of_another_version_than_the_tag(tmp_path, name, code):
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist/cuaug-1.2.0-cp310.whl").touch()
    (tmp_path / "dist" / name).touch()
    (step,) = [step for step in steps(ROOT / ".github/workflows/release.yml") if "version" in step.get("name", "")]
    environment = {**os.environ, "GITHUB_REF_NAME": "v1.2.0"}
    result = subprocess.run(["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=environment, capture_output=True)
    assert result.returncode == code
    assert (name in result.stderr.decode()) == bool(code)
