"""A reply that goes back to its model, and what came of it: as text, for whoever reads along."""

import json
from collections.abc import Iterator

from afresh.domain.action import Action, Reply, Thinking
from afresh.domain.codec import to_plain_value
from afresh.domain.window import ToolExchange

NO_RESULT = "(no result)"


def json_from_arguments(action: Action) -> str:
    return json.dumps(to_plain_value(action.args), ensure_ascii=False, sort_keys=True)


def render_exchange(turn: ToolExchange) -> str:
    """Each call with its result; what is said after them is not part of it."""
    results = [*turn.results, *[None] * (len(turn.reply.actions) - len(turn.results))]
    lines = list(render_reply_opening(turn.reply))
    for action, result in zip(turn.reply.actions, results, strict=False):
        lines.append(f"You did: {action.tool} {json_from_arguments(action)}{'' if result is None or result.ok else ' FAILED'}")
        lines.append(result.text if result else NO_RESULT)
    return "\n".join(lines)


def render_reply_opening(reply: Reply) -> Iterator[str]:
    """What came before the calls."""
    yield from map(render_thinking, reply.thinking)
    if reply.thought:
        yield f"You thought: {reply.thought}"


def render_thinking(one: Thinking) -> str:
    if one.redacted:
        return f"[thinking that the provider keeps to itself, {len(one.text):,} characters]"
    return f"[thinking{', signed' if one.signature else ''}] {one.text}"
