"""What a task was asked to change in tests it may change; what it was not is put back alone, in the step that changes it."""

from dataclasses import replace
from pathlib import Path

import pytest
from step_judge import Judge
from verification_yard import PROJECT, TEST_ADD, TEST_HALF, Yard, begun

from afresh.actions.tools.note import tool as note
from afresh.core.action import Action
from afresh.core.event import PlanSet, QuestionAnswered, QuestionAsked, TaskEnded
from afresh.core.fact import FactKind
from afresh.core.licences.licence_for_tests import ANY_CHANGE, FROM_PERSON, LicenceWidened, LicensedChange
from afresh.core.states.strategy_state import PlanItem
from afresh.core.task import TaskStatus
from afresh.core.verdict import Ruling, Verdict
from afresh.errors import ModelMistake
from afresh.verification import judge_test_changes, verify_step

PASS, FAIL = Ruling.PASS, Ruling.FAIL
WARN = "import warnings\n\n\nclass OldWarning(UserWarning):\n    pass\n\n\n"
TEST_WARN = (
    "import pytest\nimport sums\n\n\ndef test_third_warns_on_unsupported_kwarg():\n"
    "    with pytest.warns(sums.OldWarning) as seen:\n"
    "        sums.third(3, odd=1)\n    assert len(seen) == 1\n\n\ndef test_third():\n    assert sums.third(3) == 1\n"
)
THIRD = "def third(a, **odd):\n    if odd:\n        warnings.warn('odd', OldWarning)\n    return a / 3\n"
SHORT = THIRD.replace("    return", "    warnings.warn('short', ShortWarning)\n    return")
CONFIG = '[project]\nname = "sums"\n\n[tool.pytest.ini_options]\nfilterwarnings = ["error", "default::sums.OldWarning"]\n'
ORDER = (
    "Warn of short numbers with a new class ShortWarning.\nOur test suite turns warnings into errors: configure pytest to ignore "
    "the new warning class, and\nadapt the tests which count the warnings of an unsupported keyword argument. Add tests."
)


def warned(tmp_path: Path, goal: str) -> Judge:
    sums = f"{WARN}{PROJECT['sums.py']}\n\n{THIRD}"
    return Judge(begun(tmp_path, {"sums.py": sums, "tests/test_warn.py": TEST_WARN, "pyproject.toml": CONFIG})).order(goal)


def do_as_ordered(judge: Judge) -> None:
    folder = judge.yard.folder
    folder.write("sums.py", folder.read("sums.py").replace(THIRD, SHORT) + "\n\nclass ShortWarning(UserWarning):\n    pass\n")
    folder.write("pyproject.toml", CONFIG.replace('"]\n', '", "ignore::sums.ShortWarning"]\n'))
    counted = TEST_WARN.replace("len(seen) == 1", "len([one for one in seen if one.category is sums.OldWarning]) == 1")
    folder.write("tests/test_warn.py", counted + "\n\ndef test_short():\n    assert sums.ShortWarning\n")


def test_tests_and_settings_that_the_order_asks_to_change_are_accepted_and_named(tmp_path: Path) -> None:
    judge = warned(tmp_path, ORDER)
    do_as_ordered(judge)
    assert judge.takes_step().ruling is PASS
    verdict = judge.takes_step(complete="done")
    assert verdict.ruling is PASS, verdict.reason
    assert "tests changed as asked by “Our test suite turns warnings into errors: configure pytest to ignore" in verdict.reason
    assert "test_third_warns_on_unsupported_kwarg was altered" in verdict.reason and len(verdict.licensed) == 2
    assert [run.scope for run in verdict.runs] == ["full, with the tests of the base", "full"]


def test_the_same_change_without_the_words_is_put_back_and_the_step_that_needs_it_undone(tmp_path: Path) -> None:
    judge = warned(tmp_path, "Warn of short numbers with a new class ShortWarning. Add tests.")
    do_as_ordered(judge)
    verdict = judge.takes_step()
    assert verdict.ruling is FAIL and "tests weakened and put back" in verdict.reason
    assert (
        "the setting pytest.ini_options.filterwarnings was changed" in verdict.reason
        and "`note` subject=licence" in verdict.reason
    )
    assert judge.yard.folder.read("pyproject.toml") == CONFIG and not judge.settled.kept
    assert judge.state.workspace.snapshot == judge.state.workspace.first_snapshot


