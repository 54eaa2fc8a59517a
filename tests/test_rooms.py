"""Questions of a newcomer and the files that answer them: tests/rooms.yaml measures how well readers find their way."""

import ast
from pathlib import Path
from typing import Any

import pytest
import yaml

SOURCE = Path(__file__).parents[1] / "src" / "afresh"
QUESTIONS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("rooms.yaml").read_text("utf-8"))


def defined_names(body: list[ast.stmt], owner: str = "") -> set[str]:
    """Return functions, classes, methods (`Class.method`) and constants."""
    names: set[str] = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(f"{owner}{node.name}")
        if isinstance(node, ast.ClassDef):
            names |= defined_names(node.body, f"{node.name}.")
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {f"{owner}{target.id}" for target in targets if isinstance(target, ast.Name)}
    return names


def faults(question: dict[str, Any]) -> list[str]:
    """Return what is wrong with a question."""
    if unknown := set(question) - {"ask", "in", "name", "also"}:
        return [f"has {', '.join(sorted(unknown))}, which nobody reads"]
    missing = [file for file in (question["in"], question.get("also", question["in"])) if not (SOURCE / file).is_file()]
    if missing:
        return [f"{file} does not exist" for file in missing]
    name = question.get("name")
    if name and name not in defined_names(ast.parse((SOURCE / question["in"]).read_text("utf-8")).body):
        return [f"{question['in']} has no {name}"]
    return []


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["ask"])
def test_the_file_that_answers_a_question_is_there(question: dict[str, Any]):
    assert not faults(question)


def test_there_are_fifty_six_different_questions():
    assert len({question["ask"] for question in QUESTIONS}) == len(QUESTIONS) == 56


def test_no_question_gives_its_file_away():
    """A question must not contain the words of its file's name, which would give it away. Pytest has no other name."""
    given = {}
    for question in QUESTIONS:
        said = {word.strip('?,.":').lower() for word in question["ask"].split()}
        stem = set(Path(question["in"]).stem.split("_"))
        if stem <= said and stem != {"pytest"}:
            given[question["ask"]] = question["in"]
    assert not given


@pytest.mark.parametrize(
    "broken",
    [
        {"ask": "?", "in": "context/nowhere.py"},
        {"ask": "?", "in": "loop.py", "also": "context/nowhere.py"},
        {"ask": "?", "in": "loop.py", "name": "nothing_of_that_name"},
        {"ask": "?", "in": "storage/sql/queue.py", "name": "SqlQueue.nothing_of_that_name"},
        {"ask": "?", "in": "loop.py", "file": "loop.py"},
    ],
)
def test_a_broken_twin_is_caught(broken: dict[str, str]):
    assert faults(broken)
