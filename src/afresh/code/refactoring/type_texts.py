"""The texts of types: what builtins return, the parts of generic types, and the values that a name is bound to."""

import ast
import re
from collections.abc import Iterable, Iterator

PLAIN_CALLS = {
    "str": "str", "int": "int", "float": "float", "bool": "bool", "bytes": "bytes", "len": "int", "repr": "str", "ord": "int",
    "chr": "str", "isinstance": "bool", "issubclass": "bool", "callable": "bool", "hasattr": "bool", "any": "bool", "all": "bool",
    "range": "range", "id": "int", "hash": "int", "format": "str", "ascii": "str", "hex": "str", "bytearray": "bytearray",
}  # fmt: skip
"""Builtins with one result type."""
STR_METHODS = {
    **dict.fromkeys(
        ("capitalize", "casefold", "center", "expandtabs", "format", "join", "ljust", "lower", "lstrip", "removeprefix",
         "removesuffix", "replace", "rjust", "rstrip", "strip", "swapcase", "title", "translate", "upper", "zfill"), "str",
    ),
    **dict.fromkeys(("endswith", "startswith", *(name for name in dir(str) if name.startswith("is"))), "bool"),
    **dict.fromkeys(("count", "find", "index", "rfind", "rindex"), "int"),
    **dict.fromkeys(("split", "rsplit", "splitlines"), "list[str]"),
    **dict.fromkeys(("partition", "rpartition"), "tuple[str, str, str]"),
    "encode": "bytes",
}  # fmt: skip
NUMBERS = ("int", "float")
ELEMENT_TYPES = re.compile(
    r"(?:typing\.|t\.)?(?:list|set|frozenset|deque|List|Set|FrozenSet|Iterable|Iterator|Sequence|Collection)\[(.*)\]"
)
DICT_TYPES = re.compile(r"(?:typing\.)?(?:dict|Dict|Mapping|MutableMapping|defaultdict|OrderedDict)\[(.*)\]")
TUPLE_TYPES = re.compile(r"(?:typing\.)?(?:tuple|Tuple)\[(.*)\]")


def is_optional(kind: str) -> bool:
    """Whether the type is a union, with None or with other types."""
    outside = re.sub(r"\[.*\]", "", kind)
    return "|" in outside or outside in ("None", "Optional", "Union") or outside.endswith((".Optional", ".Union"))


def strip_none(kind: str) -> str | None:
    """Return the type without None; None if more than one type would be left."""
    if (match := re.fullmatch(r"(?:typing\.|t\.)?Optional\[(.*)\]", kind)) is not None:
        return match[1]
    parts = [part.strip() for part in re.split(r"\|(?![^\[]*\])", kind)]
    left = [part for part in parts if part != "None"]
    return left[0] if len(left) == 1 and len(parts) == 2 and not is_optional(left[0]) else None


def take_tuple_part(kind: str, number: str | int) -> str | None:
    match = TUPLE_TYPES.fullmatch(kind)
    parts = split_type_arguments(match[1]) if match else []
    if parts[1:] == ["..."]:
        return parts[0]
    return parts[number] if isinstance(number, int) and -len(parts) <= number < len(parts) else None


def split_type_arguments(text: str) -> list[str]:
    """Return the arguments of a generic type."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [part.strip() for part in found]


def find_common_type(kinds: Iterable[str | None]) -> str | None:
    found = set(kinds)
    return found.pop() if len(found) == 1 else None


def type_of_operation(operator: ast.operator, one: str | None, other: str | None) -> str | None:
    if one == "str" and isinstance(operator, ast.Mod):
        return "str"
    if one in NUMBERS and other in NUMBERS:
        return "float" if isinstance(operator, ast.Div) or "float" in (one, other) else "int"
    return one if one == other and isinstance(operator, ast.Add) else None


def iterate_bound_values(node: ast.AST, name: str) -> Iterator[tuple[ast.expr, tuple[str | int, ...]]]:
    """Yield each value that the node binds to the name, with the way from the value to the name."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((value, way) for target in targets for way in _ways_to(target, name))
        case ast.NamedExpr(target=ast.Name(id=found), value=value) if found == name:
            yield value, ()
        case ast.For(target=target, iter=value):
            yield from ((value, ("each", *way)) for way in _ways_to(target, name))
        case ast.ExceptHandler(name=found, type=ast.Name(id=kind)) if found == name:
            yield ast.Call(ast.Name(kind, ast.Load()), [], []), ()
        case _:
            return


def _ways_to(target: ast.expr, name: str) -> Iterator[tuple[int, ...]]:
    if isinstance(target, ast.Name) and target.id == name:
        yield ()
    elif isinstance(target, ast.Tuple) and not any(isinstance(part, ast.Starred) for part in target.elts):
        for number, part in enumerate(target.elts):
            yield from ((number, *way) for way in _ways_to(part, name))
