import sqlite3
from pathlib import Path

import pytest

from afresh.code.coverage_file import file_from_context, read_coverage


@pytest.fixture(autouse=True)
def project(tmp_path: Path) -> None:
    for path in ("src/a.py", "src/b.py", "tests/test_a.py", "tests/unit/test_b.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()


def measured(root: Path, table: str, *rows: tuple[str, str]) -> None:
    """A data file as coverage.py lays it out."""
    with sqlite3.connect(root / ".coverage") as data:
        data.executescript(
            "CREATE TABLE file (id integer primary key, path text);"
            "CREATE TABLE context (id integer primary key, context text);"
            "CREATE TABLE line_bits (file_id integer, context_id integer, numbits blob);"
            "CREATE TABLE arc (file_id integer, context_id integer, fromno integer, tono integer);"
        )
        for number, (path, context) in enumerate(rows):
            data.execute("INSERT INTO file VALUES (?, ?)", (number, path))
            data.execute("INSERT INTO context VALUES (?, ?)", (number, context))
            data.execute(f"INSERT INTO {table} (file_id, context_id) VALUES (?, ?)", (number, number))


@pytest.mark.parametrize("table", ["line_bits", "arc"])
def test_tests_are_told_by_what_was_running(tmp_path: Path, table: str):
    measured(
        tmp_path, table,
        (f"{tmp_path}/src/a.py", "tests/test_a.py::test_it[1]|run"), (f"{tmp_path}/src/b.py", "tests.unit.test_b.Case.test_it"),
        (f"{tmp_path}/src/b.py", ""), (f"{tmp_path}/src/b.py", "gone.test_c.test_it"), ("/elsewhere/c.py", "tests/test_a.py::x"),
    )  # fmt: skip
    found = read_coverage(tmp_path)
    assert dict(found) == {"src/a.py": ["tests/test_a.py"], "src/b.py": ["tests/unit/test_b.py"]}
    assert found.get("src/none.py", ()) == ()


def test_without_data_or_with_another_file_nothing_is_known(tmp_path: Path):
    assert not read_coverage(tmp_path)
    (tmp_path / ".coverage").write_text("not a database")
    assert not read_coverage(tmp_path)


def test_the_name_of_a_module_is_no_test(tmp_path: Path):
    assert file_from_context("src.a", tmp_path) == ""
    assert file_from_context("src.a.f", tmp_path) == "src/a.py"
