"""What the project has learnt over all its finished tasks, for people and other tools. At most about 32 KB.

A line a task is kept beside it, so that a task's end need not load the others. Steps do not touch either file.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from afresh.domain.known import Known
from afresh.domain.task import Status
from afresh.projections.document import document
from afresh.projections.fit import short
from afresh.projections.history import Line
from afresh.projections.standing import iso
from afresh.projections.told import SILENCE, Told, reads

TASKS = 20
ITEMS = 12
CHECKS = 6
FILES = 12
NAME = 48
"""How many are told of each, and bytes of a task's name."""
_SAID = ("subject", "text", "why", "asked")


def render(lines: Iterable[Line], told: Told = SILENCE, known: Callable[[str], Sequence[Known]] = lambda name: ()) -> str:
    """Project memory from the lines of the history, in the words that persons have put it in since."""
    lines = sorted(lines, key=lambda line: (-line["ended"], line["task"]))
    mend = _mending(told, known)
    return document(
        {
            "about": "What finished tasks have left behind, the newest first. Made from the journal: do not edit.",
            "how": "afresh memory show ID; for evidence afresh context block ID --lines A-B; for a task afresh show TASK",
            "totals": _totals(lines),
            "rules in force": [*map(_rule, told.rules), *_first(lines, "rules", "subject", mend)][:ITEMS],
            "decisions by persons": _first(lines, "decisions", "text", mend),
            "failed approaches": _first(lines, "failed", "subject", mend),
            "known": _first(lines, "known", "subject", mend),
            "checks that pass": _first(lines, "checks", "command", lambda item: item)[:CHECKS],
            "files changed most": _files(lines),
            "tasks": [_task(line, told.scrub) for line in lines[:TASKS]],
        }
    )


def _mending(told: Told, known: Callable[[str], Sequence[Known]]) -> Callable[[Line], Line | None]:
    """An item as it reads by now; None when it is forgotten."""
    if not told.edits.edits:
        return lambda item: item
    scrub = told.scrub

    def mend(item: Line) -> Line | None:
        text = reads(item["id"], item["text"], told.edits, known)
        new = {**item, "text": short(text, 160)}
        return {name: scrub(held) if name in _SAID else held for name, held in new.items()} if text or not item["text"] else None

    return mend


def _first(lines: Sequence[Line], field: str, by: str, mend: Callable[[Line], Line | None]) -> list[Line]:
    """The newest item about each subject, until there are enough; an empty one takes back the older ones about the same."""
    found: list[Line] = []
    seen = set[str]()
    for line in lines:
        for item in line[field]:
            subject = item[by] or item.get("text", "")
            new = mend(item) if subject not in seen else None
            if new is None:
                continue
            seen.add(subject)
            if new.get("text", subject):
                found.append({**new, "task": short(line["task"], NAME), "at": iso(line["ended"])})
        if len(found) >= ITEMS:
            break
    return found[:ITEMS]


def _rule(rule: Known) -> Line:
    told = {"id": rule.id, "subject": short(rule.fact.subject, 50), "text": short(rule.fact.text, 160)}
    return {**told, "by": short(rule.by, 40), "at": iso(rule.at)}


def _totals(lines: Sequence[Line]) -> dict[str, int]:
    ends = Counter(line["status"] for line in lines)
    figures = {"steps": "steps", "model calls": "calls", "tokens in": "input", "tokens out": "output"}
    changes = {"changes kept": "kept", "changes reverted": "reverted"}
    sums = {name: sum(line[field] for line in lines) for name, field in {**figures, **changes}.items()}
    return {"finished tasks": len(lines), **{status.value: ends[status.value] for status in Status if status.over}, **sums}


def _files(lines: Sequence[Line]) -> list[Line]:
    times = Counter(path for line in lines for path in line["changed"])
    most = sorted(times, key=lambda path: (-times[path], path))[:FILES]
    last = {path: next(line["task"] for line in lines if path in line["changed"]) for path in most}
    return [{"path": path, "tasks": times[path], "last": short(last[path], NAME)} for path in most]


def _task(line: Line, scrub: Callable[[str], str]) -> Line:
    told: dict[str, Any] = {name: line[name] for name in ("status", "verdict", "type")}
    said = {name: scrub(line[name]) for name in ("goal", "outcome")}
    figures = {"steps": line["steps"], "tokens": line["input"] + line["output"], "files": len(line["changed"])}
    return {"task": short(line["task"], NAME), **told, **said, **figures, "commit": line["commit"], "ended": iso(line["ended"])}
