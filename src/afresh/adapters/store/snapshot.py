"""A state as a snapshot keeps it: its long lists by columns, which are read in half the time of rows."""

import json
from dataclasses import fields
from functools import cache
from typing import Any, get_args, get_type_hints
from zlib import crc32

from afresh.adapters.store.packing import packed, unpacked
from afresh.domain.codec import decoder, dumps
from afresh.domain.state import State, changed

LISTS = ("facts", "regions", "index", "passages")
EMPTY: dict[str, tuple[()]] = dict.fromkeys(LISTS, ())
SHAPE = crc32(" ".join(field.name for field in fields(State)).encode())
"""Tells a state that had other fields: what they would hold by now only the journal knows."""


def written(state: State) -> str | bytes:
    columns = {name: _columns(getattr(state, name)) for name in LISTS}
    return packed(dumps({"shape": SHAPE, "state": changed(state, **EMPTY), **columns}))


def read(body: str | bytes) -> State:
    """ValueError, TypeError, KeyError or AttributeError when it is damaged, or of another version."""
    plain = json.loads(unpacked(body))
    if plain["shape"] != SHAPE:
        raise KeyError(plain["shape"])
    kinds = _kinds()
    lists = {name: _rows(kinds[name], plain[name]) for name in LISTS}
    return changed(decoder(State)(plain["state"]), **lists)


def _columns(rows: tuple[Any, ...]) -> dict[str, list[Any]]:
    return {field.name: [getattr(row, field.name) for row in rows] for field in fields(rows[0])} if rows else {}


def _rows(kind: Any, columns: dict[str, list[Any]]) -> tuple[Any, ...]:
    if not columns:
        return ()
    parts = _parts(kind)
    if columns.keys() != parts.keys():
        raise KeyError(*(columns.keys() ^ parts.keys()))
    return tuple(map(kind, *[map(made, columns[name]) if made else columns[name] for name, made in parts.items()]))


@cache
def _kinds() -> dict[str, Any]:
    hints = get_type_hints(State)
    return {name: get_args(hints[name])[0] for name in LISTS}


@cache
def _parts(kind: Any) -> dict[str, Any]:
    """For each field what makes its values; None where they are read as they are."""
    hints = get_type_hints(kind)
    return {
        field.name: None if hints[field.name] in (str, int, float, bool) else decoder(hints[field.name]) for field in fields(kind)
    }
