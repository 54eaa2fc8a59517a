"""Who answers the requests. `make_model` reads a spec such as `offline`, `mailbox:DIR` or `anthropic:NAME`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from afresh.adapters.models.settings import Settings
from afresh.errors import BadInput

if TYPE_CHECKING:
    from afresh.ports import Model

FORMS = "offline, scripted:FILE, mailbox:DIR, anthropic:NAME, openai:NAME"
WINDOW = 200_000


DEFAULTS = Settings()


def make_model(spec: str, start: int = 0, settings: Settings = DEFAULTS) -> Model:
    """The model that the spec names; `start` is the number of calls that the task has bought."""
    kind, argument = _parts(spec)
    return _MAKERS[kind](argument, start, settings)


def anchored(spec: str) -> str:
    """The spec with its path whole, so that it means the same from wherever the task is worked on."""
    kind, _, argument = spec.partition(":")
    return f"{kind}:{Path(argument).expanduser().absolute()}" if argument and kind in ("scripted", "mailbox") else spec


def part_of(spec: str, part: str) -> str:
    """Who answers for a part of a task: the same model. But a script is written for one task, so that a part has its own beside
    it: `script.jsonl`, and `script.3-1.jsonl` for what step 3 handed out as its first action."""
    kind, _, argument = spec.partition(":")
    place = Path(argument)
    return f"{kind}:{place.with_name(f'{place.stem}.{part}{place.suffix}')}" if kind == "scripted" else spec


def known_window(spec: str) -> int:
    """Tokens that the model can take, as far as that is known without asking for it or for a key."""
    kind, name = _parts(spec)
    if kind == "anthropic":
        from afresh.adapters.models.anthropic_messages import window
    elif kind == "openai":
        from afresh.adapters.models.openai_chat import window
    else:
        return WINDOW
    return window(name)


def known_framing(spec: str) -> int:
    """Tokens that the provider adds to any request, as far as that is published; what is not is learnt from its usage reports."""
    kind, name = _parts(spec)
    if kind == "anthropic":
        from afresh.adapters.models.anthropic_messages import framing

        return framing(name)
    from afresh.adapters.models.openai_chat import FRAMING

    return FRAMING


def is_provider(spec: str) -> bool:
    """Whether each call is bought from somebody."""
    return _parts(spec)[0] in ("anthropic", "openai")


def _parts(spec: str) -> tuple[str, str]:
    kind, _, argument = spec.partition(":")
    if kind not in _MAKERS or bool(argument) == (kind == "offline"):
        raise BadInput(f"there is no model {spec!r}", next=f"pass --model with one of: {FORMS}", safe="nothing was sent")
    return kind, argument


def _offline(argument: str, start: int, settings: Settings) -> Model:
    from afresh.adapters.models.offline import Offline

    return Offline(settings.window or WINDOW, settings.count)


def _scripted(argument: str, start: int, settings: Settings) -> Model:
    from afresh.adapters.models.scripted import Scripted, read_script

    return Scripted(read_script(Path(argument).expanduser()), start, settings.window or WINDOW, settings.count)


def _mailbox(argument: str, start: int, settings: Settings) -> Model:
    from afresh.adapters.models.mailbox import Mailbox, Patience

    patience = Patience(reply=settings.timeout)
    return Mailbox(Path(argument).expanduser(), start, settings.window or WINDOW, settings.count, patience)


def _anthropic(argument: str, start: int, settings: Settings) -> Model:
    from afresh.adapters.models.anthropic_messages import ANTHROPIC, AnthropicModel
    from afresh.adapters.models.provider import connect

    return AnthropicModel(argument, connect(ANTHROPIC, settings))


def _openai(argument: str, start: int, settings: Settings) -> Model:
    from afresh.adapters.models.openai_chat import OPENAI, OpenAIModel
    from afresh.adapters.models.provider import connect

    return OpenAIModel(argument, connect(OPENAI, settings))


_MAKERS: dict[str, Callable[[str, int, Settings], Model]] = {
    "offline": _offline,
    "scripted": _scripted,
    "mailbox": _mailbox,
    "anthropic": _anthropic,
    "openai": _openai,
}
