"""What outputs say, kind by kind, and how long the resulting facts are valid."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.core import event as happened
from afresh.core.event import JournalHead
from afresh.core.fact import MAX_FACTS, Fact, FactKind
from afresh.core.hash_chain import link_events
from afresh.core.reducer import fold_entries
from afresh.core.state import State
from afresh.core.states.work_state import WorkState
from afresh.core.task import Task
from afresh.core.verdict import CheckRun, Ruling, Verdict
from afresh.memory.observed_facts import facts_from_reading
from afresh.outputs.read_output import purpose_from_command, read_output, read_search_output

PYTEST = """$ python -m pytest -q
exit 1
..F.
=================================== FAILURES ===================================
____________________________________ test_b ____________________________________
E       AssertionError: assert 1 == 2
=========================== short test summary info ============================
FAILED tests/test_a.py::test_b - AssertionError: assert 1 == 2
1 failed, 3 passed in 0.10s
"""
GREEN = "$ pytest\nexit 0\n....\n4 passed in 0.10s\n"
UNITTEST = """$ python -m unittest
exit 1
======================================================================
FAIL: test_half (test_case.Case.test_half)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/project/test_case.py", line 9, in test_half
    self.assertEqual(half(4), 2)
AssertionError: 3 != 2

----------------------------------------------------------------------
Ran 5 tests in 0.001s

FAILED (failures=1)
"""
RAISED = """$ python load.py
exit 1
Traceback (most recent call last):
  File "/project/load.py", line 3, in main
    go()
  File "/usr/lib/python3.11/json/decoder.py", line 9, in decode
    raise JSONDecodeError
