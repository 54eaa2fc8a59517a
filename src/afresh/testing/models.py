"""Requests to try a model with, and a model whose replies are computed by a function."""

from collections.abc import Callable

from afresh.domain.action import Reply, Usage
from afresh.domain.window import Request, ToolSchema
from afresh.ports import ReplyListener, ignore_piece


def make_string_tool(name: str, description: str, **arguments: str) -> ToolSchema:
    """A tool all of whose arguments are required strings."""
    properties = {argument: {"type": "string", "description": text} for argument, text in arguments.items()}
    return ToolSchema(name, description, {"type": "object", "properties": properties, "required": list(arguments)})


SAMPLE_TOOLS = (
    make_string_tool("read", "Read a file.", path="relative to the root"),
    make_string_tool("apply", "Apply a suggestion.", id="as listed under Suggestions"),
    make_string_tool("complete", "Say that the task is done.", summary="what was done"),
)

SAMPLE_MESSAGE = """# Task
Bring parse_header below complexity 10.

## Suggestions
- [a1b2c3d4e5f6] extract lines 41-58 of parse_header in src/x.py into _read_fields(lines) -> fields: complexity 14 -> 8

## Changes so far
none
"""


def make_sample_request(
    message: str = SAMPLE_MESSAGE, tools: tuple[ToolSchema, ...] = SAMPLE_TOOLS, reserve: int = 800
) -> Request:
    return Request("You work on a repository with the tools given.", message, tools, reserve)


class ComputedModel:
    """A fake Model: `answer` makes each reply. It keeps what it was asked."""

    name = "computed"
    window = 200_000

    def __init__(self, answer: Callable[[Request], Reply]) -> None:
        self.answer = answer
        self.requests: list[Request] = []

    def weigh(self, request: Request) -> int:
        return 0

    def propose(self, request: Request, hear: ReplyListener = ignore_piece) -> Reply:
        self.requests.append(request)
        reply = self.answer(request)
        return Reply(reply.thought, reply.actions, Usage(len(request.text) // 4 + 1, 1), self.name)
