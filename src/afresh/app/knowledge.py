"""Knowledge of a project: what tasks leave behind, what came of it, and what a person says to it."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from afresh.adapters.knowledge.folder import APPROVED, DRAFTS, Folder, Held
from afresh.adapters.knowledge.library import FolderLibrary
from afresh.adapters.knowledge.parse import Note
from afresh.adapters.knowledge.patterns import PatternedLibrary, is_pattern
from afresh.adapters.knowledge.skills import export, skills
from afresh.adapters.workspace.author import author
from afresh.app.patterns import cross, made_from, patterns_folder, unnamed, with_patterns
from afresh.app.tasks import Desk, note
from afresh.domain.event import Ended, Judged, Learnt
from afresh.domain.fit import fit, likeness, subject, terms
from afresh.domain.knowledge import By, Knowledge, Standing, day_of, moment, part
from afresh.domain.lookups import Seen
from afresh.domain.state import State
from afresh.domain.task import RECORDED, Status
from afresh.engine.compaction.written import Ask
from afresh.engine.learn import course, doubts, draft, worth_keeping
from afresh.engine.worded import in_words, reworded
from afresh.errors import BadInput, Conflict
from afresh.projections.files import locked

ALIKE = 0.6
"""Of the words of two objects: then they say the same."""
NEWEST = 20
COMPARED = 50
"""Tasks that are looked at for what a crash has left undone, and to compare a task with."""


def folder_of(root: Path) -> Folder:
    return Folder(root / ".afresh" / "knowledge")


def library(desk: Desk, tree: Path) -> FolderLibrary | PatternedLibrary:
    home = folder_of(desk.project.root)
    return with_patterns(desk, FolderLibrary(home, tree, desk.clock), home)


def settle(desk: Desk, ask: Ask | None = None, task: str = "") -> None:
    """Draft and count what tasks that are over have left behind, the oldest first, each once; what parts have learnt is for their
    parent to say. A folder that can't be written is no reason to stop: it is tried again the next time. `ask`: who puts what this
    task has learnt into words, if anybody does."""
    tickets = [ticket for ticket in desk.queue.tickets() if not ticket.parent and ticket.type != RECORDED]
    over = [ticket.task for ticket in tickets if ticket.status.over][-NEWEST:]
    if all(desk.store.load(task).knowledge.learnt for task in over):
        return
    with suppress(OSError), locked(desk.project.state / "knowledge.lock"):
        for state in sorted(map(desk.store.load, over), key=lambda state: state.updated):
            if not state.knowledge.learnt:
                with suppress(BadInput, Conflict):
                    keep(desk, state, ask if state.task.id == task else None)


def keep(desk: Desk, state: State, ask: Ask | None) -> None:
    """The draft first, which is the same however often it is made; then the counts, which know the last task counted; then the
    journal says that it is done."""
    folder = folder_of(desk.project.root)
    state = worded(desk, state, folder, ask) if ask else state
    id, why = drafted(desk, state, folder)
    if made := folder.objects().get(id):
        cross(desk, made, today(desk))
    for one in state.knowledge.seen:
        tally(desk, state, one)
    note(desk, state, state.task.id, [Learnt(id, why)])


def worded(desk: Desk, state: State, folder: Folder, ask: Ask) -> State:
    """What the model says is in the journal before it is used, so it is paid once."""
    found = course(desk.store.journal(state.task.id))
    if found.worded or worth_keeping(found) or any(one.source == state.task.id for one in folder.objects().values()):
        return state
    return note(desk, state, state.task.id, [in_words(portable(draft(found), desk.project.root), ask)])


def drafted(desk: Desk, state: State, folder: Folder) -> tuple[str, str]:
    """The object and why it waits for a person; or no object, and why there is none."""
    found = course(desk.store.journal(state.task.id))
    if why := "thrown away" if state.status is Status.DISCARDED else worth_keeping(found):
        return "", why
    new, known = reworded(portable(draft(found), desk.project.root), found.worded), folder.objects()
    if old := next((one for one in known.values() if one.source == new.source), None):
        return old.id, old.waits
    like = [one for one in known.values() if likeness(lesson(one), lesson(new)) >= ALIKE]
    if again := [one.id for one in like if one.status is Standing.REJECTED or one.id in state.knowledge.used]:
        return "", f"{again[0]} says the same"
    waits = doubts(found, [one.id for one in like])
    status, day = (Standing.DRAFT, "") if waits else (Standing.APPROVED, new.created)
    made = folder.add(replace(new, status=status, waits=waits, approved=day))
    return new.id, waits if made else "its file was there already"


def portable(one: Knowledge, root: Path) -> Knowledge:
    """For every clone: paths from the root of the project, and none of somebody's home."""
    body = one.body.replace(f"{root}/", "").replace(f"{Path.home()}/", "~/")
    return replace(one, body=body)


