"""The hash chain of a journal: every entry names the one before it."""

import json
from collections.abc import Iterable
from hashlib import sha256

from afresh.domain.codec import decoder, dumps
from afresh.domain.event import KINDS, TAGS, Entry, Event, Head
from afresh.errors import Damaged


def link(task: str, head: Head, at: float, events: Iterable[Event]) -> tuple[Entry, ...]:
    """Give each event its place after `head`."""
    entries: list[Entry] = []
    seq, hash, when, whose = head.seq, head.hash, dumps(at), dumps(task)
    for event in events:
        seq, kind = seq + 1, TAGS[type(event)]
        body = f'{{"at":{when},"data":{dumps(event)},"kind":"{kind}","seq":{seq},"task":{whose}}}'
        hash = digest(hash, body)
        entries.append(Entry(task, seq, at, event, body, hash))
    return tuple(entries)


def read(body: str, before: Head, expected: str) -> Entry:
    """The entry of a stored body, believed only if it continues the chain."""
    found = digest(before.hash, body)
    if found != expected:
        raise Damaged(
            f"journal entry {before.seq + 1} does not match its hash",
            next="restore the database from a backup; `afresh doctor` lists the tasks that are whole",
            safe="entries before it are intact",
        )
    plain = json.loads(body)
    try:
        event = decoder(KINDS[plain["kind"]])(plain["data"])
    except KeyError as unknown:
        raise Damaged(
            f"journal holds an event with an unknown part {unknown}", next="a newer afresh wrote it: update afresh"
        ) from None
    return Entry(plain["task"], plain["seq"], plain["at"], event, body, expected)


def digest(previous: str, body: str) -> str:
    return sha256((previous + body).encode()).hexdigest()


def block_id(text: str) -> str:
    """Name of a block: its content. 128 bits are plenty against accident, and half the length in every entry."""
    return sha256(text.encode()).hexdigest()[:32]
