"""A state as a snapshot keeps it: its long lists by columns, which are read in half the time of rows."""

import json
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, get_args, get_type_hints
from zlib import crc32

from afresh.core.codec import get_decoder, to_canonical_json
from afresh.core.state import State
from afresh.core.states.memory_state import MemoryState
from afresh.storage.sql.blocks import compress_text, decompress_text

LIST_FIELDS = ("facts", "regions", "index", "passages")
EMPTY_LISTS: dict[str, tuple[()]] = dict.fromkeys(LIST_FIELDS, ())


def name_fields(kind: Any) -> str:
    """The fields of a state and of its parts."""
    hints = get_type_hints(kind)
    parts = {field.name: hints[field.name] for field in fields(kind)}
    return " ".join(f"{name}({name_fields(part)})" if is_dataclass(part) else name for name, part in parts.items())


STATE_FIELDS_CHECKSUM = crc32(name_fields(State).encode())
"""Differs for a snapshot of a state with other fields, which can't be used: the state is rebuilt from the journal."""


def encode_state(state: State) -> str | bytes:
    columns = {name: _columns_from_rows(getattr(state.memory, name)) for name in LIST_FIELDS}
    short = replace(state, memory=replace(state.memory, **EMPTY_LISTS))
    return compress_text(to_canonical_json({"shape": STATE_FIELDS_CHECKSUM, "state": short, **columns}))


def decode_state(body: str | bytes) -> State:
    """ValueError, TypeError, KeyError or AttributeError when it is damaged, or of another version."""
    plain = json.loads(decompress_text(body))
    if plain["shape"] != STATE_FIELDS_CHECKSUM:
        raise KeyError(plain["shape"])
    kinds = _list_item_types()
    lists = {name: _rows_from_columns(kinds[name], plain[name]) for name in LIST_FIELDS}
    state = get_decoder(State)(plain["state"])
    return replace(state, memory=replace(state.memory, **lists))


def _columns_from_rows(rows: tuple[Any, ...]) -> dict[str, list[Any]]:
    return {field.name: [getattr(row, field.name) for row in rows] for field in fields(rows[0])} if rows else {}


def _rows_from_columns(kind: Any, columns: dict[str, list[Any]]) -> tuple[Any, ...]:
    if not columns:
        return ()
    parts = _field_decoders(kind)
    if columns.keys() != parts.keys():
        raise KeyError(*(columns.keys() ^ parts.keys()))
    return tuple(map(kind, *[map(part, columns[name]) if part else columns[name] for name, part in parts.items()]))


@cache
def _list_item_types() -> dict[str, Any]:
    hints = get_type_hints(MemoryState)
    return {name: get_args(hints[name])[0] for name in LIST_FIELDS}


@cache
def _field_decoders(kind: Any) -> dict[str, Any]:
    """The decoder of each field; None for plain values."""
    hints = get_type_hints(kind)
    return {
        field.name: None if hints[field.name] in (str, int, float, bool) else get_decoder(hints[field.name])
        for field in fields(kind)
    }
