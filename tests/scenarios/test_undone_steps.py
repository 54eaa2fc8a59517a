"""What undoes a step: a test that fails again when it is run alone. What failed is remembered; a flaky test decides nothing."""

from pathlib import Path

import pytest
from step_judge import Judge
from verification_yard import PROJECT, TEST_HALF, Yard, begun

from afresh.core.action import Action
from afresh.core.fact import FactKind
from afresh.core.leave import Grant, LeaveGiven
from afresh.core.verdict import Ruling, Verdict
from afresh.views.task_facts import find_current_verdict

PASS, FAIL = Ruling.PASS, Ruling.FAIL


@pytest.fixture
def judge(yard: Yard) -> Judge:
    return Judge(yard).order("Make half faster, and add tests.")


FLAKY = """import pathlib


def test_moody():
    count = pathlib.Path(__file__).parent / "__pycache__" / "count"
    count.parent.mkdir(exist_ok=True)
    seen = int(count.read_text()) if count.exists() else 0
    count.write_text(str(seen + 1))
    assert seen not in FAILS
"""


def moody(tmp_path: Path, *fails: int) -> Judge:
    """Fails in these runs of it, counted from 0; the baseline takes two."""
    return Judge(begun(tmp_path, {"tests/test_moody.py": FLAKY.replace("FAILS", repr((*fails, -1)))})).order("Make half faster")


def test_a_test_that_fails_once_and_passes_alone_is_flaky_and_undoes_nothing(tmp_path: Path) -> None:
    judge = moody(tmp_path, 2)
    judge.yard.change("sums.py", "a / 2", "a * 0.5")
    verdict = judge.takes_step()
    assert verdict.ruling is PASS and verdict.flaky == ("tests/test_moody.py::test_moody",)
    assert "flaky, failed and passed when run again alone: tests/test_moody.py::test_moody" in verdict.reason
    assert judge.state.verification.flaky == ("tests/test_moody.py::test_moody",) and judge.settled.kept
    again = [command for command in judge.yard.shell.commands if "tests/test_moody.py::test_moody" in command]
    assert len(again) == 1, "only that test was run again"


def test_a_broken_test_fails_alone_too_and_the_change_is_undone(judge: Judge) -> None:
    judge.yard.change("sums.py", "a / 2", "a / 3")
    verdict = judge.takes_step()
    assert verdict.ruling is FAIL and verdict.flaky == () and not judge.settled.kept


def test_at_the_end_a_flaky_test_has_to_pass_once_in_a_run_of_all(tmp_path: Path) -> None:
    judge = moody(tmp_path, 2)
    judge.yard.change("sums.py", "a / 2", "a * 0.5")
    verdict = judge.takes_step(complete="done")
    assert verdict.ruling is PASS and "flaky, failed and passed when run again" in verdict.reason


def test_a_test_that_another_breaks_each_time_is_no_flaky_test_at_the_end(tmp_path: Path) -> None:
    last = "import sums\n\n\ndef test_zz():\n    assert not hasattr(sums, 'spoilt')\n"
    judge = Judge(begun(tmp_path, {"tests/test_zz.py": last})).order("Make half faster")
    judge.yard.folder.write("sums.py", PROJECT["sums.py"].replace("return a / 2", "globals()['spoilt'] = 1\n    return a / 2"))
    verdict: Verdict = judge.takes_step(complete="done")
    assert (
        verdict.ruling is FAIL
        and "passes alone and fails in each run of the whole check: tests/test_zz.py::test_zz" in verdict.reason
    )


def edit(path: str, old: str, new: str) -> Action:
    return Action("edit", {"path": path, "old": old, "new": new})


GOOD = edit("sums.py", "return a + b", "return b + a")
BAD = edit("sums.py", "return a / 2", "return a / 3.5")


def failed(judge: Judge) -> list[str]:
    return [fact.subject for fact in judge.state.memory.facts if fact.kind is FactKind.FAILED_APPROACH]


def does(judge: Judge, *actions: Action) -> Verdict:
    for one in actions:
        judge.yard.change(one.args["path"], one.args["old"], one.args["new"])
    return judge.takes_step(actions=actions)


def test_what_failed_is_remembered_whole_with_the_culprit_first(judge: Judge) -> None:
    note_of_it = edit("tests/test_half.py", "import sums", "import sums\nimport os")
    does(judge, GOOD, note_of_it, BAD)
    [subject] = failed(judge)
    assert subject.startswith("edit sums.py (return a / 2 → return a / 3.5)") and "return a + b → return b + a" in subject
    assert "tests/test_half.py" in subject


def test_the_verdict_that_is_shown_is_that_of_the_tree(judge: Judge) -> None:
    does(judge, GOOD)
    does(judge, BAD)
    verdict, step = find_current_verdict(judge.state)
    assert verdict and (verdict.ruling, step) == (PASS, 1) and judge.state.verification.is_undone


def test_an_edit_that_is_kept_later_is_no_failed_approach_any_more(judge: Judge) -> None:
    does(judge, GOOD, BAD)
    does(judge, GOOD)
    assert failed(judge) == ["edit sums.py (return a / 2 → return a / 3.5)"], "the rest of that reply is still known to fail"
    judge.yard.folder.write("tests/test_half.py", TEST_HALF)
    judge.happens(LeaveGiven((Grant("tests/test_half.py"),)))
    does(judge, edit("tests/test_half.py", "== 2", "< 2"), BAD)
    assert failed(judge) == []
