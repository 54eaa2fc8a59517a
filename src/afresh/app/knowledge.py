"""Knowledge of a project: what tasks leave behind, what came of it, and what a person says to it."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from afresh.adapters.knowledge.folder import APPROVED_FOLDER, DRAFTS_FOLDER, LessonFolder, LessonFile
from afresh.adapters.knowledge.library import FolderLessonLibrary
from afresh.adapters.knowledge.parse import LessonFault
from afresh.adapters.knowledge.patterns import LibraryWithPatterns, is_pattern
from afresh.adapters.knowledge.skills import export_skill, read_skills
from afresh.adapters.workspace.author import find_author_name
from afresh.app.patterns import (
    share_plain_part,
    find_pattern_of_lesson,
    open_pattern_folder,
    hash_task_name,
    add_patterns_to_library,
)
from afresh.app.tasks import Project, record_events
from afresh.domain.event import TaskEnded, LessonJudged, LessonLearnt
from afresh.domain.fit import score_match, compute_likeness, subject_from_text, weigh_terms
from afresh.domain.knowledge import LessonApproval, Lesson, LessonStatus, day_from_text, iso_from_time, get_heading_text
from afresh.domain.lookups import LessonSeen
from afresh.domain.state import State
from afresh.domain.task import RECORDED_TYPE, TaskStatus
from afresh.engine.compaction.written import SideCall
from afresh.engine.learn import task_record_from_journal, find_reason_for_review, draft_lesson, find_reason_not_to_draft
from afresh.engine.worded import ask_for_rewording, apply_rewording
from afresh.errors import BadInput, Conflict
from afresh.projections.files import lock_file

MIN_LIKENESS_OF_SAME_LESSON = 0.6
"""Of the words of two objects: then they say the same."""
MAX_TASKS_REVISITED = 20
MAX_TASKS_COMPARED = 50
"""Tasks that are looked at for what a crash has left undone, and to compare a task with."""


def open_lesson_folder(root: Path) -> LessonFolder:
    return LessonFolder(root / ".afresh" / "knowledge")


def open_lesson_library(desk: Project, tree: Path) -> FolderLessonLibrary | LibraryWithPatterns:
    home = open_lesson_folder(desk.project.root)
    return add_patterns_to_library(desk, FolderLessonLibrary(home, tree, desk.clock), home)


def learn_from_ended_tasks(desk: Project, ask: SideCall | None = None, task: str = "") -> None:
    """Draft and count what tasks that are over have left behind, the oldest first, each once; what parts have learnt is for their
    parent to say. A folder that can't be written is no reason to stop: it is tried again the next time. `ask`: who puts what this
    task has learnt into words, if anybody does."""
    tickets = [ticket for ticket in desk.queue.tickets() if not ticket.parent and ticket.type != RECORDED_TYPE]
    over = [ticket.task for ticket in tickets if ticket.status.over][-MAX_TASKS_REVISITED:]
    if all(desk.store.load(task).knowledge.learnt for task in over):
        return
    with suppress(OSError), lock_file(desk.project.state / "knowledge.lock"):
        for state in sorted(map(desk.store.load, over), key=lambda state: state.updated):
            if not state.knowledge.learnt:
                with suppress(BadInput, Conflict):
                    learn_from_task(desk, state, ask if state.task.id == task else None)


def learn_from_task(desk: Project, state: State, ask: SideCall | None) -> None:
    """The draft first, which is the same however often it is made; then the counts, which know the last task counted; then the
    journal says that it is done."""
    folder = open_lesson_folder(desk.project.root)
    state = record_model_wording(desk, state, folder, ask) if ask else state
    id, why = draft_task_lesson(desk, state, folder)
    if made := folder.objects().get(id):
        share_plain_part(desk, made, read_current_day(desk))
    for one in state.knowledge.seen:
        count_lesson_use(desk, state, one)
    record_events(desk, state, state.task.id, [LessonLearnt(id, why)])


def record_model_wording(desk: Project, state: State, folder: LessonFolder, ask: SideCall) -> State:
    """What the model says is in the journal before it is used, so it is paid once."""
    found = task_record_from_journal(desk.store.journal(state.task.id))
    if found.worded or find_reason_not_to_draft(found) or any(one.source == state.task.id for one in folder.objects().values()):
        return state
    return record_events(
        desk, state, state.task.id, [ask_for_rewording(make_paths_portable(draft_lesson(found), desk.project.root), ask)]
    )


def draft_task_lesson(desk: Project, state: State, folder: LessonFolder) -> tuple[str, str]:
    """The object and why it waits for a person; or no object, and why there is none."""
    found = task_record_from_journal(desk.store.journal(state.task.id))
    if why := "thrown away" if state.status is TaskStatus.DISCARDED else find_reason_not_to_draft(found):
        return "", why
    new, known = apply_rewording(make_paths_portable(draft_lesson(found), desk.project.root), found.worded), folder.objects()
    if old := next((one for one in known.values() if one.source == new.source), None):
        return old.id, old.waits
    like = [
        one
        for one in known.values()
        if compute_likeness(extract_lesson_core(one), extract_lesson_core(new)) >= MIN_LIKENESS_OF_SAME_LESSON
    ]
    if again := [one.id for one in like if one.status is LessonStatus.REJECTED or one.id in state.knowledge.used]:
        return "", f"{again[0]} says the same"
    waits = find_reason_for_review(found, [one.id for one in like])
    status, day = (LessonStatus.DRAFT, "") if waits else (LessonStatus.APPROVED, new.created)
    made = folder.add(replace(new, status=status, waits=waits, approved=day))
    return new.id, waits if made else "its file was there already"


def make_paths_portable(one: Lesson, root: Path) -> Lesson:
    """For every clone: paths from the root of the project, and none of somebody's home."""
    body = one.body.replace(f"{root}/", "").replace(f"{Path.home()}/", "~/")
    return replace(one, body=body)