def lesson(one: Knowledge) -> str:
    """What makes two objects say the same, whatever was run and counted on the way."""
    return "\n".join([one.title, part(one.body, "Problem"), part(one.body, "What worked")])


def tally(desk: Desk, state: State, seen: Seen) -> None:
    folder, name, alone = folder_of(desk.project.root), state.task.id, nullcontext()
    if is_pattern(seen.id):
        folder, name = patterns_folder(), unnamed(state.task.id)
        alone = locked(folder.root / ".lock")
    with suppress(OSError), alone:
        folder.count(seen.id, lambda known: counted(desk, state, seen, known, name))


def counted(desk: Desk, state: State, seen: Seen, known: Knowledge, name: str) -> Mapping[str, Any]:
    if known.last_task == name:
        return {}
    values: dict[str, Any] = {
        "shown": known.shown + 1,
        "unused": 0 if seen.used else known.unused + 1,
        "last_task": name,
    }
    if not seen.used:
        return values
    passed = state.status in (Status.DONE, Status.APPLIED)
    values |= {"uses": known.uses + 1, "successes": known.successes + passed, "last_used": moment(ended(desk, state))}
    saved = savings(desk, state, known) if passed else None
    return values | ({"tokens_saved": (known.tokens_saved or 0) + saved} if saved is not None else {})


def ended(desk: Desk, state: State) -> float:
    return max((entry.at for entry in desk.store.journal(state.task.id) if isinstance(entry.event, Ended)), default=state.updated)


def savings(desk: Desk, state: State, known: Knowledge) -> int | None:
    """Tokens of this task against the median of verified tasks of its type that did without it and would have been shown it: the
    one that it was learnt from, and others. Unknown when there is none; below 0 when it cost more."""
    about = subject(f"{known.title}\n{' '.join(known.tags)}", known.body)
    alike = [ticket for ticket in desk.queue.tickets() if ticket.type == state.task.type and not ticket.parent]
    done = [ticket for ticket in alike if ticket.status in (Status.DONE, Status.APPLIED)]
    fitting = [t for t in done if t.task != state.task.id and (t.task == known.source or fit(terms(t.goal), about))]
    states = [desk.store.load(ticket.task) for ticket in fitting[-COMPARED:]]
    without = [tokens(one) for one in states if not one.knowledge.used]
    return round(median(without)) - tokens(state) if without else None


def tokens(state: State) -> int:
    return state.usage.tokens


@dataclass(frozen=True, slots=True)
class Row:
    knowledge: Knowledge
    standing: Standing
    file: Path
    why: str = ""
    """Why it waits, or is looked up no more."""


@dataclass(frozen=True, slots=True)
class Listing:
    rows: Sequence[Row]
    skills: Sequence[tuple[str, str]]
    """Path and description."""
    notes: Sequence[Note]
    patterns: Sequence[Row] = ()
    """What may be shown in all projects of the user, and where it is from."""


def listing(desk: Desk) -> Listing:
    settle(desk)
    held, shared = folder_of(desk.project.root).held(), patterns_folder().held()
    found, wrong = skills(desk.project.root, {})
    rows, patterns = ([row(desk, one.read.knowledge, one) for one in some if one.read.knowledge] for some in (held, shared))
    notes = [note for one in (*held, *shared) for note in one.read.notes]
    return Listing(rows, [(one.path, one.description) for one in found], [*links(desk.project.root), *notes, *wrong], patterns)


def links(root: Path) -> list[Note]:
    """A link in place of a folder is not followed, and not passed over in silence."""
    places = [root / ".afresh/knowledge", *[root / ".afresh/knowledge" / name for name in (APPROVED, DRAFTS)]]
    told = "is a link: nothing is read or written through it"
    return [Note(place.relative_to(root).as_posix(), 1, told) for place in places if place.is_symlink()]


