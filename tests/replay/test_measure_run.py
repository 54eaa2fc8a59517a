"""Measured moments, by hand-made runs with exact figures and against a slow rescan of the whole history."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from afresh.replay.measure_run import CountTokens, StepMeasurement, find_references, measure_run, render_step
from afresh.replay.report import ReferenceRecall, ReplayTotals, sum_steps
from afresh.replay.run import MESSAGE_USER_TOOL, RecordedRun, RecordedStep, iterate_step_parts

READ = RecordedStep("I look.", "bash", "cat lib/core.py", "def load_all(path):\n    return [read_one(path)]")
EDIT = RecordedStep("Call it load_some.", "bash", "sed -i s/load_all/load_some/ lib/core.py", "")
TEST = RecordedStep("", "bash", "pytest -k load_some", "1 passed")
RUN = RecordedRun("r", "agent", "model", "Rename it.", (READ, EDIT, TEST))


def fixed(*contexts: str):
    def builder(trajectory: Mapping[str, Any], budget: int, count: CountTokens) -> Iterator[str]:
        yield from contexts

    return builder


def measured(run: RecordedRun = RUN, *contexts: str, budget: int = 1000) -> list[StepMeasurement]:
    return list(measure_run(run, fixed(*contexts) if contexts else fixed(*[""] * len(run.steps)), budget, budget, len))


def test_an_accumulating_agent_sends_the_task_and_all_before():
    assert [moment.theirs for moment in measured()] == [10, 10 + 71, 10 + 71 + 60]
    assert (len(render_step(READ)), len(render_step(EDIT))) == (71, 60)


def test_needs_say_what_was_held_and_where_it_was_last_seen():
    second, third = measured(RUN, "", "lib/core.py is open", "nothing" * 40)[1:]
    assert [(need.text, need.held, need.seen, need.part, need.age) for need in second.needs] == [
        ("lib/core.py", True, 1, "action", 1),
    ]
    assert [(need.text, need.held, need.windowed, need.seen, need.part, need.age) for need in third.needs] == [
        ("load_some", False, True, 2, "thought", 1),
    ]
    assert (second.missing, third.missing) == ((), third.needs)


def test_what_the_task_says_is_not_needed_from_memory():
    again = replace(RUN, task="Mend lib/core.py")
    assert not measured(again)[1].needs


def test_a_context_over_the_budget_holds_nothing():
    moments = measured(RUN, "", "lib/core.py" + "." * 40, "", budget=50)
    assert not moments[1].fits
    assert not moments[1].needs[0].held
    assert sum_steps(moments).over == 1


def test_what_a_person_says_is_sent_with_the_step_that_follows():
    said = replace(EDIT, said="please hurry")
    moments = measured(replace(RUN, steps=(READ, said, TEST)))
    assert [moment.theirs for moment in moments] == [10, 10 + 71 + 12, 10 + 71 + 12 + 1 + 60]


def test_several_steps_of_one_call_are_paid_once():
    steps = (READ, replace(EDIT, same_call=True), TEST)
    moments = measured(replace(RUN, steps=steps), "a", "bb", "ccc")
    sums = sum_steps(moments)
    assert (sums.steps, sums.calls, sums.ours, sums.theirs) == (3, 2, 4, 10 + 141)


def test_reported_tokens_count_only_when_every_call_has_them():
    one, other = replace(READ, tokens=500), replace(EDIT, tokens=700)
    assert sum_steps(measured(replace(RUN, steps=(one, other)))).reported == 1200
    assert sum_steps(measured(replace(RUN, steps=(one, other, TEST)))).reported == 0


def test_totals_of_a_run():
    sums = sum_steps(measured(RUN, "1", "lib/core.py" + " " * 89, "3" * 200))
    assert sums == ReplayTotals(
        runs=1, steps=3, calls=3, theirs=232, ours=301, window=225, peak_theirs=141, peak_ours=200, names=ReferenceRecall(2, 1, 2)
    )  # fmt: skip
    assert round(sums.saving, 4) == round(1 - 301 / 232, 4)
    assert (sums.names.share, sums.names.window_share) == (0.5, 1.0)
    assert sums.lines.share is None


def test_totals_of_runs_add_up_and_peaks_do_not():
    first = measured()
    one, both = sum_steps(first), sum_steps([*first, *measured(RUN, "1", "22", "333")], runs=2)
    assert (both.runs, both.steps, both.theirs, both.ours) == (2, 6, 2 * one.theirs, 6)
    assert (both.peak_theirs, both.peak_ours) == (141, 3)
    assert both.names == ReferenceRecall(4, 0, 0)


def test_the_history_is_never_counted_again():
    """The characters that are counted grow with the run, not with its square."""

    def work(length: int) -> int:
        counted = 0

        def count(text: str) -> int:
            nonlocal counted
            counted += len(text)
            return len(text)

        run = replace(RUN, steps=(READ, EDIT, TEST) * length)
        assert list(measure_run(run, fixed(*["context"] * len(run.steps)), 300, 300, count))
        return counted

    assert work(200) < 2.2 * work(100)


words = st.sampled_from(["load_all", "lib/core.py", "HeaderParser", "a plain word", "    return header.strip()  # as before", ""])
texts = st.lists(words, max_size=4).map("\n".join)
runs = st.builds(
    RecordedRun,
    st.just("r"),
    st.just("a"),
    st.just("m"),
    texts,
    st.lists(st.builds(RecordedStep, texts, st.sampled_from(["bash", MESSAGE_USER_TOOL]), texts, texts, texts), max_size=9).map(
        tuple
    ),
)


@given(runs, st.data())
def test_what_was_needed_is_held_or_missing_and_agrees_with_a_rescan(run: RecordedRun, data: st.DataObject):
    contexts = [data.draw(texts) for _ in run.steps]
    moments = measured(run, *contexts)
    for index, moment in enumerate(moments):
        history = [
            (step, part, text) for step, done in enumerate(run.steps[:index], 1) for part, text in iterate_step_parts(done)
        ]
        wanted = (
            set() if moment.step.tool == MESSAGE_USER_TOOL else find_references(moment.step.action) - find_references(run.task)
        )
        needed = {thing: [(step, part) for step, part, text in history if thing in find_references(text)] for thing in wanted}
        assert {(need.kind, need.text): (need.seen, need.part) for need in moment.needs} == {
            thing: where[-1] for thing, where in needed.items() if where
        }
        held = {need for need in moment.needs if need.held}
        assert held | set(moment.missing) == set(moment.needs)
        assert all((need.text in contexts[index]) == need.held for need in moment.needs)
        assert all(need.age == moment.number - need.seen > 0 for need in moment.needs)
    assert all(before.theirs <= after.theirs for before, after in pairwise(moments))
