"""Who may change tests: a person, or their order as a reviewer reads it; the harness checks what the reviewer says."""

import sys
from pathlib import Path
from typing import Any

import pytest
from step_judge import Judge
from verification_yard import PROJECT, PYTEST, TEST_HALF, begin_alike, begun, make_yard

from afresh.core.event import QuestionAnswered, QuestionAsked, TaskEnded
from afresh.core.fact import FactKind
from afresh.core.leave import Grant, LeaveGiven
from afresh.core.state import State
from afresh.core.states.strategy_state import PlanItem
from afresh.core.task import TaskStatus
from afresh.core.verdict import NoteKind, Ruling, Verdict

PASS, FAIL = Ruling.PASS, Ruling.FAIL
HALF = "tests/test_half.py"
ORDER = "half rounds up. Do change test_half: it has to expect 3."


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    return Judge(begun(tmp_path, {})).order(ORDER)


@pytest.fixture
def quick(tmp_path: Path) -> Judge:
    """Its check always passes: what is asked here is who gives leave."""
    return Judge(begun(tmp_path, {}, checks=("true",))).order(ORDER)


def rounds_up(judge: Judge, expected: str = "== 3") -> None:
    judge.yard.change("sums.py", "return a / 2", "return a // 2 + 1")
    judge.yard.change(HALF, "== 2", expected)


def completes(judge: Judge) -> Verdict:
    return judge.takes_step(complete="done")


def answers(judge: Judge, text: str, option: int = 0) -> None:
    judge.happens(QuestionAsked("What now?"), TaskEnded(TaskStatus.BLOCKED, "asks"), QuestionAnswered(text, option=option))


ORDERED = {
    "English": (ORDER, "change test_half: it has to expect 3"),
    "German": ("half rundet auf. Passe test_half an: „3“ statt 2.", 'Passe test_half an: "3" statt 2.'),
    "French": ("half arrondit vers le haut ; adaptez test_half, qui attend 3.", "adaptez test_half, qui attend 3"),
    "Japanese": ("halfは切り上げる。ｔｅｓｔ_ｈａｌｆの期待値を３に変更すること。", "test_halfの期待値を3に変更すること"),
}


@pytest.mark.parametrize("language", ORDERED)
def test_an_order_in_any_language_gives_leave_without_a_run_and_stands_first(quick: Judge, language: str) -> None:
    order, quote = ORDERED[language]
    quick.order(order).reviews(how="ordered", quote=quote)
    rounds_up(quick)
    verdict = completes(quick)
    told = f"tests changed as asked by “{quote}”: {HALF}: test_half was altered"
    assert verdict.ruling is PASS and verdict.list_facts(NoteKind.ALLOWED) == (told,) and verdict.reason.startswith(told)
    assert not [run for run in verdict.runs if run.scope not in ("full", "full, with the tests of the base")]


NO_LEAVE: dict[str, tuple[str, Any]] = {
    "a negation that the reviewer quotes": (
        "half rounds up. Do not change test_half.",
        {"how": "ordered", "quote": "change test_half", "forbids": "Do not change test_half."},
    ),
    "words of nobody": (ORDER, {"how": "ordered", "quote": "adapt every test as you like"}),
    "words of the change itself": (ORDER, {"how": "ordered", "quote": "half(4) == 3"}),
    "a few letters of the order": (ORDER, {"how": "ordered", "quote": "Do"}),
    "no quote": (ORDER, {"how": "ordered"}),
    "in doubt": (ORDER, {"how": "neither", "quote": "Do change test_half"}),
    "ordered, and yet not asked": (ORDER, {"how": "ordered", "quote": "Do change test_half", "asked": False}),
    "an unknown way": (ORDER, {"how": "surely", "quote": "Do change test_half"}),
    "no JSON": (ORDER, "Yes, the user asked for it: Do change test_half."),
    "JSON of another form": (ORDER, "[1, 2]"),
    "no order to read": ("", {"how": "ordered", "quote": "Do change test_half"}),
}


