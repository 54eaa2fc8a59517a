import re
from collections.abc import Mapping
from dataclasses import dataclass, fields

from afresh.core.lesson import Lesson
from afresh.core.text import escape_hidden

COUNTER_FIELDS = ("shown", "unused", "uses", "successes", "tokens_saved", "last_used", "last_task")
"""The only lines of a file that are written again."""
PLAIN_SCALAR_PATTERN = re.compile(r"[A-Za-z][\w,./()'+-]*(?: [\w,./()'+-]+)*")
YAML_NON_STRINGS = frozenset(("y", "n", "yes", "no", "true", "false", "on", "off", "null"))
YAML_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"})
UNWRITABLE_CHARACTERS = re.compile("[\ufffe\uffff]")
FRONT_MATTER_FENCE = re.compile(r"---[ \t]*\r?\n?")
TIME_PATTERN = re.compile(r"\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?")


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
