"""What a project has learnt from its tasks: one object a file, for people to read and for later windows to show."""

import re
from dataclasses import replace
from datetime import UTC, date, datetime
from enum import StrEnum
from hashlib import sha256

from afresh.core.fast_dataclass import dataclass
from afresh.core.reply import Reply
from afresh.core.text import escape_hidden


@dataclass(frozen=True, slots=True)
class LessonsLookedUp:
    """What earlier tasks have learnt was looked up for a phase; these fit, and stand in the windows from now on."""

    step: int
    phase: str
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LessonsUsed:
    """A reply drew on knowledge in its window: it names the object, or something that stands nowhere else."""

    step: int
    ids: tuple[str, ...]
    signs: tuple[str, ...]
    """For each what gave it away."""


@dataclass(frozen=True, slots=True)
class LessonWorded:
    """A model was asked to put what was learnt into words: paid for, whether they are used or not."""

    reply: Reply | None
    note: str = ""
    """Why there is no reply."""


@dataclass(frozen=True, slots=True)
class LessonLearnt:
    """The task is over, and what there is to keep of it is kept: as this object, or not, and why."""

    id: str
    why: str = ""


MAX_LESSONS_REMEMBERED = 40
"""Objects that are remembered of one task."""


@dataclass(frozen=True, slots=True)
class LessonSeen:
    """A lesson that was in a prompt."""

    id: str
    step: int
    """In whose window it stood first."""
    used: int = 0
    """The first step that drew on it; 0 for none."""


@dataclass(frozen=True, slots=True)
class LessonState:
    """The lessons of a task: looked up, used and left."""

    phase: str = ""
    """For which it was looked up last."""
    window: tuple[str, ...] = ()
    """What stands in the windows now."""
    seen: tuple[LessonSeen, ...] = ()
    learnt: bool = False
    """The task is over, and what it leaves behind is drafted and counted."""
    left: str = ""
    """The object that it leaves behind, if there is one."""

    @property
    def used(self) -> tuple[str, ...]:
        return tuple(seen_lesson.id for seen_lesson in self.seen if seen_lesson.used)


INITIAL_LESSON_STATE = LessonState()
LessonEvent = LessonsLookedUp | LessonsUsed | LessonLearnt


def apply_lesson_event(event: LessonEvent, known: LessonState) -> LessonState:
    match event:
        case LessonsLookedUp(step, phase, ids):
            new = [LessonSeen(id, step) for id in ids if id not in {seen_lesson.id for seen_lesson in known.seen}]
            kept = sorted((*known.seen, *new), key=lambda seen_lesson: (not seen_lesson.used, seen_lesson.id not in ids))[
                :MAX_LESSONS_REMEMBERED
            ]
            return replace(
                known,
                phase=phase,
                window=ids,
                seen=tuple(sorted(kept, key=lambda seen_lesson: (seen_lesson.step, seen_lesson.id))),
            )
        case LessonsUsed(step, ids):
            seen = [
                replace(seen_lesson, used=step) if seen_lesson.id in ids and not seen_lesson.used else seen_lesson
                for seen_lesson in known.seen
            ]
            return replace(known, seen=tuple(seen))
        case LessonLearnt(id):
            return replace(known, learnt=True, left=id)


LESSON_HEADINGS = ("Problem", "What worked", "What did not", "How it was verified")
NOTHING_UNDONE = "Nothing had to be undone."
NOTHING_VERIFIED = "Nothing is verified yet."
PATTERN_ID_PREFIX = "PT-"
"""How the id of one begins that was learnt in another project."""
MAX_UNUSED_TASKS = 8
MAX_UNUSED_DAYS = 180
"""Tasks in a row that saw an object and drew nothing from it, and days without a use: then it is looked up no more."""
DAY_PATTERN = re.compile(r"\d{4}-\d\d-\d\d")


class LessonStatus(StrEnum):
    DRAFT = "draft"
    APPROVED = "approved"
    REJECTED = "rejected"
    AGED = "aged"


