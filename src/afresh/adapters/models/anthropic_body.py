"""A request as Anthropic's messages take it: content blocks, tool results, and where its cache may break."""

from collections.abc import Sequence
from itertools import pairwise, zip_longest
from typing import Any

from afresh.adapters.models.anthropic_families import Mode, family, plain, thinking
from afresh.domain.action import Action, Thinking
from afresh.domain.window import Exchange, Request, Result

Body = dict[str, Any]
CACHED: Body = {"cache_control": {"type": "ephemeral"}}
MOST_MARKS = 4
UNDONE = Result("not carried out", ok=False)


def body(model: str, request: Request) -> Body:
    """What is asked, in the order in which it is cached: tools, system, messages. The mark on the system covers the tools."""
    asked: Body = {"model": model, "messages": []}
    if request.tools:
        asked["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)} for tool in request.tools
        ]
    if request.system:
        asked["system"] = [_text(request.system) | CACHED]
    elif request.tools:
        asked["tools"][-1] |= CACHED
    marks = MOST_MARKS - (1 if request.system or request.tools else 0)
    how = thinking(model, _budget(model, request), request.reserve)
    kept = how.get("thinking", {}).get("type") in (Mode.BUDGET, Mode.ADAPTIVE)
    asked["messages"] = _messages(request, marks, model if kept else "")
    return asked | how


def _budget(model: str, request: Request) -> int:
    """Where a budget is set, thinking can't begin in the middle of tool use: the thinking before the calls must be there."""
    if family(model).thinks is not Mode.BUDGET or not request.turns or not request.turns[-1].reply.actions:
        return request.thinking
    return request.thinking if _own(request.turns[-1], model) else 0


def _messages(request: Request, marks: int, thinker: str) -> list[Body]:
    """`thinker`: the model to whom its earlier thinking is sent back. The last word is always the user's."""
    first = _split(request.message, request.breaks, marks)
    messages: list[Body] = [{"role": "user", "content": first}]
    for number, turn in enumerate(request.turns, 1):
        said, came = _said(turn, number, thinker), _came(turn, number)
        if said and came:
            messages += [{"role": "assistant", "content": said}, {"role": "user", "content": came}]
        else:
            messages[-1]["content"] += came
    return messages


def _said(turn: Exchange, number: int, thinker: str) -> list[Body]:
    blocks = [_thought(block) for block in _own(turn, thinker)]
    blocks += [_text(turn.reply.thought)] if turn.reply.thought.strip() else []
    return blocks + [_call(action, f"toolu_{number}_{place}") for place, action in enumerate(turn.reply.actions, 1)]


def _came(turn: Exchange, number: int) -> list[Body]:
    """A result for every call, whatever came of it: the API takes no call without one."""
    calls = turn.reply.actions
    pairs = zip_longest(calls, turn.results[: len(calls)], fillvalue=UNDONE)
    blocks = [_result(result, f"toolu_{number}_{place}") for place, (_, result) in enumerate(pairs, 1)]
    return blocks + ([_text(turn.text)] if turn.text.strip() else [])


def _own(turn: Exchange, model: str) -> Sequence[Thinking]:
    """The thinking of a turn that this model can be sent back: its own, and signed."""
    spoken = plain(turn.reply.model)
    if not model or family(model).bound or not spoken.startswith(plain(model)):
        return ()
    return [block for block in turn.reply.thinking if block.redacted or block.signature]


def _split(message: str, breaks: Sequence[int], marks: int) -> list[Body]:
    """The message in blocks that end at the breaks. The API takes no block of blanks: such a one is part of the one before."""
    ends = chosen([place for place in breaks if place <= len(message) and message[:place].strip()], marks)
    blocks: list[Body] = []
    for start, end in pairwise((0, *ends, len(message))):
        if not blocks or message[start:end].strip():
            blocks.append(_text(message[start:end]) | (CACHED if end in ends else {}))
        else:
            blocks[-1]["text"] += message[start:end]
    return blocks


def chosen(breaks: Sequence[int], most: int) -> Sequence[int]:
    """The first is the likeliest to be found again, the last saves the most; those between are spread evenly."""
    if len(breaks) <= most:
        return breaks
    if most < 2:
        return breaks[:most]
    return [breaks[place * (len(breaks) - 1) // (most - 1)] for place in range(most)]


def _call(action: Action, name: str) -> Body:
    return {"type": "tool_use", "id": name, "name": action.tool or "unnamed", "input": dict(action.args)}


def _result(result: Result, name: str) -> Body:
    told: Body = {"type": "tool_result", "tool_use_id": name}
    content = {"content": result.text} if result.text.strip() else {}
    return told | content | ({} if result.ok else {"is_error": True})


def _thought(block: Thinking) -> Body:
    if block.redacted:
        return {"type": "redacted_thinking", "data": block.text}
    return {"type": "thinking", "thinking": block.text, "signature": block.signature}


def _text(text: str) -> Body:
    return {"type": "text", "text": text}
