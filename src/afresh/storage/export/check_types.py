"""Whether values are what their types say: the decoder believes what it reads, since it reads what this program wrote."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

MAX_STORED_INTEGER = 1 << 63
"""No number beyond that can be stored."""
TypeCheck = Callable[[Any], str]
"""Where a value is not what it should be; empty when it is."""


def find_type_mismatch(value: Any, kind: Any) -> str:
    """Where `value` is not a `kind`, by the names of the fields that lead there; empty when it is one."""
    return _get_check(kind)(value)


def _make_atom_check(fits: Callable[[Any], bool]) -> TypeCheck:
    return lambda value: "" if fits(value) else "value"


_ATOM_CHECKS: dict[Any, TypeCheck] = {
    str: _make_atom_check(lambda value: type(value) is str),
    bool: _make_atom_check(lambda value: type(value) is bool),
    int: _make_atom_check(lambda value: type(value) is int and -MAX_STORED_INTEGER <= value < MAX_STORED_INTEGER),
    float: _make_atom_check(lambda value: type(value) in (float, int)),
    type(None): _make_atom_check(lambda value: value is None),
}


@cache
def _get_check(kind: Any) -> TypeCheck:
    if kind in _ATOM_CHECKS:
        return _ATOM_CHECKS[kind]
    if is_dataclass(kind):
        return _make_dataclass_check(kind)
    origin, kinds = get_origin(kind), get_args(kind)
    if origin is tuple:
        return _make_tuple_check(kinds[0]) if kinds[1:] == (Ellipsis,) else _make_fixed_tuple_check(kinds)
    if origin in (UnionType, Union):
        checks = tuple(map(_get_check, kinds))
        return _make_atom_check(lambda value: any(not check(value) for check in checks))
    return _make_atom_check(_make_membership_test(origin or kind))


def _make_membership_test(kind: Any) -> Callable[[Any], bool]:
    if isinstance(kind, type) and issubclass(kind, Mapping):
        return lambda value: isinstance(value, Mapping) and all(isinstance(key, str) for key in cast(Mapping[Any, Any], value))
    return lambda value: isinstance(value, kind) if isinstance(kind, type) and issubclass(kind, Enum) else True


def _make_dataclass_check(kind: Any) -> TypeCheck:
    hints = get_type_hints(kind)
    checks = [(field.name, _get_check(hints[field.name])) for field in fields(kind)]

    def check(value: Any) -> str:
        if not isinstance(value, kind):
            return "value"
        return next((f"{name}.{wrong}" for name, inner in checks if (wrong := inner(getattr(value, name)))), "")

    return check


def _make_tuple_check(kind: Any) -> TypeCheck:
    inner = _get_check(kind)

    def check(value: Any) -> str:
        if not isinstance(value, tuple):
            return "value"
        return next((wrong for one in cast(tuple[Any, ...], value) if (wrong := inner(one))), "")

    return check


def _make_fixed_tuple_check(kinds: tuple[Any, ...]) -> TypeCheck:
    checks = tuple(map(_get_check, kinds))

    def check(value: Any) -> str:
        if not isinstance(value, tuple) or len(cast(tuple[Any, ...], value)) != len(checks):
            return "value"
        return next((wrong for inner, one in zip(checks, cast(tuple[Any, ...], value), strict=True) if (wrong := inner(one))), "")

    return check
