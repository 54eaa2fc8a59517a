"""Files that people write: YAML, front matter, and what is wrong in them with its line.

YAML is composed to a tree of nodes and nothing is constructed, so no tag can do anything. libyaml takes a tenth of the time of
Python's own reader, but text that is nested deeply enough overflows its stack and ends the process. Such text, and whatever
libyaml refuses, goes to Python's reader."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from afresh.core.text import escape_hidden, find_similar_word
from afresh.core.truncate import to_one_line
from afresh.errors import BadInput

if TYPE_CHECKING:
    from yaml.nodes import Node


KeyPath = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileFault:
    file: str
    line: int
    key: str
    what: str
    next: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.key + ': ' if self.key else ''}{self.what}"


class InvalidValue(Exception):
    """A value that can't be used; becomes a fault where file and key are known."""

    def __init__(self, line: int, what: str, next: str = "") -> None:
        super().__init__(what)
        self.line, self.what, self.next = line, what, next

    def in_file(self, file: str, key: KeyPath = ()) -> FileFault:
        return FileFault(file, self.line, to_one_line(".".join(key), 120), self.what, self.next)


def decode_utf8(data: bytes, limit: int) -> str:
    """The text of a file. InvalidValue if it is too large or not UTF-8."""
    if len(data) > limit:
        raise InvalidValue(1, f"has {len(data):,} bytes, {limit:,} are allowed", "say it shorter")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise InvalidValue(data[: fault.start].count(b"\n") + 1, "is not UTF-8", "save it as UTF-8") from None


FRONT_MATTER_OPENING = re.compile(r"\ufeff?---[ \t]*\r?(?:\n|\Z)")
FRONT_MATTER_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?(?:\n|\Z)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """A file in four parts: joined they are the file again, to the byte."""

    opening: str
    head: str
    closing: str
    body: str

    @property
    def lines(self) -> int:
        """Lines before the body."""
        return (self.opening + self.head).count("\n") + 1


def split_front_matter(text: str) -> FrontMatter | None:
    """None if the file does not begin with a fence. InvalidValue if the front matter has no end."""
    opening = FRONT_MATTER_OPENING.match(text)
    if opening is None:
        return None
    closing = FRONT_MATTER_CLOSING.search(text, opening.end())
    if closing is None:
        raise InvalidValue(1, "the front matter that begins here has no end", "close it with a line ---")
    return FrontMatter(opening[0], text[opening.end() : closing.start()], closing[0], text[closing.end() :])


def error_from_faults(
    faults: Sequence[FileFault], check: str = "afresh template --check", kind: type[BadInput] = BadInput
) -> BadInput:
    """An error with the first fault, how many more there are, and the command that lists them all."""
    first, more = faults[0], len(faults) - 1
    besides = f" (and {more} more: `{check}`)" if more else ""
    return kind(f"{first}{besides}", next=first.next or "mend the file", safe="nothing was changed")


def suggest_known_word(word: str, known: Iterable[str]) -> str:
    """A hint with the most similar known word, or all of them."""
    names = list(known)
    close = find_similar_word(word, names)
    return f"did you mean {close}?" if close else f"known: {', '.join(names)}"


ValueRule = Callable[["Node"], Any]
TEXT_TAG = "tag:yaml.org,2002:str"
NUMBER_TAGS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
NAME_PATTERN = re.compile(r"[a-z][a-z0-9_]{0,59}")


@dataclass(frozen=True, slots=True)
class MappingShape:
    """A mapping: what its keys are called, and a rule for each, or one rule for all where the keys are free."""

    noun: str
    example: str
    fields: "Mapping[str, ValueRule | MappingShape]"
    any: ValueRule | None = None

    def rule(self, name: str) -> "ValueRule | MappingShape | None":
        return self.any if self.any and NAME_PATTERN.fullmatch(name) else self.fields.get(name)

    def advice(self, wrong: str) -> str:
        return "use small letters, digits and _" if self.any else suggest_known_word(wrong, self.fields)


def read_scalar(node: "Node", wanted: str) -> str:
    """A scalar as it is written."""
    from yaml.nodes import ScalarNode

    if not isinstance(node, ScalarNode):
        raise InvalidValue(line_of_node(node), f"should be {wanted}")
    return str(node.value)


def quote_shortened(text: str) -> str:
    return repr(to_one_line(text, 60))


def line_of_node(node: "Node") -> int:
    return node.start_mark.line + 1


def read_text(node: "Node") -> str:
    scalar = read_scalar(node, "a text")
    if node.tag != TEXT_TAG:
        raise InvalidValue(
            line_of_node(node),
            f"should be a text, {quote_shortened(scalar)} is not" if scalar else "is empty",
            "put it in quotes",
        )
    return escape_hidden(scalar.strip())


def make_text_rule(limit: int) -> ValueRule:
    def rule(node: "Node") -> str:
        text = read_text(node)
        if (over := len(text) - limit) > 0:
            raise InvalidValue(
                line_of_node(node), f"has {len(text):,} characters, {over:,} over the {limit:,} allowed", "say it shorter"
            )
        return text

    return rule