@pytest.mark.parametrize("way", NO_LEAVE)
def test_an_answer_that_does_not_stand_gives_none_and_then_the_person_is_asked(quick: Judge, way: str) -> None:
    order, said = NO_LEAVE[way]
    quick.order(order).reviewer[""] = said
    quick.reviews("", **said) if isinstance(said, dict) else None
    rounds_up(quick)
    verdict = completes(quick)
    assert verdict.ruling is FAIL and verdict.unallowed == (f"{HALF}::test_half",), verdict.reason
    assert verdict.reason.startswith(f"changed without leave: {HALF}: test_half was altered")
    assert ("the user says “Do not change test_half.”" in verdict.reason) is (way == "a negation that the reviewer quotes")
    assert not quick.state.dialogue.question, "once it is told, and may put it back"
    completes(quick)
    assert quick.state.status is TaskStatus.BLOCKED and "May it change them?" in quick.state.dialogue.question


FOLLOWS = "half rounds up to a whole number: half of four is three."
UNPROVEN = {
    "a check that the old code passes, too": ("> 1", "passes on the code of the base, too"),
    "a test that is skipped": ("== 3\n    import pytest\n    pytest.skip()", "does not pass with the new code"),
}


def follows(judge: Judge) -> Judge:
    return judge.order(FOLLOWS).reviews(how="follows", quote="half of four is three")


def test_what_follows_from_the_order_needs_proof_and_is_named_with_the_words(judge: Judge) -> None:
    rounds_up(follows(judge))
    verdict = completes(judge)
    assert verdict.ruling is PASS, verdict.reason
    assert verdict.reason.startswith(f"tests changed, which follows from “half of four is three”: {HALF}: test_half was altered")


@pytest.mark.parametrize("way", UNPROVEN)
def test_what_does_not_demand_anything_new_is_refused(judge: Judge, way: str) -> None:
    expected, told = UNPROVEN[way]
    rounds_up(follows(judge), expected)
    verdict = completes(judge)
    assert verdict.ruling is FAIL and told in verdict.reason and f"{HALF}::test_half" in verdict.reason


def test_a_test_that_holds_as_it_was_does_not_follow(judge: Judge) -> None:
    judge.yard.change("tests/test_add.py", "sums.add(0, 0) == 0", "sums.add(0, 0) < 1")
    judge.yard.change("sums.py", "a + b", "b + a")
    reason = completes(follows(judge)).reason
    assert "does not fail, as it was, with the new code: tests/test_add.py::TestMore::test_zero" in reason


def test_a_removed_test_follows_only_if_it_fails_as_it_was(judge: Judge) -> None:
    follows(judge)
    (judge.yard.folder.root / HALF).unlink()
    judge.yard.change("sums.py", "a / 2", "a * 0.5")
    assert "does not fail, as it was" in completes(judge).reason
    judge.yard.change("sums.py", "a * 0.5", "a // 2 + 1")
    assert completes(judge).ruling is PASS


VAST = "def vast(a):\n    return a + OFF if OFF else a\n\n\nOFF = 0\n"
TESTS_OF_VAST = (
    "import nums\n\n\ndef test_off():\n    assert nums.OFF == 0\n\n\ndef test_dead(monkeypatch):\n"
    "    monkeypatch.setattr(nums, 'OFF', 3, raising=False)\n    assert nums.vast(-3) in (0, -3)\n"
)


@pytest.mark.parametrize(("weaker", "ruling"), [("in (0, -3)", PASS), ("in (0, -3, 9)", FAIL)])
def test_a_test_that_only_follows_a_name_of_the_code_is_proven_by_another_that_does(
    tmp_path: Path, weaker: str, ruling: Ruling
) -> None:
    judge = Judge(begun(tmp_path, {"nums.py": VAST, "tests/test_vast.py": TESTS_OF_VAST})).order(
        "OFF is called SHIFT from now on"
    )
    judge.reviews(how="follows", quote="OFF is called SHIFT")
    judge.yard.folder.write("nums.py", VAST.replace("OFF", "SHIFT"))
    judge.yard.folder.write("tests/test_vast.py", TESTS_OF_VAST.replace("OFF", "SHIFT").replace("in (0, -3)", weaker))
    verdict, why = completes(judge), "does not fail, as it was, with the new code: tests/test_vast.py::test_dead"
    assert verdict.ruling is ruling and (why in verdict.reason) is (ruling is FAIL), verdict.reason