json.decoder.JSONDecodeError: Expecting value: line 1
"""
RUFF = "$ ruff check\nexit 1\nsrc/a.py:3:1: E501 Line too long\nsrc/b.py:5:1: F401 unused\nFound 2 errors.\n"
RUFF_FULL = "$ ruff check\nexit 1\nE501 Line too long (133 > 130)\n  --> src/a.py:75:131\n   |\n75 | x\n"
MYPY = "$ mypy .\nexit 1\nsrc/a.py:3: error: Incompatible types  [assignment]\nsrc/a.py:3: note: see the manual\nFound 1 error\n"
COMMIT = "$ git commit -m x\nexit 0\n[main 1a2b3c4] Mend it\n 2 files changed, 3 insertions(+)\n"
STATUS = (
    "$ git status\nexit 0\nOn branch main\nChanges not staged for commit:\n\tmodified:   a.py\n\nUntracked files:\n\tnew.py\n"
)
GREP = "$ grep -rn foo src\nexit 0\nsrc/a.py:3:foo\nsrc/a.py:9:foo = 1\nsrc/b.py:1:foo\n"


KNOWN = "\n".join((PYTEST, UNITTEST, RAISED, RUFF, MYPY, STATUS, GREP)).splitlines()


def said(text):
    return read_output(text.partition("\n")[0].removeprefix("$ "), text)


@pytest.mark.parametrize(
    ("text", "phrase", "subject", "finding"),
    [
        (
            PYTEST,
            "1 failed, 3 passed: test_b: AssertionError: assert 1 == 2",
            "tests/test_a.py::test_b",
            "AssertionError: assert 1",
        ),
        (UNITTEST, "1 failed, 4 passed: test_case.Case.test_half: AssertionError: 3 != 2", "test_case.Case.test_half", "3 != 2"),
        (RAISED, "json.decoder.JSONDecodeError: Expecting value: line 1 at /project/load.py:3 in main", "", "load.py:3"),
        (RUFF, "2 findings in 2 files: src/a.py:3 E501 Line too long", "src/a.py:3", "E501"),
        (RUFF_FULL, "1 finding in 1 file: src/a.py:75 E501 Line too long (133 > 130)", "src/a.py:75", "E501"),
        (MYPY, "1 error in 1 file: src/a.py:3 error: Incompatible types [assignment]", "src/a.py:3", "Incompatible"),
        (COMMIT, "commit 1a2b3c4 on main: Mend it (2 files changed, 3 insertions(+))", "git commit", "Mend it"),
        (STATUS, "on main: 2 changed: a.py, new.py", "git status", "2 changed"),
        (GREP, "3 hits in 2 files: src/a.py, src/b.py", "", "3 hits"),
    ],
)
def test_an_output_is_told_by_its_result(text, phrase, subject, finding):
    reading = said(text)
    assert reading.phrase == phrase
    assert reading.findings[0].subject == subject and finding in reading.findings[0].text
    assert all(one.confidence < 1 for one in reading.findings)


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        (GREEN, "4 passed"), ("$ ./x\nexit 0\nalpha\nbeta\n", "alpha"), ("$ true\nexit 0, no output", "no output"),
        ("$ ./x\nexit 1\nx: unknown option\nbye\n", "exit 1: x: unknown option"),
        ("$ cat > a.py <<E\nraise ValueError('error')\nE\nexit 0\ndone\n", "done"),
        ("$ sleep 999\ntimed out and was killed\nstarting\n", "timed out and was killed: starting"),
    ],
)  # fmt: skip
def test_an_output_of_no_known_kind_is_told_by_how_it_ended(text, phrase):
    assert said(text).phrase == phrase
    assert all(finding.confidence < 0.8 and finding.text == phrase for finding in said(text).findings)
    assert bool(said(text).findings) == ("exit 0" not in text and text != GREEN)


def test_our_own_search_is_told_by_its_hits():
    assert read_search_output("a.py\n  3: foo\n  … 46 more\nb.py\n  2: def foo").phrase == "48 hits in 2 files: a.py, b.py"
    assert read_search_output("no hit for 'x' in 9 files").phrase == "no hit for 'x' in 9 files"


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("cd /project && export A=1; python -m pytest -q 2>&1 | tail -5", "python -m pytest -q"),
        ("cat > a.py <<'E'\nimport x\nE", "cat > a.py <<'E' …"), ("grep -n foo a.py | head -3", "grep -n foo a.py"), ("", ""),
    ],
)  # fmt: skip
def test_a_command_is_told_by_its_purpose(command, told):
    assert purpose_from_command(command) == told


@given(st.lists(st.one_of(st.sampled_from(KNOWN), st.text(max_size=60)), max_size=40))
def test_any_output_gives_one_short_line_and_few_findings(lines):
    reading = read_output("git status; grep -rn x", "$ x\nexit 1\n" + "\n".join(lines))
    assert "\n" not in reading.phrase and 0 < len(reading.phrase) <= 200
    assert len(reading.findings) <= 4 and all(len(one.text) <= 200 and one.confidence < 1 for one in reading.findings)


class Told:
    """A task that receives outputs step by step."""

    def __init__(self):
        self.state = State(task=Task(id="t", goal="g"), work=WorkState(step=0))

    def ran(self, command, text, *after):
        step = self.state.work.step + 1
        facts = tuple(
            facts_from_reading(
                read_output(command, text), purpose_from_command(command), f"{step:032x}", step, self.state.memory.facts
            )
        )
        events = [
            happened.ActionsExecuted(step, ()),
            happened.OutputDigested(facts=facts),
            *after,
            happened.StepFinished(step, ""),
        ]
        self.state = fold_entries(self.state, link_events("t", JournalHead(), 1.0, events))
        return self.observed

    @property
    def observed(self):
        return {fact.subject: fact.text for fact in self.state.memory.facts if fact.kind is FactKind.OBSERVED}


def test_a_failing_test_is_forgotten_when_all_pass():
    told = Told()
    assert "tests/test_a.py::test_b" in told.ran("python -m pytest -q", PYTEST)
    assert not told.ran("python -m pytest", GREEN)


def test_a_failing_test_is_forgotten_when_its_file_passes_and_not_when_another_does():
    told = Told()
    told.ran("pytest", PYTEST)
    assert told.ran("pytest tests/test_other.py", GREEN)
    assert told.ran("pytest -k other", GREEN)
    assert told.ran("pytest -x", GREEN)
    assert not told.ran("pytest tests/test_a.py", GREEN)


def test_a_run_that_broke_off_says_nothing_of_the_tests_it_did_not_reach():
    told = Told()
    told.ran("pytest", PYTEST)
    broken = "exit 2\n!!!!!!! Interrupted: 1 error during collection !!!!!!!\n1 error in 0.1s\n"
    assert "tests/test_a.py::test_b" in told.ran("python -m pytest --tb=short", broken)


def test_what_a_command_no_longer_says_is_taken_back_when_it_runs_again():
    told = Told()
    assert len(told.ran("ruff check", RUFF)) == 2
    assert set(told.ran("ruff check", RUFF.replace("src/b.py:5:1: F401 unused\n", ""))) == {"src/a.py:3"}
    assert not told.ran("ruff check", "exit 0\nAll checks passed!\n")


def test_the_error_of_a_script_gives_way_to_its_next_end():
    told = Told()
    assert "load.py:3" in told.ran("python load.py", RAISED)["python load.py"]
    assert (
        "ValueError" in told.ran("python load.py", RAISED.replace("json.decoder.JSONDecodeError", "ValueError"))["python load.py"]
    )
    assert not told.ran("python load.py", "$ python load.py\nexit 0\nfine\n")


def test_what_was_seen_in_an_undone_step_is_not_kept():
    told = Told()
    told.ran("ruff check", RUFF)
    assert set(told.ran("pytest", PYTEST, happened.ChangeKeptOrReverted(2, False, "s"))) == {"src/a.py:3", "src/b.py:5"}


def test_the_harness_clears_what_it_has_seen_pass():
    told = Told()
    told.ran("pytest", PYTEST)
    green = Verdict(Ruling.PASS, "fine", (CheckRun("pytest", 0, passed=4),))
    assert told.ran("ruff check", RUFF, happened.VerdictReached(2, green)).keys() == {"src/a.py:3", "src/b.py:5"}


def test_the_harness_clears_a_test_of_unittest_too_and_none_of_another_language():
    told = Told()
    told.ran("python -m unittest", UNITTEST)
    told.ran("npx jest", jest("FAIL src/a.test.js", "  ● sums › adds", "", "    boom"))
    green = Verdict(Ruling.PASS, "fine", (CheckRun("python -m unittest", 0, passed=4),))
    assert set(told.ran("true", "$ true\nexit 0, no output", happened.VerdictReached(3, green))) == {"src/a.test.js::sums › adds"}


def test_a_verbose_run_clears_what_it_ticks_off_though_it_broke_off_later():
    told = Told()
    told.ran("pytest", PYTEST)
    ticked = "exit 2\ntests/test_a.py::test_b PASSED   [ 50%]\n!!!! Interrupted: stopping after 1 !!!!\n1 passed in 0.1s\n"
    assert told.ran("pytest -x", ticked.replace("test_b", "test_c"))
    assert not told.ran("pytest -v -x", ticked)


def test_findings_never_push_out_notes_or_failed_approaches():
    notes = tuple(Fact(kind, f"{kind} {n}", "x") for kind in (FactKind.NOTE, FactKind.FAILED_APPROACH) for n in range(15))
    seen = tuple(Fact(FactKind.OBSERVED, f"place {n}", "x", 0.9) for n in range(60))
    state = fold_entries(
        State(task=Task(id="t", goal="g")), link_events("t", JournalHead(), 1.0, [happened.OutputDigested(facts=(*notes, *seen))])
    )
    assert len(state.memory.facts) == MAX_FACTS and set(notes) <= set(state.memory.facts)


def test_many_searches_do_not_push_out_a_failing_test():
    told = Told()
    told.ran("pytest", PYTEST)
    for number in range(MAX_FACTS + 5):
        told.ran(f"grep -rn foo{number} src", GREP)
    assert "tests/test_a.py::test_b" in told.observed and len(told.state.memory.facts) == MAX_FACTS


def test_the_harness_clears_a_test_of_a_file_that_it_has_seen_pass_and_not_of_another():
    for scope, left in (("targeted: tests/test_a.py", 0), ("targeted: tests/test_other.py", 1), ("changed files", 1)):
        told = Told()
        told.ran("pytest", PYTEST)
        green = Verdict(Ruling.PASS, "fine", (CheckRun("pytest", 0, scope, passed=4),))
        assert len(told.ran("true", "$ true\nexit 0, no output", happened.VerdictReached(2, green))) == left, scope


def jest(*lines):
    return "\n".join(["$ npx jest", "exit 1", *lines, "Tests:       1 failed, 1 passed, 2 total"])


def test_a_test_is_forgotten_when_a_run_of_its_own_kind_passes_and_not_when_one_of_another_does():
    told = Told()
    failing = jest("FAIL src/a.test.js", "  ● sums › adds", "", "    boom")
    assert set(told.ran("npx jest", failing)) == {"src/a.test.js::sums › adds"}
    assert told.ran("pytest", GREEN) and told.ran("npx jest src/b.test.js", jest("PASS src/b.test.js"))
    assert told.ran("npx jest -t other", jest("PASS src/a.test.js"))
    assert not told.ran("npx jest src/a.test.js", jest("PASS src/a.test.js"))


def test_a_package_of_go_that_is_ok_clears_its_own_tests_only():
    told = Told()
    told.ran("go test ./...", "exit 1\n--- FAIL: TestA (0.00s)\n    a_test.go:7: boom\nFAIL\nFAIL\texample.com/m/calc\t0.1s\n")
    assert told.ran("go test ./web", "exit 0\nok  \texample.com/m/web\t0.1s\n")
    assert told.ran("go test ./calc -run TestB", "exit 0\nok  \texample.com/m/calc\t0.1s\n")
    assert not told.ran("go test ./calc", "exit 0\nok  \texample.com/m/calc\t0.1s\n")


def test_a_linter_run_on_one_file_speaks_of_that_file_only_and_with_other_options_of_none():
    told = Told()
    told.ran("ruff check .", RUFF)
    assert set(told.ran("ruff check --select D src/a.py", "exit 0\nAll checks passed!\n")) == {"src/a.py:3", "src/b.py:5"}
    assert set(told.ran("ruff check src/a.py", "exit 0\nAll checks passed!\n")) == {"src/b.py:5"}


def test_a_failure_that_is_still_said_is_not_taken_back_because_others_are_told_before_it():
    def run(*names):
        lines = [f"FAILED t.py::test_{name} - boom" for name in names]
        return "\n".join(["exit 1", "=== short test summary info ===", *lines, f"{len(names)} failed in 0.1s"])

    told = Told()
    assert set(told.ran("pytest", run(*"bcde"))) == {f"t.py::test_{name}" for name in "bcde"}
    assert set(told.ran("pytest", run(*"abcde"))) == {f"t.py::test_{name}" for name in "abcde"}
    assert set(told.ran("pytest", run(*"ab"))) == {"t.py::test_a", "t.py::test_b"}


def test_the_same_subject_is_known_again_though_addresses_and_folders_differ():
    told = Told()
    first = "exit 1\n/tmp/tmpab12cd34/a.py:3: error: <A at 0x7f00aa11>\n"
    told.ran("check --fast", first)
    assert set(told.ran("check", first.replace("tmpab12cd34", "tmpzz98yy76"))) == {"/tmp/…/a.py:3"}


def test_a_failure_counts_as_the_same_only_if_nothing_was_changed_between():
    failed = "$ ./deploy\nexit 1\ncannot connect\n"
    known = tuple(facts_from_reading(read_output("./deploy", failed), "./deploy", "b", 3, ()))
    [again] = facts_from_reading(read_output("./deploy", failed), "./deploy", "b", 5, known, 2)
    assert "as in step 3" in again.text and again.confidence > known[0].confidence and again.lines == (3, 3)
    [third] = facts_from_reading(read_output("./deploy", failed), "./deploy", "b", 6, (again,), 2)
    assert third.text == again.text
    [changed] = facts_from_reading(read_output("./deploy", failed), "./deploy", "b", 5, known, 4)
    assert changed.text == known[0].text and changed.confidence < 0.8
    assert not [
        fact for fact in facts_from_reading(read_output("./deploy", "exit 0\nfine"), "./deploy", "b", 6, known, 2) if fact.text
    ]
