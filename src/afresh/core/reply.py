"""The model's reply."""

from dataclasses import replace

from afresh.core.action import Action
from afresh.core.codec import to_canonical_json
from afresh.core.fast_dataclass import dataclass
from afresh.core.usage import Usage


@dataclass(frozen=True, slots=True)
class Thinking:
    """What a model thought before it answered, as its provider tells it. The signature proves to the provider that it is its
    own; a redacted one has nothing else: `text` is then what the provider wants back as it is."""

    text: str
    signature: str = ""
    redacted: bool = False


class ReplyNotice(str):
    """Among the pieces of a reply that comes in: a word about it, such as that it is late, and no part of it."""


class ToolCallPiece(str):
    """Among the pieces of a reply that comes in: a part of a tool call, which nobody reads as it comes in."""


OFFLINE_MODEL = "offline"
SCRIPTED_MODEL = "scripted"
BATCH_LINE_START = "Or apply these together in one reply:"
"""Begins the line that names suggestions of different functions; the offline policy goes by it."""
MODELS_THAT_DO_NOT_READ = frozenset({OFFLINE_MODEL, SCRIPTED_MODEL})
"""What they say follows from rules or was written beforehand: no prompt has any part in it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The model's reply to one request."""

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


ANSWERED = "answered; nothing was changed"
"""How a turn of a conversation ends that has changed nothing."""


def answer_from_words(reply: Reply, turn: int) -> str:
    """In a turn of a conversation a reply of words alone is the answer, and completes the turn; empty for any other reply."""
    return reply.thought.strip() if turn and not reply.actions else ""


MAX_ARGUMENT_CHARACTERS = 12_000
MAX_THINKING_CHARACTERS = 24_000
"""Characters. Longer arguments are never worth sending twice; a signature alone may have thousands."""


@dataclass(frozen=True, slots=True)
class ReturnedReply:
    """A reply that goes back to its model as it was."""

    step: int
    reply: Reply
    """Without its thought, which the record of the step has."""


def make_returned_reply(step: int, reply: Reply) -> ReturnedReply | None:
    """Nothing if it is too long, or has no actions that anything could have come of."""
    thinking = sum(len(one.text) + len(one.signature) for one in reply.thinking)
    if not reply.actions or thinking > MAX_THINKING_CHARACTERS or len(to_canonical_json(reply.actions)) > MAX_ARGUMENT_CHARACTERS:
        return None
    spent = Usage(output=reply.usage.output, thinking=reply.usage.thinking) if reply.thinking else Usage()
    return ReturnedReply(step, replace(reply, thought="", usage=spent, counted=False, cost=None))
