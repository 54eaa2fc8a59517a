"""A PASS says what it does not show: open items, new tests that pass without the change, checks that were green before."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from person import COMPLETE, MEND, Person, Step
from verification_yard import SUMS, TEST_ADD, Yard, make_yard, retyped

from afresh.core.verdict import NoteKind, Ruling
from afresh.verification import court_run, new_tests_on_base

pytestmark = pytest.mark.reported

THIRD = "\n\ndef third(a):\n    return a / 3\n"
TEST_THIRD = "import sums\n\n\ndef test_third():\n    assert sums.third(9) == 3\n"
IDLE = "\n\ndef test_idle():\n    assert sums.add(2, 2) == 4\n"
PLAN: Step = ("plan", {"items": ["add ten", "add eleven", "add twelve"]})
TEN: Step = ("edit", {"path": "calc.py", "old": "", "new": "\n\ndef ten():\n    return 10\n"})


def add_third(yard: Yard, *more: str) -> None:
    yard.folder.write("sums.py", SUMS + THIRD)
    yard.folder.write("tests/test_third.py", TEST_THIRD + "".join(more))


def test_a_new_test_that_passes_without_the_change_is_named_and_refuses_nothing(yard: Yard) -> None:
    add_third(yard, IDLE)
    verdict = yard.grade()
    assert verdict.ruling is Ruling.PASS
    assert verdict.list_facts(NoteKind.UNPROVEN) == ("tests/test_third.py::test_idle",)
    assert verdict.new_tests == 2
    assert "passes without the change, too: 1 of 2 new tests: tests/test_third.py::test_idle" in verdict.reason


def test_a_test_that_was_added_to_an_old_file_is_tried_there_too(yard: Yard) -> None:
    yard.folder.write("sums.py", SUMS + THIRD)
    yard.folder.write("tests/test_add.py", TEST_ADD + IDLE)
    assert yard.grade().list_facts(NoteKind.UNPROVEN) == ("tests/test_add.py::test_idle",)


def test_new_tests_that_fail_without_the_change_are_counted_and_run_alone(yard: Yard) -> None:
    add_third(yard)
    yard.shell.commands.clear()
    verdict = yard.grade()
    assert (verdict.new_tests, verdict.list_facts(NoteKind.UNPROVEN)) == (1, ())
    assert "without the change" not in verdict.reason and "not that the work is done" not in verdict.reason
    assert ["pytest tests/test_third.py" in command for command in yard.shell.commands] == [False, False, True, False, True], (
        "the checks without the new file and with it, the new test once more and with wrong versions, then the file on the base"
    )


PATIENT = """import sums


def test_patient():
    while True:
        try:
            assert sums.third(3) == 1
            return
        except RuntimeError:
            pass
"""


def test_wrong_versions_that_do_not_end_in_time_are_only_counted(yard: Yard) -> None:
    add_third(yard, PATIENT)
    began = time.monotonic()
    verdict = yard.grade()
    assert (verdict.ruling, verdict.list_facts(NoteKind.UNMOVED)) == (Ruling.PASS, ())
    assert "wrong versions not tried: no time left" in verdict.reason
    assert time.monotonic() - began < yard.context.state.task.checks[0].timeout / 2


def test_a_long_check_runs_with_no_wrong_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(court_run, "MIN_WRONG_SECONDS", 0)
    yard = make_yard(tmp_path, {"sums.py": SUMS}, checks=["sleep 4; python3 -c 'import sums; sums.third'"])
    yard.baseline()
    yard.folder.write("sums.py", SUMS + THIRD)
    yard.shell.commands.clear()
    assert yard.grade().list_facts(NoteKind.UNMOVED) == ()
    assert sum("sleep" in command for command in yard.shell.commands) == 3


def test_a_pass_after_which_nothing_has_turned_green_says_so(yard: Yard) -> None:
    yard.folder.write("sums.py", SUMS + THIRD)
    verdict = yard.grade()
    assert verdict.ruling is Ruling.PASS
    assert verdict.reason.endswith("nothing has turned green: the checks show that nothing broke, not that the work is done")


def test_a_check_of_which_only_the_exit_code_is_known_turns_green(person: Person) -> None:
    ran = person.runs(person.script([MEND], [COMPLETE]))
    assert ran.code == 0 and "not that the work is done" not in ran.words


@pytest.mark.parametrize("type", sorted(new_tests_on_base.TYPES_THAT_KEEP_BEHAVIOUR - {"fix_violation"}))
def test_where_behaviour_stays_new_tests_are_meant_to_pass_before_too(yard: Yard, type: str) -> None:
    yard = retyped(yard, type)
    yard.folder.write("tests/test_more.py", "import sums\n" + IDLE)
    yard.shell.commands.clear()
    verdict = yard.grade()
    assert verdict.ruling is Ruling.PASS and (verdict.new_tests, verdict.list_facts(NoteKind.UNPROVEN)) == (1, ())
    assert "without the change" not in verdict.reason


def test_a_task_without_any_check_is_never_a_pass(yard: Yard) -> None:
    bare = replace(yard.context.state, task=replace(yard.context.state.task, checks=()))
    yard = replace(yard, context=replace(yard.context, state=bare))
    add_third(yard)
    verdict = yard.grade()
    assert (verdict.ruling, verdict.final) == (Ruling.BLOCKED, True)
    assert "nothing can be verified" in verdict.reason and "--check" in verdict.reason


def test_a_pass_with_an_open_plan_names_it_in_verdict_summary_session_and_commit(person: Person) -> None:
    ran = person.runs(person.script([PLAN], [MEND, TEN, ("plan", {"items": ["[x] 1"]})], [COMPLETE]))
    assert ran.code == 0 and "plan items not done: add eleven; add twelve" in ran.words, ran.out + ran.err
    task = person.types("status", "--json").json["tasks"][-1]["task"]
    verdict = person.types("show", task, "--json").json["verdict"]
    assert verdict["ruling"] == "PASS" and {"kind": "open_items", "facts": ["add eleven", "add twelve"]} in verdict["notes"]
    assert "plan items not done: add eleven; add twelve" in person.types("show", task).words
    assert "Verified:" in (message := person.git("log", "-1", "--format=%B", f"afresh/{task}"))
    assert "open in the plan: add eleven; add twelve" in message
    (session,) = (person.repo / ".afresh/state/sessions").rglob(f"{task}*.md")
    assert "plan items not done: add eleven; add twelve" in session.read_text()


def test_items_that_are_ticked_with_the_completing_reply_are_not_open(person: Person) -> None:
    ran = person.runs(person.script([PLAN], [MEND, ("plan", {"items": ["[x] 1", "[x] 2", "[x] 3"]}), COMPLETE]))
    assert ran.code == 0 and "not done" not in ran.words
