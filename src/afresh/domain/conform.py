"""Whether values are what their types say: the decoder believes what it reads, since it reads what this program wrote."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

LARGEST = 1 << 63
"""No number beyond that can be stored."""
Check = Callable[[Any], str]
"""Where a value is not what it should be; empty when it is."""


def misfit(value: Any, kind: Any) -> str:
    """Where `value` is not a `kind`, by the names of the fields that lead there; empty when it is one."""
    return _check(kind)(value)


def _atom(fits: Callable[[Any], bool]) -> Check:
    return lambda value: "" if fits(value) else "value"


_ATOMS: dict[Any, Check] = {
    str: _atom(lambda value: type(value) is str),
    bool: _atom(lambda value: type(value) is bool),
    int: _atom(lambda value: type(value) is int and -LARGEST <= value < LARGEST),
    float: _atom(lambda value: type(value) in (float, int)),
    type(None): _atom(lambda value: value is None),
}


@cache
def _check(kind: Any) -> Check:
    if kind in _ATOMS:
        return _ATOMS[kind]
    if is_dataclass(kind):
        return _fields(kind)
    origin, kinds = get_origin(kind), get_args(kind)
    if origin is tuple:
        return _each(kinds[0]) if kinds[1:] == (Ellipsis,) else _all(kinds)
    if origin in (UnionType, Union):
        checks = tuple(map(_check, kinds))
        return _atom(lambda value: any(not check(value) for check in checks))
    return _atom(_belongs(origin or kind))


def _belongs(kind: Any) -> Callable[[Any], bool]:
    if isinstance(kind, type) and issubclass(kind, Mapping):
        return lambda value: isinstance(value, Mapping) and all(isinstance(key, str) for key in cast(Mapping[Any, Any], value))
    return lambda value: isinstance(value, kind) if isinstance(kind, type) and issubclass(kind, Enum) else True


def _fields(kind: Any) -> Check:
    hints = get_type_hints(kind)
    checks = [(field.name, _check(hints[field.name])) for field in fields(kind)]

    def check(value: Any) -> str:
        if not isinstance(value, kind):
            return "value"
        return next((f"{name}.{wrong}" for name, inner in checks if (wrong := inner(getattr(value, name)))), "")

    return check


def _each(kind: Any) -> Check:
    inner = _check(kind)

    def check(value: Any) -> str:
        if not isinstance(value, tuple):
            return "value"
        return next((wrong for one in cast(tuple[Any, ...], value) if (wrong := inner(one))), "")

    return check


def _all(kinds: tuple[Any, ...]) -> Check:
    checks = tuple(map(_check, kinds))

    def check(value: Any) -> str:
        if not isinstance(value, tuple) or len(cast(tuple[Any, ...], value)) != len(checks):
            return "value"
        return next((wrong for inner, one in zip(checks, cast(tuple[Any, ...], value), strict=True) if (wrong := inner(one))), "")

    return check
