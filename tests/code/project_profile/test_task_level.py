"""The levels for the type of task and for the task."""

from pathlib import Path

import pytest
from small_projects import SHOP, read

import afresh
from afresh.code.project_profile.profile import FACTS_BY_TASK_TYPE, ProfileInputs, build_profile
from afresh.core.commit import FileChurn
from afresh.core.tokens import estimate_tokens

TRIED = "`pytest -q` (runs: 5 tests pass)"


def of_type(type: str) -> str:
    return build_profile(*read(SHOP), ProfileInputs(type=type, tests=TRIED)).render("type")


def of_task(*likely: str, texts: dict[str, str] = SHOP, churn: dict[str, FileChurn] | None = None) -> str:
    return build_profile(*read(texts, churn), ProfileInputs(likely=likely)).render("task")


@pytest.mark.parametrize(
    ("type", "words"),
    [
        ("implement_feature", ["versions: Python >=3.11", "checked by: ruff (E F C901), lines up to 100", "CHANGELOG.md"]),
        ("fix_bug", ["tests: `pytest -q`"]),
        ("fix_violation", ["lines up to 100, complexity up to 10, at most 5 arguments", "ruff (E F C901)"]),
        ("refactor", ["complexity up to 10", "tests: `pytest -q`"]),
        ("write_tests", ["tests: `pytest -q`", "shared fixtures: tests/conftest.py"]),
        ("spec_design", ["written down in: CHANGELOG.md", "libraries: click, rich"]),
        ("code_review", ["checked by: ruff", "versions: Python >=3.11"]),
        ("discovery", ["started by: shop = shop.cli.main:main"]),
        ("bridge", ["started by: shop = shop.cli.main:main"]),
    ],
)
def test_each_type_is_told_what_matters_for_it(type: str, words: list[str]):
    text = of_type(type)
    assert text.startswith(f"for {type}: ") and not [word for word in words if word not in text]


def test_every_type_that_ships_has_its_own():
    shipped = {path.stem for path in (Path(afresh.__file__).parent / "templates").glob("*.yaml")}
    assert set(FACTS_BY_TASK_TYPE) == shipped - {"base", "summary", "lesson", "replay", "heartbeat"}


def test_a_type_of_somebodys_own_gets_what_any_change_needs():
    assert of_type("rename_things").startswith("for rename_things: versions: Python >=3.11")


def test_a_task_is_told_files_tests_dependents_and_risks():
    churn = {"src/shop/domain/price.py": FileChurn(30, 1.7e9)}
    text = of_task("src/shop/domain/price.py", "src/shop/app/stock.py", churn=churn)
    first, *_ = text.split("\n")
    assert first.startswith("likely about: src/shop/domain/price.py; ")
    assert "tests/domain/test_price.py" in text and "history: price.py 30 commits, last 2023-11" in text


def test_a_file_without_tests_and_one_that_does_not_parse_are_risks():
    texts = {"pkg/__init__.py": "", "pkg/alone.py": "def f(:\n"}
    assert "mind: pkg/alone.py does not parse; no test covers pkg/alone.py" in of_task("pkg/alone.py", texts=texts)


def test_what_many_rely_on_is_a_risk():
    texts = {"pkg/__init__.py": "", "pkg/core.py": "x = 1\n"} | {f"pkg/m{n}.py": "from pkg.core import x\n" for n in range(6)}
    assert "6 files rely on pkg/core.py" in of_task("pkg/core.py", texts=texts)


def test_without_likely_files_nothing_is_said():
    assert of_task() == of_task("no/such/file.py") == ""


def test_tests_are_told_only_where_nothing_else_is_likely():
    assert of_task("tests/domain/test_price.py").startswith("likely about: tests/domain/test_price.py")


@pytest.mark.parametrize("level", ["user", "project", "type", "task"])
@pytest.mark.parametrize("cap", [0, 1, 7, 30, 80, 200, 1000])
def test_each_level_keeps_to_any_cap(level: str, cap: int):
    made = build_profile(*read(SHOP), ProfileInputs(("- Use pytest.",), "refactor", ("src/shop/domain/price.py",), TRIED))
    assert made.render(level, cap) == "" or estimate_tokens(made.render(level, cap)) <= cap
