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


def dumps(value: object) -> str:
    """Canonical: the same value gives the same bytes."""
    return json.dumps(encode(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def loads(kind: type[T], text: str) -> T:
    return decoder(kind)(json.loads(text))


def encode(value: Any) -> Plain:
    kind: Any = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind in (str, int, float, bool) or value is None:
        return value
    if kind is tuple or kind is list:
        return [encode(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(kind):
        return {name: encode(held) for name, default in _defaults(kind) if (held := getattr(value, name)) != default}
    if isinstance(value, Mapping):
        return {key: encode(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return value


@cache
def _defaults(kind: type[Any]) -> tuple[tuple[str, Any], ...]:
    return tuple((f.name, f.default_factory() if f.default_factory is not MISSING else f.default) for f in fields(kind))


@cache
def decoder(kind: Any) -> Callable[[Plain], Any]:
    """The function that makes a `kind` of plain values; made once for each type."""
    if is_dataclass(kind):
        return _dataclass_decoder(kind)
    origin = get_origin(kind)
    if origin is tuple:
        item = decoder(get_args(kind)[0])
        return lambda values: tuple(map(item, values))
    if origin in (UnionType, Union):
        inner = decoder(next(part for part in get_args(kind) if part is not type(None)))
        return lambda value: None if value is None else inner(value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    return lambda value: value


def _dataclass_decoder(kind: Any) -> Callable[[Plain], Any]:
    hints = get_type_hints(kind)
    decoders = {f.name: decoder(hints[f.name]) for f in fields(kind)}

    def decode(value: Mapping[str, Plain]) -> Any:
        return kind(**{name: decoders[name](held) for name, held in value.items()})

    return decode
