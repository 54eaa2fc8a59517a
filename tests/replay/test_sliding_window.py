"""The yardstick fits its budget and keeps what is latest."""

from itertools import repeat

from hypothesis import given
from hypothesis import strategies as st

from afresh.core.tokens import EstimatingCounter
from afresh.replay.measure_run import TRUNCATION_MARK, build_sliding_windows, truncate_middle
from afresh.replay.run import RecordedRun, RecordedStep

texts = st.text(st.characters(codec="utf-8"), max_size=120)
steps = st.builds(RecordedStep, texts, st.just("bash"), texts, texts, texts)


def run(*observations: str, task: str = "the task") -> RecordedRun:
    return RecordedRun("r", "a", "m", task, tuple(RecordedStep("", "bash", "x", text) for text in observations))


def test_before_the_first_step_there_is_only_the_task():
    assert next(build_sliding_windows(run("anything"), repeat(100), len)) == "the task"


def test_all_is_there_while_it_fits():
    last = list(build_sliding_windows(run("one", "two", "three"), repeat(200), len))[-1]
    assert last == "the task\n\nx\none\n\nx\ntwo"


def test_the_latest_steps_stay_and_the_oldest_is_cut():
    old, new = "o" * 400, "n" * 40
    last = list(build_sliding_windows(run(old, new, "now"), repeat(200), len))[-1]
    assert new in last
    assert TRUNCATION_MARK in last
    assert 160 < len(last) <= 200


def test_a_scrap_of_room_is_left_empty():
    last = list(build_sliding_windows(run("o" * 400, "n" * 150, "now"), repeat(200), len))[-1]
    assert last == "the task\n\nx\n" + "n" * 150


def test_a_cut_text_keeps_head_and_tail():
    short = truncate_middle("head" + "." * 1000 + "tail", 1008, 60, len)
    assert short.startswith("head")
    assert short.endswith("tail")
    assert len(short) <= 60


@given(st.builds(RecordedRun, st.just("r"), st.just("a"), st.just("m"), texts, st.lists(steps, max_size=8).map(tuple)))
def test_it_never_exceeds_the_budget_by_any_counter(made: RecordedRun):
    for count, budget in ((len, 120), (EstimatingCounter(), 60)):
        assert all(count(text) <= budget for text in build_sliding_windows(made, repeat(budget), count))