def extract_lesson_core(one: Lesson) -> str:
    """What makes two objects say the same, whatever was run and counted on the way."""
    return "\n".join([one.title, get_heading_text(one.body, "Problem"), get_heading_text(one.body, "What worked")])


def count_lesson_use(desk: Project, state: State, seen: LessonSeen) -> None:
    folder, name, alone = open_lesson_folder(desk.project.root), state.task.id, nullcontext()
    if is_pattern(seen.id):
        folder, name = open_pattern_folder(), hash_task_name(state.task.id)
        alone = lock_file(folder.root / ".lock")
    with suppress(OSError), alone:
        folder.count(seen.id, lambda known: compute_lesson_counts(desk, state, seen, known, name))


def compute_lesson_counts(desk: Project, state: State, seen: LessonSeen, known: Lesson, name: str) -> Mapping[str, Any]:
    if known.last_task == name:
        return {}
    values: dict[str, Any] = {
        "shown": known.shown + 1,
        "unused": 0 if seen.used else known.unused + 1,
        "last_task": name,
    }
    if not seen.used:
        return values
    passed = state.status in (TaskStatus.DONE, TaskStatus.APPLIED)
    values |= {
        "uses": known.uses + 1,
        "successes": known.successes + passed,
        "last_used": iso_from_time(find_end_time(desk, state)),
    }
    saved = estimate_saved_tokens(desk, state, known) if passed else None
    return values | ({"tokens_saved": (known.tokens_saved or 0) + saved} if saved is not None else {})


def find_end_time(desk: Project, state: State) -> float:
    return max(
        (entry.at for entry in desk.store.journal(state.task.id) if isinstance(entry.event, TaskEnded)), default=state.updated
    )


def estimate_saved_tokens(desk: Project, state: State, known: Lesson) -> int | None:
    """Tokens of this task against the median of verified tasks of its type that did without it and would have been shown it: the
    one that it was learnt from, and others. Unknown when there is none; below 0 when it cost more."""
    about = subject_from_text(f"{known.title}\n{' '.join(known.tags)}", known.body)
    alike = [ticket for ticket in desk.queue.tickets() if ticket.type == state.task.type and not ticket.parent]
    done = [ticket for ticket in alike if ticket.status in (TaskStatus.DONE, TaskStatus.APPLIED)]
    fitting = [t for t in done if t.task != state.task.id and (t.task == known.source or score_match(weigh_terms(t.goal), about))]
    states = [desk.store.load(ticket.task) for ticket in fitting[-MAX_TASKS_COMPARED:]]
    without = [count_task_tokens(one) for one in states if not one.knowledge.used]
    return round(median(without)) - count_task_tokens(state) if without else None


def count_task_tokens(state: State) -> int:
    return state.usage.tokens


@dataclass(frozen=True, slots=True)
class LessonRow:
    knowledge: Lesson
    standing: LessonStatus
    file: Path
    why: str = ""
    """Why it waits, or is looked up no more."""


@dataclass(frozen=True, slots=True)
class LessonListing:
    rows: Sequence[LessonRow]
    skills: Sequence[tuple[str, str]]
    """Path and description."""
    notes: Sequence[LessonFault]
    patterns: Sequence[LessonRow] = ()
    """What may be shown in all projects of the user, and where it is from."""


def list_lessons(desk: Project) -> LessonListing:
    learn_from_ended_tasks(desk)
    held, shared = open_lesson_folder(desk.project.root).held(), open_pattern_folder().held()
    found, wrong = read_skills(desk.project.root, {})
    rows, patterns = (
        [make_lesson_row(desk, one.read.knowledge, one) for one in some if one.read.knowledge] for some in (held, shared)
    )
    notes = [note for one in (*held, *shared) for note in one.read.notes]
    return LessonListing(
        rows, [(one.path, one.description) for one in found], [*find_linked_folders(desk.project.root), *notes, *wrong], patterns
    )


def find_linked_folders(root: Path) -> list[LessonFault]:
    """A link in place of a folder is not followed, and not passed over in silence."""
    places = [root / ".afresh/knowledge", *[root / ".afresh/knowledge" / name for name in (APPROVED_FOLDER, DRAFTS_FOLDER)]]
    told = "is a link: nothing is read or written through it"
    return [LessonFault(place.relative_to(root).as_posix(), 1, told) for place in places if place.is_symlink()]


