"""The decision log: one JSON line for each choice, question, answer, verdict and end. Lines are only appended. Each names the
question, answer and decision that it follows from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from afresh.core import event as happened
from afresh.core.event import TAG_BY_EVENT_CLASS, JournalEntry, is_in_decision_log
from afresh.core.state import State
from afresh.core.text import to_visible_json
from afresh.views.task_facts import format_time
from afresh.views.timeline import WAIVER_SEVERITY, describe_event

DecisionLine = Mapping[str, Any]
_ANSWER_DEPTH_LINES = 2
"""Depth of the lines after an answer: the question and the answer."""
_STEP_EVENTS = happened.ReplyReceived | happened.ActionsExecuted | happened.ChangeKeptOrReverted | happened.StepFinished


def render_log_lines(entries: Iterable[JournalEntry], step: int = 0, number: int = 0, under: Sequence[int] = ()) -> Iterator[str]:
    """Render log lines for `entries`, numbered after `number`, during `step` and under the lines `under`."""
    return (to_visible_json(line) + "\n" for line in list_decisions(entries, step, number, under))


def list_decisions(
    entries: Iterable[JournalEntry], step: int = 0, number: int = 0, under: Sequence[int] = ()
) -> Iterator[dict[str, Any]]:
    for entry in entries:
        if isinstance(entry.event, _STEP_EVENTS):
            step = max(step, entry.event.step)
        if is_in_decision_log(entry.event):
            number += 1
            line = _build_line(entry, step, number, under)
            under = find_next_parents(line)
            yield line


def find_next_parents(line: DecisionLine) -> Sequence[int]:
    """Return the line numbers of the next line's parents, outermost first."""
    return [*line["follows"], line["n"]] if is_turning_point(line) else line["follows"]


def is_turning_point(line: DecisionLine) -> bool:
    """Return whether the line changes the course of the task; sandbox waivers and notes of the harness do not."""
    if line["kind"] == "decided":
        return line["by"] != "harness" and line["severity"] != WAIVER_SEVERITY
    return line["kind"] in ("planned", "asked", "answered", "turned", "spoke", "undone")


def _parents_of_line(line: DecisionLine, under: Sequence[int]) -> Sequence[int]:
    """Return a line's parents: a decision follows the last answer, a question nothing, other lines what came before."""
    if not is_turning_point(line) or line["kind"] == "answered":
        return under
    return () if line["kind"] == "asked" else under[: _ANSWER_DEPTH_LINES if len(under) >= _ANSWER_DEPTH_LINES else 0]


def find_step_before(state: State, entries: Sequence[JournalEntry]) -> int:
    """Return the step that was running when `entries`, which led to `state`, began."""
    for entry in entries:
        if isinstance(entry.event, happened.ReplyReceived):
            return entry.event.step - 1
        if isinstance(entry.event, _STEP_EVENTS):
            return entry.event.step
    return max(state.work.step, state.work.pending.step if state.work.pending else 0)


def _build_line(entry: JournalEntry, step: int, number: int, under: Sequence[int]) -> dict[str, Any]:
    happening = describe_event(entry.event)
    assert happening, f"{TAG_BY_EVENT_CLASS[type(entry.event)]} has no line in the log"
    line = {
        "n": number,
        "seq": entry.seq,
        "at": format_time(entry.at),
        "step": step if happening.step is None else happening.step,
        "kind": TAG_BY_EVENT_CLASS[type(entry.event)].lower(),
        **{name: getattr(happening, name) for name in ("type", "by", "text", "why", "confidence", "severity")},
        **happening.more,
    }
    return line | {"follows": [*_parents_of_line(line, under)], "entry": entry.hash[:16]}
