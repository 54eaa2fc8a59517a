"""How many files one has to open to answer a question about the source: tests/journeys.yaml, whose counts may only fall.

`python tests/test_journeys.py` prints the questions; with words, the files of those that have all of these.
"""

import ast
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

SOURCE = Path(__file__).parents[1] / "src" / "afresh"
JOURNEYS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("journeys.yaml").read_text("utf-8"))


def list_defined_names(body: list[ast.stmt], owner: str = "") -> set[str]:
    """Functions, classes, methods (`Class.method`), fields and constants."""
    names: set[str] = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(f"{owner}{node.name}")
        if isinstance(node, ast.ClassDef):
            names |= list_defined_names(node.body, f"{node.name}.")
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {f"{owner}{target.id}" for target in targets if isinstance(target, ast.Name)}
    return names


def find_faults(journey: dict[str, Any]) -> list[str]:
    """Why a journey can't be made: a file or name that is gone, one file twice, more files than `most`."""
    steps = [step for entry in journey["files"] for step in entry.items()]
    missing = [
        f"{file} has no {name}"
        for file, name in steps
        if not (SOURCE / file).is_file() or name not in list_defined_names(ast.parse((SOURCE / file).read_text("utf-8")).body)
    ]
    twice = ["names a file twice"] if len({file for file, _ in steps}) < len(steps) else []
    fewer = ["lower `most`"] if len(steps) < journey["most"] else []
    return [
        *missing,
        *twice,
        *fewer,
        *([f"{len(steps)} files, {journey['most']} are allowed"] if len(steps) > journey["most"] else []),
    ]


@pytest.mark.parametrize("journey", JOURNEYS, ids=lambda journey: journey["ask"])
def test_a_question_is_answered_in_so_many_files(journey: dict[str, Any]):
    assert find_faults(journey) == []


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ([{"loop.py": "advance_task"}, {"context/nowhere.py": "nothing"}], "context/nowhere.py has no nothing"),
        ([{"loop.py": "advance_task"}, {"runtime.py": "nothing_of_that_name"}], "runtime.py has no nothing_of_that_name"),
        ([{"loop.py": "advance_task"}, {"loop.py": "advance_task"}], "names a file twice"),
        ([{"loop.py": "advance_task"}], "lower `most`"),
        ([{"loop.py": "advance_task"}, {"runtime.py": "Runtime"}, {"errors.py": "AfreshError"}], "3 files, 2 are allowed"),
    ],
)
def test_a_broken_twin_is_caught(files: list[dict[str, str]], fault: str):
    assert find_faults({"ask": "?", "most": 2, "files": files}) == [fault]


def render_journeys(words: list[str]) -> str:
    if not words:
        return "\n".join(journey["ask"] for journey in JOURNEYS)
    texts = [yaml.safe_dump(journey, sort_keys=False, width=200) for journey in JOURNEYS]
    return (
        "\n".join(text for text in texts if all(word.lower() in text.lower() for word in words)) or "no question has these words"
    )


def test_a_question_is_found_by_its_words():
    assert render_journeys([]).count("?") >= len(JOURNEYS)
    assert "models/choose_model.py: make_model" in render_journeys(["model", "provider"])
    assert render_journeys(["no such word"]).startswith("no question")


GUIDE = (SOURCE.parents[1] / "CONTRIBUTING.md").read_text("utf-8")


def test_the_first_change_of_the_guide_can_be_made():
    """The message that it changes is where it says, and the test that it names expects it."""
    root, change = SOURCE.parents[1], GUIDE.partition("## Where would I")[0]
    for path, text in (
        ("src/afresh/cli/schedule.py", '"no schedules'),
        ("tests/scenarios/test_heartbeat_command.py", '"no schedules'),
    ):
        assert path in change and text.strip('"') in change and text in (root / path).read_text("utf-8")


if __name__ == "__main__":
    print(render_journeys(sys.argv[1:]))
