"""What a provider answered, as a reply: checked, cut to a size, with its usage."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import takewhile
from typing import Any, TypeVar

from afresh.core.action import Action
from afresh.core.codec import to_canonical_json
from afresh.core.prompt import Request
from afresh.core.reply import Reply
from afresh.errors import TryAgain
from afresh.models.providers.connection import ProviderConnection
from afresh.models.reply_checks import add_missing_usage
from afresh.ports.model import ReplyListener

Answer = TypeVar("Answer")
MAX_ARGUMENTS_CHARACTERS = 200_000
MAX_TEXT_CHARACTERS = 200_000
"""Characters. Replies are kept for ever; no window could show more of one."""
MAX_CHARACTERS_PER_TOKEN = 20
"""For each token of the reply's limit; what is longer is not read to its end."""
DECLINED_NOTE = "[The provider declined to let the model answer.]"
INVALID_ARGUMENT = "_invalid"
"""The argument that replaces unusable ones and says why."""
MAX_REPORTED_TOKENS = 10_000_000
"""No model takes or says as much: a provider that reports it is wrong."""


def hear_pieces(pieces: Iterable[str], request: Request, hear: ReplyListener) -> bool:
    """Report the pieces of a reply as they come in. True if they are far more than was reserved, and are no longer read."""
    left = request.reserve * MAX_CHARACTERS_PER_TOKEN
    for piece in filter(None, pieces):
        hear(piece)
        left -= len(piece)
        if left < 0:
            return True
    return False


def read_answer(read: Callable[[Answer], tuple[Reply, bool]], answer: Answer, who: str) -> tuple[Reply, bool]:
    """What `read` makes of the answer. TryAgain for a proxy's page or half a body: the SDKs don't check answers."""
    try:
        return read(answer)
    except (AttributeError, IndexError, TypeError) as error:
        raise TryAgain(f"{who} sent an invalid reply: {error}") from None


def finish_reply(reply: Reply, cut: bool, request: Request, connection: ProviderConnection) -> Reply:
    """The reply with its usage. If it was cut at its limit, its last call may be incomplete, even if a server has closed its
    JSON, and is dropped. The calls before it are kept: they are complete and paid for."""
    reply = truncate_reply(reply)
    if cut:
        kept = tuple(takewhile(lambda action: INVALID_ARGUMENT not in action.args, reply.actions[:-1]))
        done = (
            f"its first {len(kept)} tool calls were carried out, the rest was not"
            if kept
            else "no tool call in it was carried out"
        )
        note = f"[The reply was cut off at its limit of {request.reserve} tokens and {done}.]"
        reply = replace(reply, thought=f"{reply.thought}\n{note}".strip(), actions=kept, cramped=True)
    counted = replace(reply, counted=reply.usage.input > 0)
    return add_missing_usage(counted, request, connection.count, reply.model)


def truncate_reply(reply: Reply) -> Reply:
    """Cut what is too long for the journal. Thinking is dropped instead of cut: its provider accepts only the whole."""
    thinking = tuple(block for block in reply.thinking if len(block.text) + len(block.signature) <= MAX_TEXT_CHARACTERS)
    if len(reply.thought) <= MAX_TEXT_CHARACTERS:
        return replace(reply, thinking=thinking)
    note = f"[{len(reply.thought):,} characters; the rest was cut off.]"
    return replace(reply, thinking=thinking, thought=f"{reply.thought[:MAX_TEXT_CHARACTERS]}\n{note}")


def action_from_call(tool: str, args: Any, raw: str = "") -> Action:
    """A tool call; arguments that can't be used become the argument `_invalid`, which says so to the model."""
    tool = tool[:200]
    if not isinstance(args, dict):
        return Action(tool, {INVALID_ARGUMENT: f"the arguments are not a JSON object: {raw[:200]}"})
    size = len(to_canonical_json(args))
    if size > MAX_ARGUMENTS_CHARACTERS:
        text = f"the arguments have {size:,} characters, {MAX_ARGUMENTS_CHARACTERS:,} are allowed: do it in smaller steps"
        return Action(tool, {INVALID_ARGUMENT: text})
    return Action(tool, args)


def action_from_arguments(tool: str, arguments: str) -> Action:
    """A tool call whose arguments came as JSON text."""
    raw = arguments or "{}"
    try:
        return action_from_call(tool, json.loads(raw), raw)
    except (ValueError, RecursionError):
        return action_from_call(tool, None, raw)


def sum_reported_tokens(*counts: Any) -> int:
    """Sum of what the provider counted; what is missing or makes no sense counts nothing."""
    return sum(value for value in counts if type(value) is int and 0 < value <= MAX_REPORTED_TOKENS)
