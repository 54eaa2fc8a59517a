"""A run that gets nowhere stops and says why; a person's word lets it go on; tests can't be weakened to pass."""

import sys
from dataclasses import replace

import pytest
from person import CALC, CHECK, COMPLETE, MEND, TEST, Person

from afresh.core.task import name_briefly

NOTHING: list = []
LOST = [("read", {"path": "nowhere.py"})]
LOOK = [("read", {"path": "calc.py"})]
PLAN = [("plan", {"items": ["multiply"]})]
SPOIL = [("edit", {"path": "test_calc.py", "old": "double(2), 4", "new": "4, 4"})]
SKIP = [("edit", {"path": "test_calc.py", "old": "    def test_five", "new": "    @unittest.skip('later')\n    def test_five"})]


@pytest.fixture(autouse=True)
def confined(requires_sandbox) -> None:
    requires_sandbox()


@pytest.mark.promise("it goes in circles")
def test_seven_useless_replies_in_a_row_stop_it_and_a_hint_gives_seven_more(person: Person) -> None:
    unknown = [("fly", {"to": "the moon"})]
    replies = [LOST, LOOK, *[NOTHING, unknown, LOST] * 2, LOST, *[LOST] * 6, PLAN, [MEND], [COMPLETE]]
    told = person.runs(person.script(*replies), "--json")
    task = told.json["task"]
    assert told.code == 3 and (told.json["status"], told.json["steps"]) == ("blocked", 9), "one that worked starts the count anew"
    assert told.json["question"].startswith("The task is stuck: 7 steps in a row did nothing that worked")
    assert person.types("answer", task, "Look at calc.py").code == 0
    resumed = person.types("resume", "--json")
    assert resumed.code == 0 and resumed.json["steps"] == 18, "six more useless ones are no reason to stop again"


def test_a_hint_that_does_not_help_stops_it_again(person: Person) -> None:
    told = person.runs(person.script(*[LOST] * 14), "--json")
    person.types("answer", told.json["task"], "Try harder")
    assert (told.json["steps"], person.types("resume", "--json").json["steps"]) == (7, 14)


def test_the_step_limit_stops_it_and_an_answer_allows_as_many_again(person: Person) -> None:
    told = person.runs(person.script(*[LOOK] * 5, [MEND], [COMPLETE]), "--set", "max_steps=3", "--json")
    task = told.json["task"]
    assert told.code == 3 and (told.json["status"], told.json["steps"]) == ("blocked", 3)
    assert (
        told.json["question"]
        == f"The limit of 3 steps is reached. Answer to allow 3 more; `afresh discard {name_briefly(task)}` discards it."
    )
    assert person.types("answer", task, "Go on").code == 0
    again = person.types("resume", "--json")
    assert again.code == 3 and (again.json["status"], again.json["steps"]) == ("blocked", 6)
    assert "The limit of 6 steps" in again.json["question"]
    person.types("answer", task, "Finish it")
    assert person.types("resume", "--json").json["status"] == "done"
    assert person.shown(task)["words"] == ["Go on", "Finish it"]


def test_the_last_step_allowed_may_be_the_one_that_completes(person: Person) -> None:
    assert person.runs(person.script([MEND], [COMPLETE]), "--set", "max_steps=2").code == 0


def test_three_refused_completions_end_it(person: Person) -> None:
    before = person.belongings()
    told = person.runs(person.script([COMPLETE], LOOK, [COMPLETE], [COMPLETE], [MEND]), "--json")
    assert told.code == 1 and (told.json["status"], told.json["steps"]) == ("failed", 4)
    assert told.json["reason"] == "it reported done 3 times and was refused each time, at last because: nothing was changed"
    over = person.types("resume")
    assert over.code == 1 and "is finished: failed" in over.err
    assert person.belongings() == before


@pytest.mark.promise("it bends tests until they pass")
@pytest.mark.parametrize("way", [SPOIL, SKIP], ids=["asserts less", "skips"])
def test_a_weakened_test_is_refused_once_and_the_model_may_put_it_back(person: Person, way: list) -> None:
    back = [("edit", {"path": "test_calc.py", "new": TEST})]
    told = person.runs(person.script([MEND], way, [COMPLETE], [*back, COMPLETE]), "--json")
    shown = person.shown()
    assert "at `complete` the user's words must call for this: test_calc.py: T::test_" in shown["recent"][1]["outcome"]
    refusal = shown["recent"][2]["outcome"]
    assert "changed without leave: test_calc.py: T::test_" in refusal and "Without these changes: PASS" in refusal
    assert told.code == 0 and told.json["status"] == "done" and shown["reverted"] == 0
    assert [change["path"] for change in told.json["changes"]] == ["calc.py"]
    assert person.types("apply").code == 0
    assert (person.repo / "test_calc.py").read_text() == TEST and "x * 2" in (person.repo / "calc.py").read_text()
    assert person.types("context", "verify").code == 0


def test_weakening_and_completing_in_one_reply_is_refused_too(person: Person) -> None:
    person.write("calc.py", CALC.replace("+ 2", "* 2 if x < 5 else 0"))
    person.commit("half right")
    cheat = [("edit", {"path": "test_calc.py", "new": TEST.replace("double(5), 10", "10, 10")}), COMPLETE]
    told = person.runs(person.script(cheat, cheat, cheat), "--json")
    assert told.code == 3 and told.json["status"] == "blocked" and "May it change them?" in told.json["question"]
    assert person.types("apply").code == 1, "nothing of it is taken over"


def test_configuration_that_hides_tests_is_refused_and_any_other_is_named(person: Person) -> None:
    person.write("test_calc.py", "from calc import double\n\n\ndef test_two():\n    assert double(2) == 4\n")
    person.commit("pytest")
    check = f"{sys.executable} -m pytest -q -p no:cacheprovider"
    hide, other = (
        [("edit", {"path": "pytest.ini", "new": f"[pytest]\naddopts = --ignore={name}\n"}), COMPLETE]
        for name in ("test_calc.py", "x.py")
    )
    told = person.runs(person.script(hide, other), "--json", check=check)
    assert "exits 5 and no test result can be read; added beside what" in person.shown()["recent"][0]["outcome"]
    assert told.json["status"] == "done" and "added beside what judges: pytest.ini" in person.shown()["verdict"]["reason"]


@pytest.mark.journey
def test_failed_approaches_never_fill_a_small_prompt_and_what_comes_behind_is_done(person: Person) -> None:
    """They are cut: the task ends as one that is stuck, not for want of room."""
    failing = [[("edit", {"path": "calc.py", "old": "x + 2", "new": f"x * {number} # {'why ' * 30}"})] for number in range(3, 60)]
    small = ("--set", "budget=1600", "--set", "max_budget=1600", "--priority", "1")
    person = replace(person, check=CHECK)
    first = person.adds("try everything", "--model", person.script(*failing), *small)
    second = person.adds("mend it", "--model", person.script([MEND], [COMPLETE], name="good"))
    worked = person.types("work", "--until-empty", "--json")
    assert [(row["task"], row["status"]) for row in worked.json] == [(first, "blocked"), (second, "done")]
    assert "The task is stuck" in person.shown(first)["question"]
    assert person.shown(first)["reverted"] > 0


def test_a_question_beside_a_refused_completion_still_waits_for_its_answer(person: Person) -> None:
    told = person.runs(person.script([("ask", {"question": "Which one?"}), COMPLETE]), "--json")
    assert (told.json["status"], told.json["question"]) == ("blocked", "Which one?")
