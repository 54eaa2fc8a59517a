"""What a project has learnt from its tasks: one object a file, for people to read and for later windows to show."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from enum import StrEnum

from afresh.domain.text import escape_hidden

LESSON_HEADINGS = ("Problem", "What worked", "What did not", "How it was verified")
COUNTER_FIELDS = ("shown", "unused", "uses", "successes", "tokens_saved", "last_used", "last_task")
"""The only lines of a file that are written again."""
NOTHING_UNDONE = "Nothing had to be undone."
PATTERN_ID_PREFIX = "PT-"
"""How the id of one begins that was learnt in another project."""
MAX_UNUSED_TASKS = 8
MAX_UNUSED_DAYS = 180
"""Tasks in a row that saw an object and drew nothing from it, and days without a use: then it is looked up no more."""
PLAIN_SCALAR_PATTERN = re.compile(r"[A-Za-z][\w,./()'+-]*(?: [\w,./()'+-]+)*")
YAML_NON_STRINGS = frozenset(("y", "n", "yes", "no", "true", "false", "on", "off", "null"))
YAML_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"})
UNWRITABLE_CHARACTERS = re.compile("[\ufffe\uffff]")
FRONT_MATTER_FENCE = re.compile(r"---[ \t]*\r?\n?")
DAY_PATTERN = re.compile(r"\d{4}-\d\d-\d\d")
TIME_PATTERN = re.compile(r"\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?")


class LessonStatus(StrEnum):
    DRAFT = "draft"
    APPROVED = "approved"
    REJECTED = "rejected"
    AGED = "aged"


class LessonApproval(StrEnum):
    """Who says that it is right."""

    CONFIRMED = "confirmed"
    AUTOMATIC = "automatic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
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
    created: str = ""
    """A day, as 2026-11-30; so is `last_used`, unless it has a time of day too."""
    approved: str = ""
    shown: int = 0
    """Tasks that had it in a window."""
    unused: int = 0
    """Of these, the last ones in a row that drew nothing from it."""
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


def day_from_text(text: str) -> date | None:
    try:
        return date.fromisoformat(found[0]) if (found := DAY_PATTERN.match(text)) else None
    except ValueError:
        return None


def iso_from_time(at: float) -> str:
    """To the millisecond, so that of two uses the later one is known."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def get_heading_text(body: str, title: str) -> str:
    """What stands under one heading, of whatever level."""
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


def render_lesson(one: Lesson) -> str:
    """As a window shows it: the one line that says what it is about, then what to do and what not to do; the places that were
    changed before the words on them, since the end may have no room."""
    told = [(title, sort_places_first(get_heading_text(one.body, title))) for title in ("What worked", "What did not", "Problem")]
    lines = [
        f"{title}:\n{text}"
        for title, text in told
        if text and text != NOTHING_UNDONE and not text.startswith(one.title.rstrip("…"))
    ]
    return escape_hidden("\n".join([f"{one.id} {one.title}", *(lines or [one.body.strip()])]))


def sort_places_first(text: str) -> str:
    lines = text.splitlines()
    return "\n".join(sorted(lines, key=lambda line: not line.startswith("- changed ")))


def render_lesson_file(one: Lesson) -> str:
    """The file of an object that is new. One that exists is never rendered again."""
    head = {field.name: getattr(one, field.name) for field in fields(one) if field.name != "body"}
    lines = [f"{name}: {to_yaml_scalar(value)}" for name, value in head.items() if value != "" or name in COUNTER_FIELDS]
    return "\n".join(["---", *lines, "---", one.body])


def to_yaml_scalar(value: str | int | tuple[str, ...] | None) -> str:
    """As YAML reads it back; quoted only where it must be."""
    if isinstance(value, tuple):
        return f"[{', '.join(quote_yaml(one, ',') for one in value)}]"
    if isinstance(value, str):
        return quote_yaml(value)
    return "null" if value is None else str(value)


def quote_yaml(text: str, but: str = "") -> str:
    plain = PLAIN_SCALAR_PATTERN.fullmatch(text) and text.lower() not in YAML_NON_STRINGS and not set(but) & set(text)
    if text.isascii() and (plain or TIME_PATTERN.fullmatch(text)):
        return text
    return (
        '"'
        + UNWRITABLE_CHARACTERS.sub(lambda found: f"\\u{ord(found[0]):04x}", escape_hidden(text.translate(YAML_ESCAPES)))
        + '"'
    )


@dataclass(frozen=True, slots=True)
class FrontMatterParts:
    """A file in four: together they are the file again, to the byte."""

    opening: str
    head: str
    closing: str
    body: str


def split_front_matter(text: str) -> FrontMatterParts | None:
    """None when there is no front matter. ValueError when it does not end."""
    lines = re.split(r"(?<=\n)", text)
    if not FRONT_MATTER_FENCE.fullmatch(lines[0].removeprefix("\ufeff")):
        return None
    for number, line in enumerate(lines[1:], 1):
        if FRONT_MATTER_FENCE.fullmatch(line):
            return FrontMatterParts(lines[0], "".join(lines[1:number]), line, "".join(lines[number + 1 :]))
    raise ValueError("the front matter has no end: a line with --- alone")


def set_front_matter_fields(text: str, values: Mapping[str, str]) -> str:
    """The file with these lines of its front matter set; every other byte as it was. Without front matter nothing changes."""
    found = split_front_matter(text)
    if found is None:
        return text
    head, end = found.head, "\r\n" if found.opening.endswith("\r\n") else "\n"
    for name, value in values.items():
        line = re.compile(rf"^{name}:(?:[ \t][^#\r\n]*?)?(?=[ \t]*(?:#[^\r\n]*)?\r?$)", re.MULTILINE)
        head, hits = line.subn(lambda _, new=f"{name}: {value}": new, head, count=1)
        head = head if hits else f"{head}{name}: {value}{end}"
    return found.opening + head + found.closing + found.body
