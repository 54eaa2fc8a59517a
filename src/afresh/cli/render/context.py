"""One call, the difference between two calls, and why a name is in one."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from afresh.cli.render.draw_diff import list_diff_lines
from afresh.cli.render.widgets import WORD_STYLES, draw_gauge
from afresh.context.explain import NameExplanation
from afresh.context.measure_yield import SectionYield
from afresh.core.prompt import CallAudit, Omission, PromptOrigin, Section
from afresh.core.truncate import to_one_line
from afresh.views.model_calls import call_diff_to_json, call_to_json, compute_token_share
from afresh.views.page import Block, Heading, Line, Page, Rule, Table

MAX_BAR_COLUMNS = 24
MAX_DIFF_LINES = 400
MAX_TABLE_ROWS = 12
TIER_WORDS = {"always": "always", "phase": "in this phase", "demand": "as needed"}


def build_call(
    audit: CallAudit,
    sections: Sequence[Section],
    omitted: Sequence[Omission],
    step: int = 0,
    reported: int = 0,
    drawn: Sequence[SectionYield] = (),
) -> Page:
    """Build gauge, sections and omissions. `drawn` is what replies drew on, section by section."""
    data = call_to_json(audit, sections, omitted, step, reported, drawn)
    over = "red" if reported + audit.reserve > audit.budget else ""
    blocks: list[Block] = [
        Heading(f"Call of step {step}" if step else "Call"),
        draw_gauge(audit, width=40),
        [(_describe_estimate(audit, reported), over)],
        [(f"{max(0, audit.demand - audit.reserve):,} tokens are always included, {data['headroom']:,} are free", "dim")],
        Heading("Sections"),
        _make_section_table(data),
    ]
    if audit.compactions:
        rows = [
            [compaction.section, f"{compaction.tokens:,}", [(", ".join(compaction.removed), "dim")]]
            for compaction in audit.compactions
        ]
        blocks += [Heading("Shortened to fit"), Table("section|>tokens saved|removed", rows)]
    shortened = {f"compacted: {compaction.strategy}" for compaction in audit.compactions}
    if left_out := [omission for omission in omitted if omission.reason not in shortened]:
        rows = [[omission.section, omission.what, f"{omission.tokens:,}", [(omission.reason, "dim")]] for omission in left_out]
        blocks += [Heading("Left out"), Table("section|what|>tokens|why", rows)]
    return Page(data, blocks)


def describe_origin(step: int, origin: PromptOrigin) -> list[Block]:
    """Describe how the prompt came about; nothing for calls recorded before prompts were extended."""
    text = f"the prompt of step {origin.base} with {step - origin.base} later steps appended" if origin.base else "built anew"
    return [[(f"{text}: {origin.why}", "dim")]] if origin.why else []


def list_section_texts(sections: Sequence[Section]) -> list[Block]:
    return [
        part for section in sections for part in (Rule([(f"{section.name}, {section.tokens:,} tokens", "dim")]), section.text)
    ]


def build_call_diff(before: Sequence[Section], after: Sequence[Section], steps: tuple[int, int] = (0, 0)) -> Page:
    data = call_diff_to_json(before, after, steps)
    rows = [
        [row["name"], [(row["compared"], WORD_STYLES.get(row["compared"], "dim"))], _format_count(row["before"]),
         _format_count(row["after"]), f"{row['delta']:+,}" if row["delta"] else ""]
        for row in data["sections"]
    ]  # fmt: skip
    table = Table(f"section|compared|>step {steps[0]}|>step {steps[1]}|>delta", rows)
    blocks: list[Block] = [table, [(f"{data['delta']:+,} tokens in total", "dim")]]
    for row in data["sections"]:
        if row["diff"]:
            blocks += [Heading(row["name"]), *list_diff_lines([row["diff"]], MAX_DIFF_LINES)[0]]
    return Page(data, blocks)


def _describe_estimate(audit: CallAudit, reported: int) -> str:
    """Describe the estimated and the reported tokens, and their difference."""
    if not reported:
        return f"estimated {audit.tokens:,} tokens"
    off = (reported - audit.tokens) * 100 / audit.tokens if audit.tokens else 0
    return f"estimated {audit.tokens:,} tokens, reported {reported:,} ({off:+.0f} %)"


def _make_section_table(data: dict[str, Any]) -> Table:
    rows = [(row["name"], row["tier"], row["tokens"], row["share"], row["drawn_on"]) for row in data["sections"]]
    if data["framing"] > 0:
        share = compute_token_share(data["framing"], data["tokens"])
        rows.append(("overhead", "tools, framing", data["framing"], share, None))
    known = any(row["drawn_on"] is not None for row in data["sections"])
    cells = [
        [name, [(TIER_WORDS.get(str(tier), str(tier)), "dim")], f"{tokens:,}", f"{share:.0%}",
         *(["" if drawn is None else f"{drawn:.0%}"] if known else []), _draw_share_bar(share)]
        for name, tier, tokens, share, drawn in rows
    ]  # fmt: skip
    return Table(f"section|included|>tokens|>share|{'>drawn on|' if known else ''}", cells)


def _draw_share_bar(share: float) -> Line:
    """Draw the section's share of the call as a bar."""
    eighths = min(8 * MAX_BAR_COLUMNS, max(1, round(share * 8 * MAX_BAR_COLUMNS)))
    return [("█" * (eighths // 8) + "▏▎▍▌▋▊▉"[eighths % 8 - 1] * bool(eighths % 8), "cyan")]


def _format_count(tokens: int | None) -> str:
    return "" if tokens is None else f"{tokens:,}"


def build_name_explanation(why: NameExplanation) -> Page:
    word = ("in", "green") if why.places else ("not in", "yellow")
    blocks: list[Block] = [[(f"\n{why.name!r}", "bold"), (" is ", ""), word, (f" the call of step {why.step} of {why.task}", "")]]
    blocks += _list_name_places(why) if why.places else [why.reason]
    if why.last:
        span = f"step {why.last}" if why.first == why.last else f"step {why.last} last, step {why.first} first"
        blocks.append([(f"earlier it was in the call of {span}", "dim")])
    if why.omissions:
        omissions = [
            [omission.section, to_one_line(omission.what, 80), f"{omission.tokens:,}", [(omission.reason, "dim")]]
            for omission in why.omissions[:MAX_TABLE_ROWS]
        ]
        blocks += [Heading("Left out of this call"), Table("section|what|>tokens|why", omissions)]
    if why.copies:
        copies = [
            [copy.block[:8], str(copy.step), copy.kind, to_one_line(copy.subject, 60),
             [(f"until step {copy.forgotten}" if copy.forgotten else "yes", "dim")]]
            for copy in why.copies
        ]  # fmt: skip
        blocks += [Heading("Archived texts that contain it"), Table("id|>step|kind|of|in memory", copies)]
        blocks.append([(f"the agent gets it back with {why.recall}", "dim")])
    return Page(asdict(why) | {"shown": bool(why.places), "recall": why.recall or None}, blocks)


def _list_name_places(why: NameExplanation) -> list[Block]:
    rows = [
        [
            occurrence.section,
            str(occurrence.line),
            [(to_one_line(occurrence.origin, 60), "dim")],
            to_one_line(occurrence.text, 90),
        ]
        for occurrence in why.places[:MAX_TABLE_ROWS]
    ]
    more = Counter(place.section for place in why.places[MAX_TABLE_ROWS:])
    others = ", ".join(f"{count} in {name}" for name, count in more.items())
    return [Table("section|>line|from|text", rows), *([[(f"… and {others}", "dim")]] if more else [])]
