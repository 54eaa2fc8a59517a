"""Who answers the requests. `make_model` reads `offline`, `mailbox:DIR`, `anthropic:NAME` and so on, or a user's own name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from afresh.adapters.models.choose import KINDS, NONE, PAID, Chosen, anchored, choose, patience, settings_of, target
from afresh.adapters.models.settings import Named, Settings

if TYPE_CHECKING:
    from afresh.ports import Model

__all__ = ["anchored", "is_paid", "is_provider", "known_framing", "known_retries", "known_window", "make_model", "part_of"]
WINDOW = 200_000
DEFAULTS = Settings()


def make_model(spec: str, start: int = 0, settings: Settings = DEFAULTS) -> Model:
    """The model that the spec names; `start` is the number of calls that the task has bought."""
    chosen = choose(spec, settings.named)
    return _MAKERS[chosen.kind](chosen, start, settings_of(chosen, settings))


def part_of(spec: str, part: str) -> str:
    """Who answers for a part of a task: the same model. But a script is written for one task, so that a part has its own beside
    it: `script.jsonl`, and `script.3-1.jsonl` for what step 3 handed out as its first action."""
    kind, _, argument = spec.partition(":")
    place = Path(argument)
    return f"{kind}:{place.with_name(f'{place.stem}.{part}{place.suffix}')}" if kind == "scripted" else spec


def known_window(spec: str, named: Mapping[str, Named] = NONE) -> int:
    """Tokens that the model can take, as far as that is known without asking for it or for a key."""
    chosen = choose(spec, named)
    if chosen.table and chosen.table.window:
        return chosen.table.window
    if chosen.kind == "anthropic":
        from afresh.adapters.models.anthropic_messages import window

        return window(chosen.argument)
    if not chosen.is_provider:
        return WINDOW
    from afresh.adapters.models.flavours import FLAVOURS
    from afresh.adapters.models.openai_chat import window

    return window(chosen.argument, FLAVOURS[chosen.kind])


def known_framing(spec: str, named: Mapping[str, Named] = NONE) -> int:
    """Tokens that the provider adds to any request, as far as that is published; what is not is learnt from its usage reports."""
    chosen = choose(spec, named)
    if chosen.kind == "anthropic":
        from afresh.adapters.models.anthropic_messages import framing

        return framing(chosen.argument, chosen.table is None or chosen.table.tools is not False)
    from afresh.adapters.models.openai_chat import FRAMING

    return FRAMING


def is_provider(spec: str, named: Mapping[str, Named] = NONE) -> bool:
    """Whether each call is bought from somebody."""
    return choose(spec, named).is_provider


def is_paid(spec: str, named: Mapping[str, Named] = NONE, prices: Collection[str] = ()) -> bool:
    """Whether it costs something: a server on a machine of the user's own does only if the user says what, a provider always."""
    chosen = choose(spec, named)
    return chosen.kind in PAID or (chosen.is_provider and chosen.spec in prices)


def known_retries(spec: str, named: Mapping[str, Named] = NONE) -> int | None:
    """How often the user wants a call to be repeated that failed for a passing reason; None: as often as is usual."""
    table = choose(spec, named).table
    return table.retries if table else None


def _offline(chosen: Chosen, start: int, settings: Settings) -> Model:
    from afresh.adapters.models.offline import Offline

    return Offline(settings.window or WINDOW, settings.count)


def _scripted(chosen: Chosen, start: int, settings: Settings) -> Model:
    from afresh.adapters.models.scripted import Scripted, read_script

    return Scripted(read_script(Path(chosen.argument).expanduser()), start, settings.window or WINDOW, settings.count)


def _mailbox(chosen: Chosen, start: int, settings: Settings) -> Model:
    from afresh.adapters.models.mailbox import Mailbox, Patience

    folder, seconds = patience(chosen.argument)
    waits = Patience(reply=seconds or settings.timeout)
    return Mailbox(folder, start, settings.window or WINDOW, settings.count, waits, settings.task)


def _anthropic(chosen: Chosen, start: int, settings: Settings) -> Model:
    from afresh.adapters.models.anthropic_messages import ANTHROPIC, AnthropicModel
    from afresh.adapters.models.provider import connect

    table = chosen.table
    thinks, tools = table is None or table.thinking is not False, table is None or table.tools is not False
    return AnthropicModel(chosen.argument, connect(ANTHROPIC, settings, target(chosen.kind)), thinks, tools)


def _openai(chosen: Chosen, start: int, settings: Settings) -> Model:
    from afresh.adapters.models.flavours import FLAVOURS, flavour_at, without
    from afresh.adapters.models.openai_chat import OpenAIModel
    from afresh.adapters.models.provider import connect

    flavour = FLAVOURS[chosen.kind]
    connection = connect(flavour.provider, settings, target(chosen.kind))
    if chosen.table:
        wanted = {"tools": chosen.table.tools, "effort": chosen.table.thinking, "budget": chosen.table.thinking}
        flavour = flavour_at(connection.base_url, flavour)
        for part in [part for part, told in wanted.items() if told is False]:
            flavour = without(flavour, part)
    return OpenAIModel(chosen.argument, connection, flavour)


_MAKERS: dict[str, Callable[[Chosen, int, Settings], Model]] = {
    "offline": _offline, "scripted": _scripted, "mailbox": _mailbox, "anthropic": _anthropic,
}  # fmt: skip
_MAKERS |= {kind: _openai for kind in KINDS if kind not in _MAKERS}
