"""How much of what was sent the replies drew on."""

from collections.abc import Sequence
from typing import Any

from afresh.context.measure_yield import CallYield, SectionYield
from afresh.core.text import format_count
from afresh.views.page import Page, Table
from afresh.views.section_yield import (
    is_sent_first,
    order_by_waste,
    share_drawn_on,
    sum_new_sections,
    sum_sent_sections,
    sum_without_system,
)

MAX_UNUSED_SECTIONS = 3
DRAWN_ON_MEANS = (
    "drawn on: repeated or named by the reply or the next one; tools and system text, which every call sends, "
    "count in no share; new text: counted once, where it was sent first"
)


def build_yield(calls: Sequence[CallYield]) -> Page:
    sent, new = sum_sent_sections(calls), sum_new_sections(calls)
    unused = [section for section in order_by_waste(sent)[:MAX_UNUSED_SECTIONS] if not is_sent_first(section.name)]
    data = {
        "calls": len(calls), "sent": _whole_to_json(sent), "new": _whole_to_json(new), "sections": _parts_to_json(sent),
        "new_sections": _parts_to_json(new), "unused": [section.name for section in unused],
        "steps": [
            {"step": call.step, "sent": _whole_to_json(call.sections), "new": _whole_to_json(call.new),
             "sections": _parts_to_json(call.sections)}
            for call in calls
        ],
    }  # fmt: skip
    if not calls:
        return Page(data, "no call has been answered yet")
    first, tokens = (
        {section.name: section for section in new},
        sum(section.tokens for section in sent),
    )
    rows = [
        [
            section.name,
            *_format_part(section, f"{section.tokens / tokens if tokens else 0:.0%}"),
            *_format_part(first.get(section.name)),
        ]
        for section in sent
    ]
    waste = ", ".join(f"{section.name} {section.tokens - section.drawn:,.0f}" for section in unused)
    counted, fresh = sum_without_system(sent), sum_without_system(new)
    whole = (
        f"{format_count(len(calls), 'call')}, {counted.tokens:,.0f} tokens sent beside tools and system text: "
        f"drawn on {counted.share:.0%}\n{fresh.tokens:,.0f} of them as new text: drawn on {fresh.share:.0%}"
    )
    table = Table("section|>tokens|>of all|>drawn on|>new text|>drawn on", rows)
    return Page(data, [whole, table, f"most tokens not drawn on: {waste}", [(DRAWN_ON_MEANS, "dim")]])


def _parts_to_json(sections: Sequence[SectionYield]) -> dict[str, Any]:
    shares = {section.name: share_drawn_on(section) for section in sections}
    return {
        section.name: {
            "tokens": round(section.tokens),
            "drawn_on": None if (share := shares[section.name]) is None else round(share, 4),
        }
        for section in sections
    }


def _whole_to_json(sections: Sequence[SectionYield]) -> dict[str, Any]:
    counted = sum_without_system(sections)
    tokens = round(sum(section.tokens for section in sections))
    return {"tokens": tokens, "counted": round(counted.tokens), "drawn_on": round(counted.share, 4)}


def _format_part(section: SectionYield | None, *of_all: str) -> list[str]:
    share = share_drawn_on(section) if section else None
    return [f"{section.tokens:,.0f}" if section else "", *of_all, "" if share is None else f"{share:.0%}"]
