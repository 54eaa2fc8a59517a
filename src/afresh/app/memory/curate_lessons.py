"""Lists, shows, approves, rejects and shares lessons on behalf of a person."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afresh.app.memory.learn_lessons import (
    MIN_LIKENESS_OF_SAME_LESSON,
    extract_lesson_core,
    learn_from_ended_tasks,
    open_lesson_folder,
    open_lesson_library,
    open_pattern_folder,
    read_current_day,
)
from afresh.app.project import Project
from afresh.config.yaml_reader import FileFault
from afresh.core.fact import LessonJudged
from afresh.core.lesson import PATTERN_ID_PREFIX, Lesson, LessonApproval, LessonStatus
from afresh.core.lesson_match import compute_likeness
from afresh.errors import BadInput
from afresh.storage.lessons.agent_skills import export_skill, read_skills
from afresh.storage.lessons.lesson_folder import APPROVED_FOLDER, DRAFTS_FOLDER, LessonFile
from afresh.storage.lessons.lesson_library import is_pattern
from afresh.views.file_io import lock_file, read_text_file, replace_file
from afresh.workspace.git import find_author_name

NOTHING_SHARED = "nothing was shared"


def find_lesson_to_share(project: Project, name: str) -> Lesson:
    """The lesson whose title, tags and text would be shared. BadInput where it can't be."""
    knowledge = find_lesson(project, name).knowledge
    if knowledge.status is not LessonStatus.APPROVED:
        raise BadInput(
            f"{knowledge.id} is {knowledge.status}", next=f"afresh knowledge approve {knowledge.id}", safe=NOTHING_SHARED
        )
    if not project.settings.patterns:
        raise BadInput("patterns are turned off", next="remove `patterns = false` from the settings", safe=NOTHING_SHARED)
    if old := find_pattern_of_lesson(project, knowledge):
        raise BadInput(
            f"{knowledge.id} is already shared, as {old.id}"
            + (", and was rejected" if old.status is LessonStatus.REJECTED else ""),
            next=f"edit, approve or reject that one: afresh knowledge show {old.id}",
            safe="the pattern was not changed",
        )
    return knowledge


def share_lesson(project: Project, lesson: Lesson) -> Lesson:
    """Share a lesson after a person has seen its text: a copy without the record of its use."""
    folder, today = open_pattern_folder(), str(read_current_day(project))
    folder.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    with lock_file(folder.root / ".lock"):
        if find_pattern_of_lesson(project, lesson) or any(is_same_pattern(lesson, old) for old in folder.objects().values()):
            raise BadInput(
                "a pattern with the same text exists already", next="afresh knowledge list lists them", safe=NOTHING_SHARED
            )
        pattern = Lesson(
            id=f"{PATTERN_ID_PREFIX}{secrets.token_hex(4)}",
            title=lesson.title,
            tags=lesson.tags,
            status=LessonStatus.APPROVED,
            body=lesson.body,
            project=str(project.paths.root),
            source=lesson.id,
            by=LessonApproval.CONFIRMED,
            created=today,
            approved=today,
        )
        folder.add(pattern)
    return pattern


def find_pattern_of_lesson(project: Project, lesson: Lesson) -> Lesson | None:
    lessons = (old for old in open_pattern_folder().objects().values() if old.source == lesson.id)
    return next((old for old in lessons if old.project == str(project.paths.root)), None)


def is_same_pattern(lesson: Lesson, other: Lesson) -> bool:
    return compute_likeness(extract_lesson_core(lesson), extract_lesson_core(other)) >= MIN_LIKENESS_OF_SAME_LESSON


@dataclass(frozen=True, slots=True)
class LessonRow:
    knowledge: Lesson
    standing: LessonStatus
    file: Path
    why: str = ""
    """Why the lesson is a draft or has expired."""


@dataclass(frozen=True, slots=True)
class LessonListing:
    rows: Sequence[LessonRow]
    skills: Sequence[tuple[str, str]]
    """Path and description."""
    notes: Sequence[FileFault]
    patterns: Sequence[LessonRow] = ()
    """Patterns that all projects of the user may see, with their origin."""


def list_lessons(project: Project, learn: bool = True) -> LessonListing:
    """List lessons, skills and patterns; first learn from tasks that have ended, unless nothing may be written."""
    if learn:
        learn_from_ended_tasks(project)
    lesson_files, shared = open_lesson_folder(project.paths.root).held(), open_pattern_folder().held()
    skills, wrong = read_skills(project.paths.root, {})
    rows, patterns = (
        [make_lesson_row(project, lesson_file.read.knowledge, lesson_file) for lesson_file in some if lesson_file.read.knowledge]
        for some in (lesson_files, shared)
    )
    notes = [note for lesson_file in (*lesson_files, *shared) for note in lesson_file.read.notes]
    return LessonListing(
        rows,
        [(skill.path, skill.description) for skill in skills],
        [*find_linked_folders(project.paths.root), *notes, *wrong],
        patterns,
    )


def find_linked_folders(root: Path) -> list[FileFault]:
    """Return a fault for each lesson folder that is a symbolic link; links are not followed."""
    places = [root / ".afresh/knowledge", *[root / ".afresh/knowledge" / name for name in (APPROVED_FOLDER, DRAFTS_FOLDER)]]
    told = "is a link: nothing is read or written through it"
    return [FileFault(place.relative_to(root).as_posix(), 1, "", told) for place in places if place.is_symlink()]


