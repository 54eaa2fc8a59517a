"""Where a name stands in a call, or why it does not."""

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from afresh.cli.views.parts import render_fields, render_heading, make_table, render_text
from afresh.domain.why import NeedEstimate, NameExplanation

if TYPE_CHECKING:
    from rich.console import RenderableType

MAX_TABLE_ROWS = 12
MAX_LOG_ODDS_TERMS = 6


def name_explanation_to_json(why: NameExplanation) -> dict[str, Any]:
    plain = asdict(why)
    plain["chances"] = [asdict(one) | {"parts": dict(one.parts), "probability": round(one.probability, 6)} for one in why.chances]
    return plain | {"shown": bool(why.places), "recall": why.recall or None}


def render_name_explanation(why: NameExplanation) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    word = ("in", "green") if why.places else ("not in", "yellow")
    parts: list[RenderableType] = [
        Text.assemble(("\n" + render_text(why.name).plain, "bold"), " is ", word, f" the call of step {why.step} of {why.task}")
    ]
    parts += _render_name_places(why) if why.places else [render_text(why.reason)]
    if why.last:
        span = f"step {why.last}" if why.first == why.last else f"step {why.last} last, step {why.first} first"
        parts.append(render_text(f"before that it was in the call of {span}", "dim"))
    if why.omissions:
        parts += [render_heading("Left out of this call"), _render_name_omissions(why)]
    if why.chances:
        parts += [
            render_heading("How likely the next action needs it"),
            *[part for one in why.chances for part in _render_chance(one)],
        ]
    if why.copies:
        parts += [render_heading("Archived texts that hold it"), _render_copies(why)]
        parts.append(render_text(f"the agent gets it back with {why.recall}", "dim"))
    return Group(*parts)


def _render_name_places(why: NameExplanation) -> list["RenderableType"]:
    table = make_table("section", ">line", "from", "text")
    for place in why.places[:MAX_TABLE_ROWS]:
        table.add_row(
            render_text(place.section), str(place.line), render_text(place.origin, "dim", 60), render_text(place.text, limit=90)
        )
    more = Counter(place.section for place in why.places[MAX_TABLE_ROWS:])
    told = ", ".join(f"{count} in {name}" for name, count in more.items())
    return [table, *([render_text(f"… and {told}", "dim")] if more else [])]


def _render_name_omissions(why: NameExplanation) -> "RenderableType":
    table = make_table("section", "what", ">tokens", "why")
    for gone in why.omissions[:MAX_TABLE_ROWS]:
        table.add_row(
            render_text(gone.section), render_text(gone.what, limit=80), f"{gone.tokens:,}", render_text(gone.reason, "dim")
        )
    return table


def _render_chance(one: NeedEstimate) -> list["RenderableType"]:
    """The figure, then what speaks for and against it, the weightiest first."""
    weighty = sorted(one.parts, key=lambda part: -abs(part[1]))
    told = ", ".join(f"{name.replace('_', ' ')} {value:+.2f}" for name, value in weighty[:MAX_LOG_ODDS_TERMS])
    rest = sum(value for _, value in weighty[MAX_LOG_ODDS_TERMS:])
    steps = f"{one.age} step{'s' if one.age != 1 else ''} before the call"
    voice = f"{'an' if one.voice[0] in 'aeiou' else 'a'} {one.voice}"
    return [
        render_text(f"{one.kind} {one.what}", limit=100),
        render_fields([
            ("p", f"{one.probability:.3f}"),
            ("last met", render_text(f"step {one.step}, in {voice}, {steps}; in {one.used} actions and {one.seen} outputs")),
            ("log-odds", render_text(told + (f", others {rest:+.2f}" if len(weighty) > MAX_LOG_ODDS_TERMS else ""))),
        ]),
    ]  # fmt: skip


def _render_copies(why: NameExplanation) -> "RenderableType":
    table = make_table("id", ">step", "kind", "of", "in memory")
    for copy in why.copies:
        memory = f"until step {copy.forgotten}" if copy.forgotten else "yes"
        table.add_row(copy.block[:8], str(copy.step), copy.kind, render_text(copy.subject, limit=60), render_text(memory, "dim"))
    return table
