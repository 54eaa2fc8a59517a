"""Orders which only imply that tests change: what the new behaviour breaks may change, and the runs have to prove it."""

from pathlib import Path

import pytest
from step_judge import Judge
from verification_yard import PROJECT, TEST_HALF, begun

from afresh.actions.tools.note import tool as note
from afresh.core.verdict import Ruling
from afresh.errors import ModelMistake
from afresh.verification import completion, protected_tests

PASS, FAIL = Ruling.PASS, Ruling.FAIL
HALF = "tests/test_half.py"
GOAL = "half should round up to a whole number. You will see that the suite still has the old result in one place."
PLAIN = "half should round up to a whole number: half of five is three, and half of four is three, too."


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    return Judge(begun(tmp_path, {}))


def round_up(judge: Judge) -> None:
    judge.yard.change("sums.py", "return a / 2", "return a // 2 + 1")


def test_a_test_that_the_new_behaviour_makes_wrong_may_change_and_is_named(judge: Judge) -> None:
    judge.order(GOAL)
    round_up(judge)
    judge.yard.change(HALF, "== 2", "== 3")
    assert not judge.takes_step().weakened
    verdict = judge.takes_step(complete="done")
    assert verdict.ruling is PASS, verdict.reason
    assert "tests changed because of “You will see that the suite still has the old result in one place.”" in verdict.reason


def test_a_test_that_holds_as_it_was_may_not_change(judge: Judge) -> None:
    judge.order(GOAL)
    round_up(judge)
    judge.yard.change(HALF, "== 2", "== 3")
    judge.yard.change("tests/test_add.py", "sums.add(0, 0) == 0", "sums.add(0, 0) < 1")
    judge.takes_step()
    verdict = judge.takes_step(complete="done")
    assert verdict.ruling is FAIL
    assert "passes on the code of the base, too: tests/test_add.py::TestMore::test_zero" in verdict.reason


def test_a_test_that_accepts_what_the_old_code_did_proves_nothing(judge: Judge) -> None:
    judge.order(GOAL)
    round_up(judge)
    judge.yard.change(HALF, "== 2", "> 0")
    judge.takes_step()
    verdict = judge.takes_step(complete="done")
    assert verdict.ruling is FAIL and f"passes on the code of the base, too: {HALF}::test_half" in verdict.reason