def test_a_licence_for_some_tests_is_none_for_others_beside_them(tmp_path: Path) -> None:
    judge = warned(tmp_path, ORDER)
    do_as_ordered(judge)
    judge.yard.change("tests/test_warn.py", "sums.third(3) == 1", "sums.third(3) > 0")
    verdict = judge.takes_step()
    assert verdict.ruling is PASS and verdict.weakened == ("tests/test_warn.py",)
    text = judge.yard.folder.read("tests/test_warn.py")
    assert "sums.third(3) == 1" in text and "sums.OldWarning]) == 1" in text and "test_short" in text


def test_a_test_that_may_change_undoes_nothing_until_it_is_changed(tmp_path: Path) -> None:
    judge = warned(tmp_path, ORDER)
    do_as_ordered(judge)
    judge.yard.folder.write("tests/test_warn.py", TEST_WARN)
    verdict = judge.takes_step()
    assert verdict.ruling is PASS and "1 test that the task may change fails" in verdict.reason
    assert judge.takes_step(complete="done").ruling is FAIL, "at the end it must pass"


CHEAT = {"tests/test_half.py": TEST_HALF.replace("== 2", "== 3") + "\n\ndef test_new():\n    assert sums.half(2) == 1\n"}


@pytest.fixture
def judge(yard: Yard) -> Judge:
    return Judge(yard).order("Make half faster, and add tests.")


def cheat(judge: Judge) -> None:
    judge.yard.folder.write("sums.py", PROJECT["sums.py"].replace("a / 2", "a * 0.5"))
    for path, text in CHEAT.items():
        judge.yard.folder.write(path, text)


def test_a_weakened_test_is_put_back_alone_in_its_own_step_and_the_rest_of_the_step_is_kept(judge: Judge) -> None:
    cheat(judge)
    verdict = judge.takes_step(tick="make it faster")
    assert verdict.ruling is PASS and not verdict.final
    assert verdict.reason.startswith("tests weakened and put back: tests/test_half.py: test_half was altered (if the task asks")
    assert judge.yard.folder.read("tests/test_half.py") == CHEAT["tests/test_half.py"].replace("== 3", "== 2")
    assert "a * 0.5" in judge.yard.folder.read("sums.py")
    assert judge.state.workspace.kept == 1 and judge.state.workspace.changed == ("sums.py", "tests/test_half.py")
    assert judge.state.work.plan == (PlanItem("make it faster"), PlanItem("the rest")), "its mark is gone"
    [fact] = [fact for fact in judge.state.memory.facts if fact.kind is FactKind.FAILED_APPROACH]
    assert fact.subject == "changing tests/test_half.py::test_half"
    assert judge.takes_step(complete="done").ruling is PASS, "what is left is right"


def test_without_the_guard_the_weakened_test_would_have_stayed(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify_step, "judge_test_changes", lambda *_: judge_test_changes.NO_TEST_CHANGES)
    cheat(judge)
    judge.yard.change("sums.py", "a * 0.5", "a - 1")
    judge.yard.change("tests/test_half.py", "sums.half(2) == 1", "sums.half(2)")
    judge.takes_step()
    assert "== 3" in judge.yard.folder.read("tests/test_half.py")


def test_if_only_the_weakened_test_was_changed_nothing_was_kept(judge: Judge) -> None:
    judge.yard.change("tests/test_half.py", "== 2", "> 1")
    verdict = judge.takes_step()
    assert verdict.ruling is FAIL and not judge.settled.kept and verdict.reason.endswith("nothing else was changed")
    assert (judge.state.workspace.kept, judge.state.workspace.reverted) == (0, 1)


