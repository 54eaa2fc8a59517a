"""Renders facts."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from afresh.cli.render.parts import make_table, render_fields, render_heading, render_text
from afresh.core.project_facts import ProjectFact
from afresh.views.task_facts import format_time

KIND_STYLES = {
    "rule": "cyan", "decision": "bold", "failed_approach": "red", "error": "red", "observed": "dim",
}  # fmt: skip


def render_facts(facts: Sequence[ProjectFact]) -> RenderableType:
    if not facts:
        return render_text("Nothing found.", "dim")
    table = make_table(
        "id|kind|fact and source",
        (
            [
                render_text(known.id, "cyan"),
                render_fact_kind(known),
                Text.assemble(render_fact_text(known), "\n", render_text(describe_fact_source(known), "dim")),
            ]
            for known in facts
        ),
    )
    return Group(table, render_text("afresh memory show ID shows evidence and history", "dim"))


def render_fact(known: ProjectFact, evidence: Sequence[str], history: Sequence[ProjectFact]) -> RenderableType:
    fact = known.fact
    rows = [
        ("kind", render_fact_kind(known)),
        ("about", render_text(fact.subject)),
        ("text", render_text(fact.text)),
        ("by", render_text(f"{known.by}, {format_time(known.at)}, {describe_fact_source(known)}")),
        ("valid", render_text(f"in {SCOPE_WORDS[fact.scope.value]}, confidence {fact.confidence:g}", "green") if not known.ended
         else render_text(f"no longer: {known.end}, {format_time(known.ended)}", "yellow")),
    ]  # fmt: skip
    parts: list[RenderableType] = [render_text(f"\n{known.id}", "bold"), render_fields(rows)]
    if evidence:
        where = f"block {fact.block[:8]}" + (f", lines {fact.lines[0]}–{fact.lines[1]}" if fact.lines[0] else ", beginning")
        parts += [render_heading(f"Evidence ({where})"), *[render_text(f"  {line}", "dim") for line in evidence]]
    if len(history) > 1:
        parts += [
            render_heading("History of this subject, oldest first"),
            *[render_past_fact(each) for each in history],
        ]
    return Group(*parts)


SCOPE_WORDS = {"task": "its own task", "project": "this project", "user": "all your projects"}


def render_past_fact(known: ProjectFact) -> RenderableType:
    ended = f"  ({known.end})" if known.ended else "  (valid)"
    line = render_text(known.fact.text, "" if not known.ended else "dim", 100)
    return Text.assemble((f"  {format_time(known.at)} {known.by}: ", "dim"), line, (ended, "yellow" if known.ended else "green"))


def render_fact_kind(known: ProjectFact) -> RenderableType:
    return render_text(known.fact.kind.value.replace("_", " "), KIND_STYLES.get(known.fact.kind.value, ""))


def render_fact_text(known: ProjectFact) -> Text:
    """Render a fact without repeating its subject."""
    fact = known.fact
    return render_text(fact.text if fact.text.startswith(fact.subject.rstrip("…")) else f"{fact.subject}: {fact.text}", limit=200)


def describe_fact_source(known: ProjectFact) -> str:
    names = {"notebook": "added for this project", "user": "added for all projects"}
    if known.task in names:
        return names[known.task] + (f" by {known.by}" if known.by else "")
    return f"{known.task} step {known.fact.step}" if known.fact.step else known.task
