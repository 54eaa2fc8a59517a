"""Drafts lessons from finished tasks and counts how useful earlier lessons were."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import date
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any

from afresh.app.orders.tasks import record_events
from afresh.app.project import Project
from afresh.code.changed_definitions import find_changed_definitions
from afresh.core.event import TaskEnded
from afresh.core.lesson import (
    PATTERN_ID_PREFIX,
    Lesson,
    LessonLearnt,
    LessonSeen,
    LessonStatus,
    day_from_text,
    get_heading_text,
    is_untouched_draft,
    iso_from_time,
)
from afresh.core.lesson_match import compute_likeness, score_match, subject_from_text, weigh_terms
from afresh.core.reply import MODELS_THAT_DO_NOT_READ
from afresh.core.state import State
from afresh.core.task import RECORDED_TYPE, TaskStatus, TicketOrder, TicketQuery
from afresh.errors import AfreshError, BadInput, Conflict
from afresh.memory.lessons.draft_lesson import (
    MAX_FILES,
    draft_lesson,
    find_reason_for_review,
    find_reason_not_to_draft,
)
from afresh.memory.lessons.reword_lesson import apply_rewording, ask_for_rewording
from afresh.memory.lessons.task_record import task_record_from_journal
from afresh.models.call import SideCall
from afresh.storage.lessons.lesson_folder import LessonFolder
from afresh.storage.lessons.lesson_library import FolderLessonLibrary, LibraryWithPatterns, is_pattern
from afresh.views.file_io import lock_file
from afresh.workspace.repository import Repository
from afresh.workspace.worktree import read_snapshot_file

MIN_LIKENESS_OF_SAME_LESSON = 0.6
"""Share of common words from which two lessons are the same."""
MAX_TASKS_REVISITED = 20
MAX_TASKS_COMPARED = 50
"""How many tasks are checked for unfinished drafts, and compared with a task."""
MAX_TICKETS_READ = 500
"""The newest, among which those are looked for."""


def open_lesson_folder(root: Path) -> LessonFolder:
    return LessonFolder(root / ".afresh" / "knowledge")


def open_pattern_folder() -> LessonFolder:
    """Lessons that the user's projects share."""
    from platformdirs import user_data_path

    return LessonFolder(user_data_path("afresh") / "patterns", PATTERN_ID_PREFIX)


def open_lesson_library(project: Project, tree: Path) -> FolderLessonLibrary | LibraryWithPatterns:
    home = open_lesson_folder(project.paths.root)
    own = FolderLessonLibrary(home, tree, project.clock)
    return LibraryWithPatterns(own, home, open_pattern_folder(), project.clock) if project.settings.patterns else own


def learn_from_ended_tasks(project: Project, ask: SideCall | None = None, task: str = "") -> None:
    """Draft and count lessons of finished tasks, oldest first, each task once. Subtasks are covered by their parent. If the
    folder cannot be written, this is tried again next time. `ask` words the lesson of `task`, if given."""
    ended = tuple(status for status in TaskStatus if status.over)
    newest = project.queue.tickets(TicketQuery(ended, parents=(), order=TicketOrder.NEWEST, most=MAX_TICKETS_READ))
    over = [ticket.task for ticket in newest if ticket.type != RECORDED_TYPE][:MAX_TASKS_REVISITED][::-1]
    if all(project.store.load(task).memory.lessons.learnt for task in over):
        return
    with suppress(OSError), lock_file(project.paths.state / "knowledge.lock"):
        for state in sorted(map(project.store.load, over), key=lambda state: state.times.updated):
            if not state.memory.lessons.learnt:
                with suppress(BadInput, Conflict):
                    learn_from_task(project, state, ask if state.task.id == task else None)


def learn_from_task(project: Project, state: State, ask: SideCall | None) -> None:
    """Write the draft (repeatable), then the counts (which store the last counted task), then record in the journal that both
    are done."""
    folder = open_lesson_folder(project.paths.root)
    state = record_model_wording(project, state, folder, ask) if ask else state
    id, why = draft_task_lesson(project, state, folder)
    for seen_lesson in state.memory.lessons.seen:
        count_lesson_use(project, state, seen_lesson)
    record_events(project, state, state.task.id, [LessonLearnt(id, why)])


def record_model_wording(project: Project, state: State, folder: LessonFolder, ask: SideCall) -> State:
    """Record the model's wording in the journal before using it, so that it is paid only once."""
    task = task_record_from_journal(project.store.journal(state.task.id))
    if (
        task.worded
        or find_reason_not_to_draft(task)
        or any(lesson.source == state.task.id for lesson in folder.objects().values())
    ):
        return state
    return record_events(
        project,
        state,
        state.task.id,
        [ask_for_rewording(make_paths_portable(draft_lesson(task, find_changed_names(project, state)), project.paths.root), ask)],
    )


