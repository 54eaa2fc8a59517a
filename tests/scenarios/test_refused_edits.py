"""Edits that were refused because they change tests come back once that is allowed: no call is bought for them again."""

import pytest
from person import Person, Step

from afresh import loop
from afresh.actions import execute

TEST = (
    "import unittest\n\nfrom calc import double\n\n\nclass T(unittest.TestCase):\n"
    "    def test_one(self):\n        self.assertEqual(double(1), 3)\n\n"
    "    def test_two(self):\n        self.assertEqual(double(2), 4)\n"
)
TREBLE: Step = ("edit", {"path": "calc.py", "old": "x + 2", "new": "x * 3"})
SIX: Step = ("edit", {"path": "test_calc.py", "old": "double(2), 4", "new": "double(2), 6"})
COMMENT: Step = ("edit", {"path": "calc.py", "old": "return x + 2", "new": "return x + 2  # not yet"})
QUOTE = "double of two is six"
GOAL = f"double must be three times its argument: {QUOTE}"
LICENCE: Step = ("note", {"subject": "licence", "text": "test_calc.py::T::test_two", "why": QUOTE})
COMPLETE: Step = ("complete", {"summary": "Three times"})
APPLIED = "applied again, since changing test_calc.py::T::test_two is allowed now"


@pytest.fixture
def tester(person: Person) -> Person:
    person.write("test_calc.py", TEST)
    person.commit("tests")
    return person


def runs(person: Person, *replies: list[Step], goal: str = GOAL):
    return person.runs(person.script(*replies), "--no-sandbox", goal=goal)


def delivered(person: Person, path: str = "calc.py") -> str:
    return person.git("show", f"afresh/{person.shown()['task']['id']}:{path}")


def prompt(person: Person, step: int) -> str:
    told = person.types("context", "show", "--step", str(step))
    assert told.code == 0, told.words
    return " ".join(told.out.split())


def test_quoting_the_order_applies_the_refused_edits_in_the_same_step(tester: Person) -> None:
    told = runs(tester, [TREBLE, SIX], [LICENCE, COMPLETE])
    assert told.code == 0, told.words
    assert "x * 3" in delivered(tester) and "double(2), 6" in delivered(tester, "test_calc.py")
    shown = tester.shown()
    assert (shown["calls"], shown["reverted"]) == (2, 1)
    assert "the edits are then applied again in that step" in prompt(tester, 2)


def test_without_that_the_model_would_have_to_send_them_again(tester: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "has_allowed_edits", lambda state: False)
    assert runs(tester, [TREBLE, SIX], [LICENCE, COMPLETE]).code == 1 or "x * 3" not in delivered(tester)


def ask_person(tester: Person) -> str:
    goal = "double must be three times its argument"
    told = runs(tester, [TREBLE, SIX], [TREBLE, SIX], [COMPLETE], goal=goal)
    assert "May it change them?" in told.words
    return tester.shown()["task"]["id"]


def test_an_answer_that_allows_them_applies_them_before_the_next_call_which_is_told(tester: Person) -> None:
    task = ask_person(tester)
    assert tester.types("answer", task, "1", "--resume", "--no-sandbox").code == 0
    assert "x * 3" in delivered(tester)
    assert f"The edits of step 2 were {APPLIED}." in prompt(tester, 4) and "x * 3" in prompt(tester, 4)
    shown = tester.shown()
    assert (shown["calls"], shown["step"]) == (3, 4), "one step was not bought"


def test_a_crash_in_the_step_that_applies_them_changes_nothing(tester: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    task, record = ask_person(tester), loop.record_step

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    assert tester.types("allow", task, "test_calc.py").code == 0
    monkeypatch.setattr(loop, "record_step", dies)
    tester.types("resume", task, "--no-sandbox")
    assert tester.shown()["step"] == 2
    monkeypatch.setattr(loop, "record_step", record)
    assert tester.types("resume", task, "--no-sandbox").code == 0
    assert "x * 3" in delivered(tester) and tester.shown()["step"] == 4


def test_a_file_that_has_changed_since_is_not_overwritten_and_that_is_said(tester: Person) -> None:
    runs(tester, [TREBLE, SIX], [COMMENT], [LICENCE], [("read", {"path": "calc.py"})], [COMPLETE])
    assert "were not applied again, since these files have changed: calc.py" in prompt(tester, 4)
    assert "not yet" in prompt(tester, 4) and "x * 3" not in prompt(tester, 4)


def test_what_is_applied_again_is_judged_as_any_step(tester: Person) -> None:
    worse: Step = ("edit", {"path": "calc.py", "old": "x + 2", "new": "x * 5"})
    runs(tester, [worse, SIX], [LICENCE], [("read", {"path": "calc.py"})])
    shown = tester.shown()
    assert (shown["reverted"], shown["kept"]) == (2, 0), "test_one fails with it, and nobody allowed that"
    assert APPLIED in prompt(tester, 3) and "x + 2" in prompt(tester, 3)
