"""The project memory file: what finished tasks have found out, for people and other tools. At most about 32 KB.

One line for each of the newest finished tasks is kept in `history.jsonl`, so that the end of a task need not load the others.
Steps do not change either file."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from afresh.core.fact import NOTEBOOK_JOURNAL, FactKind
from afresh.core.project_facts import FactQuery, ProjectFact
from afresh.core.task import TaskStatus
from afresh.memory.user_corrections import (
    MIN_FORGOTTEN_CHARACTERS,
    Corrections,
    collapse_whitespace,
    get_corrected_text,
    make_scrubber,
)
from afresh.ports.storage import FactIndex
from afresh.views.bounded_json import render_json_document, truncate_to_bytes
from afresh.views.task_facts import format_time
from afresh.views.task_history import MAX_HISTORY_TASKS, HistoryFields

MAX_RULES = 12
OPENING_CHARACTERS = 40
"""Characters of a forgotten text by which a cut copy is recognised."""

_NO_EDITS = Corrections()


@dataclass(frozen=True, slots=True)
class RulesAndCorrections:
    rules: tuple[ProjectFact, ...] = ()
    """Newest first."""
    edits: Corrections = _NO_EDITS

    @property
    def scrub(self) -> Callable[[str], str]:
        """Return a function that removes forgotten texts, also where only their beginning is left."""
        openings = (collapse_whitespace(edit.old)[:OPENING_CHARACTERS] for edit in self.edits.edits if not edit.new)
        return make_scrubber([text for text in openings if len(text) >= MIN_FORGOTTEN_CHARACTERS])


NO_RULES_OR_CORRECTIONS = RulesAndCorrections()


def read_rules_and_corrections(facts: FactIndex) -> RulesAndCorrections:
    """Read rules and corrections; the user's rules for all projects are not written to a project's files."""
    rules = facts.look_up(FactQuery("", (FactKind.RULE,), NOTEBOOK_JOURNAL, own=True, limit=MAX_RULES))
    return RulesAndCorrections(tuple(rules), Corrections(tuple(facts.edits())))


def apply_correction(name: str, text: str, edits: Corrections, known: Callable[[str], Sequence[ProjectFact]]) -> str:
    """Return a fact's current text; empty if it is forgotten."""
    facts = known(name) if name in edits.by_id else ()
    return get_corrected_text(facts[0].task, facts[0].fact, edits.by_id) if facts else edits.by_id.get(name, text)


MAX_MEMORY_TASKS = 20
MAX_MEMORY_ITEMS = 12
MAX_MEMORY_CHECKS = 6
MAX_MEMORY_FILES = 12
TASK_NAME_BYTES = 48
"""Bytes of a task's name."""
_TEXT_FIELDS = ("subject", "text", "why", "asked")


def render_project_memory(
    lines: Iterable[HistoryFields],
    rules: RulesAndCorrections = NO_RULES_OR_CORRECTIONS,
    known: Callable[[str], Sequence[ProjectFact]] = lambda name: (),
) -> str:
    """Render project memory from history lines, with people's corrections applied."""
    lines = sorted(lines, key=lambda line: (-line["ended"], line["task"]))
    mend = _correction_for_items(rules, known)
    return render_json_document(
        {
            "about": f"What the newest {MAX_HISTORY_TASKS} finished tasks have left behind. Made from the journal: do not edit.",
            "how": "afresh memory show ID; for evidence afresh context show --block ID --lines A-B; for a task afresh show TASK",
            "totals": _sum_totals(lines),
            "rules in force": [*map(_rule_to_fields, rules.rules), *_newest_by_subject(lines, "rules", "subject", mend)][
                :MAX_MEMORY_ITEMS
            ],
            "decisions by persons": _newest_by_subject(lines, "decisions", "text", mend),
            "failed approaches": _newest_by_subject(lines, "failed", "subject", mend),
            "known": _newest_by_subject(lines, "known", "subject", mend),
            "checks that pass": _newest_by_subject(lines, "checks", "command", lambda item: item)[:MAX_MEMORY_CHECKS],
            "files changed most": _list_changed_files(lines),
            "tasks": [_task_to_fields(line, rules.scrub) for line in lines[:MAX_MEMORY_TASKS]],
        }
    )


