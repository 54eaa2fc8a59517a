"""One call as it was sent, and two calls side by side."""

from collections.abc import Sequence
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

from afresh.cli.views.parts import render_diff, render_gauge, render_heading, make_table, render_text, render_word
from afresh.domain.change import Change
from afresh.domain.pressure import pressure_from_demand
from afresh.domain.text import escape_hidden
from afresh.domain.window import CallAudit, SectionCompaction, Omission, Section

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

MAX_BAR_COLUMNS = 24


def call_to_json(
    audit: CallAudit, sections: Sequence[Section], omitted: Sequence[Omission], step: int = 0, reported: int = 0
) -> dict[str, Any]:
    """`reported` is the provider's own count; 0 when there is none."""
    named = sum(section.tokens for section in sections)
    return {
        "step": step,
        "hash": audit.hash,
        "budget": audit.budget,
        "tokens": audit.tokens,
        "reported": reported or None,
        "demand": audit.demand,
        "unmet": audit.unmet,
        "pressure": pressure_from_demand(audit.demand, audit.budget).value,
        "model": audit.model,
        "reserve": audit.reserve,
        "headroom": audit.budget - audit.reserve - audit.tokens,
        "counter": audit.counter,
        "framing": audit.tokens - named,
        "sections": [
            {
                "name": s.name,
                "tier": s.tier.name.lower(),
                "tokens": s.tokens,
                "share": compute_token_share(s.tokens, audit.tokens),
                "text": s.text,
            }
            for s in sections
        ],
        "compactions": [
            {"strategy": c.strategy, "section": c.section, "removed": list(c.removed), "tokens": c.tokens}
            for c in audit.compactions
        ],
        "omitted": [{"section": o.section, "what": o.what, "tokens": o.tokens, "reason": o.reason} for o in omitted],
    }


def render_call(
    audit: CallAudit,
    sections: Sequence[Section],
    omitted: Sequence[Omission],
    step: int = 0,
    texts: bool = True,
    reported: int = 0,
) -> "RenderableType":
    """Gauge, sections, omissions; then the exact text of each section unless `texts` is off."""
    from rich.console import Group

    data = call_to_json(audit, sections, omitted, step, reported)
    parts: list[RenderableType] = [
        render_heading(f"Call of step {step}" if step else "Call"),
        render_gauge(audit.tokens, audit.budget, audit.reserve, width=40),
        render_text(_describe_estimate(audit, reported), "red" if reported + audit.reserve > audit.budget else ""),
        render_text(f"{data['pressure']} pressure: {data['demand']:,} of {audit.budget:,} tokens are never left out", "dim"),
        render_text(f"{data['headroom']:,} tokens free, sha256 {audit.hash[:16]}", "dim"),
        render_heading("Sections"),
        _render_sections(data),
    ]
    if audit.compactions:
        parts += [render_heading("Compacted, cheapest first"), _render_compactions(audit.compactions)]
    if omitted:
        parts += [render_heading("Left out"), _render_omissions(omitted)]
    return Group(*parts, render_section_texts(sections if texts else ()))


def render_section_texts(sections: Sequence[Section]) -> "RenderableType":
    from rich.console import Group

    return Group(*(part for section in sections for part in _render_section(section)))


def call_diff_to_json(before: Sequence[Section], after: Sequence[Section], steps: tuple[int, int] = (0, 0)) -> dict[str, Any]:
    old, new = _name_sections(before), _name_sections(after)
    rows = [_compare_sections(name, old.get(name), new.get(name)) for name in dict.fromkeys((*old, *new))]
    return {"steps": list(steps), "sections": rows, "delta": sum(row["delta"] for row in rows)}


