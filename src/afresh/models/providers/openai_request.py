"""A request as the body of a chat completion, in the server's dialect."""

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

from afresh.core.action import Action
from afresh.core.codec import to_plain_value
from afresh.core.prompt import Request, ToolExchange
from afresh.core.reply import Reply, Thinking
from afresh.models.providers.openai_dialects import OpenAIDialect
from afresh.models.providers.text_tool_calls import make_reply_schema, put_tools_in_text
from afresh.models.reply_checks import CountTokens

ChatBody = dict[str, Any]

MAX_CACHE_MARKS = 4
"""Most marks for the cache in one request, as providers that use marks allow."""
MIN_EFFORT_OF_MODEL = {"o1": "low", "o3": "low", "o4": "low", "gpt-5": "minimal", "gpt-5.": "none"}
"""OpenAI's models that think unasked, by how their names begin, and the least that they can be held to."""


def make_chat_body(model: str, request: Request, dialect: OpenAIDialect, count: CountTokens) -> ChatBody:
    """All that is sent, but for how it is streamed."""
    if request.tools and not dialect.tools:
        return _make_body_without_tools(model, request, dialect, count)
    body = _make_body_head(model, request, dialect)
    turns = [message for place, turn in enumerate(request.turns) for message in _make_turn_messages(turn, place, dialect)]
    body["messages"] = [*_make_opening_messages(model, request, dialect), *_add_footer(turns, request.footer)]
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
            }
            for tool in request.tools
        ]
    return body


def _make_body_without_tools(model: str, request: Request, dialect: OpenAIDialect, count: CountTokens) -> ChatBody:
    """Tools are described in the prompt; the answer gets a schema if the server can enforce one."""
    schema = make_reply_schema(request.tools, request.reserve)
    more = count(json.dumps(schema)) if dialect.schema and dialect.reads_schema else 0
    body = make_chat_body(model, put_tools_in_text(request, count, more), dialect, count)
    if dialect.schema:
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
    return body


def _make_body_head(model: str, request: Request, dialect: OpenAIDialect) -> ChatBody:
    body: ChatBody = {"model": model, dialect.limit: request.reserve}
    if dialect.effort and (word := choose_reasoning_effort(model, request.thinking, dialect)):
        body["reasoning_effort"] = word
    if dialect.budget and request.thinking:
        body["extra_body"] = {"reasoning": {"max_tokens": request.thinking}}
    if dialect.cache_key and request.breaks:
        alike = json.dumps([request.system, to_plain_value(request.tools), request.message[: request.breaks[0]]], sort_keys=True)
        body["prompt_cache_key"] = sha256(alike.encode()).hexdigest()[:32]
    return body


def choose_reasoning_effort(model: str, thinking: int, dialect: OpenAIDialect) -> str:
    """The effort for a budget of tokens. A model that always thinks gets its lowest effort, to leave tokens for the answer."""
    if thinking:
        return "low" if thinking <= 2_000 else "medium" if thinking <= 8_000 else "high"
    known = [prefix for prefix in MIN_EFFORT_OF_MODEL if model.startswith(prefix)]
    return MIN_EFFORT_OF_MODEL[max(known, key=len)] if known and dialect.cache_key else ""


def _make_opening_messages(model: str, request: Request, dialect: OpenAIDialect) -> Iterator[ChatBody]:
    marked = model.startswith(dialect.marked) if dialect.marked else False
    if request.system:
        yield {"role": "system", "content": [_mark_for_cache(request.system)] if marked else request.system}
    footer = "" if request.turns else request.footer
    if marked:
        yield {"role": "user", "content": [*_split_at_breaks(request), *([{"type": "text", "text": footer}] if footer else [])]}
    else:
        yield {"role": "user", "content": "\n\n".join(text for text in (request.message, footer) if text)}


def _add_footer(turns: Sequence[ChatBody], footer: str) -> Sequence[ChatBody]:
    """At the end of the last message, if it is the user's: many servers take no two of them in a row. Without turns the footer is
    the end of the first message."""
    if not turns or not footer:
        return turns
    last = turns[-1]
    if last["role"] == "user":
        return [*turns[:-1], last | {"content": f"{last['content']}\n\n{footer}"}]
    return [*turns, {"role": "user", "content": footer}]


def _split_at_breaks(request: Request) -> Iterator[ChatBody]:
    """The message in pieces, each up to a place that the next call is likely to share; the last ones when there are too many."""
    places = [place for place in request.breaks if 0 < place <= len(request.message)]
    start = 0
    for place in places[-(MAX_CACHE_MARKS - 1) :]:
        yield _mark_for_cache(request.message[start:place])
        start = place
    if start < len(request.message):
        yield {"type": "text", "text": request.message[start:]}


def _mark_for_cache(text: str) -> ChatBody:
    return {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}


def _make_turn_messages(turn: ToolExchange, place: int, dialect: OpenAIDialect) -> Iterator[ChatBody]:
    """What the model said, what each of its calls gave, and what was said after that."""
    reply = turn.reply
    values: ChatBody = {"role": "assistant", "content": reply.thought or None}
    if reply.actions:
        values["tool_calls"] = [
            _make_tool_call(action, _make_call_id(place, number)) for number, action in enumerate(reply.actions)
        ]
    elif not reply.thought:
        values["content"] = "(no answer)"
    yield values | _make_thinking_echo(reply, dialect)
    for number, result in enumerate(turn.results):
        yield {"role": "tool", "tool_call_id": _make_call_id(place, number), "content": result.text}
    if turn.text:
        yield {"role": "user", "content": turn.text}


def _make_tool_call(action: Action, name: str) -> ChatBody:
    return {"id": name, "type": "function", "function": {"name": action.tool, "arguments": json.dumps(dict(action.args))}}


def _make_call_id(place: int, number: int) -> str:
    """Nine letters and digits: some models take no other names of calls."""
    return f"call{place % 100:02d}{number % 1000:03d}"


def _make_thinking_echo(reply: Reply, dialect: OpenAIDialect) -> ChatBody:
    """The thinking of a reply, sent back only to the server that it came from."""
    if not dialect.echo or not reply.thinking or not reply.model.startswith(f"{dialect.name}:"):
        return {}
    if dialect.echo == "reasoning_details":
        details = [detail for thought in reply.thinking if (detail := detail_from_thinking(thought))]
        return {"reasoning_details": details} if details else {}
    return {dialect.echo: "".join(thought.text for thought in reply.thinking)}


def thinking_from_detail(detail: ChatBody) -> Thinking:
    """Thinking from one of OpenRouter's details, so that it can be sent back unchanged."""
    rest = {key: value for key, value in detail.items() if key != "text"}
    if isinstance(detail.get("text"), str):
        return Thinking(detail["text"], json.dumps(rest, sort_keys=True))
    if isinstance(detail.get("summary"), str):
        return Thinking(detail["summary"], json.dumps(rest, sort_keys=True))
    return Thinking(json.dumps(rest, sort_keys=True), redacted=True)


def detail_from_thinking(thought: Thinking) -> ChatBody | None:
    """The detail again; None for a thought that never was one."""
    try:
        value = json.loads(thought.text if thought.redacted else thought.signature)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    return value if thought.redacted or "summary" in value else value | {"text": thought.text}
