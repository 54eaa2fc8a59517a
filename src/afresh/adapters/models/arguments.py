"""Whether the arguments of a tool call are what the tool's JSON schema says, told so that the writer can mend them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

JSON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,), "array": (list,), "object": (dict,),
    "null": (type(None),),
}  # fmt: skip
JSON_TYPE_WORDS = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
}
JSON_TYPE_WORDS |= {"object": "a JSON object", "null": "null"}
MAX_NAME_CHARACTERS = 40


def find_argument_faults(args: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    """What is missing, what is unknown, and what is of another kind than the schema wants."""
    known: Mapping[str, Any] = schema.get("properties", {})
    its = f"its arguments are {', '.join(known) or 'none'}"
    for name in schema.get("required", ()):
        if name not in args:
            yield f"lacks the argument {name!r}; {its}"
    for name, value in args.items():
        if name not in known:
            yield f"has no argument {name[:MAX_NAME_CHARACTERS]!r}{suggest_similar_name(name, known)}; {its}"
        else:
            yield from _find_value_faults(value, known[name], f"argument {name!r}")


def describe_json_kind(value: Any) -> str:
    """What a JSON value is, in words."""
    fitting = [kind for kind, types in JSON_TYPES.items() if _is_of_types(value, types)]
    return JSON_TYPE_WORDS[fitting[0]]


def suggest_similar_name(name: str, known: Iterable[str]) -> str:
    """A hint at what was probably meant, to be put behind a name that is not known."""
    from difflib import get_close_matches

    found = get_close_matches(name.lower(), [*known], n=1, cutoff=0.6)
    return f" (did you mean {found[0]!r}?)" if found else ""


def _find_value_faults(value: Any, schema: Mapping[str, Any], what: str) -> Iterator[str]:
    told = schema.get("type", ())
    kinds = [told] if isinstance(told, str) else [*told]
    if kinds and not any(_is_of_types(value, JSON_TYPES.get(kind, (object,))) for kind in kinds):
        wanted = " or ".join(JSON_TYPE_WORDS.get(kind, kind) for kind in kinds)
        yield f"wants {wanted} as {what}, not {describe_json_kind(value)}"
    elif "enum" in schema and value not in schema["enum"]:
        yield f"takes as {what} only {', '.join(map(repr, schema['enum']))}{suggest_similar_name(str(value), map(str, schema['enum']))}"
    elif isinstance(value, list):
        for number, item in enumerate(value, 1):
            yield from _find_value_faults(item, schema.get("items", {}), f"item {number} of {what}")
    elif isinstance(value, dict) and "properties" in schema:
        yield from (f"{one} (in {what})" for one in find_argument_faults(value, schema))


def _is_of_types(value: Any, types: tuple[type, ...]) -> bool:
    """JSON knows true and false as something else than numbers."""
    return bool in types or object in types if isinstance(value, bool) else isinstance(value, types)
