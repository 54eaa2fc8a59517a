"""A function gets all the changes that bring it within the limit, or none; new code has the project's types and layout."""

from textwrap import dedent

import pytest

from afresh.code.config_files import read_configuration
from afresh.code.python_source import parse_python
from afresh.code.refactoring.code_layout import read_code_layout
from afresh.code.refactoring.project_facts import NO_PROJECT, ProjectFacts
from afresh.code.refactoring.suggest_refactorings import explain_missing_suggestion, suggest_refactorings

GUARDS = "".join(f"    if options.get({n}):\n        options[{n}] += 1\n" for n in range(9))
FEWER_GUARDS = GUARDS[: GUARDS.index("    if options.get(7)")]


def plan(text: str, project: ProjectFacts = NO_PROJECT) -> tuple[str, str]:
    """Return the program after the first offer, or the reason why there is none."""
    source = parse_python("m.py", text)
    assert source is not None
    function = max(source.functions, key=lambda one: one.complexity)
    offers = list(suggest_refactorings(source, function, project))
    assert all(one.after <= 10 for one in offers)
    return (offers[0].applied(text), "") if offers else ("", explain_missing_suggestion(source, function, project))


def loop(comment: str, verb: str) -> str:
    return (
        dedent(f"""\
        # {comment}
        for row in rows:
            if row.{verb}:
                if row.{verb} > 1:
                    options[row] = row.{verb}
        """)
        .replace("\n", "\n    ")
        .rstrip(" ")
        .join(["    ", ""])
    )


def test_several_cuts_that_reach_the_limit_together_are_one_offer():
    one, other = (
        loop("Count the wide rows", "wide"),
        loop("Sum the tall rows", "tall").replace("if row.tall > 1", "while row.tall > 1"),
    )
    new, _ = plan(f"def work(options, rows):\n{GUARDS}{one}{other}    return options\n")
    assert "    _count_wide_rows(options, rows)\n    _sum_tall_rows(options, rows)\n" in new, new


def test_a_function_that_stays_over_the_limit_is_left_alone():
    new, reason = plan(f"def work(options, rows):\n{GUARDS}{GUARDS}{loop('Count the wide rows', 'wide')}    return options\n")
    assert not new
    assert reason == "good cuts would leave it at 19"


def test_code_that_is_in_the_file_twice_is_not_cut_out_once():
    twice = loop("Count the wide rows", "wide")
    other = f"def other(options, rows):\n{twice}    return options\n"
    alone = f"def work(options, rows):\n{GUARDS}{twice}    return options\n"
    assert plan(alone)[0]
    assert not plan(alone + "\n\n" + other)[0]


BRANCH = """\
    {word} isinstance(node, {kind}):
        for part in node.parts:
            if part:
                if {test}:
                    node.note(part)
"""


def test_of_alike_branches_all_are_cut_out_or_none():
    kinds = ("Try", "While", "Lambda", "Import")
    text = "def visit(node):\n" + "".join(
        BRANCH.format(word="elif" if n else "if", kind=kind, test=f"part.test{n}") for n, kind in enumerate(kinds)
    )
    assert plan(text)[0].count("def _visit_") == 4
    assert "def _visit_" not in plan(text.replace("Import", "x"))[0]


TYPED = """\
from __future__ import annotations


def work(options: dict[int, int], rows: list[str], title: str | None) -> int:
{guards}    # Count the wide rows
    total = 0
    for number, row in enumerate(rows):
        if row.startswith("a"):
            if {test}:
                total += number
    return total
"""


def test_types_are_carried_over_and_inferred():
    new, _ = plan(TYPED.format(guards=GUARDS, test="row.endswith('b')"))
    assert "def _count_wide_rows(rows: list[str]) -> int:" in new
    new, _ = plan(TYPED.format(guards=GUARDS, test="row == title"))
    assert "def _count_wide_rows(rows: list[str], title: str | None) -> int:" in new


def test_what_has_no_known_type_is_not_offered_in_typed_code():
    text = TYPED.format(guards=f"    mark = read_mark(rows)\n{GUARDS}", test="row == mark")
    new, reason = plan(text)
    assert not new
    assert reason == "the type of mark is not known where code has types"
    untyped = text.replace(": dict[int, int]", "").replace(": list[str]", "").replace(": str | None", "").replace(" -> int", "")
    assert "def _count_wide_rows(rows, mark):" in plan(untyped)[0]


def test_a_type_that_a_test_outside_has_narrowed_goes_along():
    guard = "    if title is None:\n        return 0\n"
    new, _ = plan(TYPED.format(guards=guard + FEWER_GUARDS, test="row == title"))
    assert "def _count_wide_rows(rows: list[str], title: str) -> int:" in new


def test_code_that_depends_on_a_narrowed_attribute_stays():
    text = dedent("""\
        class Reader:
            def work(self, options: dict[int, int], rows: list[str]) -> None:
        {guards}        if {test}:
                    # Count the wide rows
                    for row in rows:
                        if row:
                            if row.strip():
                                self.schema.count(row)
        """)
    guards = "".join(f"    {line}\n" for line in FEWER_GUARDS.splitlines())
    new, reason = plan(text.format(guards=guards, test="self.schema"))
    assert not new
    assert reason == "a test of self.schema outside is not known where code has types"
    assert "def _count_wide_rows(self, rows: list[str]) -> None:" in plan(text.format(guards=guards, test="rows"))[0]


@pytest.mark.parametrize(
    ("files", "width"),
    [
        ({"pyproject.toml": "[tool.ruff]\nline-length = 79\n"}, 79),
        ({"pyproject.toml": "[tool.black]\n"}, 88),
        ({"pyproject.toml": "[tool.black]\nline-length = 100\n"}, 100),
        ({"ruff.toml": "line-length = 120\n"}, 120),
        ({"setup.cfg": "[flake8]\nmax-line-length = 99\n"}, 99),
        ({"tox.ini": "[pycodestyle]\nmax_line_length = 95\n"}, 95),
        ({".editorconfig": "root = true\n[*.py]\nmax_line_length = 90\n"}, 90),
        ({}, 79),
    ],
)
def test_the_line_width_is_the_projects(files, width):
    source = parse_python("m.py", "value = 1\n" * 60)
    assert source is not None
    assert read_code_layout(read_configuration(list(files), files.__getitem__), source).line_width == width


def test_wrapped_arguments_end_with_a_comma_where_the_linter_wants_it():
    settings = {"pyproject.toml": "[tool.ruff]\nline-length = 60\nlint.select = ['COM']\n"}
    text = TYPED.format(guards=GUARDS, test="row == title").replace("title", "title_of_the_page")
    new, _ = plan(text, ProjectFacts({}, read_configuration(list(settings), settings.__getitem__)))
    assert "def _count_wide_rows(\n    rows: list[str],\n    title_of_the_page: str | None,\n) -> int:\n" in new
