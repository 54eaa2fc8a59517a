"""What the model proposes, and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from afresh.domain.text import to_one_line


@dataclass(frozen=True, slots=True)
class Action:
    """One tool call."""

    tool: str
    args: Mapping[str, Any] = field(default_factory=dict[str, Any])


SUBJECT_ARGUMENTS = ("what", "goal", "path", "command", "text", "id", "question", "summary", "which", "subject")


def describe_subject(action: Action) -> str:
    """What an action is about: its most telling argument, in one line."""
    if action.tool == "search" and isinstance(action.args.get("text"), str):
        return to_one_line(repr(action.args["text"]) + (f" in {action.args['path']}" if action.args.get("path") else ""), 100)
    texts = {name: value for name, value in action.args.items() if isinstance(value, str) and value.strip()}
    for name in (*SUBJECT_ARGUMENTS, *sorted(texts)):
        if name in texts:
            return to_one_line(texts[name], 100)
    return ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counts them. Those read from its cache (`cached`) and those it wrote there (`written`) are part of
    `input`; `thinking`, where it is told apart, is part of `output`."""

    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0
    thinking: int = 0

    @property
    def tokens(self) -> int:
        """In and out."""
        return self.input + self.output

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input, self.output + other.output, self.cached + other.cached,
            self.written + other.written, self.thinking + other.thinking,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Thinking:
    """What a model thought before it answered, as its provider tells it. The signature proves to the provider that it is its
    own; a redacted one has nothing else: `text` is then what the provider wants back as it is."""

    text: str
    signature: str = ""
    redacted: bool = False


class ReplyNotice(str):
    """Among the pieces of a reply that comes in: a word about it, such as that it is late, and no part of it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered to one request."""

    thought: str = ""
    actions: tuple[Action, ...] = ()
    usage: Usage = Usage()
    model: str = ""
    counted: bool = False
    """The provider itself has counted the input; otherwise `usage` holds an estimate of ours."""
    thinking: tuple[Thinking, ...] = ()
    cost: int | None = None
    """Nano-dollars as the books have it, 0 where nobody pays; None where the price is not known."""
    cramped: bool = False
    """Its limit was too short for what was to be said: it was cut off there, or had to be said again shorter."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What one action led to. `text` is the digest that windows may show; the whole output is block `block`."""

    action: Action
    ok: bool
    text: str
    block: str = ""
    size: int = 0
    lines: int = 0
    """Lines of files that it brought into view."""


@dataclass(frozen=True, slots=True)
class CommandRun:
    """A command that has run in the sandbox."""

    command: str
    exit: int
    output: str
    seconds: float = 0.0
    timed_out: bool = False
