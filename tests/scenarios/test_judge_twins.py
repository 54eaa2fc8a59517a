"""Guards of the judge, each switched off: what it is there to prevent then happens. See docs/internals/judge.md."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from step_judge import Judge
from verification_yard import PROJECT, TEST_HALF, Yard, begun, make_yard

from afresh.actions import licence_claim
from afresh.actions.tools.note import tool as note
from afresh.core.action import Action
from afresh.core.event import ChangeKeptOrReverted, QuestionAnswered, QuestionAsked, TaskEnded
from afresh.core.fact import FactKind
from afresh.core.licences.licence_for_tests import ANY_CHANGE, FROM_PERSON, LicenceWidened, LicensedChange
from afresh.core.states import memory_state, verification_state, workspace_state
from afresh.core.states.strategy_state import PlanItem
from afresh.core.task import TaskStatus
from afresh.core.verdict import Ruling, Verdict
from afresh.memory import failed_approaches
from afresh.policy import licence_record
from afresh.verification import (
    completion,
    confirm_regressions,
    court_run,
    judge_test_changes,
    keep_or_revert,
    put_back_tests,
    tampering,
    verify_step,
)
from afresh.views.task_status import find_current_verdict

PASS, FAIL = Ruling.PASS, Ruling.FAIL
Patch = pytest.MonkeyPatch
HALF = "tests/test_half.py"


@pytest.fixture
def judge(yard: Yard) -> Judge:
    return Judge(yard).order("Make half faster, and add tests.")


def answers(judge: Judge, text: str, option: int = 0) -> None:
    judge.happens(QuestionAsked("What now?"), TaskEnded(TaskStatus.BLOCKED, "asks"), QuestionAnswered(text, option=option))


def quotes(judge: Judge, why: str = "Adapt the test which expects half of four") -> None:
    judge.happens(*note.run({"subject": "licence", "text": f"{HALF}::test_half", "why": why}, judge.yard.context).events)


def allows_path(judge: Judge) -> None:
    judge.happens(LicenceWidened((LicensedChange(ANY_CHANGE, HALF, by=FROM_PERSON),)))


LICENCES: dict[str, Callable[[Judge], Any]] = {
    "the goal names the test": lambda judge: judge.order("Change test_half to expect more."),
    "the goal names the file": lambda judge: judge.order(f"Update {HALF}."),
    "the goal describes the test": lambda judge: judge.order("Adapt the test which expects half of four sums."),
    "the goal says which tests must expect what": lambda judge: judge.order("The tests of half must now expect more."),
    "an answer": lambda judge: answers(judge, "Please change test_half to expect more."),
    "a quote of the model": lambda judge: quotes(judge.order("Adapt the test which expects half of four to be whole.")),
    "a path that a person allows": allows_path,
}


@pytest.mark.parametrize("way", LICENCES)
def test_each_way_to_ask_for_a_change_of_a_test_allows_it(judge: Judge, way: str) -> None:
    LICENCES[way](judge)
    judge.yard.change(HALF, "== 2", "> 1")
    verdict = judge.takes_step()
    assert verdict.ruling is PASS and not verdict.weakened and "> 1" in judge.yard.folder.read(HALF)


@pytest.mark.parametrize("way", LICENCES)
def test_without_licences_what_was_asked_for_would_be_put_back(judge: Judge, way: str, monkeypatch: Patch) -> None:
    monkeypatch.setattr(judge_test_changes, "match_licence", lambda found, licence: {})
    LICENCES[way](judge)
    judge.yard.change(HALF, "== 2", "> 1")
    assert judge.takes_step().weakened == (HALF,) and judge.yard.folder.read(HALF) == TEST_HALF


def test_without_the_rules_neither_goal_nor_answer_would_be_written_down(judge: Judge, monkeypatch: Patch) -> None:
    monkeypatch.setattr(licence_record, "read_licences", lambda text, paths, by: ())
    monkeypatch.setattr(licence_record, "read_implied_licences", lambda text, by: [])
    judge.order("Change test_half to expect more.")
    answers(judge, "Please change test_half to expect more.")
    judge.yard.change(HALF, "== 2", "> 1")
    assert judge.takes_step().weakened == (HALF,) and judge.state.verification.licence == ()


def test_if_quotes_were_not_compared_with_the_persons_words_a_model_could_allow_itself_anything(
    judge: Judge, monkeypatch: Patch
) -> None:
    invented = "Adapt the test which expects half of four"
    monkeypatch.setattr(licence_claim, "list_persons_words", lambda state: [invented])
    quotes(judge, invented)
    judge.yard.change(HALF, "== 2", "> 1")
    assert not judge.takes_step().weakened


def test_without_the_naming_a_pass_would_hide_what_was_changed_in_tests(judge: Judge, monkeypatch: Patch) -> None:
    allows_path(judge)
    judge.yard.change(HALF, "== 2", "> 1")
    assert "tests changed as asked by --allow-test-changes" in judge.takes_step(complete="done").reason
    monkeypatch.setattr(completion, "add_licensed_changes", lambda verdict, judged: verdict)
    assert "tests changed" not in judge.takes_step(complete="done").reason


def weakens(judge: Judge) -> None:
    """A better product, a weaker test, and a new test beside it."""
    judge.yard.change("sums.py", "a / 2", "a * 0.5")
    judge.yard.folder.write(HALF, TEST_HALF.replace("== 2", "> 1") + "\n\ndef test_new():\n    assert sums.half(2) == 1\n")


def test_without_putting_back_by_statement_the_new_test_in_the_file_would_be_lost(judge: Judge, monkeypatch: Patch) -> None:
    monkeypatch.setattr(judge_test_changes, "put_back_statements", lambda *args: None)
    weakens(judge)
    assert f"(as whole files: {HALF})" in judge.takes_step().reason
    assert "test_new" not in judge.yard.folder.read(HALF)


def test_if_files_came_back_as_at_the_base_the_work_of_earlier_steps_would_be_lost(judge: Judge, monkeypatch: Patch) -> None:
    judge.yard.folder.write(HALF, TEST_HALF + "\n\ndef test_mine():\n    assert sums.half(2) == 1\n")
    judge.takes_step()
    whole, first = verify_step.put_back_changes, judge.state.workspace.first_snapshot
    monkeypatch.setattr(
        verify_step, "put_back_changes", lambda context, tree, judged, before: whole(context, tree, judged, first)
    )
    (judge.yard.folder.root / HALF).unlink()
    judge.yard.change("sums.py", "a / 2", "a * 0.5")
    judge.takes_step()
    assert "test_mine" not in judge.yard.folder.read(HALF)


def test_without_its_imports_a_test_that_comes_back_could_not_run(monkeypatch: Patch) -> None:
    now = "import os\n\n\ndef test_mine():\n    assert os\n"
    found = put_back_tests.find_weakened_python_tests(HALF, TEST_HALF, now)
    text = put_back_tests.put_back_statements(HALF, TEST_HALF, now, found)
    assert text and "import sums\n" in text
    monkeypatch.setattr(put_back_tests, "_restore_imports", lambda base, text: text)
    text = put_back_tests.put_back_statements(HALF, TEST_HALF, now, found)
    assert text and "sums.half(4)" in text and "import sums" not in text


def test_without_the_second_look_a_tree_whose_checks_fail_would_be_kept_in_silence(judge: Judge, monkeypatch: Patch) -> None:
    monkeypatch.setattr(verify_step, "verify_step", lambda context, changed: (Verdict(PASS, "nothing was run"), ()))
    judge.yard.change("sums.py", "a / 2", "a / 4")
    judge.yard.change(HALF, "== 2", "== 1")
    assert judge.takes_step().ruling is PASS and judge.settled.kept
    assert "a / 4" in judge.yard.folder.read("sums.py") and judge.yard.folder.read(HALF) == TEST_HALF


def test_without_compiling_a_file_that_no_test_loads_would_be_kept_as_it_is(judge: Judge, monkeypatch: Patch) -> None:
    judge.yard.folder.write("extra.py", "def more(:\n")
    assert "(extra.py, line 1)" in judge.takes_step().reason and not judge.settled.kept
    monkeypatch.setattr(verify_step, "check_changed_files_compile", lambda context, changed: None)
    judge.yard.folder.write("extra.py", "def more(:\n")
    assert judge.takes_step().ruling is PASS and judge.settled.kept


def test_without_reopening_the_plan_would_call_done_what_was_put_back(judge: Judge, monkeypatch: Patch) -> None:
    monkeypatch.setattr(keep_or_revert, "reopen_plan_items", lambda state, deeds: ())
    judge.yard.change(HALF, "== 2", "> 1")
    judge.takes_step(tick="make it faster")
    assert judge.state.work.plan == (PlanItem("make it faster", True), PlanItem("the rest"))


def test_without_the_mark_putting_back_would_count_as_a_kept_change(judge: Judge, monkeypatch: Patch) -> None:
    weakens(judge)
    weak = judge.yard.folder.snapshot()
    at_weak = replace(judge.state, workspace=replace(judge.state.workspace, snapshot=weak, kept=1))
    judge.yard.context = replace(judge.yard.context, state=at_weak)
    apply = workspace_state.WorkspaceState.apply

    def count_all(self: Any, event: Any, state: Any) -> Any:
        return apply(self, replace(event, worked=True) if isinstance(event, ChangeKeptOrReverted) else event, state)

    monkeypatch.setattr(workspace_state.WorkspaceState, "apply", count_all)
    judge.takes_step(complete="done")
    assert judge.state.workspace.kept == 2


MOODY = """import pathlib


