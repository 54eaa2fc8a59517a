"""The file with a line for each finished task, from which project memory is made."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from afresh.domain.state import State
from afresh.domain.text import to_visible_json
from afresh.ports import QueueTicket
from afresh.projections.legacy import LINE_FORMAT_VERSION, summarise_finished_task

HistoryFields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """A line, and how it stands in the file."""

    line: HistoryFields
    raw: str


def update_history(
    text: str, known: Mapping[str, State], tickets: Sequence[QueueTicket], load: Callable[[str], State]
) -> tuple[HistoryLine, ...]:
    """The lines that follow on those of `text`, in order, with the tasks in `known` as they are now. What is missing, damaged or
    of another status than the queue says is loaded."""
    found = {one.line["task"]: one for one in parse_history(text)}
    for task, state in known.items():
        if task not in found or state.head.seq >= found[task].line["seq"]:
            found[task] = history_line_from_state(state)
    over = {ticket.task: ticket.status.value for ticket in tickets if ticket.status.over}
    for task, status in over.items():
        if task not in found or found[task].line["status"] != status:
            found[task] = history_line_from_state(load(task))
    return tuple(found[task] for task in sorted(over))


def parse_history(text: str) -> Iterator[HistoryLine]:
    """The lines that are whole, and of the shape that is written now."""
    for raw in text.split("\n"):
        try:
            line = json.loads(raw)
        except ValueError:
            continue
        if isinstance(line, dict) and line.get("shape") == LINE_FORMAT_VERSION and isinstance(line.get("task"), str):
            yield HistoryLine(line, raw)


def history_line_from_state(state: State) -> HistoryLine:
    line = summarise_finished_task(state)
    return HistoryLine(line, to_visible_json(line))


def render_history_file(lines: Iterable[HistoryLine]) -> str:
    return "".join(f"{one.raw}\n" for one in lines)