@pytest.mark.parametrize("change", ["> 0", "== 3"])
def test_without_the_proof_each_of_them_would_pass(judge: Judge, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    monkeypatch.setattr(completion, "refuse_unproven_changes", lambda *_: "")
    judge.order(GOAL)
    round_up(judge)
    judge.yard.change(HALF, "== 2", change)
    judge.yard.change("tests/test_add.py", "sums.add(0, 0) == 0", "sums.add(0, 0) < 1")
    judge.takes_step()
    assert judge.takes_step(complete="done").ruling is PASS


def test_the_test_of_a_bug_can_not_be_changed_to_accept_it(tmp_path: Path) -> None:
    judge = Judge(begun(tmp_path, {HALF: TEST_HALF.replace("== 2", "== 3")}))
    judge.order(GOAL)
    judge.yard.change(HALF, "== 3", "== 2")
    judge.yard.change("sums.py", "return a + b", "return b + a")
    judge.takes_step()
    assert judge.takes_step(complete="done").ruling is FAIL


def test_words_that_speak_of_what_goes_let_a_broken_test_be_removed(judge: Judge) -> None:
    judge.order("half goes away. The test about it is pointless then.")
    judge.yard.folder.write("sums.py", "def add(a, b):\n    return a + b\n")
    (judge.yard.folder.root / HALF).unlink()
    judge.takes_step()
    verdict = judge.takes_step(complete="done")
    assert verdict.ruling is PASS, verdict.reason


def test_a_removed_test_must_be_one_that_the_change_breaks(judge: Judge) -> None:
    judge.order("half should round up. What the tests say of the old result can go.")
    round_up(judge)
    judge.yard.change(HALF, "== 2", "== 3")
    judge.yard.change("tests/test_add.py", "    def test_zero(self):\n        assert sums.add(0, 0) == 0\n", "")
    judge.takes_step()
    verdict = judge.takes_step(complete="done")
    assert verdict.ruling is FAIL
    assert "a test was removed that does not fail, as it was, with the new code: tests/test_add.py::TestMore::test_zero" in (
        verdict.reason
    )


def test_words_that_let_something_go_let_a_test_lose_the_part_that_is_wrong(tmp_path: Path) -> None:
    both = TEST_HALF.replace("assert sums.half(4) == 2", "assert sums.half(4) == 2\n    assert sums.twice(2) == 4")
    sums = "def twice(a):\n    return 2 * a\n"
    judge = Judge(begun(tmp_path, {HALF: both, "sums.py": PROJECT["sums.py"] + "\n\n" + sums}))
    judge.order("twice goes away; drop what tests it.")
    judge.yard.folder.write("sums.py", PROJECT["sums.py"])
    judge.yard.folder.write(HALF, TEST_HALF)
    judge.takes_step()
    verdict = judge.takes_step(complete="done")
    assert verdict.ruling is PASS, verdict.reason


def test_a_test_that_holds_may_change_to_demand_more(judge: Judge) -> None:
    judge.order("half needs a sign function beside it. The test of half should then look at both, instead of what it does today.")
    judge.yard.folder.write("sums.py", judge.yard.folder.read("sums.py") + "\n\ndef sign(a):\n    return 1\n")
    judge.yard.change(HALF, "assert sums.half(4) == 2", "for got in [sums.half(4), 2 * sums.sign(1)]:\n        assert got == 2")
    judge.takes_step()
    verdict = judge.takes_step(complete="done")
    assert verdict.ruling is PASS, verdict.reason


def claims(judge: Judge, text: str, why: str) -> tuple:
    return note.run({"subject": "licence", "text": text, "why": why}, judge.yard.context).events


def test_the_model_may_quote_what_contradicts_a_test_about_the_same(judge: Judge) -> None:
    judge.order(PLAIN)
    round_up(judge)
    judge.yard.change(HALF, "== 2", "== 3")
    made = claims(judge, f"{HALF}::test_half", "half of five is three, and half of four is three, too")
    assert not judge.takes_step(claims=made).weakened
    assert judge.takes_step(complete="done").ruling is PASS


def test_a_quote_about_something_else_gives_nothing(judge: Judge) -> None:
    judge.order(PLAIN)
    with pytest.raises(ModelMistake, match=r"do not speak of tests/test_add\.py::test_add"):
        claims(judge, "tests/test_add.py::test_add", PLAIN)


def test_an_order_that_protects_the_tests_is_no_reason_to_change_one(judge: Judge) -> None:
    judge.order(PLAIN + " The existing tests must keep passing.")
    with pytest.raises(ModelMistake, match=r"the task says “The existing tests must keep passing\.”"):
        claims(judge, f"{HALF}::test_half", PLAIN)


STRICT = '[tool.pytest.ini_options]\nfilterwarnings = ["error", "ignore::UserWarning"]\n'


def test_a_filter_that_lets_warnings_pass_may_go(tmp_path: Path) -> None:
    judge = Judge(begun(tmp_path, {"pyproject.toml": STRICT})).order("Make half faster.")
    judge.yard.change("pyproject.toml", ', "ignore::UserWarning"', "")
    judge.yard.change("sums.py", "a / 2", "a * 0.5")
    assert judge.takes_step().ruling is PASS and not judge.last.verdict.weakened


@pytest.mark.parametrize(("old", "new"), [('"error", ', ""), ('"ignore::UserWarning"', '"ignore"')])
def test_no_other_change_of_filters_is_free(tmp_path: Path, old: str, new: str) -> None:
    judge = Judge(begun(tmp_path, {"pyproject.toml": STRICT})).order("Make half faster.")
    judge.yard.change("pyproject.toml", old, new)
    judge.yard.change("sums.py", "a / 2", "a * 0.5")
    assert judge.takes_step().weakened == ("pyproject.toml",)


def test_without_the_rule_the_filter_that_may_go_would_be_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protected_tests, "has_stricter_filters", lambda *_: False)
    judge = Judge(begun(tmp_path, {"pyproject.toml": STRICT})).order("Make half faster.")
    judge.yard.change("pyproject.toml", ', "ignore::UserWarning"', "")
    judge.yard.change("sums.py", "a / 2", "a * 0.5")
    assert judge.takes_step().weakened == ("pyproject.toml",)


def test_a_renamed_test_needs_to_be_wrong_as_it_was_and_no_more(judge: Judge) -> None:
    judge.order("half should round up. The test of half should say the opposite of what it says, and not be called so any more.")
    round_up(judge)
    judge.yard.folder.write(HALF, TEST_HALF.replace("test_half", "test_rounded").replace("== 2", "== 3"))
    judge.takes_step()
    verdict = judge.takes_step(complete="done")
    assert verdict.ruling is PASS, verdict.reason


def test_with_such_words_the_code_may_come_before_the_tests(judge: Judge) -> None:
    judge.order(GOAL)
    round_up(judge)
    verdict = judge.takes_step()
    assert verdict.ruling is PASS and "1 test that the task may change fails: tests/test_half.py::test_half" in verdict.reason
    assert judge.takes_step(complete="done").ruling is FAIL, "at the end it must pass"


def test_tests_inside_rust_sources_can_be_named_too(tmp_path: Path) -> None:
    judge = Judge(begun(tmp_path, {"src/lib.rs": "#[cfg(test)]\nmod tests {\n    #[test]\n    fn halves() {}\n}\n"}))
    judge.order("halves round up: expected numbers of the unit tests are computed the old way and will have to be corrected")
    assert [entry.path for entry in judge.state.verification.licence] == [""], "any test that the change makes wrong"
    words = "expected numbers of the unit tests are computed the old way"
    for named in ("src/lib.rs::tests::halves", "src/lib.rs::tests › halves", "src/lib.rs::halves (new number)"):
        [event] = claims(judge, named, words)
        assert {(change.path, change.name) for change in event.changes} == {("src/lib.rs", "")}