def make_lesson_row(desk: Project, one: Lesson, held: LessonFile) -> LessonRow:
    standing = one.standing(read_current_day(desk))
    why = (
        one.aged(read_current_day(desk)) if standing is LessonStatus.AGED else one.waits if standing is LessonStatus.DRAFT else ""
    )
    inside = held.path.is_relative_to(desk.project.root)
    return LessonRow(one, standing, held.path.relative_to(desk.project.root) if inside else held.path, why)


def find_lesson(desk: Project, name: str) -> LessonRow:
    """An object by its id or the beginning of it, with or without KO-; a pattern by its own."""
    learn_from_ended_tasks(desk)
    folder = open_pattern_folder() if is_pattern(name.upper()) else open_lesson_folder(desk.project.root)
    ids = list(folder.objects())
    fits = [id for id in ids if id.lower() == name.lower()] or [
        id for id in ids if id.lower().startswith((name.lower(), f"ko-{name.lower()}"))
    ]
    if len(fits) != 1:
        what = f"{name!r} fits {', '.join(fits[:5])}" if fits else f"there is no knowledge object {name!r}"
        raise BadInput(what, next="afresh knowledge list shows what there is")
    held = folder.place(fits[0])
    assert held.read.knowledge
    return make_lesson_row(desk, held.read.knowledge, held)


def find_lesson_file(desk: Project, name: str) -> Path:
    """Also of one that can't be read as it is: it is found by the name of its file."""
    held = open_lesson_folder(desk.project.root).held()
    broken = [one.path for one in held if not one.read.knowledge and one.path.name.lower().startswith(name.lower())]
    return broken[0] if len(broken) == 1 else desk.project.root / find_lesson(desk, name).file


def read_lesson_file(desk: Project, path: Path) -> LessonRow:
    """What the file says now. BadInput with its line when that can't be used."""
    folder = open_lesson_folder(desk.project.root) if path.is_relative_to(desk.project.root) else open_pattern_folder()
    held = next((one for one in folder.held() if one.path == path), None)
    if held is None or held.read.knowledge is None or held.read.notes:
        what = held.read.notes[0] if held else f"{path} is gone"
        raise BadInput(str(what), next=f"afresh knowledge edit {path.stem}", safe="the file is as you left it")
    return make_lesson_row(desk, held.read.knowledge, held)


def approve_lesson(desk: Project, name: str) -> LessonRow:
    """By a person. An object that had aged is looked up again."""
    values = {
        "status": LessonStatus.APPROVED,
        "by": LessonApproval.CONFIRMED,
        "approved": str(read_current_day(desk)),
        "unused": 0,
    }
    approved = record_lesson_judgement(desk, name, values, APPROVED_FOLDER)
    if not is_pattern(approved.knowledge.id):
        share_plain_part(desk, approved.knowledge, read_current_day(desk))
    return approved


def reject_lesson(desk: Project, name: str) -> LessonRow:
    """Kept, so that the same is not drafted again; never looked up, nor what has crossed of it."""
    values = {"status": LessonStatus.REJECTED, "by": LessonApproval.CONFIRMED}
    rejected = record_lesson_judgement(desk, name, values, DRAFTS_FOLDER)
    if crossed := find_pattern_of_lesson(open_pattern_folder(), desk.project.root, rejected.knowledge):
        record_lesson_judgement(desk, crossed.id, values, DRAFTS_FOLDER)
    return rejected


def record_lesson_judgement(desk: Project, name: str, values: Mapping[str, Any], place: str) -> LessonRow:
    """The one way in which a person's word on an object is recorded."""
    one = find_lesson(desk, name)
    folder = open_pattern_folder() if is_pattern(one.knowledge.id) else open_lesson_folder(desk.project.root)
    folder.move(folder.set(one.knowledge.id, lambda _: values, begin=True), place)
    desk.notebook.append([LessonJudged(one.knowledge.id, str(values["status"]), find_author_name(desk.project.root))])
    return find_lesson(desk, one.knowledge.id)


def search_project_lessons(desk: Project, question: str) -> list[tuple[str, float, str]]:
    """What a task with this goal would be shown: id or path, fit, text."""
    learn_from_ended_tasks(desk)
    return [(one.key, one.fit, one.text) for one in open_lesson_library(desk, desk.project.root).ranked([question])]


def export_lesson_as_skill(desk: Project, name: str, place: Path | None) -> Path:
    one = find_lesson(desk, name)
    if one.knowledge.status is not LessonStatus.APPROVED:
        raise BadInput(f"{one.knowledge.id} is {one.knowledge.status}", next=f"afresh knowledge approve {one.knowledge.id}")
    return export_skill(one.knowledge, place or desk.project.root / ".afresh" / "skills")


def read_current_day(desk: Project) -> date:
    day = day_from_text(iso_from_time(desk.clock.now()))
    assert day, "a clock tells a day"
    return day
