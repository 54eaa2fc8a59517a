"""What the house may weigh: tests/budget.toml has statements and characters of each room, which may only fall.

`python tests/test_budget.py` lowers the figures to what is there. It raises none: whoever needs more writes the new figure by
hand, and says in docs/internals/decisions.md what users get for it.
"""

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from afresh.core.event import TASK_EVENT_CLASS_BY_TAG
from afresh.core.state import State
from support.source_trees import list_nodes, list_sources

ROOT = Path(__file__).parents[1]
BUDGET = Path(__file__).with_name("budget.toml")
REPAIR = 0.01
"""So much a room may grow beyond its figure, the lowest that it ever had: room for repairs, which does not add up."""
SLACK = 0.02
"""How far a figure may lie above what is there before it has to be lowered."""
DIALECT = frozenset(
    {"course", "deeds", "flavour", "found", "given", "held", "judged", "looks", "made", "one", "patience", "purchase", "said"}
    | {"settled", "sheet", "shelf", "told", "way"}
)
"""No names for values: they don't say what a value is."""


def list_dialect(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Variables and parameters whose names say nothing."""
    for node in nodes:
        name = node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else getattr(node, "arg", None)
        if name in DIALECT and not isinstance(node, ast.keyword):
            yield name


def weigh_sources() -> dict[str, dict[str, int]]:
    """Statements, characters and dialect by room, in the order of their names."""
    rooms: dict[str, dict[str, int]] = {}
    for path, source, tree in list_sources():
        room = path.parts[0].removesuffix(".py")
        figures = rooms.setdefault(room, {"statements": 0, "characters": 0, "dialect": 0})
        nodes = list_nodes(tree)
        figures["statements"] += sum(isinstance(node, ast.stmt) for node in nodes)
        figures["characters"] += len(source)
        figures["dialect"] += len(list(list_dialect(nodes)))
    return rooms


def list_classes(kind: Any, found: set[type]) -> set[type]:
    """The dataclasses that a value of this type is made of, added to those that were found."""
    if is_dataclass(kind) and isinstance(kind, type):
        if kind not in found:
            found.add(kind)
            for hint in get_type_hints(kind).values():
                list_classes(hint, found)
    else:
        for part in get_args(kind):
            list_classes(part, found)
    return found


def weigh_rest() -> dict[str, dict[str, int]]:
    """Lines of tests, benches and scripts in Python, kilobytes of pages, and of what a task's state and journal are made."""
    lines = {folder: [path.read_text("utf-8") for path in (ROOT / folder).rglob("*.py")] for folder in ("tests", "bench")}
    pages = [path.read_bytes() for path in (ROOT / "docs").rglob("*.md")]
    return {
        **{folder: {"lines": sum(text.count("\n") for text in texts)} for folder, texts in lines.items()},
        "state": {"classes": len(list_classes(State, set())), "events": len(TASK_EVENT_CLASS_BY_TAG)},
        "docs": {"pages": len(pages), "kilobytes": sum(map(len, pages)) // 1024},
    }


def compare_with_budget(budget: dict[str, dict[str, int]], there: dict[str, dict[str, int]]) -> list[str]:
    """What weighs more than it may, what could be lowered, and what is only in one of the two."""
    wrong = [f"{room}: in one of budget.toml and the source only" for room in budget.keys() ^ there.keys()]
    for room in budget.keys() & there.keys():
        for figure, most in budget[room].items():
            weight = there[room][figure]
            if weight > most * (1 + REPAIR):
                wrong.append(f"{room}: {weight} {figure}, {most} are allowed: take something away")
            elif most - weight > max(20, SLACK * most):
                wrong.append(f"{room}: {weight} {figure} of {most}: lower it with `python tests/test_budget.py`")
    return sorted(wrong)


def test_no_room_weighs_more_than_its_budget():
    wrong = compare_with_budget(tomllib.loads(BUDGET.read_text("utf-8")), {**weigh_sources(), **weigh_rest()})
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("there", "complaint"),
    [
        ({"core": {"statements": 102}}, "take something away"),
        ({"core": {"statements": 70}}, "lower it"),
        ({"core": {"statements": 101}, "attic": {"statements": 1}}, "only"),
    ],
)
def test_a_broken_twin_is_caught(there: dict[str, dict[str, int]], complaint: str):
    (wrong,) = compare_with_budget({"core": {"statements": 100}}, there)
    assert complaint in wrong


def test_names_that_say_nothing_are_counted():
    source = "def f(held, *, told=1):\n    for one, path in held:\n        (said := one)\n    f(held=told, given=2)\n"
    assert sorted(list_dialect(ast.walk(ast.parse(source)))) == ["held", "one", "said", "told"]


def test_names_in_docstrings_exist():
    """A name in backticks that occurs nowhere else in the source is gone."""
    templates = [path.read_text("utf-8") for path in (ROOT / "src" / "afresh" / "templates").glob("*.yaml")]
    words = re.findall(r"\w+", "\n".join([*(source for _, source, _ in list_sources()), *templates]))
    seen_once = {word for word, count in count_words(words).items() if count == 1}
    gone = [
        f"{path.name}: {name}"
        for path, _, tree in list_sources()
        for name in list_names_in_docstrings(list_nodes(tree))
        if name in seen_once
    ]
    assert not gone, "\n".join(gone)


def count_words(words: list[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def list_names_in_docstrings(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Words in backticks that look like names of this source: `snake_case`, `CamelCase`, `CONSTANT`."""
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            for name in re.findall(r"(?<!`)`(?:[\w.]+\.)?([A-Za-z]\w+)(?:\(\))?`(?!`)", node.value.value):
                if re.fullmatch(r"[a-z]+(?:_[a-z0-9]+)+|[A-Z][a-z]+[A-Z]\w+|[A-Z]+_[A-Z_]+", name):
                    yield name


def test_a_name_in_a_docstring_is_found():
    tree = ast.parse('"""As `core.old_name` and `OTHER_NAME`, not `pip` or `x-y`."""')
    assert list(list_names_in_docstrings(ast.walk(tree))) == ["old_name", "OTHER_NAME"]


def lower_budget() -> None:
    """Write what is there wherever that is less than the budget."""
    there = {**weigh_sources(), **weigh_rest()}
    budget = tomllib.loads(BUDGET.read_text("utf-8")) if BUDGET.exists() else there
    rooms = {
        room: {name: min(count, budget.get(room, {}).get(name, count)) for name, count in figures.items()}
        for room, figures in there.items()
    }
    rows = (
        f"{room} = {{ {', '.join(f'{name} = {count}' for name, count in figures.items())} }}" for room, figures in rooms.items()
    )
    BUDGET.write_text(BUDGET_HEAD + "\n".join(rows) + "\n", "utf-8")


BUDGET_HEAD = """# What each room may weigh: statements (ast.stmt), characters, and names of values that say nothing (`DIALECT`).
# Then lines of tests and benches, classes behind State and kinds of events of a task, and pages and kilobytes of docs.
# Figures may only fall. Whoever raises one says in docs/internals/decisions.md what users get for it.

"""

if __name__ == "__main__":
    lower_budget()
