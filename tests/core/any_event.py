"""Strategies for any event, from the type hints of the nouns themselves."""

from dataclasses import fields, is_dataclass
from enum import Enum
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from afresh.core.event import EVENT_CLASS_BY_TAG, Event

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT, int: st.integers(-(2**53), 2**53), bool: st.booleans(), Any: JSON,
    float: st.floats(allow_nan=False, allow_infinity=False),
}  # fmt: skip


def of(kind: Any) -> st.SearchStrategy[Any]:
    origin = get_origin(kind)
    if kind in PLAIN:
        return PLAIN[kind]
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return st.builds(kind, **{f.name: of(hints[f.name]) for f in fields(kind)})
    if origin is tuple and Ellipsis not in get_args(kind):
        return st.tuples(*map(of, get_args(kind)))
    if origin is tuple:
        return st.lists(of(get_args(kind)[0]), max_size=3).map(tuple)
    if origin is UnionType:
        return st.one_of([st.none() if part is type(None) else of(part) for part in get_args(kind)])
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    return st.dictionaries(TEXT, JSON, max_size=3)


def events(*without: str) -> st.SearchStrategy[Event]:
    return st.one_of([of(kind) for name, kind in EVENT_CLASS_BY_TAG.items() if name not in without])
