"""Which model a word on the command line means: one of the user's names, or `provider:model`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

from afresh.adapters.models.arguments import near
from afresh.adapters.models.route import Target
from afresh.adapters.models.settings import Named, Settings
from afresh.errors import BadInput

FORMS = "offline, scripted:FILE, mailbox:DIR, anthropic:NAME, openai:NAME, openrouter:NAME, ollama:NAME, vllm:NAME, llamacpp:NAME"
FILES = ("scripted", "mailbox")
PAID = ("anthropic", "openai", "openrouter")
OWN = ("ollama", "vllm", "llamacpp")
"""Servers that run on a machine of the user's."""
PROVIDERS = (*PAID, *OWN)
KINDS = ("offline", *FILES, *PROVIDERS)
NONE: Mapping[str, Named] = {}
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,39}", re.ASCII)
_PATIENCE = re.compile(r"(?P<folder>.+)\?timeout=(?P<seconds>\d{1,9}(?:\.\d{1,3})?)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A provider and the model's name there (or a folder, or a file), and the user's table if it was called by its name."""

    kind: str
    argument: str
    name: str = ""
    table: Named | None = None

    @property
    def is_provider(self) -> bool:
        return self.kind in PROVIDERS

    @property
    def spec(self) -> str:
        """Without the user's own name for it: what prices and books know it by."""
        return f"{self.kind}:{self.argument}" if self.argument else self.kind


def choose(spec: str, named: Mapping[str, Named] = NONE) -> Chosen:
    """BadInput, with what there is, if it is neither."""
    if table := named.get(spec):
        return Chosen(table.provider, table.model, spec, table)
    kind, colon, argument = spec.partition(":")
    if kind not in KINDS or bool(argument) == (kind == "offline") or (kind == "offline" and colon):
        own = f"yours are {', '.join(sorted(named))}; others are " if named else ""
        hint = near(spec, [*named, *KINDS]) if spec else ""
        raise BadInput(
            f"there is no model {spec!r}{hint}",
            next=f"pass --model with one of: {own}{FORMS}; `afresh models` shows what is set up",
            safe="nothing was sent",
        )
    return Chosen(kind, argument)


def settings_of(chosen: Chosen, settings: Settings) -> Settings:
    """What the table says, over what is said for all."""
    table = chosen.table
    if table is None:
        return settings
    window, timeout = table.window or settings.window, table.timeout or settings.timeout
    return replace(settings, window=window, timeout=timeout, name=chosen.name, chosen=table)


def anchored(spec: str) -> str:
    """The spec with its path whole, so that it means the same from wherever the task is worked on."""
    kind, _, argument = spec.partition(":")
    return f"{kind}:{Path(argument).expanduser().absolute()}" if argument and kind in FILES else spec


def patience(argument: str) -> tuple[Path, float]:
    """The folder of a mailbox, and for how many seconds a reply is waited for (0: unless told): `DIR?timeout=600`."""
    match = _PATIENCE.fullmatch(argument)
    return (Path(match["folder"]).expanduser(), float(match["seconds"])) if match else (Path(argument).expanduser(), 0.0)


def refuse_names(named: Mapping[str, Named]) -> None:
    """ValueError for a table that --model could not tell from something else, or whose provider is unknown."""
    for name, table in named.items():
        if not _NAME.fullmatch(name) or name in KINDS:
            raise ValueError(
                f"models.{name[:40]}: a name is made of letters, digits, - _ and ., and is none of {', '.join(KINDS)}"
            )
        if table.provider not in KINDS or table.provider == "offline":
            may = ", ".join((*PROVIDERS, *FILES))
            raise ValueError(f"models.{name}.provider is {table.provider[:40]!r}{near(table.provider, KINDS)}; it may be {may}")
        if useless := _useless(table):
            raise ValueError(f"models.{name}: {', '.join(useless)} would do nothing for {table.provider}")


def _useless(table: Named) -> list[str]:
    """Settings that nobody would ever look at: better refused than believed."""
    unset = {one.name: one.default for one in fields(Named)}
    none = ("base_url", "key", "retries", "tools", "thinking", "insecure") if table.provider in FILES else ()
    none += ("timeout",) if table.provider == "scripted" else ()
    return [name for name in none if getattr(table, name) != unset[name]]


def target(kind: str) -> Target:
    """What has to be known of a provider to reach it."""
    if kind == "anthropic":
        from afresh.adapters.models.anthropic_messages import ANTHROPIC as found

        base_url, needs_key = "", True
    else:
        from afresh.adapters.models.flavours import FLAVOURS

        flavour = FLAVOURS[kind]
        found, base_url, needs_key = flavour.provider, flavour.base_url, flavour.needs_key
    return Target(
        title=found.title, name=kind, key_variable=found.key_variable, base_url_variable=found.base_url_variable,
        base_url=base_url, needs_key=needs_key,
    )  # fmt: skip
