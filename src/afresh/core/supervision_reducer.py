"""What follows from a person's word, and from a turn of the loop: the fields of the state that change. `fold` puts them in."""

from dataclasses import replace
from typing import Any

from afresh.core import event as happened
from afresh.core.decision import Decision
from afresh.core.fact import Fact, FactKind
from afresh.core.progress_state import restart_progress
from afresh.core.region import MAX_REGIONS, move_regions
from afresh.core.state import State
from afresh.core.step_history import Passage, PassageVoice
from afresh.core.strategy_state import change_strategy, count_strategy_step, reset_strategy_counters
from afresh.core.supervision_state import APPROVE_OPTION, AUTONOMOUS_MODE, NEW_DIRECTION_QUESTION, SupervisionState
from afresh.core.task import TaskStatus

SupervisionEvent = (
    happened.StrategyChanged
    | happened.SupervisionModeSet
    | happened.PausedForPerson
    | happened.PersonSpoke
    | happened.StepsUndone
)
NO_OPEN_QUESTION: dict[str, Any] = {"question": "", "options": (), "asked_by": ""}
UNDONE_STEP_MARK = " (from a step that was undone)"


def apply_supervision_event(event: SupervisionEvent, state: State) -> dict[str, Any]:
    match event:
        case happened.StrategyChanged():
            return {"loop": change_strategy(event, state.loop, state.refusals)}
        case happened.SupervisionModeSet(mode):
            paused = "" if mode == AUTONOMOUS_MODE else state.attendance.paused
            return {"attendance": replace(state.attendance, mode=mode, paused=paused)}
        case happened.PausedForPerson(_, phase):
            return {"attendance": replace(state.attendance, paused=phase)}
        case happened.PersonSpoke():
            return apply_user_words(event, state)
        case happened.StepsUndone():
            return apply_undo(event, state)


def reset_counters(state: State) -> dict[str, Any]:
    """After a person's word the steps of a phase, the turns and the refusals are counted anew."""
    return {
        "spent": (),
        "refusals": 0,
        "loop": reset_strategy_counters(state.loop),
        "course": restart_progress(state.course, state.step),
    }


def apply_answer(event: happened.QuestionAnswered, state: State) -> dict[str, Any]:
    """Whoever lets it go on adds no word of their own; whoever speaks at a pause is heard before anything else is done."""
    if state.attendance.paused and event.option == APPROVE_OPTION:
        return {"status": TaskStatus.READY, "attendance": leave_pause(state, overruled=False)}
    made = Decision(event.text, "person", step=state.step, subject=state.question, confidence=1.0, options=state.options)
    return {
        "status": TaskStatus.READY,
        "words": (*state.words, event.text),
        "decisions": (*state.decisions, made) if made.answer else state.decisions,
        "limit": state.limit if state.attendance.paused else max(state.limit, state.step + state.task.max_steps),
        "attendance": leave_pause(state, overruled=bool(state.attendance.paused and state.pending)),
        **reset_counters(state),
    }


def leave_pause(state: State, overruled: bool) -> SupervisionState:
    now = state.attendance
    passed = (*now.passed, now.paused) if now.paused and not overruled else now.passed
    return replace(now, passed=passed, paused="", overruled=overruled)


def apply_user_words(event: happened.PersonSpoke, state: State) -> dict[str, Any]:
    said = {"words": (*state.words, event.text), **reset_counters(state)}
    said["attendance"] = replace(state.attendance, overruled=state.pending is not None)
    if not event.redirects:
        return said
    made = Decision(event.text, "person", step=state.step, subject=NEW_DIRECTION_QUESTION, confidence=1.0)
    return said | {"decisions": (*state.decisions, made), "plan": (), "planned": 0}


def apply_undo(event: happened.StepsUndone, state: State) -> dict[str, Any]:
    """What was seen of the tree as it was then is gone, what was noted is marked; no verdict or question is about this one."""
    return {
        "snapshot": event.snapshot,
        "changed": event.changed,
        "commit": "",
        "verdict": None,
        "verdict_step": 0,
        "plan": event.plan,
        "planned": event.planned,
        "facts": tuple(
            [
                mark_fact_undone(one) if one.step >= event.step else one
                for one in state.facts
                if not is_observed_since(one, event.step)
            ]
        ),
        "passages": tuple([mark_passage_undone(one) if one.step >= event.step else one for one in state.passages]),
        "regions": move_regions(state.regions, event.hunks, state.step)[-MAX_REGIONS:],
        "recent": tuple([replace(one, kept=False) if one.step >= event.step else one for one in state.recent]),
        "last_change": state.step,
        "kept": max(0, state.kept - event.changes),
        "reverted": state.reverted + event.changes,
        "attendance": replace(state.attendance, overruled=state.pending is not None, paused=""),
        "status": TaskStatus.READY if state.status is TaskStatus.BLOCKED else state.status,
        **NO_OPEN_QUESTION,
        **reset_counters(state),
    }


def is_observed_since(fact: Fact, step: int) -> bool:
    return fact.kind is FactKind.OBSERVED and fact.step >= step


def mark_passage_undone(passage: Passage) -> Passage:
    return replace(passage, ended="undone") if passage.voice is PassageVoice.ACTION else passage


def mark_fact_undone(fact: Fact) -> Fact:
    known = fact.kind in (FactKind.NOTE, FactKind.VERIFIED) and not fact.text.endswith(UNDONE_STEP_MARK)
    return replace(fact, text=fact.text + UNDONE_STEP_MARK) if known else fact


def apply_supervised_step_end(state: State) -> dict[str, Any]:
    """After a step; what it came to is settled before."""
    kept = not state.recent or state.recent[-1].kept
    now = state.attendance
    return {
        "loop": count_strategy_step(state.loop, state.plan, state.planned, kept),
        "attendance": replace(now, overruled=False) if now.overruled else now,
    }
