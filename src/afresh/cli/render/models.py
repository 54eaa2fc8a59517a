"""Renders models, providers and open mailbox requests."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from afresh.app.dialogue.answer_mailbox import LoadedRequest
from afresh.app.doctor import ModelTrial
from afresh.app.list_models import ConfiguredModel, ServerOffer, UsableProvider
from afresh.cli.render.parts import make_table, render_fields, render_heading, render_text
from afresh.core.codec import to_plain_value
from afresh.errors import suggest_reinstall
from afresh.models.mailbox_files import OpenRequest
from afresh.spending.price_list import Price
from afresh.views.task_facts import describe_age, format_time

CONFIG_EXAMPLE = '[models.fast]\nprovider = "ollama"\nmodel = "qwen3:8b"\nwindow = 32768'
MAX_MODELS_NAMED = 12


@dataclass(frozen=True, slots=True)
class ModelsOverview:
    listed: Sequence[ConfiguredModel]
    ready: Sequence[UsableProvider]
    asked: Sequence[ServerOffer] | None
    """None if servers were not asked."""
    config: str
    faults: Sequence[str] = ()
    """Packages that can't be imported."""


def models_to_json(told: ModelsOverview) -> dict[str, Any]:
    return {
        "config": told.config,
        "faults": list(told.faults),
        "models": [asdict(one) | {"ceiling": one.ceiling, "usable": not one.problem} for one in told.listed],
        "providers": [asdict(one) | {"usable": not one.problem} for one in told.ready],
        **({} if told.asked is None else {"servers": [asdict(one) for one in told.asked]}),
    }


def render_models(told: ModelsOverview) -> RenderableType:
    parts: list[RenderableType] = [_make_model_table(told.listed)] if told.listed else [_render_no_model(told.config)]
    parts += [
        render_text(f"{one.name}: price unknown ", "yellow").append_text(render_text(f'→ set [prices."{one.spec}"]', "cyan"))
        for one in told.listed
        if one.price is None and one.spec
    ]
    rows = [(f"{one.provider}:NAME", _render_provider(one)) for one in sorted(told.ready, key=lambda one: bool(one.problem))]
    rows += [
        ("mailbox:DIR", render_text("you, or your program, play the model")),
        ("offline", render_text("rules only, for --type fix_violation")),
    ]
    parts += [render_heading("Usable without configuration"), render_fields(rows)]
    if told.asked is not None:
        parts += [
            render_heading("Servers queried"),
            render_fields((one.server, _render_server_offer(one)) for one in told.asked)
            if told.asked
            else render_text("none: no server on this machine is in your config.toml (`afresh setup` adds one)", "dim"),
        ]
    if told.faults:
        parts.append(render_text(f"\n{'; '.join(told.faults)} ", "red").append(f"→ {suggest_reinstall()}", "cyan"))
    parts.append(Text("\nafresh models check NAME tests a model with one small call.", style="dim"))
    return Group(*parts)


def _render_no_model(config: str) -> RenderableType:
    first = render_text(f"No models configured yet. Add one to {config}:")
    return Group(first, Padding(render_text(CONFIG_EXAMPLE, "cyan"), (1, 0, 0, 2)))


def _make_model_table(rows: Sequence[ConfiguredModel]) -> RenderableType:
    table = make_table("name|model|>context|>max call|>$ per million")
    for one in rows:
        cells = [f"{one.window:,}" if one.window else "", f"{one.ceiling:,}" if one.window else "", describe_price(one.price)]
        table.add_row(render_text(one.name, "bold"), _render_model_cell(one), *cells)
    return table


def _render_model_cell(one: ConfiguredModel) -> Text:
    cell = render_text(one.spec)
    notes = [*(["default"] if one.default else []), *_list_model_notes(one)]
    if notes:
        cell.append_text(render_text("\n" + ", ".join(notes), "dim"))
    if one.problem:
        cell.append_text(render_text(f"\n{one.problem}", "yellow"))
        cell.append_text(render_text(f"\n→ {one.remedy}", "cyan"))
    return cell


def _list_model_notes(one: ConfiguredModel) -> list[str]:
    notes = [f"key: {one.key}"] if one.key else []
    notes += [f"at {one.host}"] if one.host else []
    notes += [] if one.tools else ["tool calls read from text"]
    return notes + ([f"timeout {one.timeout:g} s"] if one.timeout else [])


def describe_price(price: Price | None) -> str:
    """Describe the prices of input, cached input and output."""
    if price is None:
        return "unknown"
    if not any((price.input, price.cached, price.output)):
        return "free"
    return f"{_format_amount(price.input)} in\n{_format_amount(price.cached)} cached\n{_format_amount(price.output)} out"


def _format_amount(value: float) -> str:
    return f"{value:.2f}" if value >= 0.01 or not value else f"{value:.4f}".rstrip("0")


def _render_provider(one: UsableProvider) -> Text:
    if one.problem:
        return render_text("not ready: ", "dim").append_text(render_text(one.remedy, "cyan"))
    parts = [f"key: {one.key}" if one.key else "no key needed", f"at {one.host}" if one.host else ""]
    return render_text(f"{one.title}, " + ", ".join(part for part in parts if part))


def _render_server_offer(one: ServerOffer) -> Text:
    if one.problem:
        return render_text(one.problem, "dim")
    names = [f"{held.model} ({held.window:,})" if held.window else held.model for held in one.models]
    more = f" and {len(names) - MAX_MODELS_NAMED} more" if len(names) > MAX_MODELS_NAMED else ""
    return render_text(f"{one.address}: " + (", ".join(names[:MAX_MODELS_NAMED]) + more if names else "no models"))


def warn_of_call_cost(trial: ModelTrial) -> str:
    """Warn of the worst-case cost of the call; empty for free models."""
    if trial.worst == 0:
        return ""
    most = f"at most ${trial.worst / 1e9:.4f}" if trial.worst else "an unknown amount: no price data for this model"
    return f"Test call to {trial.label}: {trial.tokens:,} tokens and a short reply. Cost: {most}."


def open_requests_to_json(found: Sequence[OpenRequest]) -> list[dict[str, Any]]:
    return [asdict(one) | {"since": format_time(one.since)} for one in found]


def request_to_json(post: LoadedRequest) -> dict[str, Any]:
    return {"name": post.posted.stem, "task": post.posted.task, "number": post.posted.number, "problem": post.posted.problem,
            "request": to_plain_value(post.request)}  # fmt: skip


def render_open_requests(found: Sequence[OpenRequest], now: float) -> RenderableType:
    if not found:
        return Text("No open requests.")
    table = make_table(">call|task|asked|")
    for one in found:
        state = render_text(
            "waiting" if one.waited else "paused; the reply is used when the task is resumed", "" if one.waited else "dim"
        )
        if one.kind:
            state.append_text(render_text(f"\n{one.kind} of a changed test, and no step", "dim"))
        if one.problem:
            state.append_text(render_text(f"\nlast reply: {one.problem.splitlines()[0]}", "yellow"))
        table.add_row(str(one.number), render_text(one.task or one.stem), describe_age(now - one.since), state)
    first = Text.assemble(
        ("afresh mailbox DIR", "cyan"), " shows the first, ", ("afresh mailbox DIR TOOL", "cyan"), " answers it."
    )
    return Group(table, first)
