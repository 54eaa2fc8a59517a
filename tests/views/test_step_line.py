"""A step in one line: its mark, what was done, what came of it; each thing once."""

from dataclasses import replace

import pytest

from afresh.core.action import Action, Observation
from afresh.core.event import ChangeKeptOrReverted
from afresh.core.states.supervision_state import StepsUndone
from afresh.core.step_record import (
    StepFate,
    StepRecord,
    find_first_fate,
    mark_step_undone,
    record_keeping,
    record_verdict,
)
from afresh.core.verdict import CheckRun, Ruling, Verdict
from afresh.views.step_line import describe_observations, find_first_sentence, make_step_line

GREEN = CheckRun("pytest -q", 0, "targeted: t.py", passed=3)
TESTED = Verdict(Ruling.PASS, "pytest -q (targeted: t.py): 3 passed", (GREEN,))
WORSE = Verdict(Ruling.FAIL, "2 tests fail now", (replace(GREEN, exit=1, failed=2),))


def seen(tool: str, ok: bool = True, text: str = "", **args: str) -> Observation:
    return Observation(Action(tool, args), ok, text)


READ = seen("read", path="src/shop/cart.py")
EDIT = seen("edit", path="src/shop/cart.py")
RAN = seen(
    "run", False, "$ pytest\nexit 1\nFAILED t.py::a\n=== 3 failed, 5 passed in …s ===\n", command="/venv/bin/python -m pytest"
)
DONE = seen("complete", summary="all of it")


def finished(*observations: Observation, verdict: Verdict | None = None, kept: bool = True, snapshot: str = "s0") -> StepRecord:
    """As the journal makes it of a step that began with the tree s0."""
    record = StepRecord(3, "Why. More.", observations, "", True, fate=find_first_fate(observations))
    record = record_verdict(record, verdict) if verdict else record
    return record_keeping(record, ChangeKeptOrReverted(3, kept, snapshot), "s0")


@pytest.mark.parametrize(
    ("record", "mark", "text"),
    [
        (finished(READ, RAN), "·", "read cart.py, ran python -m pytest → 3 failed, 5 passed"),
        (finished(READ), "·", "read cart.py"),
        (finished(EDIT, verdict=TESTED, snapshot="s1"), "✓", "edited cart.py → kept, 3 passed (affected tests)"),
        (finished(EDIT, snapshot="s1"), "✓", "edited cart.py → kept"),
        (finished(EDIT, verdict=WORSE, kept=False), "↺", "edited cart.py → undone: 2 tests fail now"),
        (
            finished(seen("edit", False, "edit: old occurs 0 times", path="a.py")),
            "✗",
            "tried to edit a.py → edit: old occurs 0 times",
        ),
        (finished(DONE, verdict=replace(TESTED, final=True, finding="all pass")), "✓", "reported done → verified: all pass"),
        (
            finished(EDIT, DONE, verdict=Verdict(Ruling.FAIL, "tests were weakened", final=True), snapshot="s1"),
            "✗",
            "edited cart.py, reported done → not accepted: tests were weakened",
        ),
        (
            mark_step_undone(finished(EDIT, verdict=TESTED, snapshot="s1"), StepsUndone(3, "s0", why="no tricks")),
            "↺",
            "edited cart.py → undone: by a person: no tricks",
        ),
        (StepRecord(3, "", (EDIT,), "kept", True), "✓", "edited cart.py → kept"),
        (StepRecord(3, "", (EDIT,), "reverted", False), "↺", "edited cart.py → undone"),
    ],
    ids=["failing test run", "read", "kept", "kept without checks", "undone", "failed edit", "verified", "refused",
         "undone by a person", "of an earlier version", "undone, of an earlier version"],
)  # fmt: skip
def test_a_step_is_marked_by_what_became_of_it(record: StepRecord, mark: str, text: str) -> None:
    line = make_step_line(record)
    assert (line.mark, line.text) == (mark, text)


def test_an_edit_that_failed_beside_one_that_was_kept_does_not_make_the_step_refused() -> None:
    record = finished(seen("edit", False, "no", path="a.py"), EDIT, snapshot="s1")
    assert record.fate is StepFate.KEPT


def test_nothing_is_named_twice_and_ids_are_not_named_at_all() -> None:
    assert describe_observations((READ, READ, seen("read", path="b.py"), READ)) == "read cart.py, b.py"
    assert describe_observations((READ, EDIT, READ)) == "read cart.py, edited cart.py"
    suggestion = seen("apply", what="extract total() in cart.py")
    assert describe_observations((suggestion,)) == "extract total() in cart.py"
    assert describe_observations((seen("apply", False, what="1b55c52659fb"),)) == "tried a suggestion"
    assert describe_observations(()) == "called no tool"
    assert describe_observations((seen("read", path="src/shop/__init__.py"),)) == "read shop/__init__.py"
    applied = StepRecord(
        1, "I take it: extract total() in cart.py", (seen("apply", what="extract total() in cart.py"),), "", True
    )
    assert make_step_line(applied).thought == "", "it only repeats what was done"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("I read it. Then I act.", "I read it."),
        ("Look at e.g. cart.py first", "Look at e.g. cart.py first"),
        ("one\nline\n\nanother", "one line"),
        ("Which one? Both.", "Which one?"),
        ("The cause is plain: `parse` returns None. I mend it.", "The cause is plain: `parse` returns None."),
        ("Two things are wrong:\n1. This. 2. That.", "Two things are wrong"),
        ("cart.py holds v1.2 of it", "cart.py holds v1.2 of it"),
        ("", ""),
    ],
)
def test_the_first_sentence_of_a_thought(text: str, first: str) -> None:
    assert find_first_sentence(text) == first
