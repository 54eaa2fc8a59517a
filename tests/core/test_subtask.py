"""Whatever another agent did or said, what comes back of it is within its bounds."""

from hypothesis import given
from hypothesis import strategies as st

from afresh.core.change import Change
from afresh.core.codec import to_canonical_json, value_from_json
from afresh.core.subtask import (
    MAX_CHECK_LINE_CHARACTERS,
    MAX_CHECK_LINES,
    MAX_FILES,
    MAX_GOAL_CHARACTERS,
    MAX_PATH_CHARACTERS,
    MAX_SUMMARY_CHARACTERS,
    SubtaskMetrics,
    SubtaskResult,
    SubtaskStatus,
    bound_result,
    work_from_changes,
)
from afresh.core.usage import Usage

ANY = st.text() | st.text("ab \n\t\u2028\x00\u202e", max_size=3_000) | st.lists(st.just("word"), max_size=400).map(" ".join)
RESULTS = st.builds(
    SubtaskResult,
    task=st.just("whole-2-1"),
    step=st.just(2),
    goal=ANY,
    status=st.sampled_from(SubtaskStatus),
    files=st.lists(ANY, max_size=40).map(tuple),
    state=st.lists(ANY, max_size=9).map(tuple),
    summary=ANY,
    metrics=st.builds(
        SubtaskMetrics, st.integers(0, 10**6), st.integers(0, 10**6), st.builds(Usage, st.integers(0), st.integers(0))
    ),
)


@given(RESULTS)
def test_a_result_is_within_its_bounds(found: SubtaskResult) -> None:
    told = bound_result(found)
    assert (
        len(told.summary.split()) < 100 and len(told.summary) <= MAX_SUMMARY_CHARACTERS and len(told.goal) <= MAX_GOAL_CHARACTERS
    )
    assert len(told.files) <= MAX_FILES and all(len(path) <= MAX_PATH_CHARACTERS for path in told.files)
    assert len(told.state) <= MAX_CHECK_LINES and all(len(line) <= MAX_CHECK_LINE_CHARACTERS for line in told.state)
    assert len(told.files) + told.more == len(found.files)
    assert len(told.text.splitlines()) == 5, "nothing in it can pass for another line of it"
    assert bound_result(told) == told and value_from_json(SubtaskResult, to_canonical_json(told)) == told


def test_a_summary_of_a_hundred_words_is_cut_and_says_so() -> None:
    found = SubtaskResult("one-2-1", 2, "goal", SubtaskStatus.DONE, (), (), "word " * 100, SubtaskMetrics())
    assert bound_result(found).summary == "word " * 98 + "…"


def test_what_was_made_is_told_in_files_lines_and_tests() -> None:
    changes = [Change("a.py", "added", 40, 0), Change("b.py", "modified", 2, 3), Change("c.py", "deleted", 0, 9)]
    made = SubtaskMetrics(steps=4, work=work_from_changes(changes, 2)).words
    assert made.startswith("files 1 created, 1 changed, 1 deleted; lines +42 -12; tests added 2; steps 4")
    assert SubtaskMetrics(steps=4).words.startswith("steps 4"), "results of an earlier afresh are told as before"


def test_money_is_told_where_it_was_spent() -> None:
    assert "$0.0123" in SubtaskMetrics(money=12_300_000).words
    assert "$" not in SubtaskMetrics(money=None).words + SubtaskMetrics(money=0).words
