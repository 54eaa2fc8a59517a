"""Templates: a list, one with the file behind every value, and faults."""

from collections.abc import Sequence
from dataclasses import asdict

from afresh.app.inspect.inspect_templates import SectionClaim, SourcedTemplateValue, TemplateDetails, TemplateRow
from afresh.config.yaml_reader import FileFault
from afresh.core.codec import to_plain_value
from afresh.core.template import REQUIRED_SECTIONS, PhaseTemplate, Template
from afresh.core.text import format_count
from afresh.views.page import Block, Fields, Heading, Line, Page, Table

SHOWN_KEYS = ("limit", "reserve", "tools", "kind", "weights", "compaction")


def build_template_list(rows: Sequence[TemplateRow]) -> Page:
    use = "\nUse: afresh run --type TYPE. Details: afresh template TYPE. In brackets: internal calls."
    return Page([asdict(row) for row in rows], [Table("type|about|>limit|from", [*map(_list_cells, rows)]), [(use, "dim")]])


def _list_cells(row: TemplateRow) -> list[Line]:
    about = [(f"unusable: line {row.fault}", "red")] if row.fault else row.about
    origin = (row.origin, "dim") if row.origin == "shipped" else (f"{row.origin}: {row.file}", "cyan")
    name = row.name if row.kind == "work" else [(f"({row.name})", "dim")]
    return [name, about, f"{row.ceiling:,}" if row.ceiling else "", [origin]]


def build_template(details: TemplateDetails) -> Page:
    template, layout = details.template, details.template.at(details.phase)
    data = {
        "name": template.type, "kind": template.kind, "about": template.about, "family": details.family,
        "files": list(details.files),
        "ceiling": template.ceiling, "room": details.room, "phase": details.phase,
        "phases": [phase.name for phase in template.phases],
        "layout": to_plain_value(layout) if details.phase else None, "values": [asdict(value) for value in details.values],
    }  # fmt: skip
    blocks: list[Block] = [
        [(template.type, "bold"), (f", phase {details.phase}" if details.phase else "", ""), (f"\n{template.about}", "")],
        Heading("Values"),
        Table("key|value|from", _list_value_rows(details)),
        Heading("Sections by priority (unused tokens go to the next)"),
        Table("section|tier|>share|>cap|from", [*map(_list_section_cells, details.claims)]),
        [(f"never shortened: {', '.join(REQUIRED_SECTIONS)}", "dim")],
    ]
    if template.phases and not details.phase:
        phases = [(phase.name, f"max {phase.steps} steps{_describe_difference(template, phase)}") for phase in template.phases]
        blocks += [Heading("Phases"), Fields(phases)]
    for value in details.values:
        if value.key.endswith(("guidance", "opening")) and value.value:
            blocks += [Heading(value.key), [(_format_place(value), "dim")], str(value.value)]
    return Page(data, blocks)


def _list_value_rows(details: TemplateDetails) -> list[list[Line]]:
    rows: list[list[Line]] = []
    for value in details.values:
        if value.key.split(".")[0] in SHOWN_KEYS or value.key.endswith("steps"):
            text = ", ".join(value.value) if isinstance(value.value, list) else f"{value.value}"
            rows.append([value.key, text or "none", [(_format_place(value), "dim")]])
    tightest = "" if details.phase or not details.template.phases else ", in the tightest phase"
    space = f"{details.room:,} of {details.template.ceiling:,} tokens{tightest}"
    return [*rows, ["space for sections", space, [("computed", "dim")]]]


def _format_place(value: SourcedTemplateValue) -> str:
    return f"{value.file}:{value.line}"


def _list_section_cells(claim: SectionClaim) -> list[Line]:
    share, never = claim.share, claim.share.tier.name == "NEVER"
    part, cap = ("", "") if never else (f"{share.part:.0%}", f"{share.cap:.0%}" if share.cap < 1 else "")
    return [share.section, [(share.tier.name.lower(), "dim")], part, cap, [(", ".join(claim.places), "dim")]]


def _describe_difference(template: Template, phase: PhaseTemplate) -> str:
    usual = {share.section: share for share in template.shares}
    other = [f"{share.section} {share.part:.0%}" for share in phase.shares if usual.get(share.section) != share]
    other += [f"reserve {phase.reserve:.0%}"] if phase.reserve != template.reserve else []
    other += [f"tools {', '.join(phase.tools)}"] if phase.tools != template.tools else []
    return f"; {', '.join(other)}" if other else ""


def build_template_faults(checked: Sequence[str], faults: Sequence[FileFault]) -> Page:
    rows = [{"file": f.file, "line": f.line, "key": f.key, "what": f.what, "next": f.next} for f in faults]
    counts = f"{format_count(len(checked), 'template')}, {format_count(len(faults), 'error')}"
    blocks = [*map(describe_fault, faults), [(counts, "red" if faults else "green")]]
    return Page({"ok": not faults, "files": list(checked), "faults": rows}, blocks, int(bool(faults)))


def describe_fault(fault: FileFault) -> Line:
    what = f": {fault.key + ': ' if fault.key else ''}{fault.what}"
    return [(f"{fault.file}:{fault.line}", "bold red"), (what, ""), (f"\n  → {fault.next}" if fault.next else "", "cyan")]
