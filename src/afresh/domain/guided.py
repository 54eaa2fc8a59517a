"""What follows from a person's word, and from a turn of the loop: the fields of the state that change. `fold` puts them in."""

from dataclasses import replace
from typing import Any

from afresh.domain import event as happened
from afresh.domain.attended import APPROVED, AUTONOMOUS, WHERE_TO, Attendance
from afresh.domain.course import anew
from afresh.domain.fact import Decision, Fact, FactKind
from afresh.domain.passage import Passage, Voice
from afresh.domain.regions import REGIONS, moved
from afresh.domain.state import State
from afresh.domain.strategy import encouraged, stepped, turned
from afresh.domain.task import Status

Guidance = happened.Turned | happened.Attended | happened.Paused | happened.Spoke | happened.Undone
NOTHING_ASKED: dict[str, Any] = {"question": "", "options": (), "asked_by": ""}
MARK = " (from a step that was undone)"


def guided(event: Guidance, state: State) -> dict[str, Any]:
    match event:
        case happened.Turned():
            return {"loop": turned(event, state.loop, state.refusals)}
        case happened.Attended(mode):
            paused = "" if mode == AUTONOMOUS else state.attendance.paused
            return {"attendance": replace(state.attendance, mode=mode, paused=paused)}
        case happened.Paused(_, phase):
            return {"attendance": replace(state.attendance, paused=phase)}
        case happened.Spoke():
            return spoke(event, state)
        case happened.Undone():
            return undone(event, state)


def heard(state: State) -> dict[str, Any]:
    """After a person's word the steps of a phase, the turns and the refusals are counted anew."""
    return {"spent": (), "refusals": 0, "loop": encouraged(state.loop), "course": anew(state.course, state.step)}


def answered(event: happened.Answered, state: State) -> dict[str, Any]:
    """Whoever lets it go on adds no word of their own; whoever speaks at a pause is heard before anything else is done."""
    if state.attendance.paused and event.option == APPROVED:
        return {"status": Status.READY, "attendance": entered(state, overruled=False)}
    made = Decision(event.text, "person", step=state.step, subject=state.question, confidence=1.0, options=state.options)
    return {
        "status": Status.READY,
        "words": (*state.words, event.text),
        "decisions": (*state.decisions, made) if made.answer else state.decisions,
        "limit": state.limit if state.attendance.paused else max(state.limit, state.step + state.task.max_steps),
        "attendance": entered(state, overruled=bool(state.attendance.paused and state.pending)),
        **heard(state),
    }


def entered(state: State, overruled: bool) -> Attendance:
    now = state.attendance
    passed = (*now.passed, now.paused) if now.paused and not overruled else now.passed
    return replace(now, passed=passed, paused="", overruled=overruled)


def spoke(event: happened.Spoke, state: State) -> dict[str, Any]:
    said = {"words": (*state.words, event.text), **heard(state)}
    said["attendance"] = replace(state.attendance, overruled=state.pending is not None)
    if not event.redirects:
        return said
    made = Decision(event.text, "person", step=state.step, subject=WHERE_TO, confidence=1.0)
    return said | {"decisions": (*state.decisions, made), "plan": (), "planned": 0}


def undone(event: happened.Undone, state: State) -> dict[str, Any]:
    """What was seen of the tree as it was then is gone, what was noted is marked; no verdict or question is about this one."""
    return {
        "snapshot": event.snapshot,
        "changed": event.changed,
        "commit": "",
        "verdict": None,
        "verdict_step": 0,
        "plan": event.plan,
        "planned": event.planned,
        "facts": tuple([marked(one) if one.step >= event.step else one for one in state.facts if not unseen(one, event.step)]),
        "passages": tuple([put_back(one) if one.step >= event.step else one for one in state.passages]),
        "regions": moved(state.regions, event.hunks, state.step)[-REGIONS:],
        "recent": tuple([replace(one, kept=False) if one.step >= event.step else one for one in state.recent]),
        "last_change": state.step,
        "kept": max(0, state.kept - event.changes),
        "reverted": state.reverted + event.changes,
        "attendance": replace(state.attendance, overruled=state.pending is not None, paused=""),
        "status": Status.READY if state.status is Status.BLOCKED else state.status,
        **NOTHING_ASKED,
        **heard(state),
    }


def unseen(fact: Fact, step: int) -> bool:
    return fact.kind is FactKind.OBSERVED and fact.step >= step


def put_back(passage: Passage) -> Passage:
    return replace(passage, ended="undone") if passage.voice is Voice.ACTION else passage


def marked(fact: Fact) -> Fact:
    known = fact.kind in (FactKind.NOTE, FactKind.VERIFIED) and not fact.text.endswith(MARK)
    return replace(fact, text=fact.text + MARK) if known else fact


def finished(state: State) -> dict[str, Any]:
    """After a step; what it came to is settled before."""
    kept = not state.recent or state.recent[-1].kept
    now = state.attendance
    return {
        "loop": stepped(state.loop, state.plan, state.planned, kept),
        "attendance": replace(now, overruled=False) if now.overruled else now,
    }