def render_call_diff(before: Sequence[Section], after: Sequence[Section], steps: tuple[int, int] = (0, 0)) -> "RenderableType":
    from rich.console import Group

    data = call_diff_to_json(before, after, steps)
    table = make_table("section", "compared", f">step {steps[0]}", f">step {steps[1]}", ">delta")
    for row in data["sections"]:
        delta = f"{row['delta']:+,}" if row["delta"] else ""
        table.add_row(
            render_text(row["name"]),
            render_word(row["compared"]),
            _format_count(row["before"]),
            _format_count(row["after"]),
            delta,
        )
    parts: list[RenderableType] = [table, render_text(f"{data['delta']:+,} tokens in all", "dim")]
    for row in data["sections"]:
        if row["diff"]:
            parts += [render_heading(row["name"]), render_diff([Change("", "", patch=row["diff"])], 400)[0]]
    return Group(*parts)


def _describe_estimate(audit: CallAudit, reported: int) -> str:
    """Both figures, and by how much the provider's differs."""
    if not reported:
        return f"estimated {audit.tokens:,} tokens"
    off = (reported - audit.tokens) * 100 / audit.tokens if audit.tokens else 0
    return f"estimated {audit.tokens:,} tokens, reported {reported:,} ({off:+.0f} %)"


def _render_sections(data: dict[str, Any]) -> "RenderableType":
    table = make_table("section", "tier", ">tokens", ">share", "")
    for row in data["sections"]:
        share = f"{row['share']:.0%}"
        table.add_row(
            render_text(row["name"]), render_text(row["tier"], "dim"), f"{row['tokens']:,}", share, _draw_share_bar(row["share"])
        )
    if data["framing"] > 0:
        share = compute_token_share(data["framing"], data["tokens"])
        table.add_row(
            "around them", render_text("tools, framing", "dim"), f"{data['framing']:,}", f"{share:.0%}", _draw_share_bar(share)
        )
    return table


def _draw_share_bar(share: float) -> "Text":
    """The share of the call as a length, so that the largest section is found at a glance."""
    from rich.text import Text

    eighths = min(8 * MAX_BAR_COLUMNS, max(1, round(share * 8 * MAX_BAR_COLUMNS)))
    return Text("█" * (eighths // 8) + "▏▎▍▌▋▊▉"[eighths % 8 - 1] * bool(eighths % 8), style="cyan")


def _render_compactions(compactions: Sequence[SectionCompaction]) -> "RenderableType":
    table = make_table("strategy", "section", ">tokens won", "removed")
    for one in compactions:
        table.add_row(
            render_text(one.strategy), render_text(one.section), f"{one.tokens:,}", render_text(", ".join(one.removed), "dim")
        )
    return table


def _render_omissions(omitted: Sequence[Omission]) -> "RenderableType":
    table = make_table("section", "what", ">tokens", "why")
    for omission in omitted:
        table.add_row(
            render_text(omission.section), render_text(omission.what), f"{omission.tokens:,}", render_text(omission.reason, "dim")
        )
    return table


def _render_section(section: Section) -> list["RenderableType"]:
    from rich.rule import Rule

    return [Rule(render_text(f"{section.name}, {section.tokens:,} tokens", "dim"), style="dim"), render_text(section.text)]


def _name_sections(sections: Sequence[Section]) -> dict[str, Section]:
    """By name; a second section of one name gets a number."""
    named: dict[str, Section] = {}
    for section in sections:
        count = sum(other.name == section.name for other in named.values())
        named[section.name if not count else f"{section.name} ({count + 1})"] = section
    return named


def _compare_sections(name: str, old: Section | None, new: Section | None) -> dict[str, Any]:
    before, after = old.tokens if old else None, new.tokens if new else None
    compared = "added" if old is None else "removed" if new is None else "unchanged" if old.text == new.text else "changed"
    patch = ""
    if old and new and compared == "changed":
        lines = unified_diff(
            escape_hidden(old.text).split("\n"), escape_hidden(new.text).split("\n"), "before", "after", lineterm="", n=2
        )
        patch = "\n".join(lines)
    return {
        "name": name,
        "compared": compared,
        "before": before,
        "after": after,
        "delta": (after or 0) - (before or 0),
        "diff": patch,
    }


def compute_token_share(tokens: int, total: int) -> float:
    return round(tokens / total, 4) if total else 0.0


def _format_count(tokens: int | None) -> str:
    return "" if tokens is None else f"{tokens:,}"
