"""Where a name stands in a call, or why it does not."""

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from afresh.cli.views.parts import fields, heading, listing, said
from afresh.domain.why import Chance, Why

if TYPE_CHECKING:
    from rich.console import RenderableType

SHOWN = 12
PARTS = 6


def context_why_json(why: Why) -> dict[str, Any]:
    plain = asdict(why)
    plain["chances"] = [asdict(one) | {"parts": dict(one.parts), "probability": round(one.probability, 6)} for one in why.chances]
    return plain | {"shown": bool(why.places), "recall": why.recall or None}


def context_why(why: Why) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    word = ("in", "green") if why.places else ("not in", "yellow")
    parts: list[RenderableType] = [
        Text.assemble(("\n" + said(why.name).plain, "bold"), " is ", word, f" the call of step {why.step} of {why.task}")
    ]
    parts += _places(why) if why.places else [said(why.reason)]
    if why.last:
        span = f"step {why.last}" if why.first == why.last else f"step {why.last} last, step {why.first} first"
        parts.append(said(f"before that it was in the call of {span}", "dim"))
    if why.omissions:
        parts += [heading("Left out of this call"), _omitted(why)]
    if why.chances:
        parts += [heading("How likely the next action needs it"), *[part for one in why.chances for part in _chance(one)]]
    if why.copies:
        parts += [heading("Archived texts that hold it"), _copies(why)]
        parts.append(said(f"the agent gets it back with {why.recall}", "dim"))
    return Group(*parts)


def _places(why: Why) -> list["RenderableType"]:
    table = listing("section", ">line", "from", "text")
    for place in why.places[:SHOWN]:
        table.add_row(said(place.section), str(place.line), said(place.origin, "dim", 60), said(place.text, limit=90))
    more = Counter(place.section for place in why.places[SHOWN:])
    told = ", ".join(f"{count} in {name}" for name, count in more.items())
    return [table, *([said(f"… and {told}", "dim")] if more else [])]


def _omitted(why: Why) -> "RenderableType":
    table = listing("section", "what", ">tokens", "why")
    for gone in why.omissions[:SHOWN]:
        table.add_row(said(gone.section), said(gone.what, limit=80), f"{gone.tokens:,}", said(gone.reason, "dim"))
    return table


def _chance(one: Chance) -> list["RenderableType"]:
    """The figure, then what speaks for and against it, the weightiest first."""
    weighty = sorted(one.parts, key=lambda part: -abs(part[1]))
    told = ", ".join(f"{name.replace('_', ' ')} {value:+.2f}" for name, value in weighty[:PARTS])
    rest = sum(value for _, value in weighty[PARTS:])
    steps = f"{one.age} step{'s' if one.age != 1 else ''} before the call"
    voice = f"{'an' if one.voice[0] in 'aeiou' else 'a'} {one.voice}"
    return [
        said(f"{one.kind} {one.what}", limit=100),
        fields([
            ("p", f"{one.probability:.3f}"),
            ("last met", said(f"step {one.step}, in {voice}, {steps}; in {one.used} actions and {one.seen} outputs")),
            ("log-odds", said(told + (f", others {rest:+.2f}" if len(weighty) > PARTS else ""))),
        ]),
    ]  # fmt: skip


def _copies(why: Why) -> "RenderableType":
    table = listing("id", ">step", "kind", "of", "in memory")
    for copy in why.copies:
        memory = f"until step {copy.forgotten}" if copy.forgotten else "yes"
        table.add_row(copy.block[:8], str(copy.step), copy.kind, said(copy.subject, limit=60), said(memory, "dim"))
    return table