def row(desk: Desk, one: Knowledge, held: Held) -> Row:
    standing = one.standing(today(desk))
    why = one.aged(today(desk)) if standing is Standing.AGED else one.waits if standing is Standing.DRAFT else ""
    inside = held.path.is_relative_to(desk.project.root)
    return Row(one, standing, held.path.relative_to(desk.project.root) if inside else held.path, why)


def find(desk: Desk, name: str) -> Row:
    """An object by its id or the beginning of it, with or without KO-; a pattern by its own."""
    settle(desk)
    folder = patterns_folder() if is_pattern(name.upper()) else folder_of(desk.project.root)
    ids = list(folder.objects())
    fits = [id for id in ids if id.lower() == name.lower()] or [
        id for id in ids if id.lower().startswith((name.lower(), f"ko-{name.lower()}"))
    ]
    if len(fits) != 1:
        what = f"{name!r} fits {', '.join(fits[:5])}" if fits else f"there is no knowledge object {name!r}"
        raise BadInput(what, next="afresh knowledge list shows what there is")
    held = folder.place(fits[0])
    assert held.read.knowledge
    return row(desk, held.read.knowledge, held)


def file_of(desk: Desk, name: str) -> Path:
    """Also of one that can't be read as it is: it is found by the name of its file."""
    held = folder_of(desk.project.root).held()
    broken = [one.path for one in held if not one.read.knowledge and one.path.name.lower().startswith(name.lower())]
    return broken[0] if len(broken) == 1 else desk.project.root / find(desk, name).file


def at(desk: Desk, path: Path) -> Row:
    """What the file says now. BadInput with its line when that can't be used."""
    folder = folder_of(desk.project.root) if path.is_relative_to(desk.project.root) else patterns_folder()
    held = next((one for one in folder.held() if one.path == path), None)
    if held is None or held.read.knowledge is None or held.read.notes:
        what = held.read.notes[0] if held else f"{path} is gone"
        raise BadInput(str(what), next=f"afresh knowledge edit {path.stem}", safe="the file is as you left it")
    return row(desk, held.read.knowledge, held)


def approve(desk: Desk, name: str) -> Row:
    """By a person. An object that had aged is looked up again."""
    values = {"status": Standing.APPROVED, "by": By.CONFIRMED, "approved": str(today(desk)), "unused": 0}
    approved = decide(desk, name, values, APPROVED)
    if not is_pattern(approved.knowledge.id):
        cross(desk, approved.knowledge, today(desk))
    return approved


def reject(desk: Desk, name: str) -> Row:
    """Kept, so that the same is not drafted again; never looked up, nor what has crossed of it."""
    values = {"status": Standing.REJECTED, "by": By.CONFIRMED}
    rejected = decide(desk, name, values, DRAFTS)
    if crossed := made_from(patterns_folder(), desk.project.root, rejected.knowledge):
        decide(desk, crossed.id, values, DRAFTS)
    return rejected


def decide(desk: Desk, name: str, values: Mapping[str, Any], place: str) -> Row:
    """The one way in which a person's word on an object is recorded."""
    one = find(desk, name)
    folder = patterns_folder() if is_pattern(one.knowledge.id) else folder_of(desk.project.root)
    folder.move(folder.set(one.knowledge.id, lambda _: values, begin=True), place)
    desk.notebook.append([Judged(one.knowledge.id, str(values["status"]), author(desk.project.root))])
    return find(desk, one.knowledge.id)


def search(desk: Desk, question: str) -> list[tuple[str, float, str]]:
    """What a task with this goal would be shown: id or path, fit, text."""
    settle(desk)
    return [(one.key, one.fit, one.text) for one in library(desk, desk.project.root).ranked([question])]


def as_skill(desk: Desk, name: str, place: Path | None) -> Path:
    one = find(desk, name)
    if one.knowledge.status is not Standing.APPROVED:
        raise BadInput(f"{one.knowledge.id} is {one.knowledge.status}", next=f"afresh knowledge approve {one.knowledge.id}")
    return export(one.knowledge, place or desk.project.root / ".afresh" / "skills")


def today(desk: Desk) -> date:
    day = day_of(moment(desk.clock.now()))
    assert day, "a clock tells a day"
    return day