def test_moody():
    count = pathlib.Path(__file__).parent / "__pycache__" / "count"
    count.parent.mkdir(exist_ok=True)
    seen = int(count.read_text()) if count.exists() else 0
    count.write_text(str(seen + 1))
    assert seen != 2
"""
"""Fails in the first run after the two of the baseline."""
SPOILT = "import sums\n\n\ndef test_zz():\n    assert not hasattr(sums, 'spoilt')\n"


def test_without_more_runs_of_all_a_flaky_test_would_refuse_the_end(tmp_path: Path, monkeypatch: Patch) -> None:
    judge = Judge(begun(tmp_path, {"tests/test_moody.py": MOODY})).order("Make half faster")
    monkeypatch.setattr(confirm_regressions, "MAX_WHOLE_RUNS_AGAIN", 0)
    judge.yard.change("sums.py", "a / 2", "a * 0.5")
    assert judge.takes_step(complete="done").ruling is FAIL


def test_if_passing_alone_were_enough_a_test_that_another_breaks_would_be_called_flaky(
    tmp_path: Path, monkeypatch: Patch
) -> None:
    by_step = confirm_regressions.confirm_step_regressions
    monkeypatch.setattr(court_run, "confirm_final_regressions", lambda *given: by_step(*given[:5]))
    judge = Judge(begun(tmp_path, {"tests/test_zz.py": SPOILT})).order("Make half faster")
    judge.yard.change("sums.py", "return a / 2", "globals()['spoilt'] = 1\n    return a / 2")
    verdict = judge.takes_step(complete="done")
    assert verdict.flaky == ("tests/test_zz.py::test_zz",) and "in each run of the whole check" not in verdict.reason


def edit(old: str, new: str) -> Action:
    return Action("edit", {"path": "sums.py", "old": old, "new": new})


GOOD = edit("return a + b", "return b + a")
BAD = edit("return a / 2", "return a / 3.5")


def does(judge: Judge, *actions: Action) -> None:
    for one in actions:
        judge.yard.change("sums.py", one.args["old"], one.args["new"])
    judge.takes_step(actions=actions)


def list_failed(judge: Judge) -> list[str]:
    return [fact.subject for fact in judge.state.memory.facts if fact.kind is FactKind.FAILED_APPROACH]


def test_without_signs_the_first_action_would_be_called_the_culprit(judge: Judge, monkeypatch: Patch) -> None:
    monkeypatch.setattr(failed_approaches, "_count_signs", lambda action, said, changes: 0)
    does(judge, GOOD, BAD)
    assert list_failed(judge)[0].startswith("edit sums.py (return a + b")


def test_if_only_one_action_were_remembered_the_rest_of_the_reply_would_be_forgotten(judge: Judge, monkeypatch: Patch) -> None:
    monkeypatch.setattr(failed_approaches, "MAX_ATTEMPTS_KEPT", 1)
    does(judge, GOOD, BAD)
    assert list_failed(judge) == ["edit sums.py (return a / 2 → return a / 3.5)"]


def test_without_clearing_an_edit_that_was_kept_would_still_be_called_failed(judge: Judge, monkeypatch: Patch) -> None:
    monkeypatch.setattr(keep_or_revert, "clear_kept_attempts", lambda state, deeds: ())
    does(judge, GOOD, BAD)
    does(judge, GOOD)
    assert "return a + b" in list_failed(judge)[0]


def test_without_evidence_nobody_would_know_what_made_it_fail(judge: Judge, monkeypatch: Patch) -> None:
    does(judge, BAD)
    [kept] = [fact for fact in judge.state.memory.facts if fact.kind is FactKind.FAILED_APPROACH]
    assert "test_half" in judge.yard.archive.read(kept.block) and kept.lines[0]
    monkeypatch.setattr(failed_approaches, "find_evidence", lambda verified: failed_approaches.RejectionEvidence())
    does(judge, BAD)
    [kept] = [fact for fact in judge.state.memory.facts if fact.kind is FactKind.FAILED_APPROACH]
    assert kept.block == "" and kept.lines == failed_approaches.WHOLE_BLOCK


def test_without_dropping_it_the_refusal_would_outlive_the_answer(judge: Judge, monkeypatch: Patch) -> None:
    def list_after_answer() -> list[str]:
        judge.yard.change(HALF, "== 2", "> 1")
        judge.takes_step()
        answers(judge, "allow these changes", option=1)
        return list_failed(judge)

    assert list_after_answer() == []
    judge.yard.folder.restore(judge.state.workspace.first_snapshot)
    monkeypatch.setattr(memory_state, "drop_put_back", lambda facts: facts)
    assert list_after_answer() != []


def test_without_the_mark_the_verdict_of_an_undone_change_would_be_shown_for_the_tree(judge: Judge, monkeypatch: Patch) -> None:
    does(judge, GOOD)
    does(judge, BAD)
    verdict, step = find_current_verdict(judge.state)
    assert verdict and (verdict.ruling, step) == (PASS, 1) and judge.state.verification.is_undone
    apply = verification_state.VerificationState.apply
    monkeypatch.setattr(
        verification_state.VerificationState,
        "apply",
        lambda self, event, state: self if isinstance(event, ChangeKeptOrReverted) else apply(self, event, state),
    )
    does(judge, BAD)
    verdict, step = find_current_verdict(judge.state)
    assert verdict and (verdict.ruling, step) == (FAIL, 3)


def test_what_steers_afresh_and_was_asked_for_is_named_and_would_not_be_without(tmp_path: Path, monkeypatch: Patch) -> None:
    judge = Judge(make_yard(tmp_path, PROJECT, checks=("true",)))
    judge.yard.baseline()
    judge.order("Say in AGENTS.md how to name things.")
    judge.yard.folder.write("AGENTS.md", "Use whole words.\n")
    assert judge.takes_step(complete="done").reason.endswith(
        "; changes what runs or is obeyed unasked: AGENTS.md (agents obey it)"
    )
    monkeypatch.setattr(tampering, "describe_steering_files", lambda paths, obeyed: "")
    assert "unasked" not in judge.takes_step(complete="done").reason
