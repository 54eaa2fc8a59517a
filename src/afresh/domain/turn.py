"""A reply that goes back to its model, and what came of it: as text, for whoever reads along."""

import json
from collections.abc import Iterator

from afresh.domain.action import Action, Reply, Thinking
from afresh.domain.codec import encode
from afresh.domain.window import Exchange

NOTHING = "(no result)"


def arguments(action: Action) -> str:
    return json.dumps(encode(action.args), ensure_ascii=False, sort_keys=True)


def told(turn: Exchange) -> str:
    """Each call with its result; what is said after them is not part of it."""
    results = [*turn.results, *[None] * (len(turn.reply.actions) - len(turn.results))]
    lines = list(spoken(turn.reply))
    for action, result in zip(turn.reply.actions, results, strict=False):
        lines.append(f"You did: {action.tool} {arguments(action)}{'' if result is None or result.ok else ' FAILED'}")
        lines.append(result.text if result else NOTHING)
    return "\n".join(lines)


def spoken(reply: Reply) -> Iterator[str]:
    """What came before the calls."""
    yield from map(thinking_line, reply.thinking)
    if reply.thought:
        yield f"You thought: {reply.thought}"


def thinking_line(one: Thinking) -> str:
    if one.redacted:
        return f"[thinking that the provider keeps to itself, {len(one.text):,} characters]"
    return f"[thinking{', signed' if one.signature else ''}] {one.text}"
