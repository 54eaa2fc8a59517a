"""A recorded run as LangChain's messages, and the text that such messages hold."""

from collections.abc import Iterable
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from contexts.needed import TALK, Step, action_text

WRITING = {"Write": "write_file", "Edit": "edit_file"}
"""Recorded tools under the names that deepagents' own have, since it shortens the arguments of these."""


def messages(step: Step, number: int) -> list[BaseMessage]:
    """A call and its result, or, where the agent spoke to a person, two turns of talk."""
    thought, action, seen = step.get("thought") or "", step["action"], step.get("observation") or ""
    if action["tool"] == TALK:
        said = AIMessage(content="\n".join((thought, action_text(action))))
        return [said, HumanMessage(content=seen)] if seen else [said]
    tool, identity = WRITING.get(action["tool"], action["tool"]), f"call{number}"
    call = {"name": tool, "id": identity, "args": action.get("args") or {"text": action.get("text") or ""}}
    return [AIMessage(content=thought, tool_calls=[call]), ToolMessage(content=seen, tool_call_id=identity, name=tool)]


def text_of(message: BaseMessage) -> str:
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return "\n".join((str(message.content), *(called(call["args"]) for call in calls)))


def called(args: dict[str, Any]) -> str:
    """As the recorded action says it."""
    return args["text"] if set(args) == {"text"} else action_text({"args": args})


def text(sent: Iterable[BaseMessage]) -> str:
    return "\n".join(map(text_of, sent))


def counted(sent: Iterable[BaseMessage]) -> int:
    """The one counter, over all the text of the messages and the line breaks between them."""
    return (sum(len(text_of(message)) + 1 for message in sent) + 3) // 4
