"""Models: what is set up, what it costs, where its key is, and what could be used besides."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from afresh.app.first_call import Trial
from afresh.app.models import Listed, Offered, Ready
from afresh.cli.views.parts import fields, heading, listing, said
from afresh.domain.price import Price

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

EXAMPLE = '[models.fast]\nprovider = "ollama"\nmodel = "qwen3:8b"\nwindow = 32768'
SHOWN = 12


@dataclass(frozen=True, slots=True)
class Told:
    listed: Sequence[Listed]
    ready: Sequence[Ready]
    asked: Sequence[Offered] | None
    """None: nobody wanted to know."""
    config: str


def models_json(told: Told) -> dict[str, Any]:
    return {
        "config": told.config,
        "models": [asdict(one) | {"ceiling": one.ceiling, "usable": not one.problem} for one in told.listed],
        "providers": [asdict(one) | {"usable": not one.problem} for one in told.ready],
        **({} if told.asked is None else {"servers": [asdict(one) for one in told.asked]}),
    }


def models(told: Told) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [_table(told.listed)] if told.listed else [_none(told.config)]
    rows = [(f"{one.provider}:NAME", _how(one)) for one in sorted(told.ready, key=lambda one: bool(one.problem))]
    rows += [
        ("mailbox:DIR", said("you, or a program of yours, are the model")),
        ("offline", said("rules only, for --type fix_violation")),
    ]
    parts += [heading("Without a name of your own"), fields(rows)]
    if told.asked is not None:
        parts += [heading("Servers that were asked"), fields((one.server, _offer(one)) for one in told.asked)]
    parts.append(Text("\nafresh models check NAME makes one small call and tells what works.", style="dim"))
    return Group(*parts)


def _none(config: str) -> "RenderableType":
    from rich.console import Group
    from rich.padding import Padding

    first = said(f"No model has a name yet. One gets it in {config}:")
    return Group(first, Padding(said(EXAMPLE, "cyan"), (1, 0, 0, 2)))


def _table(rows: Sequence[Listed]) -> "RenderableType":
    table = listing("name", "model", ">window", ">a call", ">$ for a million")
    for one in rows:
        cells = [f"{one.window:,}" if one.window else "", f"{one.ceiling:,}" if one.window else "", dollars(one.price)]
        table.add_row(said(one.name, "bold"), _about(one), *cells)
    return table


def _about(one: Listed) -> "Text":
    cell = said(one.spec)
    notes = [*(["for every task that names none"] if one.default else []), *_notes(one)]
    if notes:
        cell.append_text(said("\n" + ", ".join(notes), "dim"))
    if one.problem:
        cell.append_text(said(f"\n{one.problem}", "yellow"))
        cell.append_text(said(f"\n→ {one.remedy}", "cyan"))
    elif one.price is None:
        cell.append_text(said(f'\nprice unknown → set [prices."{one.spec}"]', "yellow"))
    return cell


def _notes(one: Listed) -> list[str]:
    notes = [f"key: {one.key}"] if one.key else []
    notes += [f"at {one.host}"] if one.host else []
    notes += [] if one.tools else ["calls read from its text"]
    return notes + ([f"waits {one.timeout:g} s"] if one.timeout else [])


def dollars(price: Price | None) -> str:
    """What is sent, what the cache had of it, and the reply."""
    if price is None:
        return "unknown"
    if not any((price.input, price.cached, price.output)):
        return "free"
    return f"{_amount(price.input)} in\n{_amount(price.cached)} cached\n{_amount(price.output)} out"


def _amount(value: float) -> str:
    return f"{value:.2f}" if value >= 0.01 or not value else f"{value:.4f}".rstrip("0")


def _how(one: Ready) -> "Text":
    if one.problem:
        return said(f"{one.problem} ", "dim").append_text(said(f"→ {one.remedy}", "cyan"))
    parts = [f"key: {one.key}" if one.key else "no key needed", f"at {one.host}" if one.host else ""]
    return said(f"{one.title}, " + ", ".join(part for part in parts if part))


def _offer(one: Offered) -> "Text":
    if one.problem:
        return said(one.problem, "dim")
    names = [f"{held.model} ({held.window:,})" if held.window else held.model for held in one.models]
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return said(f"{one.address}: " + (", ".join(names[:SHOWN]) + more if names else "no model"))


def warning(trial: Trial) -> str:
    """What the call may cost at most; nothing to say where nobody pays."""
    if trial.worst == 0:
        return ""
    most = f"at most ${trial.worst / 1e9:.4f}" if trial.worst else "nobody knows how much: its price is unknown"
    return f"A real call of {trial.model.name}: {trial.tokens:,} tokens and a reply. It costs {most}."