def test_a_step_that_fails_once_its_test_is_put_back_is_undone_and_both_are_said(judge: Judge) -> None:
    judge.yard.change("sums.py", "a / 2", "a / 4")
    judge.yard.change("tests/test_half.py", "== 2", "== 1")
    judge.happens(PlanSet((PlanItem("first", True),)))
    verdict = judge.takes_step(tick="make it faster")
    assert verdict.ruling is FAIL and "with them as they were: 1 test passed before and fails now" in verdict.reason
    assert judge.yard.folder.snapshot() == judge.state.workspace.first_snapshot
    assert not any(item.done for item in judge.state.work.plan), "plan items whose work was undone are open again"


def test_a_tree_that_would_not_import_is_undone_as_a_whole(judge: Judge) -> None:
    judge.yard.folder.write("tests/test_half.py", "import sums\n\n\ndef test_mine(:\n")
    verdict = judge.takes_step()
    assert verdict.ruling is FAIL and "does not compile" in verdict.reason
    assert judge.yard.folder.read("tests/test_half.py") == TEST_HALF


def test_a_deleted_test_file_comes_back_as_it_was_before_the_step(judge: Judge) -> None:
    judge.yard.folder.write("tests/test_half.py", TEST_HALF + "\n\ndef test_mine():\n    pass\n")
    judge.takes_step()
    (judge.yard.folder.root / "tests/test_half.py").unlink()
    judge.yard.change("sums.py", "a / 2", "a * 0.5")
    assert judge.takes_step().ruling is PASS
    assert "test_mine" in judge.yard.folder.read("tests/test_half.py")


def test_completion_puts_back_with_the_same_care_and_says_how_the_tree_is_then(judge: Judge) -> None:
    cheat(judge)
    verdict = judge.takes_step(complete="done")
    assert verdict.ruling is FAIL and verdict.final and "4 passed, 1 failed" not in verdict.reason
    assert "with them as they were: " in verdict.reason and "5 passed" in verdict.reason
    assert "test_new" in judge.yard.folder.read("tests/test_half.py") and "== 2" in judge.yard.folder.read("tests/test_half.py")
    assert judge.takes_step(complete="done").ruling is PASS


def test_putting_back_what_earlier_steps_did_is_no_change_that_was_kept(judge: Judge) -> None:
    cheat(judge)
    weak = judge.yard.folder.snapshot()
    judge.yard.context = replace(
        judge.yard.context, state=replace(judge.state, workspace=replace(judge.state.workspace, snapshot=weak, kept=1))
    )
    judge.takes_step(complete="done")
    assert judge.state.workspace.kept == 1 and judge.state.workspace.snapshot != weak


def test_the_second_time_a_person_is_asked_and_a_yes_allows_exactly_these_changes(judge: Judge) -> None:
    for _ in range(2):
        cheat(judge)
        judge.takes_step()
    assert judge.state.status is TaskStatus.BLOCKED and judge.state.dialogue.question.startswith("It changes tests that the task")
    assert [option.partition(":")[0] for option in judge.state.dialogue.options] == ["allow these changes", "put them back"]
    judge.happens(QuestionAnswered("allow these changes", option=1))
    [entry] = judge.state.verification.licence
    assert entry.subject == "tests/test_half.py::test_half"
    assert not [fact for fact in judge.state.memory.facts if fact.kind is FactKind.FAILED_APPROACH], "nothing forbids it any more"
    judge.yard.change("tests/test_half.py", "== 2", "> 1")
    assert not judge.takes_step().weakened
    judge.yard.folder.write("tests/test_add.py", TEST_ADD.replace("== LIMIT", ">= LIMIT"))
    assert judge.takes_step().weakened == ("tests/test_add.py",), "others are not allowed by it"


def test_the_other_answer_leaves_them_protected(judge: Judge) -> None:
    for _ in range(2):
        cheat(judge)
        judge.takes_step()
    judge.happens(QuestionAnswered("put them back", option=2))
    assert judge.state.verification.licence == () and judge.state.verification.offered == ()


def test_a_persons_words_widen_the_licence_at_once(judge: Judge) -> None:
    judge.happens(
        QuestionAsked("What now?"),
        TaskEnded(TaskStatus.BLOCKED, "asks"),
        QuestionAnswered("Please change test_half to expect more."),
    )
    judge.yard.change("tests/test_half.py", "== 2", "> 1")
    assert not judge.takes_step().weakened
    assert [entry.by for entry in judge.state.verification.licence] == ["answer"], "and it is on record"


