"""What all tools share: a schema, and arguments that are checked against it before the tool sees them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from afresh.core.argument_check import find_argument_faults
from afresh.core.prompt import ToolSchema
from afresh.core.step_result import ToolOutcome
from afresh.core.tool_traits import ToolTrait, find_tool_traits
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext


@dataclass(frozen=True, slots=True)
class FunctionTool:
    schema: ToolSchema
    function: Callable[[Mapping[str, Any], ToolContext], ToolOutcome]
    own_traits: frozenset[ToolTrait] | None = None
    """Only for a tool that is made at run time; core/tool_traits has those of the shipped tools."""

    @property
    def traits(self) -> frozenset[ToolTrait]:
        return find_tool_traits(self.schema.name) if self.own_traits is None else self.own_traits

    def run(self, args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
        problem = find_argument_mistake(self.schema, args)
        if problem:
            raise ModelMistake(f"{self.schema.name}: {problem}")
        return self.function(args, context)


def make_tool_schema(name: str, description: str, /, optional: tuple[str, ...] = (), **arguments: Any) -> ToolSchema:
    """`argument="what it is"` is a string, `argument=("integer", "what it is")` something else."""
    properties = {key: make_argument_schema(value) for key, value in arguments.items()}
    required = [key for key in arguments if key not in optional]
    needed = {"required": required} if required else {}
    return ToolSchema(name, description, {"type": "object", "properties": properties, **needed})


def make_argument_schema(value: str | tuple[str, str]) -> dict[str, Any]:
    kind, text = ("string", value) if isinstance(value, str) else value
    items = {"items": {"type": "string"}} if kind == "array" else {}
    return {"type": kind, **items, **({"description": text} if text else {})}


def find_argument_mistake(schema: ToolSchema, args: Mapping[str, Any]) -> str:
    if "_invalid" in args:
        return str(args["_invalid"])
    faults = (*find_argument_faults(args, schema.parameters), *find_unstorable_text(args))
    return next(iter(faults), "")


def find_unstorable_text(args: Mapping[str, Any]) -> Iterator[str]:
    """A reply that is on disk is acted on again after every crash: what no command and no file can hold must not cause one."""
    for name, value in args.items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and any(sign == "\0" or "\ud800" <= sign <= "\udfff" for sign in text):
                yield f"{name}: holds a NUL or half a character, which no file can hold"
