"""Functions over a limit, as a person reads them."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from afresh.app.violations import ComplexityMeasure, Violation
from afresh.cli.render.widgets import render_text

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text


NODE_WORDS = {"def": "nested def"}
BAR_COLUMNS = 18


def violation_to_json(one: Violation) -> dict[str, Any]:
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


def render_violations(found: Sequence[Violation], number: int, offers: bool) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    if not found:
        return render_text("No function is over a complexity limit.", "green")
    parts: list[RenderableType] = []
    for one in found:
        parts += [_render_violation_head(one), *[_render_measure(each) for each in one.measures], _describe_makeup(one)]
        if offers:
            parts.append(_render_suggestion(one))
        parts.append(Text(""))
    return Group(*parts, _render_violation_total(found, number, offers))


def _render_violation_head(one: Violation) -> "Text":
    from rich.text import Text

    return Text.assemble(render_text(one.function, "bold"), "  ", render_text(f"{one.path}:{one.line}", "cyan"))


def _render_measure(each: ComplexityMeasure) -> "Text":
    """The limit is a third of the bar, so that three times as much fills it."""
    from rich.text import Text

    filled = min(BAR_COLUMNS, round(each.value / max(1, each.limit) * BAR_COLUMNS / 3))
    inside = min(filled, BAR_COLUMNS // 3)
    style = "red" if each.value >= 2 * each.limit else "yellow"
    bar = (("━" * inside, "dim"), ("━" * (filled - inside), style), ("─" * (BAR_COLUMNS - filled), "dim"))
    return Text.assemble("  ", *bar, (f" {each.value:>3}", style), f" {each.name}", (f"  limit {each.limit}  {each.code}", "dim"))


def _describe_makeup(one: Violation) -> "Text":
    from rich.text import Text

    parts = [f"{count} × {NODE_WORDS.get(name, name)}" for name, count in one.made_of.items()]
    deep = f", up to {one.depth} deep" if one.depth > 1 else ""
    return Text(f"  {', '.join(parts) or 'no decision'}{deep}", style="dim")


def _render_suggestion(one: Violation) -> "Text":
    from rich.text import Text

    if one.offer is None:
        return Text.assemble(("  ✗ no fix available: ", "yellow"), render_text(one.why_not, "yellow"))
    gain = f"{one.offer.before} → {one.offer.after}"
    return Text.assemble(("  ✓ ", "green"), (f"{gain}  ", "bold green"), render_text(_shorten_suggestion(one, one.offer.head)))


def _shorten_suggestion(one: Violation, head: str) -> str:
    """Without what stands above it already: function, file and measure."""
    head = head.rpartition(": complexity")[0]
    head = re.sub(rf" of {re.escape(one.function)} in {re.escape(one.path)} \(from `.*?`\)", "", head)
    return head.removeprefix(f"in {one.function} of {one.path}, ")


def _render_violation_total(found: Sequence[Violation], number: int, offers: bool) -> "Text":
    from rich.text import Text

    noun = "function is" if number == 1 else "functions are"
    more = f"; showing the worst {len(found)} (-n for more)" if number > len(found) else ""
    text = f"{number} {noun} over a limit{more}."
    if offers and (able := sum(one.offer is not None for one in found)):
        text += f" Checked fixes are available for {able}."
    return Text(text, style="bold")
