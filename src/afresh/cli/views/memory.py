"""Facts, as a person reads them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from afresh.cli.views.parts import fields, heading, listing, said
from afresh.domain.known import Known
from afresh.projections.standing import iso

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

KIND = {
    "rule": "cyan", "decision": "bold", "failed_approach": "red", "error": "red", "verified": "green", "observed": "dim",
}  # fmt: skip


def plain(known: Known) -> dict[str, Any]:
    fact = known.fact
    return {
        "id": known.id, "kind": fact.kind.value, "subject": fact.subject, "text": fact.text, "by": known.by, "at": iso(known.at),
        "task": known.task, "step": fact.step, "scope": fact.scope.value, "confidence": fact.confidence, "block": fact.block,
        "lines": list(fact.lines), "holds": not known.ended, "ended": iso(known.ended) if known.ended else None, "end": known.end,
    }  # fmt: skip


def found(facts: Sequence[Known]) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    if not facts:
        return said("Nothing that holds is remembered under these words.", "dim")
    table = listing("id", "kind", "what, and from where")
    for known in facts:
        table.add_row(said(known.id, "cyan"), kind(known), Text.assemble(told(known, 200), "\n", said(source(known), "dim")))
    return Group(table, said("afresh memory show ID has the evidence and the history", "dim"))


def one(known: Known, evidence: Sequence[str], history: Sequence[Known]) -> "RenderableType":
    from rich.console import Group

    fact = known.fact
    rows = [
        ("kind", kind(known)),
        ("about", said(fact.subject)),
        ("says", said(fact.text)),
        ("by", said(f"{known.by}, {iso(known.at)}, {source(known)}")),
        ("holds", said(f"in {SCOPES[fact.scope.value]}, confidence {fact.confidence:g}", "green") if not known.ended
         else said(f"no longer: {known.end}, {iso(known.ended)}", "yellow")),
    ]  # fmt: skip
    parts: list[RenderableType] = [said(f"\n{known.id}", "bold"), fields(rows)]
    if evidence:
        where = f"block {fact.block[:8]}" + (f", lines {fact.lines[0]}–{fact.lines[1]}" if fact.lines[0] else ", its beginning")
        parts += [heading(f"Evidence ({where})"), *[said(f"  {line}", "dim") for line in evidence]]
    if len(history) > 1:
        parts += [heading("All that was known about the same, oldest first"), *[past(each) for each in history]]
    return Group(*parts)


SCOPES = {"task": "its task only", "project": "this project", "user": "all your projects"}


def past(known: Known) -> "RenderableType":
    from rich.text import Text

    ended = f"  ({known.end})" if known.ended else "  (holds)"
    line = said(known.fact.text, "" if not known.ended else "dim", 100)
    return Text.assemble((f"  {iso(known.at)} {known.by}: ", "dim"), line, (ended, "yellow" if known.ended else "green"))


def kind(known: Known) -> "RenderableType":
    return said(known.fact.kind.value.replace("_", " "), KIND.get(known.fact.kind.value, ""))


def told(known: Known, limit: int) -> "Text":
    """What it is about need not be said twice."""
    fact = known.fact
    return said(fact.text if fact.text.startswith(fact.subject.rstrip("…")) else f"{fact.subject}: {fact.text}", limit=limit)


def source(known: Known) -> str:
    names = {"notebook": "told to the project", "user": "told to all projects"}
    return names.get(known.task, f"{known.task} step {known.fact.step}" if known.fact.step else known.task)
