"""What a project has learnt from its tasks: one object a file, for people to read and for later windows to show."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from enum import StrEnum

from afresh.domain.text import visible

PARTS = ("Problem", "What worked", "What did not", "How it was verified")
COUNTERS = ("shown", "unused", "uses", "successes", "tokens_saved", "last_used", "last_task")
"""The only lines of a file that are written again."""
NOTHING = "Nothing had to be undone."
PATTERN = "PT-"
"""How the id of one begins that was learnt in another project."""
UNUSED = 8
UNUSED_DAYS = 180
"""Tasks in a row that saw an object and drew nothing from it, and days without a use: then it is looked up no more."""
PLAIN = re.compile(r"[A-Za-z][\w,./()'+-]*(?: [\w,./()'+-]+)*")
NOT_A_TEXT = frozenset(("y", "n", "yes", "no", "true", "false", "on", "off", "null"))
ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"})
UNWRITTEN = re.compile("[\ufffe\uffff]")
FENCE = re.compile(r"---[ \t]*\r?\n?")
DAY = re.compile(r"\d{4}-\d\d-\d\d")
TIME = re.compile(r"\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?")


class Standing(StrEnum):
    DRAFT = "draft"
    APPROVED = "approved"
    REJECTED = "rejected"
    AGED = "aged"


class By(StrEnum):
    """Who says that it is right."""

    CONFIRMED = "confirmed"
    AUTOMATIC = "automatic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    id: str
    title: str
    tags: tuple[str, ...] = ()
    project: str = ""
    source: str = ""
    """The task that it was learnt from."""
    status: Standing = Standing.DRAFT
    by: By = By.AUTOMATIC
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
        if self.unused >= UNUSED:
            return f"{self.unused} tasks in a row saw it and drew nothing from it"
        latest = max((day for day in map(day_of, (self.created, self.approved, self.last_used)) if day), default=None)
        days = (today - latest).days if latest else 0
        return f"not used for {days} days" if days > UNUSED_DAYS else ""

    def standing(self, today: date) -> Standing:
        return Standing.AGED if self.status is Standing.APPROVED and self.aged(today) else self.status


def day_of(text: str) -> date | None:
    try:
        return date.fromisoformat(found[0]) if (found := DAY.match(text)) else None
    except ValueError:
        return None


def moment(at: float) -> str:
    """To the millisecond, so that of two uses the later one is known."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def part(body: str, title: str) -> str:
    """What stands under one heading, of whatever level."""
    lines, inside = list[str](), False
    for line in body.splitlines():
        if re.match(r"#{1,6} ", line):
            inside = line.lstrip("# ").strip().lower() == title.lower()
        elif inside:
            lines.append(line)
    return "\n".join(lines).strip()


def with_part(body: str, title: str, text: str) -> str:
    """The body with another text under one of its headings."""
    lines, inside = list[str](), False
    for line in body.splitlines():
        if re.match(r"#{1,6} ", line):
            inside = line.lstrip("# ").strip().lower() == title.lower()
            lines += [line, text, ""] if inside else [line]
        elif not inside:
            lines.append(line)
    return "\n".join(lines) + "\n"


def brief(one: Knowledge) -> str:
    """As a window shows it: the one line that says what it is about, then what to do and what not to do; the places that were
    changed before the words on them, since the end may have no room."""
    told = [(title, places_first(part(one.body, title))) for title in ("What worked", "What did not", "Problem")]
    lines = [
        f"{title}:\n{text}" for title, text in told if text and text != NOTHING and not text.startswith(one.title.rstrip("…"))
    ]
    return visible("\n".join([f"{one.id} {one.title}", *(lines or [one.body.strip()])]))


def places_first(text: str) -> str:
    lines = text.splitlines()
    return "\n".join(sorted(lines, key=lambda line: not line.startswith("- changed ")))


def render(one: Knowledge) -> str:
    """The file of an object that is new. One that exists is never rendered again."""
    head = {field.name: getattr(one, field.name) for field in fields(one) if field.name != "body"}
    lines = [f"{name}: {scalar(value)}" for name, value in head.items() if value != "" or name in COUNTERS]
    return "\n".join(["---", *lines, "---", one.body])


def scalar(value: str | int | tuple[str, ...] | None) -> str:
    """As YAML reads it back; quoted only where it must be."""
    if isinstance(value, tuple):
        return f"[{', '.join(quoted(one, ',') for one in value)}]"
    if isinstance(value, str):
        return quoted(value)
    return "null" if value is None else str(value)


def quoted(text: str, but: str = "") -> str:
    plain = PLAIN.fullmatch(text) and text.lower() not in NOT_A_TEXT and not set(but) & set(text)
    if text.isascii() and (plain or TIME.fullmatch(text)):
        return text
    return '"' + UNWRITTEN.sub(lambda found: f"\\u{ord(found[0]):04x}", visible(text.translate(ESCAPES))) + '"'


@dataclass(frozen=True, slots=True)
class Parted:
    """A file in four: together they are the file again, to the byte."""

    opening: str
    head: str
    closing: str
    body: str


def parted(text: str) -> Parted | None:
    """None when there is no front matter. ValueError when it does not end."""
    lines = re.split(r"(?<=\n)", text)
    if not FENCE.fullmatch(lines[0].removeprefix("\ufeff")):
        return None
    for number, line in enumerate(lines[1:], 1):
        if FENCE.fullmatch(line):
            return Parted(lines[0], "".join(lines[1:number]), line, "".join(lines[number + 1 :]))
    raise ValueError("the front matter has no end: a line with --- alone")


def reset(text: str, values: Mapping[str, str]) -> str:
    """The file with these lines of its front matter set; every other byte as it was. Without front matter nothing changes."""
    found = parted(text)
    if found is None:
        return text
    head, end = found.head, "\r\n" if found.opening.endswith("\r\n") else "\n"
    for name, value in values.items():
        line = re.compile(rf"^{name}:(?:[ \t][^#\r\n]*?)?(?=[ \t]*(?:#[^\r\n]*)?\r?$)", re.MULTILINE)
        head, hits = line.subn(lambda _, new=f"{name}: {value}": new, head, count=1)
        head = head if hits else f"{head}{name}: {value}{end}"
    return found.opening + head + found.closing + found.body
