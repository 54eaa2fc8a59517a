"""Whether values are what their types say: the decoder believes what it reads, since it reads what this program wrote."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

MAX_STORED_INTEGER = 1 << 63
"""No number beyond that can be stored."""
ATOM_TESTS: dict[Any, Callable[[Any], bool]] = {
    str: lambda value: type(value) is str,
    bool: lambda value: type(value) is bool,
    int: lambda value: type(value) is int and -MAX_STORED_INTEGER <= value < MAX_STORED_INTEGER,
    float: lambda value: type(value) in (float, int),
    type(None): lambda value: value is None,
}


def find_type_mismatch(value: Any, kind: Any) -> str:
    """Where a value is not of its type: the fields that lead to it, then `value`; empty when it is."""
    if kind in ATOM_TESTS:
        return "" if ATOM_TESTS[kind](value) else "value"
    if is_dataclass(kind):
        if not isinstance(value, cast(type, kind)):
            return "value"
        found = ((name, find_type_mismatch(getattr(value, name), hint)) for name, hint in _list_fields(kind))
        return next((f"{name}.{wrong}" for name, wrong in found if wrong), "")
    origin, kinds = _split_type(kind)
    if origin is tuple:
        return _find_tuple_mismatch(value, kinds)
    if origin in (UnionType, Union):
        return "value" if all(find_type_mismatch(value, one) for one in kinds) else ""
    return "" if _is_member(value, origin or kind) else "value"


def _find_tuple_mismatch(value: Any, kinds: tuple[Any, ...]) -> str:
    if not isinstance(value, tuple):
        return "value"
    members = cast(tuple[Any, ...], value)
    wanted = (kinds[0],) * len(members) if kinds[1:] == (Ellipsis,) else kinds
    return next(filter(None, map(find_type_mismatch, members, wanted)), "") if len(members) == len(wanted) else "value"


def _is_member(value: Any, kind: Any) -> bool:
    if isinstance(kind, type) and issubclass(kind, Mapping):
        return isinstance(value, Mapping) and all(isinstance(key, str) for key in cast(Mapping[Any, Any], value))
    return not (isinstance(kind, type) and issubclass(kind, Enum)) or isinstance(value, kind)


@cache
def _list_fields(kind: Any) -> tuple[tuple[str, Any], ...]:
    hints = get_type_hints(kind)
    return tuple((field.name, hints[field.name]) for field in fields(kind))


@cache
def _split_type(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    return get_origin(kind), get_args(kind)