class LessonApproval(StrEnum):
    """Who has approved it."""

    CONFIRMED = "confirmed"
    AUTOMATIC = "automatic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """A lesson that one task leaves for later ones."""

    id: str
    title: str
    tags: tuple[str, ...] = ()
    project: str = ""
    source: str = ""
    """The task that it was learnt from."""
    status: LessonStatus = LessonStatus.DRAFT
    by: LessonApproval = LessonApproval.AUTOMATIC
    waits: str = ""
    """Why it was not approved without a person."""
    drafted: str = ""
    """Of one whose task is not finished: the hash of the text as it was drafted. Its end may replace it while nobody has edited
    it."""
    created: str = ""
    """A day, as 2026-11-30; so is `last_used`, unless it has a time of day too."""
    approved: str = ""
    shown: int = 0
    """Tasks that had it in a window."""
    unused: int = 0
    """Tasks in a row, up to the last one, that saw it and did not use it."""
    uses: int = 0
    successes: int = 0
    """Uses whose task was verified."""
    tokens_saved: int | None = None
    """Over all uses, against comparable tasks without it; unknown while there is none to compare with."""
    last_used: str = ""
    last_task: str = ""
    """The last task that was counted, so that none is counted twice."""
    body: str = ""

    def aged(self, today: date) -> str:
        """Why it is looked up no more; empty while it is."""
        if self.unused >= MAX_UNUSED_TASKS:
            return f"{self.unused} tasks in a row saw it and drew nothing from it"
        latest = max((day for day in map(day_from_text, (self.created, self.approved, self.last_used)) if day), default=None)
        days = (today - latest).days if latest else 0
        return f"not used for {days} days" if days > MAX_UNUSED_DAYS else ""

    def standing(self, today: date) -> LessonStatus:
        return LessonStatus.AGED if self.status is LessonStatus.APPROVED and self.aged(today) else self.status


def hash_lesson_body(body: str) -> str:
    return sha256(body.strip().encode()).hexdigest()[:12]


def is_untouched_draft(lesson: Lesson) -> bool:
    """Whether it was drafted from an unfinished task, and no person has edited or judged it since."""
    return bool(lesson.drafted) and lesson.status is LessonStatus.DRAFT and lesson.drafted == hash_lesson_body(lesson.body)


def day_from_text(text: str) -> date | None:
    try:
        return date.fromisoformat(match[0]) if (match := DAY_PATTERN.match(text)) else None
    except ValueError:
        return None


def iso_from_time(at: float) -> str:
    """To the millisecond, so that of two uses the later one is known."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def get_heading_text(body: str, title: str) -> str:
    """The text under one heading of any depth."""
    lines, inside = list[str](), False
    for line in body.splitlines():
        if re.match(r"#{1,6} ", line):
            inside = line.lstrip("# ").strip().lower() == title.lower()
        elif inside:
            lines.append(line)
    return "\n".join(lines).strip()


def replace_heading_text(body: str, title: str, text: str) -> str:
    """The body with another text under one of its headings."""
    lines, inside = list[str](), False
    for line in body.splitlines():
        if re.match(r"#{1,6} ", line):
            inside = line.lstrip("# ").strip().lower() == title.lower()
            lines += [line, text, ""] if inside else [line]
        elif not inside:
            lines.append(line)
    return "\n".join(lines) + "\n"


def render_lesson(lesson: Lesson) -> str:
    """As a window shows it: the one line that says what it is about, then what to do and what not to do; the places that were
    changed before the words on them, since the end may have no room."""
    told = list[tuple[str, str]]()
    for title in ("What worked", "What did not", "Problem"):
        places_first = sorted(
            get_heading_text(lesson.body, title).splitlines(), key=lambda line: not line.startswith("- changed ")
        )
        told.append((title, "\n".join(places_first)))
    lines = [
        f"{title}:\n{text}"
        for title, text in told
        if text and text not in (NOTHING_UNDONE, NOTHING_VERIFIED) and not text.startswith(lesson.title.rstrip("…"))
    ]
    return escape_hidden("\n".join([f"{lesson.id} {lesson.title}", *(lines or [lesson.body.strip()])]))
