"""Functions over a limit, as a person reads them."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from afresh.app.violations import Measure, Violation
from afresh.cli.views.parts import said

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

WORDS = {"def": "nested def"}
BAR = 18


def plain(one: Violation) -> dict[str, Any]:
    offer = one.offer
    change = offer and {
        "kind": offer.kind,
        "change": offer.head,
        "before": offer.before,
        "after": offer.after,
        "score": offer.score,
    }
    return {
        "path": one.path, "line": one.line, "function": one.function, "complexity": one.complexity, "depth": one.depth,
        "made_of": one.made_of, "offer": change, "why_not": one.why_not,
        "measures": [{"code": each.code, "name": each.name, "value": each.value, "limit": each.limit} for each in one.measures],
    }  # fmt: skip


def shown(found: Sequence[Violation], number: int, offers: bool) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    if not found:
        return said("No function is over a limit of complexity.", "green")
    parts: list[RenderableType] = []
    for one in found:
        parts += [_head(one), *[_measured(each) for each in one.measures], _made(one)]
        if offers:
            parts.append(_offer(one))
        parts.append(Text(""))
    return Group(*parts, _sum(found, number, offers))


def _head(one: Violation) -> "Text":
    from rich.text import Text

    return Text.assemble(said(one.function, "bold"), "  ", said(f"{one.path}:{one.line}", "cyan"))


def _measured(each: Measure) -> "Text":
    """The limit is a third of the bar, so that three times as much fills it."""
    from rich.text import Text

    filled = min(BAR, round(each.value / max(1, each.limit) * BAR / 3))
    inside = min(filled, BAR // 3)
    style = "red" if each.value >= 2 * each.limit else "yellow"
    bar = (("━" * inside, "dim"), ("━" * (filled - inside), style), ("─" * (BAR - filled), "dim"))
    return Text.assemble("  ", *bar, (f" {each.value:>3}", style), f" {each.name}", (f"  limit {each.limit}  {each.code}", "dim"))


def _made(one: Violation) -> "Text":
    from rich.text import Text

    parts = [f"{count} × {WORDS.get(name, name)}" for name, count in one.made_of.items()]
    deep = f", up to {one.depth} deep" if one.depth > 1 else ""
    return Text(f"  {', '.join(parts) or 'no decision'}{deep}", style="dim")


def _offer(one: Violation) -> "Text":
    from rich.text import Text

    if one.offer is None:
        return Text.assemble(("  ✗ nothing offered: ", "yellow"), said(one.why_not, "yellow"))
    gain = f"{one.offer.before} → {one.offer.after}"
    return Text.assemble(("  ✓ ", "green"), (f"{gain}  ", "bold green"), said(_told(one, one.offer.head)))


def _told(one: Violation, head: str) -> str:
    """Without what stands above it already: function, file and measure."""
    head = head.rpartition(": complexity")[0]
    head = re.sub(rf" of {re.escape(one.function)} in {re.escape(one.path)} \(from `.*?`\)", "", head)
    return head.removeprefix(f"in {one.function} of {one.path}, ")


def _sum(found: Sequence[Violation], number: int, offers: bool) -> "Text":
    from rich.text import Text

    noun = "function is" if number == 1 else "functions are"
    more = f"; the worst {len(found)} are shown (-n shows more)" if number > len(found) else ""
    text = f"{number} {noun} over a limit{more}."
    if offers and (able := sum(one.offer is not None for one in found)):
        text += f" For {able} a change is worked out and checked."
    return Text(text, style="bold")
