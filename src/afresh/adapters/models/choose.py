"""Which model a word on the command line means: one of the user's names, or `provider:model`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

from afresh.adapters.models.arguments import suggest_similar_name
from afresh.adapters.models.route import ProviderEndpoint
from afresh.adapters.models.settings import NamedModel, ModelSettings
from afresh.errors import BadInput

MODEL_SPEC_FORMS = (
    "offline, scripted:FILE, mailbox:DIR, anthropic:NAME, openai:NAME, openrouter:NAME, ollama:NAME, vllm:NAME, llamacpp:NAME"
)
FILE_KINDS = ("scripted", "mailbox")
PAID_PROVIDERS = ("anthropic", "openai", "openrouter")
LOCAL_PROVIDERS = ("ollama", "vllm", "llamacpp")
"""Servers that run on a machine of the user's."""
PROVIDERS = (*PAID_PROVIDERS, *LOCAL_PROVIDERS)
MODEL_KINDS = ("offline", *FILE_KINDS, *PROVIDERS)
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
        """Without the user's own name for it: what prices and books know it by."""
        return f"{self.kind}:{self.argument}" if self.argument else self.kind


def choose_model(spec: str, named: Mapping[str, NamedModel] = NO_NAMED_MODELS) -> ChosenModel:
    """BadInput, with what there is, if it is neither."""
    if table := named.get(spec):
        return ChosenModel(table.provider, table.model, spec, table)
    kind, colon, argument = spec.partition(":")
    if kind not in MODEL_KINDS or bool(argument) == (kind == "offline") or (kind == "offline" and colon):
        own = f"yours are {', '.join(sorted(named))}; others are " if named else ""
        hint = suggest_similar_name(spec, [*named, *MODEL_KINDS]) if spec else ""
        raise BadInput(
            f"there is no model {spec!r}{hint}",
            next=f"pass --model with one of: {own}{MODEL_SPEC_FORMS}; `afresh models` shows what is set up",
            safe="nothing was sent",
        )
    return ChosenModel(kind, argument)


def settings_for_model(chosen: ChosenModel, settings: ModelSettings) -> ModelSettings:
    """What the table says, over what is said for all."""
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
    """The folder of a mailbox, and for how many seconds a reply is waited for (0: unless told): `DIR?timeout=600`."""
    match = _MAILBOX_TIMEOUT_PATTERN.fullmatch(argument)
    return (Path(match["folder"]).expanduser(), float(match["seconds"])) if match else (Path(argument).expanduser(), 0.0)


def check_model_names(named: Mapping[str, NamedModel]) -> None:
    """ValueError for a table that --model could not tell from something else, or whose provider is unknown."""
    for name, table in named.items():
        if not _MODEL_NAME_PATTERN.fullmatch(name) or name in MODEL_KINDS:
            raise ValueError(
                f"models.{name[:40]}: a name is made of letters, digits, - _ and ., and is none of {', '.join(MODEL_KINDS)}"
            )
        if table.provider not in MODEL_KINDS or table.provider == "offline":
            may = ", ".join((*PROVIDERS, *FILE_KINDS))
            raise ValueError(
                f"models.{name}.provider is {table.provider[:40]!r}{suggest_similar_name(table.provider, MODEL_KINDS)}; it may be {may}"
            )
        if useless := _find_useless_settings(table):
            raise ValueError(f"models.{name}: {', '.join(useless)} would do nothing for {table.provider}")


def _find_useless_settings(table: NamedModel) -> list[str]:
    """Settings that nobody would ever look at: better refused than believed."""
    unset = {one.name: one.default for one in fields(NamedModel)}
    none = ("base_url", "key", "retries", "tools", "thinking", "insecure") if table.provider in FILE_KINDS else ()
    none += ("timeout",) if table.provider == "scripted" else ()
    return [name for name in none if getattr(table, name) != unset[name]]


def endpoint_of_provider(kind: str) -> ProviderEndpoint:
    """What has to be known of a provider to reach it."""
    if kind == "anthropic":
        from afresh.adapters.models.anthropic_messages import ANTHROPIC as found

        base_url, needs_key = "", True
    else:
        from afresh.adapters.models.flavours import DIALECTS

        flavour = DIALECTS[kind]
        found, base_url, needs_key = flavour.provider, flavour.base_url, flavour.needs_key
    return ProviderEndpoint(
        title=found.title, name=kind, key_variable=found.key_variable, base_url_variable=found.base_url_variable,
        base_url=base_url, needs_key=needs_key,
    )  # fmt: skip
