"""Patterns: lessons of one project that the user's other projects may see, in one shared folder."""

import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date
from hashlib import sha256
from pathlib import Path

from afresh.app.project import Project
from afresh.app.queue.read_tasks import find_ticket
from afresh.core.action import Action
from afresh.core.event import ActionsExecuted, ReplyReceived
from afresh.core.lesson import PATTERN_ID_PREFIX, Lesson, LessonApproval, LessonStatus, get_heading_text
from afresh.core.lesson_match import compute_likeness
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.storage.lessons.anonymise_lesson import ProjectNames, anonymise_lesson, collect_project_words, load_everyday_stems
from afresh.storage.lessons.lesson_folder import LessonFolder
from afresh.storage.lessons.lesson_library import FolderLessonLibrary, LibraryWithPatterns
from afresh.views.file_io import lock_file
from afresh.workspace.repository import Repository

MIN_LIKENESS_OF_SAME_PATTERN = 0.6
MAX_OUTPUT_CHARACTERS = 200_000
"""Characters of an output that are searched for names of the project."""


def open_pattern_folder() -> LessonFolder:
    from platformdirs import user_data_path

    return LessonFolder(user_data_path("afresh") / "patterns", PATTERN_ID_PREFIX)


def add_patterns_to_library(
    project: Project, own: FolderLessonLibrary, home: LessonFolder
) -> FolderLessonLibrary | LibraryWithPatterns:
    return LibraryWithPatterns(own, home, open_pattern_folder(), project.clock) if project.settings.patterns else own


def share_plain_part(project: Project, one: Lesson, today: date) -> Lesson | None:
    """Share the lines of an approved lesson that name nothing of its project, if they make sense alone. Runs without a
    person. A folder that cannot be written is ignored; the lesson stays in its project."""
    if (
        not project.settings.patterns
        or one.status is not LessonStatus.APPROVED
        or not anonymise_lesson(one, load_everyday_stems(), ProjectNames())
    ):
        return None
    own = collect_lesson_vocabulary(project, one)
    plain = anonymise_lesson(one, load_everyday_stems(), own) if own else None
    if plain is None:
        return None
    with suppress(OSError):
        return add_pattern(project, plain, LessonApproval.AUTOMATIC, today)
    return None


def add_pattern(project: Project, one: Lesson, by: LessonApproval, today: date) -> Lesson | None:
    """Write a pattern to the shared folder. Returns None if it exists, was rejected, or repeats another one."""
    folder = open_pattern_folder()
    folder.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    with lock_file(folder.root / ".lock"):
        if find_pattern_of_lesson(folder, project.paths.root, one) or any(
            is_same_pattern(one, old) for old in folder.objects().values()
        ):
            return None
        pattern = replace(
            strip_lesson_record(one),
            id=f"{PATTERN_ID_PREFIX}{secrets.token_hex(4)}",
            project=str(project.paths.root),
            source=one.id,
            by=by,
            created=str(today),
            approved=str(today),
        )
        folder.add(pattern)
    return pattern


def strip_lesson_record(one: Lesson) -> Lesson:
    """Return the lesson without its usage record."""
    return Lesson(id=one.id, title=one.title, tags=one.tags, status=LessonStatus.APPROVED, body=one.body)


def find_pattern_of_lesson(folder: LessonFolder, root: Path, one: Lesson) -> Lesson | None:
    made = (old for old in folder.objects().values() if old.source == one.id and old.project == str(root))
    return next(made, None)


def is_same_pattern(one: Lesson, other: Lesson) -> bool:
    told = ["\n".join([each.title, get_heading_text(each.body, "What worked")]) for each in (one, other)]
    return compute_likeness(*told) >= MIN_LIKENESS_OF_SAME_PATTERN


def collect_lesson_vocabulary(project: Project, one: Lesson) -> ProjectNames | None:
    """Collect the project's own names, including those in what the source task wrote, ran and saw."""
    more = list(read_task_texts(project, one.source)) if find_ticket(project.queue, one.source) else []
    return collect_project_words(Repository.find(project.paths.root), more)


def read_task_texts(project: Project, task: str) -> Iterator[tuple[str, str]]:
    actions: tuple[Action, ...] = ()
    for entry in project.store.journal(task):
        match entry.event:
            case ReplyReceived(reply=reply):
                actions = reply.actions
                yield from read_action_texts(actions)
            case ActionsExecuted(observations=observations):
                for action, seen in zip(actions, observations, strict=False):
                    if has_trait(action, ToolTrait.RUNS) and seen.block:
                        yield "", project.store.read(seen.block)[:MAX_OUTPUT_CHARACTERS]
            case _:
                pass


def read_action_texts(actions: tuple[Action, ...]) -> Iterator[tuple[str, str]]:
    for action in actions:
        text = "\n".join(str(action.args.get(key, "")) for key in ("old", "new", "content", "command"))
        if text.strip():
            yield str(action.args.get("path", "")), text


def hash_task_name(task: str) -> str:
    """Hash a task id, so that a pattern's file can name the last counted task without revealing it."""
    return sha256(task.encode()).hexdigest()[:12]
