"""Frozen nouns to plain JSON values and back. Fields that hold their default are left out."""

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

Plain = Any
T = TypeVar("T")


_canonical = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))
_ATOMS = frozenset((str, int, float, bool, type(None)))


def dumps(value: object) -> str:
    """Canonical: the same value gives the same bytes."""
    return _canonical.encode(encode(value))


def loads(kind: type[T], text: str) -> T:
    return decoder(kind)(json.loads(text))


def encode(value: Any) -> Plain:
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    return value if kind in _ATOMS else _encoder(kind)(value)


@cache
def _encoder(kind: Any) -> Callable[[Any], Plain]:
    """The function that makes plain values of a `kind`; made once for each type."""
    if issubclass(kind, (tuple, list)):
        return lambda values: [value if type(value) in _ATOMS else encode(value) for value in values]
    if issubclass(kind, Enum):
        return lambda value: value.value
    if is_dataclass(kind):
        return _dataclass_encoder(kind)
    if issubclass(kind, Mapping):
        return lambda values: {key: encode(value) for key, value in values.items()}
    return lambda value: value


def _dataclass_encoder(kind: Any) -> Callable[[Any], Plain]:
    defaults = tuple((f.name, f.default_factory() if f.default_factory is not MISSING else f.default) for f in fields(kind))

    def encoded(value: Any) -> Plain:
        plain: dict[str, Plain] = {}
        for name, default in defaults:
            held = getattr(value, name)
            if held is not default and held != default:
                plain[name] = held if type(held) in _ATOMS else encode(held)
        return plain

    return encoded


@cache
def decoder(kind: Any) -> Callable[[Plain], Any]:
    """The function that makes a `kind` of plain values; made once for each type."""
    if is_dataclass(kind):
        return _dataclass_decoder(kind)
    origin = get_origin(kind)
    if origin is tuple:
        item = decoder(get_args(kind)[0])
        return tuple if get_args(kind)[0] in _ATOMS else lambda values: tuple(map(item, values))
    if origin in (UnionType, Union):
        inner = decoder(next(part for part in get_args(kind) if part is not type(None)))
        return lambda value: None if value is None else inner(value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    return lambda value: value


def _dataclass_decoder(kind: Any) -> Callable[[Plain], Any]:
    hints = get_type_hints(kind)
    decoders = {f.name: None if hints[f.name] in _ATOMS else decoder(hints[f.name]) for f in fields(kind)}

    def decode(value: Mapping[str, Plain]) -> Any:
        return kind(**{name: made(held) if (made := decoders[name]) else held for name, held in value.items()})

    return decode
