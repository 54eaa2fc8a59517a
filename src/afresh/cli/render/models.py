"""Models, providers and open mailbox requests."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from afresh.app.dialogue.answer_mailbox import LoadedRequest
from afresh.app.doctor import ModelTrial
from afresh.app.list_models import ConfiguredModel, ServerOffer, UsableProvider
from afresh.core.codec import to_plain_value
from afresh.errors import suggest_reinstall
from afresh.models.mailbox_files import OpenRequest
from afresh.spending.price_list import Price
from afresh.views.page import Block, Fields, Heading, Indented, Line, Page, Span, Table
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


def build_models(told: ModelsOverview) -> Page:
    data = {
        "config": told.config,
        "faults": list(told.faults),
        "models": [asdict(one) | {"ceiling": one.ceiling, "usable": not one.problem} for one in told.listed],
        "providers": [asdict(one) | {"usable": not one.problem} for one in told.ready],
        **({} if told.asked is None else {"servers": [asdict(one) for one in told.asked]}),
    }
    example = [f"No models configured yet. Add one to {told.config}:", "", Indented([[(CONFIG_EXAMPLE, "cyan")]])]
    table = Table("name|model|>context|>max call|>$ per million", [*map(_list_model_cells, told.listed)])
    blocks: list[Block] = [table] if told.listed else example
    for one in told.listed:  # below the table, so that it can be copied whole
        if one.price is None and one.spec:
            blocks.append([(f"{one.name}: price unknown ", "yellow"), (f'→ set [prices."{one.spec}"]', "cyan")])
    rows = [(f"{one.provider}:NAME", _describe_provider(one)) for one in sorted(told.ready, key=lambda one: bool(one.problem))]
    rows += [("mailbox:DIR", "you, or your program, play the model"), ("offline", "rules only, for --type fix_violation")]
    blocks += [Heading("Usable without configuration"), Fields(rows)]
    if told.asked is not None:
        none = "none: no server on this machine is in your config.toml (`afresh setup` adds one)"
        servers = Fields([(one.server, _describe_server_offer(one)) for one in told.asked])
        blocks += [Heading("Servers queried"), servers if told.asked else [(none, "dim")]]
    if told.faults:
        blocks.append([(f"\n{'; '.join(told.faults)} ", "red"), (f"→ {suggest_reinstall()}", "cyan")])
    return Page(data, [*blocks, [("\nafresh models check NAME tests a model with one small call.", "dim")]])


def _list_model_cells(one: ConfiguredModel) -> list[Line]:
    notes = ", ".join([*(["default"] if one.default else []), *_list_model_notes(one)])
    cell: list[Span] = [(one.spec, ""), (f"\n{notes}" if notes else "", "dim")]
    cell += [(f"\n{one.problem}", "yellow"), (f"\n→ {one.remedy}", "cyan")] if one.problem else []
    sizes = [f"{one.window:,}", f"{one.ceiling:,}"] if one.window else ["", ""]
    return [[(one.name, "bold")], cell, *sizes, describe_price(one.price)]


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


def _describe_provider(one: UsableProvider) -> Line:
    if one.problem:
        return [("not ready: ", "dim"), (one.remedy, "cyan")]
    parts = [f"key: {one.key}" if one.key else "no key needed", f"at {one.host}" if one.host else ""]
    return f"{one.title}, " + ", ".join(part for part in parts if part)


def _describe_server_offer(one: ServerOffer) -> Line:
    if one.problem:
        return [(one.problem, "dim")]
    names = [f"{held.model} ({held.window:,})" if held.window else held.model for held in one.models]
    more = f" and {len(names) - MAX_MODELS_NAMED} more" if len(names) > MAX_MODELS_NAMED else ""
    return f"{one.address}: " + (", ".join(names[:MAX_MODELS_NAMED]) + more if names else "no models")


def warn_of_call_cost(trial: ModelTrial) -> str:
    """Warn of the worst-case cost of the call; empty for free models."""
    if trial.worst == 0:
        return ""
    most = f"at most ${trial.worst / 1e9:.4f}" if trial.worst else "an unknown amount: no price data for this model"
    return f"Test call to {trial.label}: {trial.tokens:,} tokens and a short reply. Cost: {most}."


def request_to_json(post: LoadedRequest) -> dict[str, Any]:
    return {"name": post.posted.stem, "task": post.posted.task, "number": post.posted.number, "problem": post.posted.problem,
            "request": to_plain_value(post.request)}  # fmt: skip


def build_open_requests(found: Sequence[OpenRequest], now: float) -> Page:
    data = [asdict(one) | {"since": format_time(one.since)} for one in found]
    rows: list[Sequence[Line]] = []
    for one in found:
        state = [("waiting", "") if one.waited else ("paused; the reply is used when the task is resumed", "dim")]
        state += [(f"\n{one.kind} of a changed test, and no step", "dim")] if one.kind else []
        state += [(f"\nlast reply: {one.problem.splitlines()[0]}", "yellow")] if one.problem else []
        rows.append([str(one.number), one.task or one.stem, describe_age(now - one.since), state])
    how = [("afresh mailbox DIR", "cyan"), (" shows the first, ", ""), ("afresh mailbox DIR TOOL", "cyan"), (" answers it.", "")]
    return Page(data, [Table(">call|task|asked|", rows), how] if found else "No open requests.")