def test_a_test_that_was_extended_follows_if_the_old_code_fails_with_it(judge: Judge) -> None:
    follows(judge)
    judge.yard.change("sums.py", "return a / 2", "return a / 2 if a % 3 else a // 2 + 1")
    judge.yard.change(HALF, "    assert", "    print(sums.half(1))\n    assert")
    assert "passes on the code of the base, too" in completes(judge).reason
    judge.yard.change(HALF, "== 2\n", "== 2\n    for a in (3, 9):\n        assert sums.half(a) == a // 2 + 1\n")
    assert completes(judge).ruling is PASS


@pytest.mark.parametrize(("code", "ruling"), [("a / 2 if a != 4 else 3", PASS), ("a * 0.5", FAIL)])
def test_a_case_that_is_dropped_must_fail_as_it_was_and_has_nothing_to_fail_with(
    tmp_path: Path, code: str, ruling: Ruling
) -> None:
    test = "import sums\n\n\ndef test_halves():\n    for a in [2, 4, 6]:\n        assert sums.half(a) * 2 == a\n"
    judge = follows(Judge(begun(tmp_path, {HALF: test})))
    judge.yard.change("sums.py", "a / 2", code)
    judge.yard.change(HALF, "2, 4, 6", "2, 6")
    verdict = completes(judge)
    assert verdict.ruling is ruling and "test_halves was shortened" in verdict.reason, verdict.reason


def test_a_test_below_a_changed_fixture_is_tried_with_both_as_they_were(tmp_path: Path) -> None:
    files = {
        "sums.py": "class Number:\n    def __init__(self, value):\n        self.value = value\n",
        "conftest.py": "import pytest\nimport sums\n\n\n@pytest.fixture\ndef four():\n    return sums.Number(4)\n",
        "test_four.py": "import sums\n\n\ndef test_four(four):\n    assert four.value == sums.Number(4).value\n",
    }
    judge = follows(Judge(begin_alike(make_yard(tmp_path, files))))
    for path in files:
        judge.yard.change(path, *(("value):", "value, unit):") if path == "sums.py" else ("Number(4)", "Number(4, 'm')")))
    assert completes(judge).ruling is PASS


def test_a_change_that_is_too_long_to_be_read_is_said_and_a_long_order_is_read_whole(quick: Judge) -> None:
    quick.order(ORDER + "\n" + "A word of the user. " * 400).reviews(how="ordered", quote="change test_half")
    rounds_up(quick, "== 3" + "".join(f"\n    assert sums.add({n}, {n + 1}) != sums.half({n}) + {n}" for n in range(99)))
    verdict = completes(quick)
    assert verdict.ruling is FAIL and "nobody has read it: too long for a reviewer, who reads " in verdict.reason
    assert "May it change them?" in quick.state.dialogue.question and len(quick.state.verification.reviews) == 1, "at once"
    quick.happens(QuestionAnswered("put them back", option=2))
    quick.yard.folder.write(HALF, TEST_HALF.replace("== 2", "== 3"))
    assert completes(quick).ruling is PASS
    quick.yard.folder.write(
        HALF, "import sums\n\n\n" + "".join(f"def test_{n}():\n    assert sums.half({n})\n\n\n" for n in range(50))
    )
    assert completes(quick).ruling is PASS, "of a removed test what was added beside it is left out where it is too much"


def test_of_a_long_list_the_entry_is_shown_that_is_other(tmp_path: Path) -> None:
    known = "KNOWN = [" + ", ".join(f"('case {n}', {n})" for n in range(200)) + "]\n"
    judge = Judge(begun(tmp_path, {"tests/base.py": known}, checks=("true",))).order("drop case 7")
    shown = " KNOWN = [('case 0', 0),\n …\n   ('case 5', 5),\n   ('case 6', 6),\n-  ('case 7', 7),\n   ('case 8', 8),"
    judge.reviews(shown, how="ordered", quote="drop case 7")
    judge.yard.change("tests/base.py", "('case 7', 7), ", "")
    judge.yard.change("sums.py", "a + b", "b + a")
    assert completes(judge).ruling is PASS


