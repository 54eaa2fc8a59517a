"""Templates: a list, one in full with the file behind every value, and what is wrong with them."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from afresh.cli.views.parts import fields, heading, listing, said
from afresh.domain.codec import encode
from afresh.domain.template import ALWAYS, Phase, Template
from afresh.projections.standing import counted

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from afresh.app.templates import Claim, Fault, Row, Said, Shown


def template_list_json(rows: "Sequence[Row]") -> list[dict[str, Any]]:
    return [asdict(row) for row in rows]


def template_list(rows: "Sequence[Row]") -> "RenderableType":
    from rich.console import Group

    table = listing("type", "about", ">ceiling", "from")
    for row in rows:
        name = said(row.name) if row.kind == "work" else said(f"({row.name})", "dim")
        about = said(f"can't be used: line {row.fault}", "red") if row.fault else said(row.about)
        table.add_row(name, about, f"{row.ceiling:,}" if row.ceiling else "", _origin(row))
    parts = [said("\nafresh run --type TYPE …, afresh template show TYPE. In brackets: calls that are no work on a task.", "dim")]
    return Group(table, *parts)


def _origin(row: "Row") -> "Text":
    return said(row.origin, "dim") if row.origin == "shipped" else said(f"{row.origin}: {row.file}", "cyan")


def template_show_json(one: "Shown") -> dict[str, Any]:
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
        "layout": encode(layout) if one.phase else None,
        "values": [asdict(value) for value in one.values],
    }


def template_show(one: "Shown") -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    made = one.template
    title = Text.assemble((made.type, "bold"), f", phase {one.phase}" if one.phase else "", "\n", said(made.about))
    guidance = [(value.key, value) for value in one.values if value.key.endswith("guidance") and value.value]
    parts: list[RenderableType] = [
        title,
        said("\n" + " ← ".join(one.files), "dim"),
        heading("Values"),
        _values(one),
        heading("Sections, in order of claim; what one leaves goes to the next"),
        _sections(one.claims),
        said(f"always whole: {', '.join(ALWAYS)}", "dim"),
    ]
    if made.phases and not one.phase:
        parts += [heading("Phases"), _phases(made)]
    for key, value in guidance:
        parts += [heading(key), said(_place(value), "dim"), said(str(value.value))]
    return Group(*parts)


TOLD = ("ceiling", "reserve", "tools", "kind", "weights", "compaction")


def _values(one: "Shown") -> "RenderableType":
    made = one.template
    table = listing("key", "value", "from")
    for value in one.values:
        if value.key.split(".")[0] in TOLD or value.key.endswith("steps"):
            held = ", ".join(value.value) if isinstance(value.value, list) else f"{value.value}"
            table.add_row(said(value.key), said(held or "none"), said(_place(value), "dim"))
    room = f"{one.room:,} of {made.ceiling:,} tokens" + ("" if one.phase or not made.phases else ", in the phase with least")
    table.add_row("room for sections", room, said("worked out", "dim"))
    return table


def _place(value: "Said") -> str:
    return f"{value.file}:{value.line}"


def _sections(claims: "Sequence[Claim]") -> "RenderableType":
    table = listing("section", "tier", ">share", ">cap", "from")
    for claim in claims:
        share, never = claim.share, claim.share.tier.name == "NEVER"
        part, cap = ("", "") if never else (f"{share.part:.0%}", f"{share.cap:.0%}" if share.cap < 1 else "")
        table.add_row(said(share.section), said(share.tier.name.lower(), "dim"), part, cap, said(", ".join(claim.places), "dim"))
    return table


def _phases(made: Template) -> "RenderableType":
    """Only what a phase does differently from the type."""
    return fields((phase.name, said(f"at most {phase.steps} steps" + _differs(made, phase))) for phase in made.phases)


def _differs(made: Template, phase: Phase) -> str:
    usual = {share.section: share for share in made.shares}
    other = [f"{share.section} {share.part:.0%}" for share in phase.shares if usual.get(share.section) != share]
    other += [f"reserve {phase.reserve:.0%}"] if phase.reserve != made.reserve else []
    other += [f"tools {', '.join(phase.tools)}"] if phase.tools != made.tools else []
    return f"; {', '.join(other)}" if other else ""


def template_check_json(looked: Sequence[str], faults: "Sequence[Fault]") -> dict[str, Any]:
    rows = [{"file": f.file, "line": f.line, "key": f.key, "what": f.what, "next": f.next} for f in faults]
    return {"ok": not faults, "files": list(looked), "faults": rows}


def template_check(looked: Sequence[str], faults: "Sequence[Fault]") -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    lines = [
        Text.assemble(
            (f"{fault.file}:{fault.line}", "bold"),
            ": ",
            said(f"{fault.key + ': ' if fault.key else ''}{fault.what}"),
            said(f"\n  → {fault.next}" if fault.next else "", "cyan"),
        )
        for fault in faults
    ]
    words = f"{counted(len(looked), 'template')}, {counted(len(faults), 'fault') if faults else 'no fault'}"
    return Group(*lines, said(words, "red" if faults else "green"))
