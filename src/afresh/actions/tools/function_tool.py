"""What all tools share: a schema, and arguments that are checked against it before the tool sees them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from afresh.core.prompt import ToolSchema
from afresh.core.step_result import ToolOutcome
from afresh.core.tool_traits import ToolTrait, find_tool_traits
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext

ARGUMENT_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "array": list,
    "boolean": bool,
}


@dataclass(frozen=True, slots=True)
class FunctionTool:
    schema: ToolSchema
    function: Callable[[Mapping[str, Any], ToolContext], ToolOutcome]
    own_traits: frozenset[ToolTrait] | None = None
    """Of a tool that is made at run time; those that come with afresh are in core/tool_traits."""

    @property
    def traits(self) -> frozenset[ToolTrait]:
        return find_tool_traits(self.schema.name) if self.own_traits is None else self.own_traits

    def run(self, args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
        problem = find_argument_mistake(self.schema, args)
        if problem:
            raise ModelMistake(f"{self.schema.name}: {problem}")
        return self.function(args, context)


def make_tool_schema(name: str, description: str, optional: tuple[str, ...] = (), **arguments: Any) -> ToolSchema:
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
    properties: Mapping[str, Any] = schema.parameters["properties"]
    if missing := [name for name in schema.parameters.get("required", ()) if name not in args]:
        return f"missing argument {', '.join(missing)}"
    if unknown := [name for name in args if name not in properties]:
        return f"unknown argument {', '.join(unknown)}; arguments are {', '.join(properties)}"
    wrong = [name for name, value in args.items() if not isinstance(value, ARGUMENT_TYPES[properties[name]["type"]])]
    if wrong:
        return f"{', '.join(wrong)}: should be {properties[wrong[0]]['type']}"
    return next((why for name, value in args.items() for why in find_unstorable_text(name, value)), "")


def find_unstorable_text(name: str, value: Any) -> Iterator[str]:
    """A reply that is on disk is acted on again after every crash: what no command and no file can hold must not cause one."""
    for text in value if isinstance(value, list) else [value]:
        if isinstance(value, list) and not isinstance(text, str):
            yield f"{name}: should be a list of strings"
        elif isinstance(text, str) and any(sign == "\0" or "\ud800" <= sign <= "\udfff" for sign in text):
            yield f"{name}: holds a NUL or half a character, which no file can hold"
