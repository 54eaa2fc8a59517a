"""Frozen nouns to plain JSON values and back. Fields that hold their default are left out."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from json.encoder import encode_basestring as _quoted
from math import isfinite
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from afresh.core.text import is_encodable, replace_lone_surrogates

PlainValue = Any
T = TypeVar("T")
_ATOM_TYPES = frozenset((str, int, float, bool, type(None)))


def to_canonical_json(value: object) -> str:
    """Canonical: the same value gives the same bytes; keys are sorted, letters stay as they are."""
    return _json_writers[type(value)](value)


def value_from_json(kind: type[T], text: str) -> T:
    return get_decoder(kind)(json.loads(text))


def make_encodable(value: T) -> T:
    """The value without halves of surrogate pairs, which JSON can spell, and no file or request can hold."""
    text = to_canonical_json(value)
    return value if is_encodable(text) else value_from_json(type(value), replace_lone_surrogates(text))


def to_plain_value(value: Any) -> PlainValue:
    """The plain values that `dumps` writes."""
    return json.loads(to_canonical_json(value))


class _JsonWriters(dict[Any, Callable[[Any], str]]):
    """For each type the function that writes its values; made at first use."""

    def __missing__(self, kind: Any) -> Callable[[Any], str]:
        self[kind] = writer = _make_writer(kind)
        return writer


_json_writers = _JsonWriters(
    {
        str: _quoted,
        int: int.__repr__,
        float: lambda number: float.__repr__(number) if isfinite(number) else json.dumps(number),
        bool: {True: "true", False: "false"}.__getitem__,
        type(None): lambda _: "null",
    }
)


def _make_writer(kind: Any) -> Callable[[Any], str]:
    if issubclass(kind, (tuple, list)):
        return _write_items
    if issubclass(kind, Enum):
        return {member: to_canonical_json(member.value) for member in kind}.__getitem__
    if is_dataclass(kind):
        return _make_dataclass_writer(kind)
    if issubclass(kind, Mapping):
        return _write_mapping
    raise TypeError(f"{kind.__name__} has no place in a journal")


def _write_items(values: Iterable[Any]) -> str:
    return "[" + ",".join([_json_writers[type(value)](value) for value in values]) + "]"


def _write_mapping(values: Mapping[str, Any]) -> str:
    return "{" + ",".join([f"{_quoted(key)}:{_json_writers[type(value)](value)}" for key, value in sorted(values.items())]) + "}"


def _make_dataclass_writer(kind: Any) -> Callable[[Any], str]:
    """Compiled, as `dataclass` compiles its own methods: it takes a third of the time of plain values and `json.dumps`."""
    values: dict[str, Any] = {"writers": _json_writers}
    lines = ["def write(value):", "    parts = []"]
    for field in sorted(fields(kind), key=lambda field: field.name):
        name, default = field.name, field.default_factory() if field.default_factory is not MISSING else field.default
        lines.append(f"    held = value.{name}")
        if default is not MISSING:
            values[f"default_{name}"] = default
            lines.append(f"    if held is not default_{name} and held != default_{name}:")
        indent = "    " if default is MISSING else "        "
        lines.append(f"{indent}parts.append('\"{name}\":' + writers[type(held)](held))")
    lines.append("    return '{' + ','.join(parts) + '}'")
    exec("\n".join(lines), values)
    return values["write"]


@cache
def get_decoder(kind: Any) -> Callable[[PlainValue], Any]:
    """The function that makes a `kind` of plain values; made once for each type."""
    if is_dataclass(kind):
        return _make_dataclass_decoder(kind)
    origin = get_origin(kind)
    if origin is tuple:
        item = get_decoder(get_args(kind)[0])
        return tuple if get_args(kind)[0] in _ATOM_TYPES else lambda values: tuple(map(item, values))
    if origin in (UnionType, Union):
        inner = get_decoder(next(part for part in get_args(kind) if part is not type(None)))
        return lambda value: None if value is None else inner(value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {member.value: member for member in kind}.__getitem__
    return lambda value: value


def _make_dataclass_decoder(kind: Any) -> Callable[[PlainValue], Any]:
    """KeyError for a field that `kind` does not have."""
    hints = get_type_hints(kind)
    names = frozenset(field.name for field in fields(kind))
    nested = tuple((name, get_decoder(hints[name])) for name in names if hints[name] not in _ATOM_TYPES)

    def decode(value: Mapping[str, PlainValue]) -> Any:
        values = dict(value)
        for name, made in nested:
            if name in values:
                values[name] = made(values[name])
        try:
            return kind(**values)
        except TypeError:
            if strange := value.keys() - names:
                raise KeyError(*strange) from None
            raise

    return decode
