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


def build_models(overview: ModelsOverview) -> Page:
    data = {
        "config": overview.config,
        "faults": list(overview.faults),
        "models": [
            asdict(configured_model) | {"ceiling": configured_model.ceiling, "usable": not configured_model.problem}
            for configured_model in overview.listed
        ],
        "providers": [asdict(provider) | {"usable": not provider.problem} for provider in overview.ready],
        **({} if overview.asked is None else {"servers": [asdict(offer) for offer in overview.asked]}),
    }
    example = [f"No models configured yet. Add one to {overview.config}:", "", Indented([[(CONFIG_EXAMPLE, "cyan")]])]
    table = Table("name|model|>context|>max call|>$ per million", [*map(_list_model_cells, overview.listed)])
    blocks: list[Block] = [table] if overview.listed else example
    for model in overview.listed:  # below the table, so that it can be copied whole
        if model.price is None and model.spec:
            blocks.append([(f"{model.name}: price unknown ", "yellow"), (f'→ set [prices."{model.spec}"]', "cyan")])
    rows = [
        (f"{provider.provider}:NAME", _describe_provider(provider))
        for provider in sorted(overview.ready, key=lambda provider: bool(provider.problem))
    ]
    rows += [("mailbox:DIR", "you, or your program, play the model"), ("offline", "rules only, for --type fix_violation")]
    blocks += [Heading("Usable without configuration"), Fields(rows)]
    if overview.asked is not None:
        none = "none: no server on this machine is in your config.toml (`afresh setup` adds one)"
        servers = Fields([(offer.server, _describe_server_offer(offer)) for offer in overview.asked])
        blocks += [Heading("Servers queried"), servers if overview.asked else [(none, "dim")]]
    if overview.faults:
        blocks.append([(f"\n{'; '.join(overview.faults)} ", "red"), (f"→ {suggest_reinstall()}", "cyan")])
    return Page(data, [*blocks, [("\nafresh models check NAME tests a model with one small call.", "dim")]])


def _list_model_cells(model: ConfiguredModel) -> list[Line]:
    notes = ", ".join([*(["default"] if model.default else []), *_list_model_notes(model)])
    cell: list[Span] = [(model.spec, ""), (f"\n{notes}" if notes else "", "dim")]
    cell += [(f"\n{model.problem}", "yellow"), (f"\n→ {model.remedy}", "cyan")] if model.problem else []
    sizes = [f"{model.window:,}", f"{model.ceiling:,}"] if model.window else ["", ""]
    return [[(model.name, "bold")], cell, *sizes, describe_price(model.price)]


def _list_model_notes(model: ConfiguredModel) -> list[str]:
    notes = [f"key: {model.key}"] if model.key else []
    notes += [f"at {model.host}"] if model.host else []
    notes += [] if model.tools else ["tool calls read from text"]
    return notes + ([f"timeout {model.timeout:g} s"] if model.timeout else [])


def describe_price(price: Price | None) -> str:
    """Describe the prices of input, cached input and output."""
    if price is None:
        return "unknown"
    if not any((price.input, price.cached, price.output)):
        return "free"
    return f"{_format_amount(price.input)} in\n{_format_amount(price.cached)} cached\n{_format_amount(price.output)} out"


def _format_amount(value: float) -> str:
    return f"{value:.2f}" if value >= 0.01 or not value else f"{value:.4f}".rstrip("0")


def _describe_provider(provider: UsableProvider) -> Line:
    if provider.problem:
        return [("not ready: ", "dim"), (provider.remedy, "cyan")]
    parts = [f"key: {provider.key}" if provider.key else "no key needed", f"at {provider.host}" if provider.host else ""]
    return f"{provider.title}, " + ", ".join(part for part in parts if part)


def _describe_server_offer(offer: ServerOffer) -> Line:
    if offer.problem:
        return [(offer.problem, "dim")]
    names = [f"{model.model} ({model.window:,})" if model.window else model.model for model in offer.models]
    more = f" and {len(names) - MAX_MODELS_NAMED} more" if len(names) > MAX_MODELS_NAMED else ""
    return f"{offer.address}: " + (", ".join(names[:MAX_MODELS_NAMED]) + more if names else "no models")


def warn_of_call_cost(trial: ModelTrial) -> str:
    """Warn of the worst-case cost of the call; empty for free models."""
    if trial.worst == 0:
        return ""
    most = f"at most ${trial.worst / 1e9:.4f}" if trial.worst else "an unknown amount: no price data for this model"
    return f"Test call to {trial.label}: {trial.tokens:,} tokens and a short reply. Cost: {most}."


def request_to_json(post: LoadedRequest) -> dict[str, Any]:
    return {"name": post.posted.stem, "task": post.posted.task, "number": post.posted.number, "problem": post.posted.problem,
            "request": to_plain_value(post.request)}  # fmt: skip


def build_open_requests(requests: Sequence[OpenRequest], now: float) -> Page:
    data = [asdict(open_request) | {"since": format_time(open_request.since)} for open_request in requests]
    rows: list[Sequence[Line]] = []
    for request in requests:
        state = [("waiting", "") if request.waited else ("paused; the reply is used when the task is resumed", "dim")]
        state += [(f"\n{request.kind} of a changed test, and no step", "dim")] if request.kind else []
        state += [(f"\nlast reply: {request.problem.splitlines()[0]}", "yellow")] if request.problem else []
        rows.append([str(request.number), request.task or request.stem, describe_age(now - request.since), state])
    how = [("afresh mailbox DIR", "cyan"), (" shows the first, ", ""), ("afresh mailbox DIR TOOL", "cyan"), (" answers it.", "")]
    return Page(data, [Table(">call|task|asked|", rows), how] if requests else "No open requests.")
