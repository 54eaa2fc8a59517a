"""The last reply as it was, for models that take it back with the results of its calls. Bounded: a long one is told instead."""

from dataclasses import dataclass, replace

from afresh.domain.action import Reply, Usage
from afresh.domain.codec import to_canonical_json

MAX_ARGUMENT_CHARACTERS = 3_000
MAX_THINKING_CHARACTERS = 24_000
"""Characters. Longer arguments are never worth sending twice; a signature alone may have thousands."""


@dataclass(frozen=True, slots=True)
class ReturnedReply:
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
