"""The file with a line for each finished task, from which project memory is made."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from afresh.domain.state import State
from afresh.domain.text import visible_json
from afresh.ports import Ticket
from afresh.projections.legacy import SHAPE, legacy

Line = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Written:
    """A line, and how it stands in the file."""

    line: Line
    raw: str


def history(
    text: str, known: Mapping[str, State], tickets: Sequence[Ticket], load: Callable[[str], State]
) -> tuple[Written, ...]:
    """The lines that follow on those of `text`, in order, with the tasks in `known` as they are now. What is missing, damaged or
    of another status than the queue says is loaded."""
    found = {one.line["task"]: one for one in read(text)}
    for task, state in known.items():
        if task not in found or state.head.seq >= found[task].line["seq"]:
            found[task] = written(state)
    over = {ticket.task: ticket.status.value for ticket in tickets if ticket.status.over}
    for task, status in over.items():
        if task not in found or found[task].line["status"] != status:
            found[task] = written(load(task))
    return tuple(found[task] for task in sorted(over))


def read(text: str) -> Iterator[Written]:
    """The lines that are whole, and of the shape that is written now."""
    for raw in text.split("\n"):
        try:
            line = json.loads(raw)
        except ValueError:
            continue
        if isinstance(line, dict) and line.get("shape") == SHAPE and isinstance(line.get("task"), str):
            yield Written(line, raw)


def written(state: State) -> Written:
    line = legacy(state)
    return Written(line, visible_json(line))


def file(lines: Iterable[Written]) -> str:
    return "".join(f"{one.raw}\n" for one in lines)
