"""A state as persons have corrected it."""

from hypothesis import given
from hypothesis import strategies as st

from afresh.core.action import Action, Observation
from afresh.core.archived_block import BlockIndexLine
from afresh.core.codec import to_canonical_json
from afresh.core.decision import Decision
from afresh.core.fact import Fact, FactKind
from afresh.core.project_facts import FactCorrection, fact_from_decision, fact_from_words, make_fact_id
from afresh.core.state import State
from afresh.core.states.dialogue_state import DialogueState
from afresh.core.states.memory_state import MemoryState
from afresh.core.states.strategy_state import PlanItem
from afresh.core.states.work_state import WorkState
from afresh.core.step_history import Summary, SummaryLine
from afresh.core.step_record import StepRecord
from afresh.core.task import Task
from afresh.memory.user_corrections import FORGOTTEN_LINE, Corrections, apply_corrections

SECRET = "the password is swordfish"
NOTE = Fact(FactKind.NOTE, "login", SECRET)
CHOICE = Decision("log in by hand", "model", "safer", 2, "login")


def everywhere(phrase: str) -> State:
    """The phrase in all that a state can say."""
    seen = Observation(Action("run", {"command": f"echo {phrase}"}), True, f"$ echo\n{phrase}\nother")
    return State(
        task=Task(id="t", goal="log in"),
        memory=MemoryState(
            facts=(NOTE, Fact(FactKind.OBSERVED, f"run {phrase}", f"it said {phrase}"), Fact(FactKind.NOTE, "other", "stays")),
            decisions=(CHOICE,),
            recent=(StepRecord(1, f"I know {phrase}.\nAnd more.", (seen,), f"run → {phrase}", True, f"run {phrase}"),),
            index=(BlockIndexLine("b", "run", f"echo {phrase}", 40, f"says {phrase}", 1),),
            summary=Summary(1, (phrase,), f"It was {phrase}.", (SummaryLine(1, phrase),)),
        ),
        dialogue=DialogueState(words=("be quick", "use the test account")),
        work=WorkState(plan=(PlanItem(f"use {phrase}"), PlanItem("go on"))),
    )


def edit(fact: Fact, new: str = "") -> FactCorrection:
    return FactCorrection(make_fact_id("t", fact), fact.text, new)


def test_without_edits_a_state_is_what_it_was() -> None:
    state = everywhere(SECRET)
    assert apply_corrections(state, Corrections()) is state


@given(st.lists(st.sampled_from(["\n", " ", "  \t"]), min_size=3, max_size=3))
def test_a_forgotten_text_is_nowhere_however_it_is_spaced(gaps: list[str]) -> None:
    words = SECRET.split()
    spaced = "".join(word + gap for word, gap in zip(words, [*gaps, ""], strict=True))
    state = apply_corrections(everywhere(spaced), Corrections((edit(NOTE),)))
    assert "swordfish" not in to_canonical_json(state) and FORGOTTEN_LINE in to_canonical_json(state)
    assert Fact(FactKind.NOTE, "other", "stays") in state.memory.facts and PlanItem("go on") in state.work.plan
    assert state.task.goal == "log in" and state.dialogue.words == ("be quick", "use the test account")


def test_a_short_text_goes_alone_and_takes_no_line_with_it() -> None:
    short = Fact(FactKind.NOTE, "answer", "42")
    state = State(
        task=Task(id="t", goal="g"), memory=MemoryState(facts=(short, Fact(FactKind.NOTE, "page", "see page 42 of it")))
    )
    assert apply_corrections(state, Corrections((edit(short),))).memory.facts == (
        Fact(FactKind.NOTE, "page", "see page 42 of it"),
    )


def test_a_correction_of_a_correction_is_followed_to_its_end_and_never_round_in_circles() -> None:
    second, third = Fact(FactKind.NOTE, "login", "by token"), Fact(FactKind.NOTE, "login", "by key")
    chain = (edit(NOTE, "by token"), edit(second, "by key"))
    state = State(task=Task(id="t", goal="g"), memory=MemoryState(facts=(NOTE,)))
    assert apply_corrections(state, Corrections(chain)).memory.facts == (third,)
    back = (*chain, edit(third, SECRET))
    assert apply_corrections(state, Corrections(back)).memory.facts == (NOTE,)
    assert apply_corrections(state, Corrections((*chain, edit(third)))).memory.facts == ()


def test_decisions_and_words_of_a_person_are_corrected_too() -> None:
    state = everywhere("x")
    edits = Corrections(
        (
            edit(fact_from_decision(CHOICE), "log in by script"),
            edit(fact_from_words("be quick"), "take your time"),
            edit(fact_from_words("none")),
        )
    )
    made = apply_corrections(state, edits)
    assert made.memory.decisions == (Decision("log in by script", "person", "", 2, "login"),)
    assert made.dialogue.words == ("take your time", "use the test account")


def test_what_was_corrected_in_another_task_does_not_touch_this_one() -> None:
    state = State(task=Task(id="other", goal="g"), memory=MemoryState(facts=(NOTE,)))
    assert apply_corrections(state, Corrections((edit(NOTE, "by token"),))).memory.facts == (NOTE,)
