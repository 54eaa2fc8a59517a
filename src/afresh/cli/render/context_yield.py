"""Renders how much of what was sent the replies drew on."""

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType

from afresh.cli.render.parts import make_table, render_text
from afresh.context.measure_yield import CallYield, SectionYield
from afresh.core.text import format_count
from afresh.views.section_yield import (
    is_sent_first,
    order_by_waste,
    share_drawn_on,
    sum_new_sections,
    sum_sent_sections,
    sum_without_system,
)

MAX_UNUSED_SECTIONS = 3


def yield_to_json(calls: Sequence[CallYield]) -> dict[str, Any]:
    sent, new = sum_sent_sections(calls), sum_new_sections(calls)
    return {
        "calls": len(calls),
        "sent": _whole_to_json(sent),
        "new": _whole_to_json(new),
        "sections": {one.name: _part_to_json(one) for one in sent},
        "new_sections": {one.name: _part_to_json(one) for one in new},
        "unused": [one.name for one in _list_unused(sent)],
        "steps": [
            {
                "step": call.step,
                "sent": _whole_to_json(call.sections),
                "new": _whole_to_json(call.new),
                "sections": {one.name: _part_to_json(one) for one in call.sections},
            }
            for call in calls
        ],
    }


def _part_to_json(one: SectionYield) -> dict[str, Any]:
    share = share_drawn_on(one)
    return {"tokens": round(one.tokens), "drawn_on": share if share is None else round(share, 4)}


def _whole_to_json(sections: Sequence[SectionYield]) -> dict[str, Any]:
    counted = sum_without_system(sections)
    tokens = round(sum(one.tokens for one in sections))
    return {"tokens": tokens, "counted": round(counted.tokens), "drawn_on": round(counted.share, 4)}


def _list_unused(sections: Sequence[SectionYield]) -> list[SectionYield]:
    """List the sections with the most tokens that were not drawn on."""
    return [one for one in order_by_waste(sections)[:MAX_UNUSED_SECTIONS] if not is_sent_first(one.name)]


def render_yield(calls: Sequence[CallYield]) -> RenderableType:
    if not calls:
        return render_text("no call has been answered yet")
    sent, new = sum_sent_sections(calls), sum_new_sections(calls)
    first = {one.name: one for one in new}
    whole = sum(sent, SectionYield(""))
    table = make_table("section|>tokens|>of all|>drawn on|>new text|>drawn on")
    for one in sent:
        of_all = one.tokens / whole.tokens if whole.tokens else 0.0
        table.add_row(render_text(one.name), *_format_part(one, of_all), *_format_part(first.get(one.name)))
    unused = ", ".join(f"{one.name} {one.tokens - one.drawn:,.0f}" for one in _list_unused(sent))
    return Group(
        render_text(_describe_whole(calls, sent, new)),
        table,
        render_text(f"most tokens not drawn on: {unused}"),
        render_text(
            "drawn on: repeated or named by the reply or the next one; tools and system text, which every call sends, "
            "count in no share; new text: counted once, where it was sent first",
            "dim",
        ),
    )


def _describe_whole(calls: Sequence[CallYield], sent: Sequence[SectionYield], new: Sequence[SectionYield]) -> str:
    counted, first = sum_without_system(sent), sum_without_system(new)
    return (
        f"{format_count(len(calls), 'call')}, {counted.tokens:,.0f} tokens sent beside tools and system text: "
        f"drawn on {counted.share:.0%}\n{first.tokens:,.0f} of them as new text: drawn on {first.share:.0%}"
    )


def _format_part(one: SectionYield | None, of_all: float | None = None) -> list[str]:
    more, share = [] if of_all is None else [f"{of_all:.0%}"], share_drawn_on(one) if one else None
    return [f"{one.tokens:,.0f}" if one else "", *more, "" if share is None else f"{share:.0%}"]