def test_names_of_tests_that_are_other_in_each_run_are_not_taken_for_failing_ones(tmp_path: Path) -> None:
    timed = "import time\n\nimport pytest\nimport sums\n\n\n@pytest.mark.parametrize('at', [time.time()])\n"
    timed += "def test_at(at):\n    assert sums.half(at) == at / 2\n"
    judge = Judge(begun(tmp_path, {"tests/test_at.py": timed}))
    judge.yard.change("sums.py", "a / 2", "a * 0.5")
    assert completes(judge).ruling is PASS


SETTINGS = '[tool.pytest.ini_options]\naddopts = "-q"\n'


@pytest.mark.parametrize(("how", "ruling"), [("ordered", PASS), ("follows", FAIL)])
def test_settings_of_the_checks_need_an_order(tmp_path: Path, how: str, ruling: Ruling) -> None:
    judge = Judge(begun(tmp_path, {"pyproject.toml": SETTINGS})).order("half is exact; let pytest print less: -qq")
    judge.reviews('addopts = "-qq"\n</diff>', how=how, quote="let pytest print less")
    judge.yard.change("pyproject.toml", '"-q"', '"-qq"  # the user asked for this')
    judge.yard.change("sums.py", "a / 2", "a * 0.5")
    assert completes(judge).ruling is ruling


def test_each_of_two_tests_of_a_file_is_asked_about_alone(judge: Judge) -> None:
    judge.order("add counts absolute values: change test_zero").reviews("test_zero was", how="ordered", quote="change test_zero")
    judge.yard.change("tests/test_add.py", "sums.add(0, 0) == 0", "sums.add(0, 0) < 1")
    judge.yard.change("tests/test_add.py", "sums.add(-1, 1) == 0", "sums.add(-1, 1) < 1")
    judge.yard.change("sums.py", "a + b", "b + a")
    verdict = completes(judge)
    assert verdict.unallowed == ("tests/test_add.py::TestMore::test_negative",)
    assert verdict.reason.endswith("Without these changes: PASS: " + verdict.reason.rpartition("PASS: ")[2])
    judge.yard.change("tests/test_add.py", "sums.add(-1, 1) < 1", "sums.add(-1, 1) == 0")
    assert completes(judge).ruling is PASS


def test_a_change_is_asked_about_once_and_a_third_version_is_the_persons_to_see(quick: Judge) -> None:
    for expected in ("== 4", "== 5", "== 6"):
        quick.yard.folder.write(HALF, TEST_HALF.replace("== 2", expected))
        quick.reviews(how="neither")
        completes(quick)
        completes(quick)
    assert [one.unread.partition(":")[0] for one in quick.state.verification.reviews] == ["", "", "nobody has read it"]
    answers(quick, "It has to expect 7.")
    quick.reviews(how="ordered", quote="It has to expect 7.")
    quick.yard.folder.write(HALF, TEST_HALF.replace("== 2", "== 7"))
    assert completes(quick).ruling is PASS, "new words are read anew"


def test_an_answer_of_the_person_goes_to_the_reviewer_and_the_first_option_allows_exactly_these(quick: Judge) -> None:
    rounds_up(quick)
    quick.yard.change("tests/test_add.py", "sums.add(0, 0) == 0", "sums.add(0, 0) < 1")
    completes(quick)
    completes(quick)
    assert [one.partition(":")[0] for one in quick.state.dialogue.options] == ["allow these changes", "put them back"]
    quick.happens(QuestionAnswered("allow these changes", option=1))
    assert [one.subject for one in quick.state.verification.leave] == [
        "tests/test_add.py::TestMore::test_zero",
        f"{HALF}::test_half",
    ]
    assert completes(quick).ruling is PASS
    quick.yard.change("tests/test_add.py", "sums.add(-1, 1) == 0", "sums.add(-1, 1) < 1")
    assert completes(quick).unallowed == ("tests/test_add.py::TestMore::test_negative",), "others are not"


@pytest.mark.parametrize("option", [0, 1])
def test_an_answer_to_a_question_of_the_model_is_read_with_it(quick: Judge, option: int) -> None:
    quick.order("half rounds up.").reviews(how="ordered", quote="yes, adapt them")
    rounds_up(quick)
    assert "Put that back as it was (`read` @changes/tests/test_half.py shows it)" in completes(quick).reason
    asked = QuestionAsked("May I change test_half to 3?", ("yes, adapt them", "no"))
    quick.happens(asked, TaskEnded(TaskStatus.BLOCKED, "asks"), QuestionAnswered("yes, adapt them", option=option))
    assert completes(quick).ruling is PASS


