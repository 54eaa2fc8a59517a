"""Patterns: what was learnt in one project and may be shown in the user's others, in one folder that all of them share."""

import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date
from hashlib import sha256
from pathlib import Path

from afresh.adapters.knowledge.everyday import everyday, own_words
from afresh.adapters.knowledge.folder import Folder
from afresh.adapters.knowledge.library import FolderLibrary
from afresh.adapters.knowledge.patterns import PatternedLibrary
from afresh.adapters.workspace.repository import Repository
from afresh.app.tasks import Desk
from afresh.domain.action import Action
from afresh.domain.event import Acted, Replied
from afresh.domain.fit import likeness
from afresh.domain.knowledge import PATTERN, By, Knowledge, Standing, part
from afresh.domain.plain import Own, plain_part
from afresh.projections.files import locked

ALIKE = 0.6
PRINTED = 200_000
"""Characters of an output that are looked through for words of the project."""


def patterns_folder() -> Folder:
    from platformdirs import user_data_path

    return Folder(user_data_path("afresh") / "patterns", PATTERN)


def with_patterns(desk: Desk, own: FolderLibrary, home: Folder) -> FolderLibrary | PatternedLibrary:
    return PatternedLibrary(own, home, patterns_folder(), desk.clock) if desk.settings.patterns else own


def cross(desk: Desk, one: Knowledge, today: date) -> Knowledge | None:
    """Without a person: the lines of an approved object that name nothing of its project, if they say anything without the
    others. A folder that can't be written is no reason to stop: the object stays where it is."""
    if not desk.settings.patterns or one.status is not Standing.APPROVED or not plain_part(one, everyday(), Own()):
        return None
    own = words_of(desk, one)
    plain = plain_part(one, everyday(), own) if own else None
    if plain is None:
        return None
    with suppress(OSError):
        return enter(desk, plain, By.AUTOMATIC, today)
    return None


def enter(desk: Desk, one: Knowledge, by: By, today: date) -> Knowledge | None:
    """Into the folder of patterns. None when it is there already, or was and is not wanted, or another says the same."""
    folder = patterns_folder()
    folder.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(folder.root / ".lock"):
        if made_from(folder, desk.project.root, one) or any(alike(one, old) for old in folder.objects().values()):
            return None
        pattern = replace(
            fresh(one), id=f"{PATTERN}{secrets.token_hex(4)}", project=str(desk.project.root), source=one.id, by=by,
            created=str(today), approved=str(today),
        )  # fmt: skip
        folder.add(pattern)
    return pattern


def fresh(one: Knowledge) -> Knowledge:
    """What it says, without what became of it in its project."""
    return Knowledge(id=one.id, title=one.title, tags=one.tags, status=Standing.APPROVED, body=one.body)


def made_from(folder: Folder, root: Path, one: Knowledge) -> Knowledge | None:
    made = (old for old in folder.objects().values() if old.source == one.id and old.project == str(root))
    return next(made, None)


def alike(one: Knowledge, other: Knowledge) -> bool:
    told = ["\n".join([each.title, part(each.body, "What worked")]) for each in (one, other)]
    return likeness(*told) >= ALIKE


def words_of(desk: Desk, one: Knowledge) -> Own | None:
    """What the project calls its own, with what the task that the object came from has written, run and seen."""
    known = {ticket.task for ticket in desk.queue.tickets()}
    more = list(seen_by(desk, one.source)) if one.source in known else []
    return own_words(Repository.find(desk.project.root), more)


def seen_by(desk: Desk, task: str) -> Iterator[tuple[str, str]]:
    actions: tuple[Action, ...] = ()
    for entry in desk.store.journal(task):
        match entry.event:
            case Replied(reply=reply):
                actions = reply.actions
                yield from written(actions)
            case Acted(observations=observations):
                for action, seen in zip(actions, observations, strict=False):
                    if action.tool in ("run", "test") and seen.block:
                        yield "", desk.store.read(seen.block)[:PRINTED]
            case _:
                pass


def written(actions: tuple[Action, ...]) -> Iterator[tuple[str, str]]:
    for action in actions:
        text = "\n".join(str(action.args.get(key, "")) for key in ("old", "new", "content", "command"))
        if text.strip():
            yield str(action.args.get("path", "")), text


def unnamed(task: str) -> str:
    """How a pattern's file knows the last task that was counted: whose it was is nobody else's business."""
    return sha256(task.encode()).hexdigest()[:12]
