"""One call as it was sent, and two calls side by side."""

from collections.abc import Sequence
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

from afresh.cli.views.parts import diff, gauge, heading, listing, said, word
from afresh.domain.change import Change
from afresh.domain.pressure import pressure
from afresh.domain.text import visible
from afresh.domain.window import Audit, Compaction, Omission, Section

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

BAR = 24


def context_show_json(
    audit: Audit, sections: Sequence[Section], omitted: Sequence[Omission], step: int = 0, reported: int = 0
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
        "pressure": pressure(audit.demand, audit.budget).value,
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
                "share": _share(s.tokens, audit.tokens),
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


def context_show(
    audit: Audit, sections: Sequence[Section], omitted: Sequence[Omission], step: int = 0, texts: bool = True, reported: int = 0
) -> "RenderableType":
    """Gauge, sections, omissions; then the exact text of each section unless `texts` is off."""
    from rich.console import Group

    data = context_show_json(audit, sections, omitted, step, reported)
    parts: list[RenderableType] = [
        heading(f"Call of step {step}" if step else "Call"),
        gauge(audit.tokens, audit.budget, audit.reserve, width=40),
        said(_estimate(audit, reported), "red" if reported + audit.reserve > audit.budget else ""),
        said(f"{data['pressure']} pressure: {data['demand']:,} of {audit.budget:,} tokens are never left out", "dim"),
        said(f"{data['headroom']:,} tokens free, sha256 {audit.hash[:16]}", "dim"),
        heading("Sections"),
        _sections(data),
    ]
    if audit.compactions:
        parts += [heading("Compacted, cheapest first"), _compacted(audit.compactions)]
    if omitted:
        parts += [heading("Left out"), _omitted(omitted)]
    return Group(*parts, context_texts(sections if texts else ()))


def context_texts(sections: Sequence[Section]) -> "RenderableType":
    from rich.console import Group

    return Group(*(part for section in sections for part in _text(section)))


def context_diff_json(before: Sequence[Section], after: Sequence[Section], steps: tuple[int, int] = (0, 0)) -> dict[str, Any]:
    old, new = _named(before), _named(after)
    rows = [_compared(name, old.get(name), new.get(name)) for name in dict.fromkeys((*old, *new))]
    return {"steps": list(steps), "sections": rows, "delta": sum(row["delta"] for row in rows)}


def context_diff(before: Sequence[Section], after: Sequence[Section], steps: tuple[int, int] = (0, 0)) -> "RenderableType":
    from rich.console import Group

    data = context_diff_json(before, after, steps)
    table = listing("section", "compared", f">step {steps[0]}", f">step {steps[1]}", ">delta")
    for row in data["sections"]:
        delta = f"{row['delta']:+,}" if row["delta"] else ""
        table.add_row(said(row["name"]), word(row["compared"]), _count(row["before"]), _count(row["after"]), delta)
    parts: list[RenderableType] = [table, said(f"{data['delta']:+,} tokens in all", "dim")]
    for row in data["sections"]:
        if row["diff"]:
            parts += [heading(row["name"]), diff([Change("", "", patch=row["diff"])], 400)[0]]
    return Group(*parts)


def _estimate(audit: Audit, reported: int) -> str:
    """Both figures, and by how much the provider's differs."""
    if not reported:
        return f"estimated {audit.tokens:,} tokens"
    off = (reported - audit.tokens) * 100 / audit.tokens if audit.tokens else 0
    return f"estimated {audit.tokens:,} tokens, reported {reported:,} ({off:+.0f} %)"


def _sections(data: dict[str, Any]) -> "RenderableType":
    table = listing("section", "tier", ">tokens", ">share", "")
    for row in data["sections"]:
        share = f"{row['share']:.0%}"
        table.add_row(said(row["name"]), said(row["tier"], "dim"), f"{row['tokens']:,}", share, _bar(row["share"]))
    if data["framing"] > 0:
        share = _share(data["framing"], data["tokens"])
        table.add_row("around them", said("tools, framing", "dim"), f"{data['framing']:,}", f"{share:.0%}", _bar(share))
    return table


def _bar(share: float) -> "Text":
    """The share of the call as a length, so that the largest section is found at a glance."""
    from rich.text import Text

    eighths = min(8 * BAR, max(1, round(share * 8 * BAR)))
    return Text("█" * (eighths // 8) + "▏▎▍▌▋▊▉"[eighths % 8 - 1] * bool(eighths % 8), style="cyan")


def _compacted(compactions: Sequence[Compaction]) -> "RenderableType":
    table = listing("strategy", "section", ">tokens won", "removed")
    for one in compactions:
        table.add_row(said(one.strategy), said(one.section), f"{one.tokens:,}", said(", ".join(one.removed), "dim"))
    return table


def _omitted(omitted: Sequence[Omission]) -> "RenderableType":
    table = listing("section", "what", ">tokens", "why")
    for omission in omitted:
        table.add_row(said(omission.section), said(omission.what), f"{omission.tokens:,}", said(omission.reason, "dim"))
    return table


def _text(section: Section) -> list["RenderableType"]:
    from rich.rule import Rule

    return [Rule(said(f"{section.name}, {section.tokens:,} tokens", "dim"), style="dim"), said(section.text)]


def _named(sections: Sequence[Section]) -> dict[str, Section]:
    """By name; a second section of one name gets a number."""
    named: dict[str, Section] = {}
    for section in sections:
        count = sum(other.name == section.name for other in named.values())
        named[section.name if not count else f"{section.name} ({count + 1})"] = section
    return named


def _compared(name: str, old: Section | None, new: Section | None) -> dict[str, Any]:
    before, after = old.tokens if old else None, new.tokens if new else None
    compared = "added" if old is None else "removed" if new is None else "unchanged" if old.text == new.text else "changed"
    patch = ""
    if old and new and compared == "changed":
        lines = unified_diff(visible(old.text).split("\n"), visible(new.text).split("\n"), "before", "after", lineterm="", n=2)
        patch = "\n".join(lines)
    return {
        "name": name,
        "compared": compared,
        "before": before,
        "after": after,
        "delta": (after or 0) - (before or 0),
        "diff": patch,
    }


def _share(tokens: int, total: int) -> float:
    return round(tokens / total, 4) if total else 0.0


def _count(tokens: int | None) -> str:
    return "" if tokens is None else f"{tokens:,}"
