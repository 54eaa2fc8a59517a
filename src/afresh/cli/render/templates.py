"""Renders templates: a list, one with the file behind every value, and faults."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from afresh.app.inspect.inspect_templates import SectionClaim, SourcedTemplateValue, TemplateDetails, TemplateRow
from afresh.cli.render.parts import make_table, render_fields, render_heading, render_text
from afresh.config.yaml_reader import FileFault
from afresh.core.codec import to_plain_value
from afresh.core.template import REQUIRED_SECTIONS, PhaseTemplate, Template
from afresh.core.text import format_count


def template_rows_to_json(rows: Sequence[TemplateRow]) -> list[dict[str, Any]]:
    return [asdict(row) for row in rows]


def render_template_rows(rows: Sequence[TemplateRow]) -> RenderableType:
    table = make_table("type|about|>limit|from")
    for row in rows:
        name = render_text(row.name) if row.kind == "work" else render_text(f"({row.name})", "dim")
        about = render_text(f"unusable: line {row.fault}", "red") if row.fault else render_text(row.about)
        table.add_row(name, about, f"{row.ceiling:,}" if row.ceiling else "", _render_origin(row))
    parts = [render_text("\nUse: afresh run --type TYPE. Details: afresh template TYPE. In brackets: internal calls.", "dim")]
    return Group(table, *parts)


def _render_origin(row: TemplateRow) -> Text:
    return render_text(row.origin, "dim") if row.origin == "shipped" else render_text(f"{row.origin}: {row.file}", "cyan")


def template_to_json(one: TemplateDetails) -> dict[str, Any]:
    made, layout = one.template, one.template.at(one.phase)
    return {
        "name": made.type,
        "kind": made.kind,
        "about": made.about,
        "family": one.family,
        "files": list(one.files),
        "ceiling": made.ceiling,
        "room": one.room,
        "phase": one.phase,
        "phases": [phase.name for phase in made.phases],
        "layout": to_plain_value(layout) if one.phase else None,
        "values": [asdict(value) for value in one.values],
    }


def render_template(one: TemplateDetails) -> RenderableType:
    made = one.template
    title = Text.assemble((made.type, "bold"), f", phase {one.phase}" if one.phase else "", "\n", render_text(made.about))
    guidance = [(value.key, value) for value in one.values if value.key.endswith(("guidance", "opening")) and value.value]
    parts: list[RenderableType] = [
        title,
        render_text("\n" + " ← ".join(one.files), "dim"),
        render_heading("Values"),
        _make_value_table(one),
        render_heading("Sections by priority (unused tokens go to the next)"),
        _make_section_table(one.claims),
        render_text(f"never shortened: {', '.join(REQUIRED_SECTIONS)}", "dim"),
    ]
    if made.phases and not one.phase:
        parts += [
            render_heading("Phases"),
            render_fields(
                (phase.name, render_text(f"max {phase.steps} steps" + _describe_difference(made, phase))) for phase in made.phases
            ),
        ]
    for key, value in guidance:
        parts += [render_heading(key), render_text(_format_place(value), "dim"), render_text(str(value.value))]
    return Group(*parts)


SHOWN_KEYS = ("ceiling", "reserve", "tools", "kind", "weights", "compaction")


def _make_value_table(one: TemplateDetails) -> RenderableType:
    made = one.template
    table = make_table("key|value|from")
    for value in one.values:
        if value.key.split(".")[0] in SHOWN_KEYS or value.key.endswith("steps"):
            held = ", ".join(value.value) if isinstance(value.value, list) else f"{value.value}"
            table.add_row(render_text(value.key), render_text(held or "none"), render_text(_format_place(value), "dim"))
    room = f"{one.room:,} of {made.ceiling:,} tokens" + ("" if one.phase or not made.phases else ", in the tightest phase")
    table.add_row("space for sections", room, render_text("computed", "dim"))
    return table


def _format_place(value: SourcedTemplateValue) -> str:
    return f"{value.file}:{value.line}"


def _make_section_table(claims: Sequence[SectionClaim]) -> RenderableType:
    table = make_table("section|tier|>share|>cap|from")
    for claim in claims:
        share, never = claim.share, claim.share.tier.name == "NEVER"
        part, cap = ("", "") if never else (f"{share.part:.0%}", f"{share.cap:.0%}" if share.cap < 1 else "")
        table.add_row(
            render_text(share.section),
            render_text(share.tier.name.lower(), "dim"),
            part,
            cap,
            render_text(", ".join(claim.places), "dim"),
        )
    return table


def _describe_difference(made: Template, phase: PhaseTemplate) -> str:
    usual = {share.section: share for share in made.shares}
    other = [f"{share.section} {share.part:.0%}" for share in phase.shares if usual.get(share.section) != share]
    other += [f"reserve {phase.reserve:.0%}"] if phase.reserve != made.reserve else []
    other += [f"tools {', '.join(phase.tools)}"] if phase.tools != made.tools else []
    return f"; {', '.join(other)}" if other else ""


def template_faults_to_json(looked: Sequence[str], faults: Sequence[FileFault]) -> dict[str, Any]:
    rows = [{"file": f.file, "line": f.line, "key": f.key, "what": f.what, "next": f.next} for f in faults]
    return {"ok": not faults, "files": list(looked), "faults": rows}


def render_template_faults(looked: Sequence[str], faults: Sequence[FileFault]) -> RenderableType:
    lines = [
        Text.assemble(
            (f"{fault.file}:{fault.line}", "bold"),
            ": ",
            render_text(f"{fault.key + ': ' if fault.key else ''}{fault.what}"),
            render_text(f"\n  → {fault.next}" if fault.next else "", "cyan"),
        )
        for fault in faults
    ]
    words = f"{format_count(len(looked), 'template')}, {format_count(len(faults), 'error')}"
    return Group(*lines, render_text(words, "red" if faults else "green"))
