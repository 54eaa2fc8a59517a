"""The state of heartbeats and schedules: what follows from all entries of the notebook. A file keeps it, so that a beat reads
only the entries since; it can be deleted, and is not used if it does not belong to the notebook."""

import json
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any
from zlib import crc32

from afresh.app.project import Project
from afresh.core.codec import get_decoder, to_canonical_json
from afresh.core.event import JournalHead
from afresh.core.fast_dataclass import dataclass
from afresh.core.heartbeat import HeartbeatState, ItemState, ScheduleState, fold_heartbeat_event
from afresh.core.schedule import Schedule
from afresh.errors import Damaged
from afresh.views.file_io import read_text_file, replace_file

SNAPSHOT_FILE_NAME = "heartbeat.json"
MAX_ENTRIES_AFTER_SNAPSHOT = 32
"""Most entries before the file is written again."""
SHAPE = crc32(" ".join(f.name for kind in (HeartbeatState, ItemState, ScheduleState, Schedule) for f in fields(kind)).encode())
"""Differs for a file with other fields, which is not used."""


@dataclass(frozen=True, slots=True)
class HeartbeatSnapshot:
    head: JournalHead = JournalHead()
    """The last entry of the notebook that the state follows from."""
    state: HeartbeatState = HeartbeatState()


def load_heartbeat_state(project: Project) -> HeartbeatState:
    path = project.paths.state / SNAPSHOT_FILE_NAME
    kept = read_snapshot(path)
    try:
        now = follow_notebook(project, kept)
    except Damaged:  # the file is of another notebook; if the notebook is damaged, reading all of it says so
        kept, now = HeartbeatSnapshot(), follow_notebook(project, HeartbeatSnapshot())
    if now.head == kept.head and kept.head != project.notebook.head():
        kept, now = HeartbeatSnapshot(), follow_notebook(project, HeartbeatSnapshot())
    if now.head.seq - kept.head.seq >= MAX_ENTRIES_AFTER_SNAPSHOT:
        with suppress(OSError):  # nothing is lost: it follows from the notebook
            replace_file(path, encode_snapshot(now))
    return now.state


def follow_notebook(project: Project, snapshot: HeartbeatSnapshot) -> HeartbeatSnapshot:
    """The snapshot after all entries since. Damaged if they do not continue the chain from it."""
    head, state = snapshot.head, snapshot.state
    for entry in project.notebook.entries(head):
        head, state = JournalHead(entry.seq, entry.hash), fold_heartbeat_event(state, entry.event)
    return HeartbeatSnapshot(head, state)


def encode_snapshot(snapshot: HeartbeatSnapshot) -> str:
    state = snapshot.state
    flat = replace(state, items=HeartbeatState().items, schedules=HeartbeatState().schedules)
    return to_canonical_json(
        {"shape": SHAPE, "head": snapshot.head, "state": flat, "items": state.items, "schedules": state.schedules}
    )


def read_snapshot(path: Path) -> HeartbeatSnapshot:
    """An empty one if there is no file, or none that can be used."""
    try:
        plain: dict[str, Any] = json.loads(read_text_file(path) or "{}")
        if plain.get("shape") != SHAPE:
            return HeartbeatSnapshot()
        items = {key: get_decoder(ItemState)(value) for key, value in plain["items"].items()}
        schedules = {key: get_decoder(ScheduleState)(value) for key, value in plain["schedules"].items()}
        state = replace(get_decoder(HeartbeatState)(plain["state"]), items=items, schedules=schedules)
        return HeartbeatSnapshot(get_decoder(JournalHead)(plain["head"]), state)
    except (ValueError, TypeError, KeyError, AttributeError, OSError):
        return HeartbeatSnapshot()
