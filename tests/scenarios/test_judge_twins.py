"""Guards of the judge, each switched off: what it is there to prevent then happens."""

from pathlib import Path

import pytest
from step_judge import Judge
from verification_yard import PROJECT, Yard, begun, make_yard

from afresh.core.action import Action
from afresh.core.event import ChangeKeptOrReverted
from afresh.core.fact import FactKind
from afresh.core.states import verification_state
from afresh.core.verdict import Ruling
from afresh.memory import failed_approaches
from afresh.verification import confirm_regressions, court_run, keep_or_revert, tampering, verify_step
from afresh.views.task_status import find_current_verdict

PASS, FAIL = Ruling.PASS, Ruling.FAIL
Patch = pytest.MonkeyPatch
HALF = "tests/test_half.py"


@pytest.fixture
def judge(yard: Yard) -> Judge:
    return Judge(yard).order("Make half faster, and add tests.")


def test_without_compiling_a_file_that_no_test_loads_would_be_kept_as_it_is(judge: Judge, monkeypatch: Patch) -> None:
    judge.yard.folder.write("extra.py", "def more(:\n")
    assert "(extra.py, line 1)" in judge.takes_step().reason and not judge.settled.kept
    monkeypatch.setattr(verify_step, "check_changed_files_compile", lambda context, changed: None)
    judge.yard.folder.write("extra.py", "def more(:\n")
    assert judge.takes_step().ruling is PASS and judge.settled.kept


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
    assert "; changes what runs or is obeyed unasked: AGENTS.md (agents obey it)" in judge.takes_step(complete="done").reason
    monkeypatch.setattr(tampering, "describe_steering_files", lambda paths, obeyed: "")
    assert "unasked" not in judge.takes_step(complete="done").reason
