"""The hash chain of a journal: every entry names the one before it."""

import json
from collections.abc import Iterable
from hashlib import sha256

from afresh.core.codec import get_decoder, to_canonical_json
from afresh.core.event import EVENT_CLASS_BY_TAG, TAG_BY_EVENT_CLASS, Event, JournalEntry, JournalHead
from afresh.core.redaction import may_contain_secret, redact_value
from afresh.errors import WAY_BACK, Damaged


def link_events(task: str, head: JournalHead, at: float, events: Iterable[Event]) -> tuple[JournalEntry, ...]:
    """Give each event its place after `head`, without the secrets in it."""
    entries: list[JournalEntry] = []
    seq, hash, when, whose = head.seq, head.hash, to_canonical_json(at), to_canonical_json(task)
    for event in events:
        data = to_canonical_json(event)
        if may_contain_secret(data):
            event = redact_value(event)
            data = to_canonical_json(event)
        seq, kind = seq + 1, TAG_BY_EVENT_CLASS[type(event)]
        body = f'{{"at":{when},"data":{data},"kind":"{kind}","seq":{seq},"task":{whose}}}'
        hash = hash_entry(hash, body)
        entries.append(JournalEntry(task, seq, at, event, body, hash))
    return tuple(entries)


def read_entry(body: str, before: JournalHead, expected: str) -> JournalEntry:
    """The entry of a stored body, believed only if it continues the chain."""
    found = hash_entry(before.hash, body)
    if found != expected:
        raise Damaged(
            f"journal entry {before.seq + 1} does not match its hash",
            next=WAY_BACK,
            safe="entries before it are intact",
        )
    plain = json.loads(body)
    try:
        event = get_decoder(EVENT_CLASS_BY_TAG[plain["kind"]])(plain["data"])
    except KeyError as unknown:
        raise Damaged(
            f"journal holds an event with an unknown part {unknown}", next="a newer afresh wrote it: update afresh"
        ) from None
    return JournalEntry(plain["task"], plain["seq"], plain["at"], event, body, expected)


def hash_entry(previous: str, body: str) -> str:
    return sha256((previous + body).encode()).hexdigest()
