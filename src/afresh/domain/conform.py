"""Whether values are what their types say: the decoder believes what it reads, since it reads what this program wrote."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

LARGEST = 1 << 63
"""No number beyond that can be stored."""


def misfit(value: Any, kind: Any) -> str:
    """Where `value` is not a `kind`, by the names of the fields that lead there; empty when it is one."""
    return _check(kind)(value)


@cache
def _check(kind: Any) -> Callable[[Any], str]:
    if is_dataclass(kind):
        return _fields(kind)
    origin = get_origin(kind)
    if origin is tuple:
        return _items(get_args(kind))
    if origin in (UnionType, Union):
        return _either(get_args(kind))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return lambda value: "" if isinstance(value, kind) else "value"
    if kind is int:
        return lambda value: "" if type(value) is int and -LARGEST <= value < LARGEST else "value"
    if kind in (str, bool, type(None)):
        return lambda value: "" if type(value) is kind else "value"
    if kind is float:
        return lambda value: "" if type(value) in (float, int) else "value"
    if origin is not None and issubclass(origin, Mapping):
        return lambda value: "" if isinstance(value, Mapping) and all(isinstance(key, str) for key in value) else "value"
    return lambda value: ""


def _fields(kind: Any) -> Callable[[Any], str]:
    hints = get_type_hints(kind)
    checks = [(field.name, _check(hints[field.name])) for field in fields(kind)]

    def check(value: Any) -> str:
        if not isinstance(value, kind):
            return "value"
        return next((f"{name}.{wrong}" for name, inner in checks if (wrong := inner(getattr(value, name)))), "")

    return check


def _items(kinds: tuple[Any, ...]) -> Callable[[Any], str]:
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        inner = _check(kinds[0])
        return lambda value: next(filter(None, map(inner, value)), "") if isinstance(value, tuple) else "value"
    checks = tuple(map(_check, kinds))

    def check(value: Any) -> str:
        if not isinstance(value, tuple) or len(value) != len(checks):
            return "value"
        return next(filter(None, (inner(one) for inner, one in zip(checks, value, strict=True))), "")

    return check


def _either(kinds: tuple[Any, ...]) -> Callable[[Any], str]:
    checks = tuple(map(_check, kinds))
    return lambda value: "" if any(not inner(value) for inner in checks) else "value"