def test_a_path_that_a_person_allows_may_change_in_any_way(judge: Judge) -> None:
    judge.happens(LicenceWidened((LicensedChange(ANY_CHANGE, "tests/test_half.py", by=FROM_PERSON),)))
    (judge.yard.folder.root / "tests/test_half.py").unlink()
    judge.yard.change("sums.py", "a / 2", "a * 0.5")
    assert judge.takes_step().ruling is PASS
    verdict = judge.takes_step(complete="done")
    assert (
        verdict.ruling is PASS
        and "tests changed as asked by --allow-test-changes: tests/test_half.py was deleted" in verdict.reason
    )


def claims(judge: Judge, text: str, why: str) -> tuple:
    return note.run({"subject": "licence", "text": text, "why": why}, judge.yard.context).events


QUOTE = "Adapt the test which expects half of four"
GOAL = "Make half exact. Adapt the test which expects half of four to be whole. Please add tests."


def test_the_model_may_quote_the_words_that_ask_for_a_change(judge: Judge) -> None:
    judge.order(GOAL)
    judge.yard.change("tests/test_half.py", "== 2", "== 2.0")
    made = claims(judge, "tests/test_half.py::test_half", QUOTE)
    assert not judge.takes_step(claims=made).weakened
    assert judge.state.verification.licence[-1].by == "model"


@pytest.mark.parametrize(
    ("text", "why", "told"),
    [
        ("tests/test_half.py::test_half", "Adapt all tests as you like", "in neither the goal nor an answer"),
        ("tests/test_half.py::test_half", "Please add tests.", "do not ask to change existing tests"),
        (
            "tests/test_add.py::test_add",
            "Adapt the test which expects half of four",
            "do not speak of tests/test_add.py::test_add",
        ),
        ("tests/test_half.py", QUOTE, "do not speak of tests/test_half.py"),
        ("sums.py", QUOTE, "no test or configuration file"),
        ("tests/test_half.py::test_half", "Adapt", "copied exactly"),
    ],
)
def test_a_quote_can_not_reach_what_it_does_not_speak_of(judge: Judge, text: str, why: str, told: str) -> None:
    judge.order(GOAL)
    with pytest.raises(ModelMistake, match=told):
        claims(judge, text, why)


def test_a_licence_by_quote_does_not_switch_the_test_off(judge: Judge) -> None:
    judge.order(GOAL)
    made = claims(judge, "tests/test_half.py::test_half", QUOTE)
    judge.yard.change("tests/test_half.py", "def test_half", "import pytest\n\n\n@pytest.mark.skip\ndef test_half")
    judge.yard.change("sums.py", "a / 2", "a * 0.5")
    verdict = judge.takes_step(claims=made)
    assert verdict.weakened == ("tests/test_half.py",) and "skipped or asserts nothing" in verdict.reason


def test_a_part_that_a_model_hands_out_allows_itself_nothing(judge: Judge) -> None:
    state = replace(judge.state, task=replace(judge.state.task, parent="whole"))
    judge.yard.context = replace(judge.yard.context, state=state)
    judge.order("Update tests/test_half.py")
    assert judge.state.verification.licence == ()


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


def test_without_the_second_run_the_honest_change_would_have_been_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afresh.verification.confirm_regressions.MAX_TESTS_RUN_AGAIN", 0)
    judge = moody(tmp_path, 2)
    judge.yard.change("sums.py", "a / 2", "a * 0.5")
    assert judge.takes_step().ruling is FAIL and not judge.settled.kept


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


def test_an_edit_that_is_kept_later_is_no_failed_approach_any_more(judge: Judge) -> None:
    does(judge, GOOD, BAD)
    does(judge, GOOD)
    assert failed(judge) == ["edit sums.py (return a / 2 → return a / 3.5)"], "the rest of that reply is still known to fail"
    judge.yard.folder.write("tests/test_half.py", TEST_HALF)
    judge.happens(LicenceWidened((LicensedChange(ANY_CHANGE, "tests/test_half.py"),)))
    does(judge, edit("tests/test_half.py", "== 2", "< 2"), BAD)
    assert failed(judge) == []


