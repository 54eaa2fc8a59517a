"""Whether a JSON object has the form that a schema asks for: arguments of tools, and replies that come from files."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

JSON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,), "array": (list,), "object": (dict,),
    "null": (type(None),),
}  # fmt: skip
MAX_NAME_CHARACTERS = 60


def find_argument_faults(args: Mapping[str, Any], schema: Mapping[str, Any], noun: str = "argument") -> Iterator[str]:
    """Yield what is missing, what is unknown, and what is of another type than the schema says."""
    known: Mapping[str, Any] = schema.get("properties", {})
    if missing := [name for name in schema.get("required", ()) if name not in args]:
        yield f"missing {noun} {', '.join(missing)}"
    if unknown := [name[:MAX_NAME_CHARACTERS] for name in args if name not in known]:
        yield f"unknown {noun} {', '.join(unknown)}; {noun}s are {', '.join(known) or 'none'}"
    for name, value in args.items():
        if name in known:
            yield from _find_value_faults(value, known[name], name)


def _find_value_faults(value: Any, schema: Mapping[str, Any], name: str) -> Iterator[str]:
    text = schema.get("type", ())
    types = [text] if isinstance(text, str) else [*text]
    if types and not any(_is_of_type(value, JSON_TYPES.get(one, (object,))) for one in types):
        yield f"{name}: should be {' or '.join(types)}"
    elif "enum" in schema and value not in schema["enum"]:
        yield f"{name}: should be one of {', '.join(map(str, schema['enum']))}"
    elif isinstance(value, list):
        for number, item in enumerate(cast("list[Any]", value), 1):
            yield from _find_value_faults(item, schema.get("items", {}), f"{name} {number}")
    elif isinstance(value, dict) and "properties" in schema:
        yield from (f"{name}: {fault}" for fault in find_argument_faults(cast("dict[str, Any]", value), schema, "field"))


def _is_of_type(value: Any, types: tuple[type, ...]) -> bool:
    """JSON knows true and false as something else than numbers."""
    return bool in types or object in types if isinstance(value, bool) else isinstance(value, types)
