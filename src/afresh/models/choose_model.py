"""Which model a word on the command line means: one of the user's names, or `provider:model`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from afresh.core.redaction import redact_secrets
from afresh.core.text import find_similar_word
from afresh.errors import BadInput, blame_model
from afresh.models.model_settings import ModelSettings, NamedModel
from afresh.models.providers.connection import ProviderEndpoint

if TYPE_CHECKING:
    from afresh.ports.model import Model


OFFLINE_SPEC = "offline"
MODEL_SPEC_FORMS = (
    f"{OFFLINE_SPEC}, scripted:FILE, mailbox:DIR, anthropic:NAME, openai:NAME, openrouter:NAME, ollama:NAME, "
    "vllm:NAME, llamacpp:NAME"
)
FILE_KINDS = ("scripted", "mailbox")
PAID_PROVIDERS = ("anthropic", "openai", "openrouter")
LOCAL_PROVIDERS = ("ollama", "vllm", "llamacpp")
"""Servers that run on a machine of the user's."""
PROVIDERS = (*PAID_PROVIDERS, *LOCAL_PROVIDERS)
MODEL_KINDS = (OFFLINE_SPEC, *FILE_KINDS, *PROVIDERS)
PROVIDER_BY_BEGINNING = {"anthropic": ("claude",), "openai": ("gpt-", "chatgpt", "o1", "o3", "o4", "codex")}
"""How names of a provider's models begin."""
SPEC_EXAMPLES = {
    "anthropic": "claude-sonnet-4-5",
    "openai": "gpt-5",
    "openrouter": "openai/gpt-5",
    "mailbox": "DIR",
    "scripted": "FILE",
}
NO_NAMED_MODELS: Mapping[str, NamedModel] = {}
_MODEL_NAME_PATTERN = re.compile(r"[A-Za-z0-9][\w.-]{0,39}", re.ASCII)
_MAILBOX_TIMEOUT_PATTERN = re.compile(r"(?P<folder>.+)\?timeout=(?P<seconds>\d{1,9}(?:\.\d{1,3})?)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """A provider and the model's name there (or a folder, or a file), and the user's table if it was called by its name."""

    kind: str
    argument: str
    name: str = ""
    table: NamedModel | None = None

    @property
    def is_provider(self) -> bool:
        return self.kind in PROVIDERS

    @property
    def spec(self) -> str:
        """`provider:model`, the name in price lists and the ledger."""
        return f"{self.kind}:{self.argument}" if self.argument else self.kind


@blame_model()
def choose_model(spec: str, named: Mapping[str, NamedModel] = NO_NAMED_MODELS) -> ChosenModel:
    """BadInput, with what there is, if it is neither."""
    if table := named.get(spec):
        return ChosenModel(table.provider, table.model, spec, table)
    if spec == OFFLINE_SPEC:
        return ChosenModel(OFFLINE_SPEC, "")
    kind, _, argument = spec.partition(":")
    if is_key_text(spec):
        raise make_key_as_model_error("nothing was sent")
    if kind not in MODEL_KINDS or kind == OFFLINE_SPEC or not argument:
        own = f"yours are {', '.join(sorted(named))}; others are " if named else ""
        raise BadInput(
            f"no such model: {spec!r}{_suggest_spec(spec, named)}",
            next=f"pass --model with one of: {own}{MODEL_SPEC_FORMS}; `afresh models` lists your models",
            safe="nothing was sent",
        )
    return ChosenModel(kind, argument)


def is_key_text(text: str) -> bool:
    """Whether somebody has given a key where the name of a model belongs."""
    return text.startswith("sk-") or redact_secrets(text) != text


def make_key_as_model_error(safe: str) -> BadInput:
    return BadInput(
        "what stands where the model's name belongs looks like a key; it is not repeated here",
        next="revoke it, since your shell may have stored it; put the new one into a variable such as ANTHROPIC_API_KEY, then "
        "`afresh setup`",
        safe=safe,
    )


def _suggest_spec(spec: str, named: Mapping[str, NamedModel]) -> str:
    """A hint behind a spec that is none: the provider of a bare name, or that the name is missing."""
    kind, _, argument = spec.partition(":")
    if kind in MODEL_KINDS and not argument:
        return f" (add the name: {kind}:{SPEC_EXAMPLES.get(kind, 'NAME')})"
    for provider, beginnings in PROVIDER_BY_BEGINNING.items():
        if not argument and spec.lower().startswith(beginnings):
            return f" (did you mean {provider}:{spec}?)"
    return _suggest_word(spec, [*named, *MODEL_KINDS]) if spec else ""


def _suggest_word(word: str, known: Iterable[str]) -> str:
    similar_word = find_similar_word(word, known)
    return f" (did you mean {similar_word!r}?)" if similar_word else ""


def settings_for_model(chosen: ChosenModel, settings: ModelSettings) -> ModelSettings:
    """The settings of the named table, which win over the general ones."""
    table = chosen.table
    if table is None:
        return settings
    window, timeout = table.window or settings.window, table.timeout or settings.timeout
    return replace(settings, window=window, timeout=timeout, name=chosen.name, chosen=table)


def make_spec_absolute(spec: str) -> str:
    """The spec with its path whole, so that it means the same from wherever the task is worked on."""
    kind, _, argument = spec.partition(":")
    return f"{kind}:{Path(argument).expanduser().absolute()}" if argument and kind in FILE_KINDS else spec


def split_mailbox_spec(argument: str) -> tuple[Path, float]:
    """The folder of a mailbox, and the seconds to wait for a reply (0: the default): `DIR?timeout=600`."""
    match = _MAILBOX_TIMEOUT_PATTERN.fullmatch(argument)
    return (Path(match["folder"]).expanduser(), float(match["seconds"])) if match else (Path(argument).expanduser(), 0.0)


def check_model_names(named: Mapping[str, NamedModel], rates: Iterable[str] = ()) -> None:
    """ValueError for a name that --model would take for something else, or an unknown provider; also of a rate limit."""
    for name in rates:
        _check_rate_name(name)
    for name, table in named.items():
        if not _MODEL_NAME_PATTERN.fullmatch(name) or name in MODEL_KINDS:
            raise ValueError(
                f"models.{name[:40]}: a name is made of letters, digits, - _ and ., and is none of {', '.join(MODEL_KINDS)}"
            )
        if table.provider not in MODEL_KINDS or table.provider == "offline":
            may = ", ".join((*PROVIDERS, *FILE_KINDS))
            raise ValueError(
                f"models.{name}.provider is {table.provider[:40]!r}{_suggest_word(table.provider, MODEL_KINDS)}; it may be {may}"
            )
        if useless := _find_useless_settings(table):
            raise ValueError(f"models.{name}: {', '.join(useless)} would do nothing for {table.provider}")


def _check_rate_name(name: str) -> None:
    """ValueError for what is neither a provider nor `provider:model`: its rate limit would never apply."""
    kind, colon, model = name.partition(":")
    if kind not in MODEL_KINDS or (colon and (not model or kind not in PROVIDERS)):
        may = f"a provider ({', '.join(MODEL_KINDS)}) or provider:model"
        raise ValueError(f"rates.{name[:40]!r}{_suggest_word(kind, MODEL_KINDS)}: a rate limit is of {may}")


def _find_useless_settings(table: NamedModel) -> list[str]:
    """Settings that have no effect for this provider."""
    unset = {field.name: field.default for field in fields(NamedModel)}
    none = ("base_url", "key", "retries", "tools", "thinking", "insecure") if table.provider in FILE_KINDS else ()
    none += ("timeout",) if table.provider == "scripted" else ()
    return [name for name in none if getattr(table, name) != unset[name]]


def endpoint_of_provider(kind: str) -> ProviderEndpoint:
    """The variables and addresses of a provider."""
    if kind == "anthropic":
        from afresh.models.providers.anthropic_messages import ANTHROPIC as found

        base_url, needs_key = "", True
    else:
        from afresh.models.providers.openai_dialects import DIALECTS

        dialect = DIALECTS[kind]
        found, base_url, needs_key = dialect.provider, dialect.base_url, dialect.needs_key
    return ProviderEndpoint(
        title=found.title, name=kind, key_variable=found.key_variable, base_url_variable=found.base_url_variable,
        base_url=base_url, needs_key=needs_key,
    )  # fmt: skip


ANTHROPIC_MODULES = ("afresh.models.providers.anthropic_messages", "anthropic.resources.messages")
OPENAI_MODULES = ("afresh.models.providers.openai_chat", "openai.resources.chat.completions")


def import_provider(spec: str, named: Mapping[str, NamedModel] = NO_NAMED_MODELS) -> None:
    """Import what calls of this model need, so that processes that are forked later share it. A fault is left to the call."""
    with suppress(Exception):
        chosen = choose_model(spec, named)
        for module in ANTHROPIC_MODULES if chosen.kind == "anthropic" else OPENAI_MODULES if chosen.is_provider else ():
            import_module(module)


DEFAULT_WINDOW_TOKENS = 200_000
DEFAULT_MODEL_SETTINGS = ModelSettings()


@blame_model()
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
        from afresh.models.providers.anthropic_request import find_claude_family

        return find_claude_family(chosen.argument).window
    if not chosen.is_provider:
        return DEFAULT_WINDOW_TOKENS
    from afresh.models.providers.openai_dialects import DIALECTS, dialect_at_address, find_openai_window

    address = chosen.table.base_url if chosen.table else ""
    return find_openai_window(chosen.argument, dialect_at_address(address, DIALECTS[chosen.kind]))


def find_framing_tokens(spec: str, named: Mapping[str, NamedModel] = NO_NAMED_MODELS) -> int:
    """Tokens that the provider adds to any request, as far as that is published; what is not is learnt from its usage reports."""
    chosen = choose_model(spec, named)
    if chosen.kind == "anthropic":
        from afresh.models.providers.anthropic_request import count_claude_framing

        return count_claude_framing(chosen.argument, chosen.table is None or chosen.table.tools is not False)
    from afresh.models.providers.openai_dialects import OPENAI_FRAMING_TOKENS

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
    from afresh.models.offline import OfflineModel

    return OfflineModel(settings.window or DEFAULT_WINDOW_TOKENS, settings.count)


def _make_scripted(chosen: ChosenModel, start: int, settings: ModelSettings) -> Model:
    from afresh.models.scripted import ScriptedModel, read_script

    script, window = read_script(Path(chosen.argument).expanduser()), settings.window or DEFAULT_WINDOW_TOKENS
    return ScriptedModel(script, start - settings.reviews, window, settings.count)


def _make_mailbox(chosen: ChosenModel, start: int, settings: ModelSettings) -> Model:
    from afresh.models.mailbox import MailboxModel, MailboxTimeouts

    folder, seconds = split_mailbox_spec(chosen.argument)
    waits, window = MailboxTimeouts(reply=seconds or settings.timeout), settings.window or DEFAULT_WINDOW_TOKENS
    model = MailboxModel(folder, start, window, settings.count, waits, settings.task)
    model.check_cancelled = settings.check_cancelled
    return model


def _make_anthropic(chosen: ChosenModel, start: int, settings: ModelSettings) -> Model:
    from afresh.models.providers.anthropic_messages import ANTHROPIC, AnthropicModel
    from afresh.models.providers.connection import connect_provider

    table = chosen.table
    thinks, tools = table is None or table.thinking is not False, table is None or table.tools is not False
    return AnthropicModel(
        chosen.argument, connect_provider(ANTHROPIC, settings, endpoint_of_provider(chosen.kind)), thinks, tools
    )


def _make_openai(chosen: ChosenModel, start: int, settings: ModelSettings) -> Model:
    from afresh.models.providers.connection import connect_provider
    from afresh.models.providers.openai_chat import OpenAIModel
    from afresh.models.providers.openai_dialects import DIALECTS, dialect_at_address, drop_dialect_part

    dialect = DIALECTS[chosen.kind]
    connection = connect_provider(dialect.provider, settings, endpoint_of_provider(chosen.kind))
    if chosen.table:
        wanted = {"tools": chosen.table.tools, "effort": chosen.table.thinking, "budget": chosen.table.thinking}
        dialect = dialect_at_address(connection.base_url, dialect)
        for part in [part for part, told in wanted.items() if told is False]:
            dialect = drop_dialect_part(dialect, part)
    return OpenAIModel(chosen.argument, connection, dialect)


_MAKERS: dict[str, Callable[[ChosenModel, int, ModelSettings], Model]] = {
    "offline": _make_offline, "scripted": _make_scripted, "mailbox": _make_mailbox, "anthropic": _make_anthropic,
}  # fmt: skip
_MAKERS |= {kind: _make_openai for kind in MODEL_KINDS if kind not in _MAKERS}