COUNTED = {
    "tests/base.py": "KNOWN = {'add', 'half'}\n",
    **{
        f"tests/test_{name}s.py": (
            "import sums\nfrom tests.base import KNOWN\n\n\ndef test_public():\n"
            "    assert {name for name in vars(sums) if name[0] != '_'} == KNOWN\n"
        )
        for name in ("one", "two", "three")
    },
    "tests/__init__.py": "",
}


def test_tests_that_a_licensed_value_breaks_indirectly_are_accepted(tmp_path: Path) -> None:
    judge = Judge(begun(tmp_path, COUNTED)).order("Rename half to halve. Update KNOWN in tests/base.py and adapt test_half.")
    judge.yard.folder.write("sums.py", PROJECT["sums.py"].replace("half", "halve"))
    judge.yard.change("tests/base.py", "'half'", "'halve'")
    judge.yard.change("tests/test_half.py", "sums.half", "sums.halve")
    judge.yard.change("tests/test_ones.py", "def test_public", "def test_more():\n    assert sums.halve\n\n\ndef test_public")
    assert judge.takes_step().ruling is PASS, judge.state.verification.verdict
    verdict = judge.takes_step(complete="done")
    assert verdict.ruling is PASS and "tests/base.py" in verdict.reason, verdict.reason


def test_the_same_change_of_the_value_without_the_words_is_not(tmp_path: Path) -> None:
    judge = Judge(begun(tmp_path, COUNTED)).order("Rename half to halve, and adapt test_half.")
    judge.yard.folder.write("sums.py", PROJECT["sums.py"].replace("half", "halve"))
    judge.yard.change("tests/base.py", "'half'", "'halve'")
    judge.yard.change("tests/test_half.py", "sums.half", "sums.halve")
    assert judge.takes_step().ruling is FAIL and not judge.settled.kept


MOVED = {
    "tests/__init__.py": "",
    "tests/base.py": "def double(a):\n    return a + a\n",
    "tests/test_uses.py": (
        "import sums\nfrom tests.base import double\n\n\ndef test_uses():\n    assert sums.add(1, 1) == double(1)\n"
    ),
}


def test_a_helper_that_moves_as_asked_takes_the_tests_with_it_that_import_it(tmp_path: Path) -> None:
    judge = Judge(begun(tmp_path, MOVED)).order("Move the helper double from tests/base.py to tests/helpers.py.")
    judge.yard.folder.write("tests/base.py", "")
    judge.yard.folder.write("tests/helpers.py", MOVED["tests/base.py"])
    judge.yard.change("tests/test_uses.py", "tests.base", "tests.helpers")
    judge.yard.change("tests/test_uses.py", "def test_uses", "def test_new():\n    assert double(2) == 4\n\n\ndef test_uses")
    judge.yard.change("sums.py", "a + b", "b + a")
    first = judge.takes_step()
    assert first.ruling is PASS, first.reason
    verdict = judge.takes_step(complete="done")
    assert verdict.ruling is PASS, verdict.reason


@pytest.mark.parametrize(
    "order",
    [
        "half rounds down. The expectation in test_half is wrong.",
        "half rounds down. test_half asserts the old value, please fix it.",
        "half rounds down. Tests which rely on the old default need to pass it explicitly.",
        "half rounds down. If any existing test relies on the old behaviour, update it.",
        "half rounds down. The tests need updating.",
    ],
)
def test_an_order_that_is_understood_keeps_the_code_with_its_tests(tmp_path: Path, order: str) -> None:
    judge = Judge(begun(tmp_path, {})).order(order)
    judge.yard.change("sums.py", "a / 2", "a // 2 - 1")
    judge.yard.change("tests/test_half.py", "== 2", "== 1")
    assert judge.takes_step().ruling is PASS and judge.settled.kept and not judge.last.put_back
    assert judge.takes_step(complete="done").ruling is PASS
