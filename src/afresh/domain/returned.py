"""The last reply as it was, for models that take it back with the results of its calls. Bounded: a long one is told instead."""

from dataclasses import dataclass, replace

from afresh.domain.action import Reply, Usage
from afresh.domain.codec import dumps

ARGUMENTS = 3_000
THINKING = 24_000
"""Characters. Longer arguments are never worth sending twice; a signature alone may have thousands."""


@dataclass(frozen=True, slots=True)
class Returned:
    step: int
    reply: Reply
    """Without its thought, which the record of the step has."""


def returned(step: int, reply: Reply) -> Returned | None:
    """Nothing if it is too long, or has no actions that anything could have come of."""
    thinking = sum(len(one.text) + len(one.signature) for one in reply.thinking)
    if not reply.actions or thinking > THINKING or len(dumps(reply.actions)) > ARGUMENTS:
        return None
    spent = Usage(output=reply.usage.output, thinking=reply.usage.thinking) if reply.thinking else Usage()
    return Returned(step, replace(reply, thought="", usage=spent, counted=False, cost=None))
