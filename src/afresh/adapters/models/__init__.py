"""Who answers the requests. `make_model` reads `offline`, `mailbox:DIR`, `anthropic:NAME` and so on, or a user's own name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from afresh.adapters.models.choose import (
    MODEL_KINDS,
    NO_NAMED_MODELS,
    PAID_PROVIDERS,
    ChosenModel,
    make_spec_absolute,
    choose_model,
    split_mailbox_spec,
    settings_for_model,
    endpoint_of_provider,
)
from afresh.adapters.models.settings import NamedModel, ModelSettings

if TYPE_CHECKING:
    from afresh.ports import Model

__all__ = [
    "make_spec_absolute",
    "is_paid",
    "is_provider",
    "find_framing_tokens",
    "find_retry_count",
    "find_context_window",
    "make_model",
    "spec_for_part",
]
DEFAULT_WINDOW_TOKENS = 200_000
DEFAULT_MODEL_SETTINGS = ModelSettings()


def make_model(spec: str, start: int = 0, settings: ModelSettings = DEFAULT_MODEL_SETTINGS) -> Model:
    """The model that the spec names; `start` is the number of calls that the task has bought."""
    chosen = choose_model(spec, settings.named)
    return _MAKERS[chosen.kind](chosen, start, settings_for_model(chosen, settings))


def spec_for_part(spec: str, part: str) -> str:
    """Who answers for a part of a task: the same model. But a script is written for one task, so that a part has its own beside
    it: `script.jsonl`, and `script.3-1.jsonl` for what step 3 handed out as its first action."""
    kind, _, argument = spec.partition(":")
    place = Path(argument)
    return f"{kind}:{place.with_name(f'{place.stem}.{part}{place.suffix}')}" if kind == "scripted" else spec


def find_context_window(spec: str, named: Mapping[str, NamedModel] = NO_NAMED_MODELS) -> int:
    """Tokens that the model can take, as far as that is known without asking for it or for a key."""
    chosen = choose_model(spec, named)
    if chosen.table and chosen.table.window:
        return chosen.table.window
    if chosen.kind == "anthropic":
        from afresh.adapters.models.anthropic_messages import find_claude_window

        return find_openai_window(chosen.argument)
    if not chosen.is_provider:
        return DEFAULT_WINDOW_TOKENS
    from afresh.adapters.models.flavours import DIALECTS
    from afresh.adapters.models.openai_chat import find_openai_window

    return find_openai_window(chosen.argument, DIALECTS[chosen.kind])


def find_framing_tokens(spec: str, named: Mapping[str, NamedModel] = NO_NAMED_MODELS) -> int:
    """Tokens that the provider adds to any request, as far as that is published; what is not is learnt from its usage reports."""
    chosen = choose_model(spec, named)
    if chosen.kind == "anthropic":
        from afresh.adapters.models.anthropic_messages import count_claude_framing

        return count_claude_framing(chosen.argument, chosen.table is None or chosen.table.tools is not False)
    from afresh.adapters.models.openai_chat import OPENAI_FRAMING_TOKENS

    return OPENAI_FRAMING_TOKENS


def is_provider(spec: str, named: Mapping[str, NamedModel] = NO_NAMED_MODELS) -> bool:
    """Whether each call is bought from somebody."""
    return choose_model(spec, named).is_provider


def is_paid(spec: str, named: Mapping[str, NamedModel] = NO_NAMED_MODELS, prices: Collection[str] = ()) -> bool:
    """Whether it costs something: a server on a machine of the user's own does only if the user says what, a provider always."""
    chosen = choose_model(spec, named)
    return chosen.kind in PAID_PROVIDERS or (chosen.is_provider and chosen.spec in prices)


def find_retry_count(spec: str, named: Mapping[str, NamedModel] = NO_NAMED_MODELS) -> int | None:
    """How often the user wants a call to be repeated that failed for a passing reason; None: as often as is usual."""
    table = choose_model(spec, named).table
    return table.retries if table else None


def _make_offline(chosen: ChosenModel, start: int, settings: ModelSettings) -> Model:
    from afresh.adapters.models.offline import OfflineModel

    return OfflineModel(settings.window or DEFAULT_WINDOW_TOKENS, settings.count)


def _make_scripted(chosen: ChosenModel, start: int, settings: ModelSettings) -> Model:
    from afresh.adapters.models.scripted import ScriptedModel, read_script

    return ScriptedModel(
        read_script(Path(chosen.argument).expanduser()), start, settings.window or DEFAULT_WINDOW_TOKENS, settings.count
    )


def _make_mailbox(chosen: ChosenModel, start: int, settings: ModelSettings) -> Model:
    from afresh.adapters.models.mailbox import MailboxModel, MailboxTimeouts

    folder, seconds = split_mailbox_spec(chosen.argument)
    waits = MailboxTimeouts(reply=seconds or settings.timeout)
    return MailboxModel(folder, start, settings.window or DEFAULT_WINDOW_TOKENS, settings.count, waits, settings.task)


def _make_anthropic(chosen: ChosenModel, start: int, settings: ModelSettings) -> Model:
    from afresh.adapters.models.anthropic_messages import ANTHROPIC, AnthropicModel
    from afresh.adapters.models.provider import connect_provider

    table = chosen.table
    thinks, tools = table is None or table.thinking is not False, table is None or table.tools is not False
    return AnthropicModel(
        chosen.argument, connect_provider(ANTHROPIC, settings, endpoint_of_provider(chosen.kind)), thinks, tools
    )


def _make_openai(chosen: ChosenModel, start: int, settings: ModelSettings) -> Model:
    from afresh.adapters.models.flavours import DIALECTS, dialect_at_address, drop_dialect_part
    from afresh.adapters.models.openai_chat import OpenAIModel
    from afresh.adapters.models.provider import connect_provider

    flavour = DIALECTS[chosen.kind]
    connection = connect_provider(flavour.provider, settings, endpoint_of_provider(chosen.kind))
    if chosen.table:
        wanted = {"tools": chosen.table.tools, "effort": chosen.table.thinking, "budget": chosen.table.thinking}
        flavour = dialect_at_address(connection.base_url, flavour)
        for part in [part for part, told in wanted.items() if told is False]:
            flavour = drop_dialect_part(flavour, part)
    return OpenAIModel(chosen.argument, connection, flavour)


_MAKERS: dict[str, Callable[[ChosenModel, int, ModelSettings], Model]] = {
    "offline": _make_offline, "scripted": _make_scripted, "mailbox": _make_mailbox, "anthropic": _make_anthropic,
}  # fmt: skip
_MAKERS |= {kind: _make_openai for kind in MODEL_KINDS if kind not in _MAKERS}