def make_lesson_row(project: Project, lesson: Lesson, lesson_file: LessonFile) -> LessonRow:
    standing = lesson.standing(read_current_day(project))
    why = (
        lesson.aged(read_current_day(project))
        if standing is LessonStatus.AGED
        else lesson.waits
        if standing is LessonStatus.DRAFT
        else ""
    )
    inside = lesson_file.path.is_relative_to(project.paths.root)
    return LessonRow(lesson, standing, lesson_file.path.relative_to(project.paths.root) if inside else lesson_file.path, why)


def find_lesson(project: Project, name: str) -> LessonRow:
    """Find a lesson by its id or a prefix, with or without KO-; a pattern by its own id."""
    learn_from_ended_tasks(project)
    folder = open_pattern_folder() if is_pattern(name.upper()) else open_lesson_folder(project.paths.root)
    ids = list(folder.objects())
    fits = [id for id in ids if id.lower() == name.lower()] or [
        id for id in ids if id.lower().startswith((name.lower(), f"ko-{name.lower()}"))
    ]
    if len(fits) != 1:
        what = f"{name!r} fits {', '.join(fits[:5])}" if fits else f"no such lesson: {name!r}"
        raise BadInput(what, next="afresh knowledge list lists them")
    lesson_file = folder.place(fits[0])
    assert lesson_file.read.knowledge
    return make_lesson_row(project, lesson_file.read.knowledge, lesson_file)


def find_lesson_file(project: Project, name: str) -> Path:
    """Find a lesson's file, by file name if it cannot be parsed."""
    lesson_files = open_lesson_folder(project.paths.root).held()
    broken = [
        lesson_file.path
        for lesson_file in lesson_files
        if not lesson_file.read.knowledge and lesson_file.path.name.lower().startswith(name.lower())
    ]
    return broken[0] if len(broken) == 1 else project.paths.root / find_lesson(project, name).file


def read_lesson_file(project: Project, path: Path) -> LessonRow:
    """Read a lesson from its file. Raises BadInput with the line if it is invalid."""
    folder = open_lesson_folder(project.paths.root) if path.is_relative_to(project.paths.root) else open_pattern_folder()
    lesson_file = next((one for one in folder.held() if one.path == path), None)
    if lesson_file is None or lesson_file.read.knowledge is None or lesson_file.read.notes:
        what = lesson_file.read.notes[0] if lesson_file else f"{path} is gone"
        raise BadInput(str(what), next=f"afresh knowledge show {path.stem} --edit", safe="nothing was changed")
    return make_lesson_row(project, lesson_file.read.knowledge, lesson_file)


def rewrite_lesson(project: Project, name: str, text: str) -> LessonRow:
    """Replace the text of a lesson's file by a person's. If it is no valid lesson, or another one, the file stays as it was."""
    path = find_lesson_file(project, name)
    before = read_text_file(path)
    replace_file(path, text)
    try:
        row = read_lesson_file(project, path)
        if row.knowledge.id.lower() != name.lower():
            raise BadInput(
                f"the text must begin with a head that has `id: {name}`", next="put it back", safe="nothing was changed"
            )
        return row
    except BadInput:
        replace_file(path, before)
        raise


def approve_lesson(project: Project, name: str) -> LessonRow:
    """Approve a lesson on behalf of a person. An expired lesson becomes active again."""
    values = {
        "status": LessonStatus.APPROVED,
        "by": LessonApproval.CONFIRMED,
        "approved": str(read_current_day(project)),
        "unused": 0,
    }
    return record_lesson_judgement(project, name, values, APPROVED_FOLDER)


def reject_lesson(project: Project, name: str) -> LessonRow:
    """Reject a lesson. The file is kept so that it is not drafted again; neither it nor its pattern is shown again."""
    values = {"status": LessonStatus.REJECTED, "by": LessonApproval.CONFIRMED}
    rejected = record_lesson_judgement(project, name, values, DRAFTS_FOLDER)
    if crossed := find_pattern_of_lesson(project, rejected.knowledge):
        record_lesson_judgement(project, crossed.id, values, DRAFTS_FOLDER)
    return rejected


def record_lesson_judgement(project: Project, name: str, values: Mapping[str, Any], place: str) -> LessonRow:
    """Record a person's judgement of a lesson; the only function that does."""
    lesson = find_lesson(project, name)
    folder = open_pattern_folder() if is_pattern(lesson.knowledge.id) else open_lesson_folder(project.paths.root)
    folder.move(folder.set(lesson.knowledge.id, lambda _: values, begin=True), place)
    project.notebook.append([LessonJudged(lesson.knowledge.id, str(values["status"]), find_author_name(project.paths.root))])
    return find_lesson(project, lesson.knowledge.id)


def search_project_lessons(project: Project, question: str, learn: bool = True) -> list[tuple[str, float, str]]:
    """Return the lessons that a task with this goal would get: id or path, score, text."""
    if learn:
        learn_from_ended_tasks(project)
    return [(match.key, match.fit, match.text) for match in open_lesson_library(project, project.paths.root).ranked([question])]


def export_lesson_as_skill(project: Project, name: str, place: Path | None) -> Path:
    lesson = find_lesson(project, name)
    if lesson.knowledge.status is not LessonStatus.APPROVED:
        raise BadInput(
            f"{lesson.knowledge.id} is {lesson.knowledge.status}", next=f"afresh knowledge approve {lesson.knowledge.id}"
        )
    return export_skill(lesson.knowledge, place or project.paths.root / ".afresh" / "skills")
