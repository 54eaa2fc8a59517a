"""A file of knowledge as it is read. People write them too: what can be used is used, what can't is told with its line."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from afresh.adapters.nodes import compose
from afresh.domain.knowledge import By, Knowledge, Parted, Standing, parted
from afresh.domain.text import one_line

LARGEST = 64_000
TITLE = 120


@dataclass(frozen=True, slots=True)
class Note:
    """What is wrong in a file of a person's, and where."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


@dataclass(frozen=True, slots=True)
class Read:
    """What a file says. Without an object it can't be used; notes may stand beside one that can."""

    file: str
    knowledge: Knowledge | None = None
    notes: tuple[Note, ...] = ()


class Unreadable(Exception):
    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line, self.what = line, what


def parse(data: bytes, file: str, status: Standing) -> Read:
    """Never raises. `status` is what the folder says, for a file that says nothing itself."""
    try:
        text = decoded(data)
        found = split_matter(text)
        given = matter(found.head) if found else {}
    except Unreadable as fault:
        return Read(file, None, (Note(file, fault.line, fault.what),))
    body = (found.body if found else text).replace("\r\n", "\n")
    wrong: list[Note] = []

    def value(name: str, rule: Callable[[Any], Any], default: Any) -> Any:
        line, held = given.get(name, (0, None))
        if held is None:
            return default
        try:
            return rule(held)
        except ValueError as fault:
            wrong.append(Note(file, line, f"{name}: {fault}; taken as {default if default != '' else 'nothing'}"))
            return default

    stem = re.sub(r"\.md$", "", file.rpartition("/")[2])
    one = Knowledge(
        id=value("id", identity, identity_of(stem)), title=value("title", words, titled(body) or stem),
        tags=value("tags", listed, ()), project=value("project", words, ""), source=value("source", words, ""),
        status=value("status", of(Standing), status),
        by=value("by", of(By), By.CONFIRMED), waits=value("waits", words, ""),
        created=value("created", words, ""), approved=value("approved", words, ""), shown=value("shown", count, 0),
        unused=value("unused", count, 0), uses=value("uses", count, 0), successes=value("successes", count, 0),
        tokens_saved=value("tokens_saved", number, None), last_used=value("last_used", words, ""),
        last_task=value("last_task", words, ""), body=body,
    )  # fmt: skip
    return Read(file, one, tuple(wrong))


def decoded(data: bytes) -> str:
    if len(data) > LARGEST:
        raise Unreadable(1, f"has {len(data):,} bytes, {LARGEST:,} are allowed")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise Unreadable(data[: fault.start].count(b"\n") + 1, "is not UTF-8") from None


def split_matter(text: str) -> Parted | None:
    try:
        return parted(text)
    except ValueError as fault:
        raise Unreadable(1, str(fault)) from None


def matter(head: str) -> Mapping[str, tuple[int, Any]]:
    """Every key with its line and its value: texts, and lists of texts. Nothing is constructed, so no tag can do anything."""
    import yaml

    try:
        root = compose(head, "BaseLoader")
    except RecursionError:
        raise Unreadable(2, "is nested too deeply") from None
    except (yaml.YAMLError, ValueError, OverflowError) as fault:
        mark = getattr(fault, "problem_mark", None) or getattr(fault, "context_mark", None)
        said = getattr(fault, "problem", None) or getattr(fault, "reason", None) or "can't be read"
        raise Unreadable((mark.line if mark else 0) + 2, f"the front matter is not YAML: {said}") from None
    if root is None:
        return {}
    if not isinstance(root, yaml.MappingNode):
        raise Unreadable(2, "the front matter should have lines such as `title: …`")
    plain: dict[str, tuple[int, Any]] = {}
    for key, held in root.value:
        plain.setdefault(str(key.value), (key.start_mark.line + 2, simple(held)))
    return plain


def simple(node: Any) -> Any:
    """A text, a list of texts; anything else as a list in a list, which no rule accepts."""
    if isinstance(node.value, str):
        return node.value
    return [
        one.value if isinstance(one, type(node)) is False and isinstance(one.value, str) else None for one in listed_nodes(node)
    ]


def listed_nodes(node: Any) -> list[Any]:
    return list(node.value) if node.id == "sequence" else [node]


def titled(body: str) -> str:
    """The first heading, or the first line."""
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    first = next((line for line in lines if re.match(r"#{1,6} ", line)), lines[0] if lines else "")
    return one_line(first.lstrip("# "), TITLE)


def identity_of(stem: str) -> str:
    return re.sub(r"[^\w.-]+", "-", stem).strip("-.")[:60] or "KO"


def identity(held: Any) -> str:
    text = words(held)
    if not re.fullmatch(r"[\w][\w.-]{0,59}", text):
        raise ValueError("should be letters, digits, - and _")
    return text


def words(held: Any) -> str:
    if not isinstance(held, str):
        raise ValueError("should be a text")
    return held


def listed(held: Any) -> tuple[str, ...]:
    """A list, or words between commas."""
    found = held.split(",") if isinstance(held, str) else held
    if any(not isinstance(one, str) for one in found):
        raise ValueError("should be a list of texts")
    return tuple(dict.fromkeys(one for one in ((one.strip() if isinstance(held, str) else one) for one in found) if one))


def number(held: Any) -> int | None:
    text = words(held).strip()
    if text.lower() in ("", "null", "~"):
        return None
    try:
        return int(text.replace("_", "").replace(",", ""))
    except ValueError:
        raise ValueError(f"{one_line(text, 30)!r} should be a whole number") from None


def count(held: Any) -> int:
    if (found := number(held)) is None or found < 0:
        raise ValueError("should be a whole number, 0 or more")
    return found


def of(kinds: Any) -> Callable[[Any], Any]:
    def rule(held: Any) -> Any:
        text = words(held).strip().lower()
        if text not in list(kinds):
            raise ValueError(f"{one_line(text, 30)!r} should be one of {', '.join(kinds)}")
        return kinds(text)

    return rule
