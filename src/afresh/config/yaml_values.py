"""What is wrong in a file that people write, and where: a person who reads it can go there and mend it."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite
from typing import TYPE_CHECKING, Any

from afresh.core.text import escape_hidden
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


def error_from_faults(
    faults: Sequence[FileFault], check: str = "afresh template check", kind: type[BadInput] = BadInput
) -> BadInput:
    """The first in words; how many there are besides, and which command tells them all."""
    first, more = faults[0], len(faults) - 1
    besides = f" (and {more} more: `{check}`)" if more else ""
    return kind(f"{first}{besides}", next=first.next or "mend the file", safe="nothing was changed")


def suggest_known_word(word: str, known: Iterable[str]) -> str:
    """The right word for a wrong one, or all there are."""
    names = list(known)
    close = get_close_matches(word, names, n=1, cutoff=0.6)
    return f"did you mean {close[0]}?" if close else f"there are: {', '.join(names)}"


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


def quote_shortened(said: str) -> str:
    return repr(to_one_line(said, 60))


def line_of_node(node: "Node") -> int:
    return node.start_mark.line + 1


def read_text(node: "Node") -> str:
    said = read_scalar(node, "a text")
    if node.tag != TEXT_TAG:
        raise InvalidValue(
            line_of_node(node), f"should be a text, {quote_shortened(said)} is not" if said else "is empty", "put it in quotes"
        )
    return escape_hidden(said.strip())


def make_text_rule(limit: int) -> ValueRule:
    def rule(node: "Node") -> str:
        said = read_text(node)
        if (over := len(said) - limit) > 0:
            raise InvalidValue(
                line_of_node(node), f"has {len(said):,} characters, {over:,} over the {limit:,} allowed", "say it shorter"
            )
        return said

    return rule


def make_number_rule(low: float, high: float) -> ValueRule:
    def rule(node: "Node") -> float:
        said = read_scalar(node, "a number")
        held = float(said) if re.fullmatch(r"[-+]?\d{1,15}(\.\d{0,15})?", said) and node.tag in NUMBER_TAGS else None
        if held is None or not isfinite(held) or not low <= held <= high:
            wanted = "a number" if high > 1e9 else f"a number from {low:g} to {high:g}"
            raise InvalidValue(line_of_node(node), f"should be {wanted}, {quote_shortened(said)} is not")
        return held

    return rule


def make_integer_rule(low: int, high: int) -> ValueRule:
    def rule(node: "Node") -> int:
        said = read_scalar(node, "a whole number")
        held = int(said) if re.fullmatch(r"\d{1,9}", said) and node.tag in NUMBER_TAGS else -1
        if not low <= held <= high:
            raise InvalidValue(
                line_of_node(node), f"should be a whole number from {low:,} to {high:,}, {quote_shortened(said)} is not"
            )
        return held

    return rule


def make_choice_rule(noun: str, known: tuple[str, ...]) -> ValueRule:
    def rule(node: "Node") -> str:
        said = read_text(node)
        if said not in known:
            raise InvalidValue(line_of_node(node), f"there is no {noun} {quote_shortened(said)}", suggest_known_word(said, known))
        return said

    return rule
