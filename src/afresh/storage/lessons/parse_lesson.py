"""A file of knowledge as it is read. People write them too: what can be used is used, what can't is told with its line."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from afresh.config.yaml_reader import compose_yaml
from afresh.core.lesson import Lesson, LessonApproval, LessonStatus
from afresh.core.truncate import to_one_line
from afresh.storage.lessons.front_matter import FrontMatterParts, split_front_matter

MAX_LESSON_BYTES = 64_000
MAX_TITLE_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class LessonFault:
    """What is wrong in a file of a person's, and where."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


@dataclass(frozen=True, slots=True)
class ParsedLesson:
    """What a file says. Without an object it can't be used; notes may stand beside one that can."""

    file: str
    knowledge: Lesson | None = None
    notes: tuple[LessonFault, ...] = ()


class UnreadableLesson(Exception):
    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line, self.what = line, what


def parse_lesson(data: bytes, file: str, status: LessonStatus) -> ParsedLesson:
    """Never raises. `status` is what the folder says, for a file that says nothing itself."""
    try:
        text = decode_lesson(data)
        found = split_lesson_text(text)
        given = parse_front_matter(found.head) if found else {}
    except UnreadableLesson as fault:
        return ParsedLesson(file, None, (LessonFault(file, fault.line, fault.what),))
    body = (found.body if found else text).replace("\r\n", "\n")
    wrong: list[LessonFault] = []

    def value(name: str, rule: Callable[[Any], Any], default: Any) -> Any:
        line, held = given.get(name, (0, None))
        if held is None:
            return default
        try:
            return rule(held)
        except ValueError as fault:
            wrong.append(LessonFault(file, line, f"{name}: {fault}; taken as {default if default != '' else 'nothing'}"))
            return default

    stem = re.sub(r"\.md$", "", file.rpartition("/")[2])
    one = Lesson(
        id=value("id", read_lesson_id, id_from_file_stem(stem)),
        title=value("title", require_text, find_title(body) or stem),
        tags=value("tags", read_list, ()),
        project=value("project", require_text, ""),
        source=value("source", require_text, ""),
        status=value("status", make_enum_rule(LessonStatus), status),
        by=value("by", make_enum_rule(LessonApproval), LessonApproval.CONFIRMED),
        waits=value("waits", require_text, ""),
        created=value("created", require_text, ""),
        approved=value("approved", require_text, ""),
        **{name: value(name, read_count, 0) for name in ("shown", "unused", "uses", "successes")},
        tokens_saved=value("tokens_saved", read_optional_integer, None),
        last_used=value("last_used", require_text, ""),
        last_task=value("last_task", require_text, ""),
        body=body,
    )
    return ParsedLesson(file, one, tuple(wrong))


def decode_lesson(data: bytes) -> str:
    if len(data) > MAX_LESSON_BYTES:
        raise UnreadableLesson(1, f"has {len(data):,} bytes, {MAX_LESSON_BYTES:,} are allowed")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise UnreadableLesson(data[: fault.start].count(b"\n") + 1, "is not UTF-8") from None


def split_lesson_text(text: str) -> FrontMatterParts | None:
    try:
        return split_front_matter(text)
    except ValueError as fault:
        raise UnreadableLesson(1, str(fault)) from None


def parse_front_matter(head: str) -> Mapping[str, tuple[int, Any]]:
    """Every key with its line and its value: texts, and lists of texts. Nothing is constructed, so no tag can do anything."""
    import yaml

    try:
        root = compose_yaml(head, "BaseLoader")
    except RecursionError:
        raise UnreadableLesson(2, "is nested too deeply") from None
    except (yaml.YAMLError, ValueError, OverflowError) as fault:
        mark = getattr(fault, "problem_mark", None) or getattr(fault, "context_mark", None)
        said = getattr(fault, "problem", None) or getattr(fault, "reason", None) or "can't be read"
        raise UnreadableLesson((mark.line if mark else 0) + 2, f"the front matter is not YAML: {said}") from None
    if root is None:
        return {}
    if not isinstance(root, yaml.MappingNode):
        raise UnreadableLesson(2, "the front matter should have lines such as `title: …`")
    plain: dict[str, tuple[int, Any]] = {}
    for key, held in root.value:
        plain.setdefault(str(key.value), (key.start_mark.line + 2, plain_value_from_node(held)))
    return plain


def plain_value_from_node(node: Any) -> Any:
    """A text, a list of texts; anything else as a list in a list, which no rule accepts."""
    if isinstance(node.value, str):
        return node.value
    return [
        one.value if isinstance(one, type(node)) is False and isinstance(one.value, str) else None for one in list_nodes(node)
    ]


def list_nodes(node: Any) -> list[Any]:
    return list(node.value) if node.id == "sequence" else [node]


def find_title(body: str) -> str:
    """The first heading, or the first line."""
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    first = next((line for line in lines if re.match(r"#{1,6} ", line)), lines[0] if lines else "")
    return to_one_line(first.lstrip("# "), MAX_TITLE_CHARACTERS)


def id_from_file_stem(stem: str) -> str:
    return re.sub(r"[^\w.-]+", "-", stem).strip("-.")[:60] or "KO"


def read_lesson_id(held: Any) -> str:
    text = require_text(held)
    if not re.fullmatch(r"[\w][\w.-]{0,59}", text):
        raise ValueError("should be letters, digits, - and _")
    return text


def require_text(held: Any) -> str:
    if not isinstance(held, str):
        raise ValueError("should be a text")
    return held


def read_list(held: Any) -> tuple[str, ...]:
    """A list, or words between commas."""
    found = held.split(",") if isinstance(held, str) else held
    if any(not isinstance(one, str) for one in found):
        raise ValueError("should be a list of texts")
    return tuple(dict.fromkeys(one for one in ((one.strip() if isinstance(held, str) else one) for one in found) if one))


def read_optional_integer(held: Any) -> int | None:
    text = require_text(held).strip()
    if text.lower() in ("", "null", "~"):
        return None
    try:
        return int(text.replace("_", "").replace(",", ""))
    except ValueError:
        raise ValueError(f"{to_one_line(text, 30)!r} should be a whole number") from None


def read_count(held: Any) -> int:
    if (found := read_optional_integer(held)) is None or found < 0:
        raise ValueError("should be a whole number, 0 or more")
    return found


def make_enum_rule(kinds: Any) -> Callable[[Any], Any]:
    def rule(held: Any) -> Any:
        text = require_text(held).strip().lower()
        if text not in list(kinds):
            raise ValueError(f"{to_one_line(text, 30)!r} should be one of {', '.join(kinds)}")
        return kinds(text)

    return rule
