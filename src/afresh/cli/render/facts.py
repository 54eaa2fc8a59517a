"""Facts: a list, and one with its evidence and history."""

from collections.abc import Sequence

from afresh.app.memory.edit_facts import FactDetails
from afresh.core.project_facts import ProjectFact
from afresh.core.truncate import to_one_line
from afresh.views.page import Block, Fields, Heading, Line, Page, Table
from afresh.views.project_memory_file import fact_to_json
from afresh.views.task_facts import format_time

KIND_STYLES = {
    "rule": "cyan", "decision": "bold", "failed_approach": "red", "error": "red", "observed": "dim",
}  # fmt: skip
SCOPE_WORDS = {"task": "its own task", "project": "this project", "user": "all your projects"}


def build_fact_list(facts: Sequence[ProjectFact]) -> Page:
    more = [("afresh memory show ID shows evidence and history", "dim")]
    blocks: list[Block] = [Table("id|kind|fact and source", [*map(_list_cells, facts)]), more]
    return Page([*map(fact_to_json, facts)], blocks if facts else [[("Nothing found.", "dim")]])


def _list_cells(known: ProjectFact) -> list[Line]:
    """A fact's subject is not repeated where its text begins with it."""
    fact = known.fact
    text = fact.text if fact.text.startswith(fact.subject.rstrip("…")) else f"{fact.subject}: {fact.text}"
    source = [(f"{to_one_line(text, 200)}\n", ""), (_describe_source(known), "dim")]
    return [[(known.id, "cyan")], _name_kind(known), source]


def build_fact(details: FactDetails) -> Page:
    known, fact, history = details.known, details.known.fact, details.history
    valid = [(f"in {SCOPE_WORDS[fact.scope.value]}, confidence {fact.confidence:g}", "green")]
    rows: list[tuple[str, Line]] = [
        ("kind", _name_kind(known)),
        ("about", fact.subject),
        ("text", fact.text),
        ("by", f"{known.by}, {format_time(known.at)}, {_describe_source(known)}"),
        ("valid", [(f"no longer: {known.end}, {format_time(known.ended)}", "yellow")] if known.ended else valid),
    ]
    blocks: list[Block] = [Heading(known.id), Fields(rows)]
    if details.evidence:
        where = f"block {fact.block[:8]}" + (f", lines {fact.lines[0]}–{fact.lines[1]}" if fact.lines[0] else ", beginning")
        blocks += [Heading(f"Evidence ({where})"), *([(f"  {line}", "dim")] for line in details.evidence)]
    if len(history) > 1:
        blocks += [Heading("History of this subject, oldest first"), *map(_describe_past_fact, history)]
    data = {"evidence": list(details.evidence), "history": [*map(fact_to_json, history)]}
    return Page(fact_to_json(known) | data, blocks)


def _describe_past_fact(known: ProjectFact) -> Line:
    text = (to_one_line(known.fact.text, 100), "dim" if known.ended else "")
    ended = (f"  ({known.end})", "yellow") if known.ended else ("  (valid)", "green")
    return [(f"  {format_time(known.at)} {known.by}: ", "dim"), text, ended]


def _name_kind(known: ProjectFact) -> Line:
    kind = known.fact.kind.value
    return [(kind.replace("_", " "), KIND_STYLES.get(kind, ""))]


def _describe_source(known: ProjectFact) -> str:
    names = {"notebook": "added for this project", "user": "added for all projects"}
    if known.task in names:
        return names[known.task] + (f" by {known.by}" if known.by else "")
    return f"{known.task} step {known.fact.step}" if known.fact.step else known.task
