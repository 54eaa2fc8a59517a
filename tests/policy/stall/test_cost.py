"""What a circle has cost is said in money where that is known, and stands in the journal."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yard import Step, Yard, other

from afresh.core.action import Action
from afresh.core.event import MemoryCompacted, QuestionAsked, ReplyReceived
from afresh.core.reducer import fold_entries
from afresh.core.reply import Reply
from afresh.core.spending import CallBooking, UnlimitedLedger
from afresh.core.state import State
from afresh.core.states.progress_state import (
    ProgressState,
    StallThresholds,
    StepMark,
    VerifiedProgress,
    apply_step_mark,
)
from afresh.core.states.work_state import PendingReply, WorkState
from afresh.core.step_history import Summary
from afresh.core.step_result import ActionResult, StepResult, ToolOutcome
from afresh.core.subtask import SubtaskMetrics, SubtaskResult, SubtaskReturned, SubtaskStatus
from afresh.core.task import Task
from afresh.core.usage import CallCosts, Usage
from afresh.policy.stall.step_trace import count_step_spending
from support.sample_journals import append_events

CENT = 10_000_000
LATE = StallThresholds(idle_steps=(0, 0, 4), idle_tokens=())


@dataclass
class Priced(UnlimitedLedger):
    """A call costs what the test says, in the order in which they are made."""

    costs: list[int | None]

    def book(self, call: CallBooking) -> str:
        return ""

    def settle(self, booked: str, reply: Reply) -> int | None:
        return self.costs.pop(0)


def idle(step: int) -> list[Step]:
    return [other(step)]


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ([CENT] * 4, "Spent since the start: 4 steps, $0.0400 and {:,} tokens ("),
        ([20 * CENT, None, 30 * CENT, CENT], "Spent since the start: 4 steps, at least $0.51 and {:,} tokens ("),
        ([None] * 4, "Spent since the start: 4 steps, {:,} tokens ("),
        ([0] * 4, "Spent since the start: 4 steps, {:,} tokens ("),
    ],
    ids=["known", "partly known", "unknown", "free"],
)
def test_a_stop_says_what_the_circle_has_cost(costs: list[int | None], words: str) -> None:
    yard = Yard(idle, patience=LATE, ledger=Priced(costs))
    state = yard.works()
    (asked,) = yard.events(QuestionAsked)
    assert words.format(state.work.progress.tokens) in asked.question
    assert f"in all 4 calls, {state.spending.costs.words(state.spending.usage.tokens)}." in asked.question


def test_money_alone_that_was_spent_for_nothing_is_evidence() -> None:
    yard = Yard(idle, patience=StallThresholds(idle_tokens=(0, 0, 1)), ledger=Priced([CENT] * 9))
    yard.works()
    (asked,) = yard.events(QuestionAsked)
    assert asked.question.startswith("The task is stuck: $0.0100 and ")


def test_the_journal_alone_tells_the_cost_and_an_answer_counts_it_anew() -> None:
    yard = Yard(idle, patience=LATE, ledger=Priced([CENT] * 4 + [3 * CENT] * 4))
    state = yard.works()
    assert [one.reply.cost for one in yard.events(ReplyReceived)] == [CENT] * 4
    assert fold_entries(None, yard.store.journal("t")) == state and state.work.progress.bill == state.spending.costs == CallCosts(
        4 * CENT
    )
    again = yard.answers("go on")
    assert again.work.progress.bill == CallCosts(12 * CENT) and again.spending.costs == CallCosts(16 * CENT)
    assert "$0.12 and" in again.dialogue.question and "in all 8 calls, $0.16 and" in again.dialogue.question


def test_progress_clears_the_bill() -> None:
    course = ProgressState(tokens=9, bill=CallCosts(9, 9))
    assert (
        apply_step_mark(course, StepMark(2, tokens=5, money=5), VerifiedProgress(why="a test newly passes")).bill == CallCosts()
    )


def test_a_summary_counts_with_the_steps_between_which_it_was_bought() -> None:
    yard = Yard(idle, patience=LATE, ledger=Priced([CENT] * 4))
    state = yard.works()
    reply = Reply(usage=Usage(1_000, 50), cost=2 * CENT)
    after = append_events(yard.store, state, [MemoryCompacted(4, "loop", (), Summary(), 0, reply)])
    assert after.work.progress.bill.money == state.work.progress.bill.money + 2 * CENT and after.spending.costs.money == 6 * CENT
    assert after.work.progress.tokens == state.work.progress.tokens + 1_050


@given(st.lists(st.tuples(st.none() | st.integers(0, 10**12), st.integers(0, 10**6)), max_size=6))
def test_a_step_costs_its_call_and_the_parts_that_came_back(bought: list[tuple[int | None, int]]) -> None:
    (cost, tokens), *parts = [*bought, (0, 0)]
    state = State(
        task=Task(id="t", goal="goal", type="fix_bug"),
        work=WorkState(pending=PendingReply(1, Reply(usage=Usage(tokens), cost=cost))),
    )
    back = [
        SubtaskReturned(
            SubtaskResult("p", 1, "", SubtaskStatus.DONE, (), (), "", SubtaskMetrics(usage=Usage(0, taken), money=money))
        )
        for money, taken in parts
    ]
    whole, money = count_step_spending(
        state, StepResult((ActionResult(Action("delegate"), ToolOutcome(True, "", tuple(back))),), "")
    )
    assert whole == tokens + sum(taken for _, taken in parts)
    costs = [cost, *[money for money, _ in parts]]
    assert money == (None if None in costs else sum(one for one in costs if one is not None))