def test_a_path_that_a_person_allows_may_change_in_any_way(judge: Judge) -> None:
    judge.happens(LeaveGiven((Grant(HALF),)))
    (judge.yard.folder.root / HALF).unlink()
    judge.yard.change("sums.py", "a / 2", "a * 0.5")
    verdict = completes(judge)
    assert verdict.ruling is PASS
    assert verdict.reason.startswith(f"tests changed as asked by --allow-test-changes: {HALF} was deleted; ")


def test_a_step_keeps_the_change_and_names_what_will_need_leave(judge: Judge) -> None:
    rounds_up(judge)
    verdict = judge.takes_step(tick="make it round")
    assert verdict.ruling is PASS and judge.settled.kept and judge.state.work.plan[0] == PlanItem("make it round", True)
    assert verdict.reason.endswith(f"; at `complete` the user's words must call for this: {HALF}: test_half was altered")
    assert "== 3" in judge.yard.folder.read(HALF) and not judge.state.verification.reviews, "nothing is asked before the end"
    assert not [fact for fact in judge.state.memory.facts if fact.kind is FactKind.FAILED_APPROACH]


def test_a_test_that_a_person_lets_change_undoes_nothing_until_it_is_changed(judge: Judge) -> None:
    judge.happens(LeaveGiven((Grant(HALF, "test_half"),)))
    judge.yard.change("sums.py", "a / 2", "a // 2 + 1")
    verdict = judge.takes_step()
    assert verdict.ruling is PASS and "1 test that the task may change fails" in verdict.reason
    assert completes(judge).ruling is FAIL, "at the end it must pass"


GROWN = {
    "tests/base.py": "KNOWN = ['add', 'half']\n",
    "tests/__init__.py": "",
    "tests/test_names.py": (
        "import sums\nfrom tests.base import KNOWN\n\n\ndef test_public():\n"
        "    assert [name for name in vars(sums) if name[0] != '_'] == KNOWN\n"
    ),
}


@pytest.mark.parametrize(("quote", "ruling"), [("add it to KNOWN", PASS), ("", FAIL)])
def test_a_value_that_has_only_grown_is_asked_about_if_tests_fail_without_it(tmp_path: Path, quote: str, ruling: Ruling) -> None:
    judge = Judge(begun(tmp_path, GROWN)).order("Write third, and add it to KNOWN.")
    judge.reviews(how="ordered", quote=quote)
    judge.yard.folder.write("sums.py", PROJECT["sums.py"] + "\n\ndef third(a):\n    return a / 3\n")
    judge.yard.change("tests/base.py", "'half'", "'half', 'third'")
    verdict = completes(judge)
    assert verdict.ruling is ruling and verdict.unallowed == (() if quote else ("tests/base.py::KNOWN",)), verdict.reason


def test_additions_ask_nobody(judge: Judge) -> None:
    judge.yard.change("sums.py", "a / 2", "a * 0.5")
    judge.yard.folder.write(HALF, TEST_HALF + "    assert sums.half(2) == 1\n\n\ndef test_new():\n    assert sums.half(6) == 3\n")
    verdict = completes(judge)
    assert verdict.ruling is PASS and not verdict.list_facts(NoteKind.ALLOWED) and not judge.state.verification.reviews


def test_no_part_that_a_model_hands_out_asks_a_reviewer_with_the_models_own_words(quick: Judge, monkeypatch: Any) -> None:
    quick.reviews(how="ordered", quote="change test_half: it has to expect 3")
    monkeypatch.setattr(State, "persons_goal", "")
    rounds_up(quick)
    assert completes(quick).ruling is FAIL and not quick.state.verification.reviews


