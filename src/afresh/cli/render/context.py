"""Renders one call, and the difference between two calls."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.text import Text

from afresh.cli.render.parts import make_table, render_diff, render_gauge, render_heading, render_text, render_word
from afresh.context.explain import NameExplanation
from afresh.context.measure_yield import SectionYield
from afresh.core.change import Change
from afresh.core.prompt import CallAudit, Omission, PromptOrigin, Section
from afresh.views.model_calls import call_diff_to_json, call_to_json, compute_token_share

MAX_BAR_COLUMNS = 24
TIER_WORDS = {"always": "always", "phase": "in this phase", "demand": "as needed"}


def render_call(
    audit: CallAudit,
    sections: Sequence[Section],
    omitted: Sequence[Omission],
    step: int = 0,
    reported: int = 0,
    drawn: Sequence[SectionYield] = (),
) -> RenderableType:
    """Render gauge, sections and omissions. `drawn` is what replies drew on, section by section."""
    data = call_to_json(audit, sections, omitted, step, reported, drawn)
    parts: list[RenderableType] = [
        render_heading(f"Call of step {step}" if step else "Call"),
        render_gauge(audit, width=40),
        render_text(_describe_estimate(audit, reported), "red" if reported + audit.reserve > audit.budget else ""),
        render_text(f"{max(0, audit.demand - audit.reserve):,} tokens are always included, {data['headroom']:,} are free", "dim"),
        render_heading("Sections"),
        _render_sections(data),
    ]
    if audit.compactions:
        parts += [
            render_heading("Shortened to fit"),
            make_table(
                "section|>tokens saved|removed",
                (
                    [render_text(one.section), f"{one.tokens:,}", render_text(", ".join(one.removed), "dim")]
                    for one in audit.compactions
                ),
            ),
        ]
    shortened = {f"compacted: {one.strategy}" for one in audit.compactions}
    if left_out := [one for one in omitted if one.reason not in shortened]:
        parts += [
            render_heading("Left out"),
            make_table(
                "section|what|>tokens|why",
                (
                    [
                        render_text(omission.section),
                        render_text(omission.what),
                        f"{omission.tokens:,}",
                        render_text(omission.reason, "dim"),
                    ]
                    for omission in left_out
                ),
            ),
        ]
    return Group(*parts)


def render_prompt_origin(step: int, origin: PromptOrigin) -> RenderableType:
    """Render how the prompt came about; nothing for calls recorded before prompts were extended."""
    if not origin.why:
        return render_text("")
    made = f"the prompt of step {origin.base} with {step - origin.base} later steps appended" if origin.base else "built anew"
    return render_text(f"{made}: {origin.why}", "dim")


def render_whole_call(
    origin: PromptOrigin, shown: tuple[Any, ...], usage: RenderableType, sections: Sequence[Section]
) -> RenderableType:
    """Render how the call came about, its figures and its text."""
    texts = [part for section in sections for part in _render_section(section)]
    return Group(render_prompt_origin(shown[3], origin), render_call(*shown), usage, *texts)


def render_call_diff(before: Sequence[Section], after: Sequence[Section], steps: tuple[int, int] = (0, 0)) -> RenderableType:
    data = call_diff_to_json(before, after, steps)
    table = make_table(f"section|compared|>step {steps[0]}|>step {steps[1]}|>delta")
    for row in data["sections"]:
        delta = f"{row['delta']:+,}" if row["delta"] else ""
        table.add_row(
            render_text(row["name"]),
            render_word(row["compared"]),
            _format_count(row["before"]),
            _format_count(row["after"]),
            delta,
        )
    parts: list[RenderableType] = [table, render_text(f"{data['delta']:+,} tokens in total", "dim")]
    for row in data["sections"]:
        if row["diff"]:
            parts += [render_heading(row["name"]), render_diff([Change("", "", patch=row["diff"])], 400)[0]]
    return Group(*parts)


def _describe_estimate(audit: CallAudit, reported: int) -> str:
    """Describe the estimated and the reported tokens, and their difference."""
    if not reported:
        return f"estimated {audit.tokens:,} tokens"
    off = (reported - audit.tokens) * 100 / audit.tokens if audit.tokens else 0
    return f"estimated {audit.tokens:,} tokens, reported {reported:,} ({off:+.0f} %)"


def _render_sections(data: dict[str, Any]) -> RenderableType:
    rows = [(row["name"], row["tier"], row["tokens"], row["share"], row["drawn_on"]) for row in data["sections"]]
    if data["framing"] > 0:
        share = compute_token_share(data["framing"], data["tokens"])
        rows.append(("overhead", "tools, framing", data["framing"], share, None))
    known = any(row["drawn_on"] is not None for row in data["sections"])
    table = make_table(f"section|included|>tokens|>share|{'>drawn on|' if known else ''}")
    for name, tier, tokens, share, drawn in rows:
        used = [("" if drawn is None else f"{drawn:.0%}")] if known else []
        table.add_row(
            render_text(name),
            render_text(TIER_WORDS.get(str(tier), str(tier)), "dim"),
            f"{tokens:,}",
            f"{share:.0%}",
            *used,
            _draw_share_bar(share),
        )
    return table


def _draw_share_bar(share: float) -> Text:
    """Draw the section's share of the call as a bar."""
    eighths = min(8 * MAX_BAR_COLUMNS, max(1, round(share * 8 * MAX_BAR_COLUMNS)))
    return Text("█" * (eighths // 8) + "▏▎▍▌▋▊▉"[eighths % 8 - 1] * bool(eighths % 8), style="cyan")


def _render_section(section: Section) -> list[RenderableType]:
    return [Rule(render_text(f"{section.name}, {section.tokens:,} tokens", "dim"), style="dim"), render_text(section.text)]


def _format_count(tokens: int | None) -> str:
    return "" if tokens is None else f"{tokens:,}"


MAX_TABLE_ROWS = 12


def name_explanation_to_json(why: NameExplanation) -> dict[str, Any]:
    return asdict(why) | {"shown": bool(why.places), "recall": why.recall or None}


def render_name_explanation(why: NameExplanation) -> RenderableType:
    word = ("in", "green") if why.places else ("not in", "yellow")
    parts: list[RenderableType] = [
        Text.assemble(("\n" + render_text(why.name).plain, "bold"), " is ", word, f" the call of step {why.step} of {why.task}")
    ]
    parts += _render_name_places(why) if why.places else [render_text(why.reason)]
    if why.last:
        span = f"step {why.last}" if why.first == why.last else f"step {why.last} last, step {why.first} first"
        parts.append(render_text(f"earlier it was in the call of {span}", "dim"))
    if why.omissions:
        parts += [
            render_heading("Left out of this call"),
            make_table(
                "section|what|>tokens|why",
                (
                    [
                        render_text(gone.section),
                        render_text(gone.what, limit=80),
                        f"{gone.tokens:,}",
                        render_text(gone.reason, "dim"),
                    ]
                    for gone in why.omissions[:MAX_TABLE_ROWS]
                ),
            ),
        ]
    if why.copies:
        parts += [render_heading("Archived texts that contain it"), _render_copies(why)]
        parts.append(render_text(f"the agent gets it back with {why.recall}", "dim"))
    return Group(*parts)


def _render_name_places(why: NameExplanation) -> list[RenderableType]:
    table = make_table(
        "section|>line|from|text",
        (
            [render_text(place.section), str(place.line), render_text(place.origin, "dim", 60), render_text(place.text, limit=90)]
            for place in why.places[:MAX_TABLE_ROWS]
        ),
    )
    more = Counter(place.section for place in why.places[MAX_TABLE_ROWS:])
    told = ", ".join(f"{count} in {name}" for name, count in more.items())
    return [table, *([render_text(f"… and {told}", "dim")] if more else [])]


def _render_copies(why: NameExplanation) -> RenderableType:
    table = make_table("id|>step|kind|of|in memory")
    for copy in why.copies:
        memory = f"until step {copy.forgotten}" if copy.forgotten else "yes"
        table.add_row(copy.block[:8], str(copy.step), copy.kind, render_text(copy.subject, limit=60), render_text(memory, "dim"))
    return table