def draft_task_lesson(project: Project, state: State, folder: LessonFolder) -> tuple[str, str]:
    """Return the lesson and why it is a draft; or an empty string and why there is no lesson."""
    task = task_record_from_journal(project.store.journal(state.task.id))
    if why := "thrown away" if state.status is TaskStatus.DISCARDED else find_reason_not_to_draft(task):
        return "", why
    drafted = make_paths_portable(draft_lesson(task, find_changed_names(project, state)), project.paths.root)
    new, known = apply_rewording(drafted, task.worded), folder.objects()
    old = next((lesson for lesson in known.values() if lesson.source == new.source), None)
    if old and not is_untouched_draft(old):
        return old.id, old.waits
    like = [
        lesson
        for lesson in known.values()
        if lesson is not old
        and compute_likeness(extract_lesson_core(lesson), extract_lesson_core(new)) >= MIN_LIKENESS_OF_SAME_LESSON
    ]
    if again := [
        lesson.id for lesson in like if lesson.status is LessonStatus.REJECTED or lesson.id in state.memory.lessons.used
    ]:
        return "", f"{again[0]} says the same"
    waits = find_reason_for_review(task, [lesson.id for lesson in like])
    status, day = (LessonStatus.DRAFT, "") if waits else (LessonStatus.APPROVED, new.created)
    new = replace(new, status=status, waits=waits, approved=day)
    path = folder.replace_untouched_draft(new) if old else folder.add(new)
    return new.id, waits if path else "its file was there already"


def draft_from_unfinished_task(project: Project, task: str) -> None:
    """Draft a lesson of a task that is blocked or has a checkpoint: what it has found out is of use though it is not done. Its
    end replaces it."""
    with suppress(OSError, AfreshError), lock_file(project.paths.state / "knowledge.lock"):
        state = project.store.load(task)
        unfinished = state.status is TaskStatus.BLOCKED or (state.is_running and state.times.checkpoints > 0)
        if unfinished and not state.task.parent:
            draft_task_lesson(project, state, open_lesson_folder(project.paths.root))


def find_changed_names(project: Project, state: State) -> Mapping[str, Sequence[str]]:
    """Return the definitions that the task changed, by file; nothing if its snapshots are gone."""
    repository, task = Repository.find(project.paths.root), state.task.id
    pair = state.workspace.first_snapshot, state.workspace.snapshot
    changed_names = dict[str, Sequence[str]]()
    for path in state.workspace.changed[:MAX_FILES]:
        before, after = (read_snapshot_file(repository, task, snapshot, path) for snapshot in pair)
        changed_names[path] = find_changed_definitions(path, before, after) if before or after else ()
    return changed_names


def make_paths_portable(lesson: Lesson, root: Path) -> Lesson:
    """Make paths relative to the project root and remove home folders."""
    body = lesson.body.replace(f"{root}/", "").replace(f"{Path.home()}/", "~/")
    return replace(lesson, body=body)


def extract_lesson_core(lesson: Lesson) -> str:
    """Return the part of a lesson that is compared to find duplicates; without commands and counts."""
    return "\n".join([lesson.title, get_heading_text(lesson.body, "Problem"), get_heading_text(lesson.body, "What worked")])


def count_lesson_use(project: Project, state: State, seen: LessonSeen) -> None:
    folder, name, alone = open_lesson_folder(project.paths.root), state.task.id, nullcontext()
    if is_pattern(seen.id):
        folder, name = open_pattern_folder(), sha256(state.task.id.encode()).hexdigest()[:12]  # shared files name no task
        alone = lock_file(folder.root / ".lock")
    with suppress(OSError), alone:
        folder.count(seen.id, lambda known: compute_lesson_counts(project, state, seen, known, name))


def compute_lesson_counts(project: Project, state: State, seen: LessonSeen, known: Lesson, name: str) -> Mapping[str, Any]:
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
    ended = (entry.at for entry in project.store.journal(state.task.id) if isinstance(entry.event, TaskEnded))
    values |= {
        "uses": known.uses + 1,
        "successes": known.successes + passed,
        "last_used": iso_from_time(max(ended, default=state.times.updated)),
    }
    saved = estimate_saved_tokens(project, state, known) if passed else None
    return values | ({"tokens_saved": (known.tokens_saved or 0) + saved} if saved is not None else {})


def estimate_saved_tokens(project: Project, state: State, known: Lesson) -> int | None:
    """Compare the task's tokens with the median of verified tasks of its type that matched the lesson but did not get it.
    Returns None if there are no such tasks, and a negative number if the task used more."""
    about = subject_from_text(f"{known.title}\n{' '.join(known.tags)}", known.body)
    verified = TicketQuery((TaskStatus.DONE, TaskStatus.APPLIED), parents=(), order=TicketOrder.NEWEST, most=MAX_TICKETS_READ)
    done = [ticket for ticket in project.queue.tickets(verified)[::-1] if ticket.type == state.task.type]
    fitting = [t for t in done if t.task != state.task.id and (t.task == known.source or score_match(weigh_terms(t.goal), about))]
    states = [project.store.load(ticket.task) for ticket in fitting[-MAX_TASKS_COMPARED:]]
    without = [
        count_task_tokens(one)
        for one in states
        if not one.memory.lessons.used and one.tokens.last_call.model not in MODELS_THAT_DO_NOT_READ
    ]
    return round(median(without)) - count_task_tokens(state) if without else None


def count_task_tokens(state: State) -> int:
    return state.spending.usage.tokens


def read_current_day(project: Project) -> date:
    day = day_from_text(iso_from_time(project.clock.now()))
    assert day, "a clock tells a day"
    return day
