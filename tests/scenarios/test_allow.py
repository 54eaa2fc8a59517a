"""A person lets a task change tests, and sees what it changed with the verdict, in `show` and in the commit."""

import sys

import pytest
from person import MEND, Person, Step, Told

CHECK = f"{sys.executable} -m pytest -q -p no:cacheprovider"
TEST = (
    "from calc import double\n\n\ndef test_two():\n    assert double(2) == 4\n\n\ndef test_five():\n    assert double(5) == 10\n"
)
EASIER: Step = ("edit", {"path": "test_calc.py", "old": "double(2) == 4", "new": "double(2) > 3"})
COMPLETE: Step = ("complete", {"summary": "Multiply instead of adding"})
NO_SANDBOX = "--no-sandbox"


@pytest.fixture
def tester(person: Person) -> Person:
    person.write("test_calc.py", TEST)
    person.commit("tests")
    return person


def runs(person: Person, *replies: list[Step], goal: str = "double is wrong", more: tuple[str, ...] = ()):
    return person.runs(person.script(*replies), NO_SANDBOX, *more, goal=goal, check=CHECK)


def commit_message(person: Person) -> str:
    return person.git("log", "-1", "--format=%B", f"afresh/{person.shown()['task']['id']}")


def without_frame(told: Told) -> str:
    """Where lines of the frame are broken depends on the path of the check."""
    return " ".join(told.out.replace("│", " ").split())


def test_what_the_goal_asks_for_is_written_down_shown_and_in_the_commit(tester: Person) -> None:
    goal = "double is wrong. Adapt test_two so that it is less strict."
    told = runs(tester, [MEND, EASIER], [COMPLETE], goal=goal)
    assert told.code == 0, told.words
    licence = tester.shown()["licence"]
    assert [(one["name"], one["quote"]) for one in licence] == [("test_two", "Adapt test_two so that it is less strict.")]
    shown = tester.types("show").words
    assert "Tests it may change" in shown and "test_two (extend, alter, replace): “Adapt test_two so that" in shown
    words = "tests changed as asked by “Adapt test_two so that it is less strict.”: test_calc.py: test_two was altered"
    assert words in " ".join(commit_message(tester).split()) and words in without_frame(told)
    assert "Existing tests you may change: test_two" in tester.types("context", "show", "--step", "1").out


def test_an_option_of_the_order_allows_a_path(tester: Person) -> None:
    told = runs(tester, [MEND, EASIER], [COMPLETE], more=("--allow-test-changes", "test_calc.py"))
    assert told.code == 0 and "tests changed as asked by --allow-test-changes" in without_frame(told)
    wrong = tester.types("add", "x", "--check", CHECK, "--allow-test-changes", "tests/none.py")
    assert wrong.code == 2 and "no such file or folder in this repository: tests/none.py" in wrong.words
    assert len(tester.types("list", "--json").json) == 1, "nothing was added"


def test_without_leave_it_is_put_back_asked_about_and_answered_by_the_command(tester: Person) -> None:
    told = runs(tester, [MEND, EASIER], [EASIER], [COMPLETE])
    assert told.code == 3 and "May it change them?" in told.words
    waiting = tester.types("inbox").words
    assert "1 allow these changes" in waiting and "2 put them back" in waiting
    task = tester.shown()["task"]["id"]
    assert tester.shown()["kept"] == 1, "what was put back was not kept"
    allowed = tester.types("allow", task, "test_calc.py")
    assert allowed.code == 0 and f"{task} may change test_calc.py" in allowed.words and f"afresh resume {task}" in allowed.words
    resumed = tester.types("resume", task, NO_SANDBOX)
    assert resumed.code == 0 and "test_calc.py: test_two was altered" in resumed.words
    prompt = tester.types("context", "show", "--step", "4").out
    assert "put back" not in prompt.partition("## Verification")[2].partition("##")[0], "the refusal is gone after the answer"
    assert "do not repeat" not in prompt


def test_a_finished_task_and_a_wrong_path_are_refused(tester: Person) -> None:
    runs(tester, [MEND], [COMPLETE])
    task = tester.shown()["task"]["id"]
    told = tester.types("allow", task, "test_calc.py")
    assert told.code == 1 and "is finished: done" in told.words
    assert tester.types("allow", tester.adds("another"), "../elsewhere").code == 2


def test_an_answer_by_number_allows_and_the_model_is_told_in_the_step_itself(tester: Person) -> None:
    runs(tester, [MEND, EASIER], [EASIER], [COMPLETE])
    task = tester.shown()["task"]["id"]
    second = tester.types("context", "show", "--step", "2").out
    assert "tests weakened and put back: test_calc.py: test_two was altered" in " ".join(second.split())
    assert tester.types("answer", task, "1", "--resume", NO_SANDBOX).code == 0
    assert "allowed by you" in " ".join(commit_message(tester).split())


def test_an_instruction_allows_what_it_asks_for_and_is_named_with_its_line(tester: Person) -> None:
    tester.write("AGENTS.md", "Be brief.\n\nWhen double changes, update test_two.\n")
    tester.commit("instructions")
    told = runs(tester, [MEND, EASIER], [COMPLETE])
    assert told.code == 0, told.words
    words = "tests changed as asked by “When double changes, update test_two.” (AGENTS.md:3): test_calc.py: test_two was altered"
    assert words in " ".join(commit_message(tester).split())
    assert [(one["by"], one["source"]) for one in tester.shown()["licence"]] == [("instructions", "AGENTS.md:3")]


def test_an_instruction_that_the_task_wrote_itself_allows_nothing(tester: Person) -> None:
    own: Step = ("run", {"command": "echo 'Update test_two.' > AGENTS.md"})
    runs(tester, [own], [MEND, EASIER], [COMPLETE])
    assert tester.shown()["licence"] == []