def _correction_for_items(
    rules: RulesAndCorrections, known: Callable[[str], Sequence[ProjectFact]]
) -> Callable[[HistoryFields], HistoryFields | None]:
    """Return a function that corrects an item, or returns None if it is forgotten."""
    if not rules.edits.edits:
        return lambda item: item
    scrub = rules.scrub

    def mend(item: HistoryFields) -> HistoryFields | None:
        text = apply_correction(item["id"], item["text"], rules.edits, known)
        new = {**item, "text": truncate_to_bytes(text, 160)}
        return (
            {name: scrub(value) if name in _TEXT_FIELDS else value for name, value in new.items()}
            if text or not item["text"]
            else None
        )

    return mend


def _newest_by_subject(
    lines: Sequence[HistoryFields], field: str, by: str, mend: Callable[[HistoryFields], HistoryFields | None]
) -> list[HistoryFields]:
    """Return the newest item on each subject, up to the limit; an empty item retracts older ones on its subject."""
    found: list[HistoryFields] = []
    seen = set[str]()
    for line in lines:
        for item in line[field]:
            subject = item[by] or item.get("text", "")
            new = mend(item) if subject not in seen else None
            if new is None:
                continue
            seen.add(subject)
            if new.get("text", subject):
                found.append({**new, "task": truncate_to_bytes(line["task"], TASK_NAME_BYTES), "at": format_time(line["ended"])})
        if len(found) >= MAX_MEMORY_ITEMS:
            break
    return found[:MAX_MEMORY_ITEMS]


def _rule_to_fields(rule: ProjectFact) -> HistoryFields:
    told = {"id": rule.id, "subject": truncate_to_bytes(rule.fact.subject, 50), "text": truncate_to_bytes(rule.fact.text, 160)}
    return {**told, "by": truncate_to_bytes(rule.by, 40), "at": format_time(rule.at)}


def _sum_totals(lines: Sequence[HistoryFields]) -> dict[str, int]:
    ends = Counter(line["status"] for line in lines)
    figures = {"steps": "steps", "model calls": "calls", "tokens in": "input", "tokens out": "output"}
    changes = {"changes kept": "kept", "changes reverted": "reverted"}
    sums = {name: sum(line[field] for line in lines) for name, field in {**figures, **changes}.items()}
    return {"finished tasks": len(lines), **{status.value: ends[status.value] for status in TaskStatus if status.over}, **sums}


def _list_changed_files(lines: Sequence[HistoryFields]) -> list[HistoryFields]:
    times = Counter(path for line in lines for path in line["changed"])
    most = sorted(times, key=lambda path: (-times[path], path))[:MAX_MEMORY_FILES]
    last = {path: next(line["task"] for line in lines if path in line["changed"]) for path in most}
    return [{"path": path, "tasks": times[path], "last": truncate_to_bytes(last[path], TASK_NAME_BYTES)} for path in most]


def _task_to_fields(line: HistoryFields, scrub: Callable[[str], str]) -> HistoryFields:
    values: dict[str, Any] = {name: line[name] for name in ("status", "verdict", "type")}
    said = {name: scrub(line[name]) for name in ("goal", "outcome")}
    figures = {"steps": line["steps"], "tokens": line["input"] + line["output"], "files": len(line["changed"])}
    return {
        "task": truncate_to_bytes(line["task"], TASK_NAME_BYTES),
        **values,
        **said,
        **figures,
        "commit": line["commit"],
        "ended": format_time(line["ended"]),
    }


def fact_to_json(known: ProjectFact) -> dict[str, Any]:
    fact = known.fact
    return {
        "id": known.id,
        "kind": fact.kind.value,
        "subject": fact.subject,
        "text": fact.text,
        "by": known.by,
        "at": format_time(known.at),
        "task": known.task,
        "step": fact.step,
        "scope": fact.scope.value,
        "confidence": fact.confidence,
        "block": fact.block,
        "lines": list(fact.lines),
        "holds": not known.ended,
        "ended": format_time(known.ended) if known.ended else None,
        "end": known.end,
    }
