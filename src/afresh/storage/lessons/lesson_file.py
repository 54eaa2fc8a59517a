"""The file of a lesson: front matter and text. People edit these files: a wrong value is reported with its line, and its default
is used."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from afresh.config.yaml_reader import FileFault, InvalidValue, compose_checked_yaml, decode_utf8, line_of_node, split_front_matter
from afresh.core.lesson import Lesson, LessonApproval, LessonStatus
from afresh.core.text import escape_hidden
from afresh.core.truncate import to_one_line

MAX_LESSON_BYTES = 64_000
MAX_TITLE_CHARACTERS = 120
TEXT_FIELDS = ("project", "source", "waits", "drafted", "created", "approved", "last_used", "last_task")


@dataclass(frozen=True, slots=True)
class ParsedLesson:
    """A lesson, or None if the file can't be used; and what is wrong with the file."""

    file: str
    knowledge: Lesson | None = None
    notes: tuple[FileFault, ...] = ()


def parse_lesson(data: bytes, file: str, status: LessonStatus) -> ParsedLesson:
    """The lesson and its faults; never raises. `status` is the folder's, for a file that has none."""
    try:
        text = decode_utf8(data, MAX_LESSON_BYTES)
        front_matter = split_front_matter(text)
        given = parse_front_matter(front_matter.head) if front_matter else {}
    except InvalidValue as fault:
        return ParsedLesson(file, None, (fault.in_file(file),))
    body = (front_matter.body if front_matter else text).replace("\r\n", "\n")
    wrong: list[FileFault] = []

    def value(name: str, rule: Callable[[Any], Any], default: Any) -> Any:
        line, held = given.get(name, (0, None))
        if held is None:
            return default
        try:
            return rule(held)
        except ValueError as fault:
            wrong.append(FileFault(file, line, "", f"{name}: {fault}; taken as {default if default != '' else 'nothing'}"))
            return default

    stem = re.sub(r"\.md$", "", file.rpartition("/")[2])
    lesson = Lesson(
        id=value("id", read_lesson_id, id_from_file_stem(stem)),
        title=value("title", require_text, find_title(body) or stem),
        tags=value("tags", read_list, ()),
        status=value("status", make_enum_rule(LessonStatus), status),
        by=value("by", make_enum_rule(LessonApproval), LessonApproval.CONFIRMED),
        **{name: value(name, require_text, "") for name in TEXT_FIELDS},
        **{name: value(name, read_count, 0) for name in ("shown", "unused", "uses", "successes")},
        tokens_saved=value("tokens_saved", read_optional_integer, None),
        body=body,
    )
    return ParsedLesson(file, lesson, tuple(wrong))


def parse_front_matter(head: str) -> Mapping[str, tuple[int, Any]]:
    """Every key with its line and its value: a text, or a list of texts. InvalidValue if it is not a YAML mapping."""
    from yaml.nodes import MappingNode

    root = compose_checked_yaml(f"\n{head}", "BaseLoader")  # the empty line replaces the opening fence
    if root is None:
        return {}
    if not isinstance(root, MappingNode):
        raise InvalidValue(2, "the front matter should have lines such as `title: …`")
    plain: dict[str, tuple[int, Any]] = {}
    for key, value in root.value:
        plain.setdefault(str(key.value), (line_of_node(key), plain_value_from_node(value)))
    return plain


def plain_value_from_node(node: Any) -> Any:
    """A text, or a list of texts; anything else in the list is None, which no rule accepts."""
    if isinstance(node.value, str):
        return node.value
    items = node.value if node.id == "sequence" else [node]
    return [item.value if isinstance(item.value, str) else None for item in items]


def find_title(body: str) -> str:
    """The first heading, or the first line."""
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    first = next((line for line in lines if re.match(r"#{1,6} ", line)), lines[0] if lines else "")
    return to_one_line(first.lstrip("# "), MAX_TITLE_CHARACTERS)


def id_from_file_stem(stem: str) -> str:
    return re.sub(r"[^\w.-]+", "-", stem).strip("-.")[:60] or "KO"


def read_lesson_id(value: Any) -> str:
    text = require_text(value)
    if not re.fullmatch(r"[\w][\w.-]{0,59}", text):
        raise ValueError("should be letters, digits, - and _")
    return text


def require_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("should be a text")
    return value


def read_list(held: Any) -> tuple[str, ...]:
    """A list, or words between commas."""
    words = held.split(",") if isinstance(held, str) else held
    if any(not isinstance(one, str) for one in words):
        raise ValueError("should be a list of texts")
    return tuple(dict.fromkeys(one for one in ((one.strip() if isinstance(held, str) else one) for one in words) if one))


def read_optional_integer(value: Any) -> int | None:
    text = require_text(value).strip()
    if text.lower() in ("", "null", "~"):
        return None
    try:
        return int(text.replace("_", "").replace(",", ""))
    except ValueError:
        raise ValueError(f"{to_one_line(text, 30)!r} should be a whole number") from None


def read_count(value: Any) -> int:
    if (integer := read_optional_integer(value)) is None or integer < 0:
        raise ValueError("should be a whole number, 0 or more")
    return integer


def make_enum_rule(kinds: Any) -> Callable[[Any], Any]:
    def rule(value: Any) -> Any:
        text = require_text(value).strip().lower()
        if text not in list(kinds):
            raise ValueError(f"{to_one_line(text, 30)!r} should be one of {', '.join(kinds)}")
        return kinds(text)

    return rule


COUNTER_FIELDS = ("shown", "unused", "uses", "successes", "tokens_saved", "last_used", "last_task")
"""The only lines of a file that are updated."""
PLAIN_SCALAR_PATTERN = re.compile(r"[A-Za-z][\w,./()'+-]*(?: [\w,./()'+-]+)*")
YAML_NON_STRINGS = frozenset(("y", "n", "yes", "no", "true", "false", "on", "off", "null"))
YAML_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"})
UNWRITABLE_CHARACTERS = re.compile("[\ufffe\uffff]")
TIME_PATTERN = re.compile(r"\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?")


def render_lesson_file(lesson: Lesson) -> str:
    """The file of a new lesson. A file that exists is never rendered again."""
    head = {field.name: getattr(lesson, field.name) for field in fields(lesson) if field.name != "body"}
    lines = [f"{name}: {to_yaml_scalar(value)}" for name, value in head.items() if value != "" or name in COUNTER_FIELDS]
    return "\n".join(["---", *lines, "---", lesson.body])


def to_yaml_scalar(value: str | int | tuple[str, ...] | None) -> str:
    """The value as YAML, quoted only if necessary."""
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
        + UNWRITABLE_CHARACTERS.sub(lambda match: f"\\u{ord(match[0]):04x}", escape_hidden(text.translate(YAML_ESCAPES)))
        + '"'
    )


def set_front_matter_fields(text: str, values: Mapping[str, str]) -> str:
    """The file with these lines of its front matter set; every other byte as it was. Without front matter nothing changes."""
    front_matter = split_front_matter(text)
    if front_matter is None:
        return text
    head, end = front_matter.head, "\r\n" if front_matter.opening.endswith("\r\n") else "\n"
    for name, value in values.items():
        line = re.compile(rf"^{name}:(?:[ \t][^#\r\n]*?)?(?=[ \t]*(?:#[^\r\n]*)?\r?$)", re.MULTILINE)
        head, hits = line.subn(lambda _, new=f"{name}: {value}": new, head, count=1)
        head = head if hits else f"{head}{name}: {value}{end}"
    return front_matter.opening + head + front_matter.closing + front_matter.body
