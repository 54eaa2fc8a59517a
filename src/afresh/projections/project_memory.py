"""What the project has learnt over all its finished tasks, for people and other tools. At most about 32 KB.

A line a task is kept beside it, so that a task's end need not load the others. Steps do not touch either file.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from afresh.domain.known import Known
from afresh.domain.state import State
from afresh.domain.task import Status
from afresh.domain.text import visible_json
from afresh.ports import Ticket
from afresh.projections.document import document
from afresh.projections.fit import short
from afresh.projections.legacy import by_age, complete, legacy
from afresh.projections.standing import iso
from afresh.projections.told import SILENCE, Told, reads

TASKS, ITEMS, CHECKS, FILES, NAME = 20, 12, 6, 12, 48
"""How many are told of each, and bytes of a task's name."""
Line = dict[str, Any]
_NAMED, _SAID = ("rules", "decisions", "failed", "known"), ("subject", "text", "why")


def history(text: str, known: Mapping[str, State], tickets: Sequence[Ticket], load: Callable[[str], State]) -> str:
    """The history file that follows on `text`, with the tasks in `known` as they are now. What is missing, damaged or of another
    status than the queue says is loaded."""
    lines = {line["task"]: line for line in read(text)}
    for task, state in known.items():
        if state.head.seq >= lines.get(task, {}).get("seq", 0):
            lines[task] = legacy(state)
    over = {ticket.task: ticket.status.value for ticket in tickets if ticket.status.over}
    for task, status in over.items():
        if task not in lines or lines[task]["status"] != status:
            lines[task] = legacy(load(task))
    return "".join(visible_json(lines[task]) + "\n" for task in sorted(over))


def read(text: str) -> Iterator[Line]:
    """The lines that are whole."""
    for raw in text.split("\n"):
        try:
            line = json.loads(raw)
        except ValueError:
            continue
        if isinstance(line, dict) and complete(line):
            yield line


def render(text: str, told: Told = SILENCE, known: Callable[[str], Sequence[Known]] = lambda name: ()) -> str:
    """Project memory from the history file, in the words that persons have put it in since."""
    lines = by_age([_corrected(line, told, known) for line in read(text)])
    return document(
        {
            "about": "What finished tasks have left behind, the newest first. Made from the journal: do not edit.",
            "how": "afresh memory show ID; for evidence afresh context block ID --lines A-B; for a task afresh show TASK",
            "totals": _totals(lines),
            "rules in force": [*map(_rule, told.rules), *_first(lines, "rules", ITEMS, by="subject")][:ITEMS],
            "decisions by persons": _first(lines, "decisions", ITEMS, by="text"),
            "failed approaches": _first(lines, "failed", ITEMS, by="subject"),
            "known": _first(lines, "known", ITEMS, by="subject"),
            "checks that pass": _first(lines, "checks", CHECKS, by="command"),
            "files changed most": _files(lines),
            "tasks": [_task(line) for line in lines[:TASKS]],
        }
    )


def _corrected(line: Line, told: Told, known: Callable[[str], Sequence[Known]]) -> Line:
    if not told.edits.edits:
        return line
    scrub = told.scrub
    new: Line = {**line, "goal": scrub(line["goal"]), "outcome": scrub(line["outcome"])}
    for field in _NAMED:
        texts = [reads(item["id"], item["text"], told.edits, known) for item in line[field]]
        pairs = zip(line[field], texts, strict=True)
        items = [{**item, "text": short(text, 160)} for item, text in pairs if text or not item["text"]]
        new[field] = [{name: scrub(held) if name in _SAID else held for name, held in item.items()} for item in items]
    return new


def _rule(rule: Known) -> Line:
    told = {"id": rule.id, "subject": short(rule.fact.subject, 50), "text": short(rule.fact.text, 160)}
    return {**told, "by": short(rule.by, 40), "at": iso(rule.at)}


def _totals(lines: Sequence[Line]) -> dict[str, int]:
    ends = Counter(line["status"] for line in lines)
    figures = {"steps": "steps", "model calls": "calls", "tokens in": "input", "tokens out": "output"}
    changes = {"changes kept": "kept", "changes reverted": "reverted"}
    sums = {name: sum(line[field] for line in lines) for name, field in {**figures, **changes}.items()}
    return {"finished tasks": len(lines), **{status.value: ends[status.value] for status in Status if status.over}, **sums}


def _first(lines: Sequence[Line], field: str, most: int, by: str) -> list[Line]:
    """The newest item about each subject; an empty one takes the older ones back and is not shown."""
    found: dict[str, Line] = {}
    for line in lines:
        for item in line[field]:
            about = {**item, "task": short(line["task"], NAME), "at": iso(line["ended"])}
            found.setdefault(item[by] or item.get("text", ""), about)
    return [item for item in found.values() if item.get("text", item[by])][:most]


def _files(lines: Sequence[Line]) -> list[Line]:
    times = Counter(path for line in lines for path in line["changed"])
    last = {path: line["task"] for line in reversed(lines) for path in line["changed"]}
    most = sorted(times, key=lambda path: (-times[path], path))[:FILES]
    return [{"path": path, "tasks": times[path], "last": short(last[path], NAME)} for path in most]


def _task(line: Line) -> Line:
    told = {name: line[name] for name in ("status", "verdict", "type", "goal", "outcome", "steps", "commit")}
    figures = {"tokens": line["input"] + line["output"], "files": len(line["changed"])}
    return {"task": short(line["task"], NAME), **told, **figures, "ended": iso(line["ended"])}
