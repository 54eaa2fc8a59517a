"""The project's own linters and its formatter are checks of a task that lowers complexity."""

import os
import sys
from pathlib import Path

import pytest
from verification_yard import PROJECT, Yard, begun, make_yard

from afresh.actions.tools import apply
from afresh.core.archived_block import block_from_text
from afresh.core.verdict import Ruling, describe_linter_runs
from afresh.errors import ModelMistake
from afresh.verification.project_linters import FORMATTERS, LINTERS, find_used_tools

RUFF = "[tool.ruff]\nline-length = 80\n[tool.ruff.lint]\nselect = ['E', 'F']\n"
FORMATTED = f"{RUFF}[tool.ruff.format]\n"
UNUSED = "import os\n"


@pytest.fixture
def linted(tmp_path: Path) -> Yard:
    files = {**PROJECT, "pyproject.toml": RUFF, "sums.py": UNUSED + PROJECT["sums.py"]}
    yard = make_yard(tmp_path, files, type="fix_violation")
    yard.insight.measured = "a / 2"
    yard.baseline()
    return yard


def test_findings_before_the_first_change_are_counted_and_shown(linted: Yard) -> None:
    baseline = linted.context.state.verification.baseline
    assert baseline and [(one.name, one.findings) for one in baseline.linters] == [("ruff", 1)] and baseline.formatter is None
    assert describe_linter_runs(baseline) == "ruff (1 finding now)"


def test_a_change_that_adds_a_finding_is_undone_before_any_test_is_run(linted: Yard) -> None:
    linted.change("sums.py", "return a + b", "unused = 1\n    return a + b")
    linted.change("sums.py", "a / 2", "a * 0.5")
    linted.shell.commands.clear()
    verdict = linted.step("sums.py")
    assert verdict.ruling is Ruling.FAIL
    assert verdict.reason.startswith("ruff: 1 new finding: sums.py: F841 ") and "pytest" not in str(linted.shell.commands)
    assert linted.grade().ruling is Ruling.FAIL and linted.grade().final


def test_tasks_of_other_types_are_not_judged_by_linters(tmp_path: Path) -> None:
    yard = begun(tmp_path, {"pyproject.toml": RUFF})
    yard.change("sums.py", "return a + b", "unused = 1\n    return a + b")
    assert yard.step("sums.py").ruling is Ruling.PASS


USES = {
    "mypy in pyproject": ({"pyproject.toml": "[tool.mypy]\nstrict = true\n"}, ["mypy"]),
    "mypy in setup.cfg": ({"setup.cfg": "[mypy]\n"}, ["mypy"]),
    "mypy.ini": ({"mypy.ini": ""}, ["mypy"]),
    "mypy in tox": ({"tox.ini": "[testenv:types]\ncommands = mypy src\n"}, ["mypy"]),
    "pyright": ({"pyrightconfig.json": "{}"}, ["pyright"]),
    "ruff.toml": ({"ruff.toml": ""}, ["ruff"]),
    "flake8": ({".flake8": ""}, ["flake8"]),
    "flake8 in setup.cfg": ({"setup.cfg": "[flake8]\nmax-line-length = 90\n"}, ["flake8"]),
    "pre-commit": (
        {".pre-commit-config.yaml": "- repo: x\n  hooks:\n    - id: ruff\n    - id: ruff-format\n"},
        ["ruff", "ruff format"],
    ),
    "black": ({"pyproject.toml": "[tool.black]\nline-length = 88\n"}, ["black"]),
    "make": ({"Makefile": "lint:\n\tblack --check .\n\tmypy .\n"}, ["mypy", "black"]),
    "none": ({"pyproject.toml": "[project]\nname = 'x'\nkeywords = ['ruff']\n"}, []),
}


@pytest.mark.parametrize("case", USES)
def test_the_tools_that_a_project_uses_are_found(tmp_path: Path, case: str) -> None:
    files, names = USES[case]
    yard = make_yard(tmp_path, files, type="fix_violation")
    assert [tool.name for tool in find_used_tools(yard.context, (*LINTERS, *FORMATTERS))] == names


def test_a_linter_that_can_not_run_is_no_check_and_named(tmp_path: Path) -> None:
    yard = begun(tmp_path, {"pyproject.toml": "[tool.ruff]\nno-such-setting = 1\n"}, type="fix_violation")
    baseline = yard.context.state.verification.baseline
    assert baseline and [one.can_run for one in baseline.linters] == [False]
    assert describe_linter_runs(baseline) == "ruff (can't run here)"
    yard.change("sums.py", "return a + b", "unused = 1\n    return a + b")
    assert yard.step("sums.py").ruling is Ruling.PASS


def test_targets_that_are_not_there_do_not_keep_a_linter_from_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for mypy: it ends with 2 unless it is given files, as mypy does if a file of its settings is missing."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    tool = "import sys\nassert sys.argv\nsys.exit(0 if '--version' in sys.argv or sys.argv[-1].endswith('.py') else 2)\n"
    files = {**PROJECT, "mypy/__init__.py": "", "mypy/__main__.py": tool, "mypy.ini": "[mypy]\nfiles = examples\n"}
    yard = make_yard(tmp_path, files, type="fix_violation")
    baseline = yard.baseline()
    assert [(one.name, one.can_run) for one in baseline.linters] == [("mypy", True)]
    assert baseline.linters[0].command.endswith(" sums.py")


def suggest(yard: Yard, *edits: tuple[str, str]) -> str:
    told = ", ".join(f'{{"path": "sums.py", "old": {old!r}, "new": {new!r}}}'.replace("'", '"') for old, new in edits)
    block = block_from_text(f"change it\n[{told}]")
    yard.archive.keep([block])
    return block.id


@pytest.mark.parametrize(("base", "formatted"), [(PROJECT["sums.py"], True), (PROJECT["sums.py"].replace("\n\n\n", "\n"), False)])
def test_new_code_is_formatted_where_the_file_was(tmp_path: Path, base: str, formatted: bool) -> None:
    yard = begun(tmp_path, {"pyproject.toml": FORMATTED, "sums.py": base}, type="fix_violation")
    apply.apply_suggestion({"id": suggest(yard, ("a + b", "( a+b )"))}, yard.context)
    assert ("return a + b\n" in yard.folder.read("sums.py")) is formatted


def test_a_suggestion_is_applied_whole_or_not_at_all(tmp_path: Path) -> None:
    yard = make_yard(tmp_path, PROJECT, type="fix_violation")
    with pytest.raises(ModelMistake):
        apply.apply_suggestion({"id": suggest(yard, ("a + b", "b + a"), ("not there", "x"))}, yard.context)
    assert yard.folder.read("sums.py") == PROJECT["sums.py"]