MOVED = {"nums.py": "def double(x):\n    return x * 2\n\n\ndef second(x):\n    return x + x\n"}
TEST_NUMS = (
    "from nums import double, second\n\n\ndef test_five():\n    assert double(5) == 10\n\n\n"
    "def test_second():\n    assert second(2) == 4\n\n\ndef test_type():\n    assert True\n"
)
RENAMED = [("nums.py", "def double", "def twice"), ("tests/test_nums.py", "double", "twice")]
REMOVED = [
    ("nums.py", "\n\n\ndef second(x):\n    return x + x", ""),
    ("tests/test_nums.py", ", second", ""),
    ("tests/test_nums.py", "\n\ndef test_second():\n    assert second(2) == 4\n", ""),
]
ELSEWHERE = [
    ("arithmetic.py", "", "def double(x):\n    return x * 2\n"),
    ("nums.py", "def double(x):\n    return x * 2\n\n\n", ""),
    ("tests/test_nums.py", "from nums import double, second", "from arithmetic import double\nfrom nums import second"),
]
GIVEN: dict[str, Any] = {
    "ordered": {"how": "ordered", "quote": "also in the tests"},
    "follows": {"how": "follows", "quote": "do it in nums.py"},
    "file": Grant("tests/test_nums.py"),
    "folder": Grant("tests/"),
    "": {},
}


@pytest.mark.parametrize(
    ("edits", "way"),
    [
        *((RENAMED, way) for way in GIVEN),
        *((REMOVED, way) for way in ("ordered", "folder", "")),
        *((ELSEWHERE, way) for way in GIVEN),
    ],
)
def test_tests_that_follow_a_name_are_taken_with_what_they_import(tmp_path: Path, edits: list[Any], way: str) -> None:
    judge = Judge(begun(tmp_path, {**MOVED, "tests/test_nums.py": TEST_NUMS}))
    judge.order("do it in nums.py, also in the tests")
    given = GIVEN[way]
    judge.happens(LeaveGiven((given,))) if isinstance(given, Grant) else judge.reviews(**given)
    for path, old, new in edits:
        judge.yard.change(path, old, new) if old else judge.yard.folder.write(path, new)
    verdict = completes(judge)
    assert verdict.ruling is (PASS if way else FAIL), verdict.reason
    assert ("import of " in verdict.reason) or (not way and edits is not ELSEWHERE), "it is named"


def test_what_is_imported_in_place_of_another_needs_leave_of_its_own(tmp_path: Path) -> None:
    judge = Judge(begun(tmp_path, {**MOVED, "tests/test_nums.py": TEST_NUMS}))
    judge.happens(LeaveGiven((Grant("tests/test_nums.py", "test_five"),)))
    judge.yard.change("nums.py", "x + x", "x + 3")
    judge.yard.change("tests/test_nums.py", "double(5) == 10", "double(6) == 12")
    judge.yard.change("tests/test_nums.py", "import double, second", "import double\nfrom tests.fake import second")
    judge.yard.folder.write("tests/fake.py", "def second(x):\n    return 4\n")
    assert completes(judge).unallowed == ("tests/test_nums.py::import of second",)


INSIDE = {
    "pytest": ("def test_five():\n    assert double(5) == 10\n", f"{PYTEST} nums.py", "test_five"),
    "unittest": (
        "import unittest\n\n\nclass Five(unittest.TestCase):\n    def test_five(self):\n        assert double(5) == 10\n",
        f"{sys.executable} -m unittest nums",
        "Five::test_five",
    ),
    "started": (
        "if __name__ == '__main__':\n    print(double(5))\n    assert double(5) == 10\n",
        f"{sys.executable} nums.py",
        "`assert double(5) == 10`",
    ),
}


@pytest.mark.parametrize("way", INSIDE)
def test_tests_in_a_file_of_the_product_need_leave_and_the_product_around_them_does_not(tmp_path: Path, way: str) -> None:
    tests, check, name = INSIDE[way]
    nums = f"def double(x):\n    return x + 2\n\n\n{tests}"
    judge = Judge(begin_alike(make_yard(tmp_path, {"nums.py": nums}, checks=(check,)))).order("double is wrong")
    judge.yard.change("nums.py", "double(5) == 10", "double(5) == 7")
    assert completes(judge).unallowed == (f"nums.py::{name}",)
    judge.yard.folder.write("nums.py", nums.replace("x + 2", "x * 2").replace("print(double(5))", "print('five', double(5))"))
    assert completes(judge).ruling is PASS
    judge.yard.folder.write("nums.py", nums.replace("double(5) == 10", "double(5) == 7"))
    judge.happens(LeaveGiven((Grant("nums.py"),)))
    assert completes(judge).ruling is PASS