def make_number_rule(low: float, high: float) -> ValueRule:
    def rule(node: "Node") -> float:
        scalar = read_scalar(node, "a number")
        held = float(scalar) if re.fullmatch(r"[-+]?\d{1,15}(\.\d{0,15})?", scalar) and node.tag in NUMBER_TAGS else None
        if held is None or not isfinite(held) or not low <= held <= high:
            wanted = "a number" if high > 1e9 else f"a number from {low:g} to {high:g}"
            raise InvalidValue(line_of_node(node), f"should be {wanted}, {quote_shortened(scalar)} is not")
        return held

    return rule


def make_integer_rule(low: int, high: int) -> ValueRule:
    def rule(node: "Node") -> int:
        scalar = read_scalar(node, "a whole number")
        held = int(scalar) if re.fullmatch(r"\d{1,9}", scalar) and node.tag in NUMBER_TAGS else -1
        if not low <= held <= high:
            raise InvalidValue(
                line_of_node(node), f"should be a whole number from {low:,} to {high:,}, {quote_shortened(scalar)} is not"
            )
        return held

    return rule


def make_choice_rule(noun: str, known: tuple[str, ...]) -> ValueRule:
    def rule(node: "Node") -> str:
        text = read_text(node)
        if text not in known:
            raise InvalidValue(line_of_node(node), f"there is no {noun} {quote_shortened(text)}", suggest_known_word(text, known))
        return text

    return rule


MAX_FAST_DEPTH = 60
_BRACKET_PATTERN = re.compile(r"[\[\]{}]")
_INDENT_PATTERN = re.compile(r"^[ \t?:-]*", re.MULTILINE)


def compose_yaml(text: str, loader: Literal["SafeLoader", "BaseLoader"] = "SafeLoader") -> "Node | None":
    """The tree of nodes. Raises the errors of PyYAML, and RecursionError."""
    import yaml

    quick = getattr(yaml, f"C{loader}", None)
    if quick and estimate_yaml_depth(text) <= MAX_FAST_DEPTH:
        try:
            return yaml.compose(text, Loader=quick)
        except yaml.YAMLError:
            pass
    return yaml.compose(text, Loader=getattr(yaml, loader))


def estimate_yaml_depth(text: str) -> int:
    """An upper bound of the nesting depth: brackets within texts are counted, too."""
    opened = accumulate(
        (1 if sign in "[{" else -1 for sign in _BRACKET_PATTERN.findall(text)), lambda now, step: max(0, now + step)
    )
    return max(opened, default=0) + max((len(indent) for indent in _INDENT_PATTERN.findall(text)), default=0)


def compose_checked_yaml(text: str, loader: Literal["SafeLoader", "BaseLoader"] = "SafeLoader") -> "Node | None":
    """The tree of nodes; None for a text without content. InvalidValue if it is not YAML."""
    import yaml

    try:
        return compose_yaml(text, loader)
    except RecursionError:
        raise InvalidValue(1, "is nested too deeply", "four levels are the most that anything needs") from None
    except (yaml.YAMLError, ValueError, OverflowError) as fault:
        raise value_error_from_yaml_error(fault, text) from None


def value_error_from_yaml_error(fault: Exception, text: str) -> InvalidValue:
    """PyYAML marks most errors with a line. For a character that YAML forbids it gives the position; for a number or an escape
    that is too large Python's own error comes through, without a place."""
    mark = getattr(fault, "problem_mark", None)
    position = getattr(fault, "position", 0)
    line = mark.line if mark else text[: position if isinstance(position, int) else 0].count("\n")
    said = getattr(fault, "problem", None) or getattr(fault, "reason", None) or "can't be read"
    return InvalidValue(line + 1, f"is not YAML: {said}", "mend the file")


def walk_mapping(node: "Node", at: KeyPath, shape: MappingShape) -> Iterator[tuple[KeyPath, int, Any]]:
    """Every value with its key and line; an InvalidValue for one that can't be used."""
    from yaml.nodes import MappingNode

    line = node.start_mark.line + 1
    if not isinstance(node, MappingNode):
        yield at, line, InvalidValue(line, f"should be a mapping such as {shape.example}")
        return
    if at[-1:] == ("sections",):
        written = [key.value for key, _ in node.value if isinstance(key.value, str)]
        yield at, line, tuple(dict.fromkeys(name for name in written if name in shape.fields))
    seen: set[str] = set()
    for key, value in node.value:
        name = key.value if isinstance(key.value, str) else "?"
        where, place = (*at, name), key.start_mark.line + 1
        rule = shape.rule(name)
        if rule is None:
            yield where, place, InvalidValue(place, f"there is no {shape.noun} {to_one_line(name, 60)!r}", shape.advice(name))
        elif name in seen:
            yield where, place, InvalidValue(place, "is given twice", "take one of them out")
        elif isinstance(rule, MappingShape):
            yield from walk_mapping(value, where, rule)
        else:
            yield where, place, apply_value_rule(rule, value)
        seen.add(name)


def apply_value_rule(rule: Any, node: "Node") -> Any:
    try:
        return rule(node)
    except InvalidValue as wrong:
        return wrong
