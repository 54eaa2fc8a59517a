"""Files of instructions: the fields of their front matter, and their text in parts by heading."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from afresh.config.yaml_reader import (
    NAME_PATTERN,
    FileFault,
    InvalidValue,
    KeyPath,
    MappingShape,
    ValueRule,
    compose_checked_yaml,
    line_of_node,
    quote_shortened,
    read_scalar,
    read_text,
    split_front_matter,
    suggest_known_word,
    walk_mapping,
)
from afresh.core.instructions import RULES_KEY, InstructionPart, NumberedLine
from afresh.core.truncate import to_one_line

if TYPE_CHECKING:
    from yaml.nodes import Node


HEADING_LINE = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
FENCE_LINE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
MARKUP_CHARACTERS = re.compile(r"[*_`]")


def split_into_parts(lines: Sequence[NumberedLine]) -> tuple[InstructionPart, ...]:
    """The text in parts by heading. A single `#` heading above all others is the title, and part of the text before them."""
    found = list(find_headings(lines))
    titled = len(found) > 1 and found[0][1] == 1 and all(depth > 1 for _, depth, _ in found[1:])
    starts = found[1:] if titled else found
    ends = [*(at for at, _, _ in starts[1:]), len(lines)]
    opening = trim_empty_lines(lines[: starts[0][0] if starts else len(lines)])
    headed = titled and opening[0] == lines[found[0][0]]
    parts = [InstructionPart((), opening, found[0][2] if headed else "", int(headed))] if opening else []
    above: list[tuple[int, str]] = []
    for (at, depth, title), end in zip(starts, ends, strict=False):
        above = [*((level, key) for level, key in above if level < depth), (depth, normalize_heading(title))]
        parts.append(InstructionPart(tuple(key for _, key in above), trim_empty_lines(lines[at:end]), title, depth))
    return tuple(parts)


def find_headings(lines: Sequence[NumberedLine]) -> Iterator[tuple[int, int, str]]:
    """Index, depth and text of each."""
    fence = ""
    for at, line in enumerate(lines):
        if match := FENCE_LINE.fullmatch(line.text):
            fence = close_fence(fence, match) if fence else match[1]
        elif not fence and (match := HEADING_LINE.fullmatch(line.text)):
            yield at, len(match[1]), (match[2] or "").strip()


def close_fence(fence: str, match: re.Match[str]) -> str:
    """A fence ends with one of its own kind, at least as long, and nothing after it."""
    ends = match[1][0] == fence[0] and len(match[1]) >= len(fence) and not match[2].strip()
    return "" if ends else fence


def normalize_heading(title: str) -> str:
    """What makes two headings the same: their words."""
    return " ".join(MARKUP_CHARACTERS.sub("", title).split()).casefold().rstrip(":.")


def trim_empty_lines(lines: Sequence[NumberedLine]) -> tuple[NumberedLine, ...]:
    """The lines without empty ones at both ends."""
    held = [at for at, line in enumerate(lines) if line.text.strip()]
    return tuple(lines[held[0] : held[-1] + 1]) if held else ()


def part_from_rule(name: str, text: str, line: int) -> InstructionPart:
    told = "\n  ".join(text.split("\n"))
    return InstructionPart((RULES_KEY, name), tuple(NumberedLine(line, one) for one in f"- {name}: {told}".split("\n")), name)


BOOLEAN_TAG = "tag:yaml.org,2002:bool"


@dataclass(frozen=True, slots=True)
class ParsedInstructions:
    """A file of instructions as it is written: front matter and body."""

    parts: tuple[InstructionPart, ...] = ()
    types: tuple[str, ...] = ()
    applies_to: tuple[str, ...] = ()
    replaces: bool = False
    firm: bool = False
    faults: tuple[FileFault, ...] = ()


def parse_own_instructions(file: str, body: str, known: Sequence[str], may_be_firm: bool) -> ParsedInstructions:
    """A file written for afresh; never raises. `known` are the task types that may be named; empty: any."""
    try:
        found = split_front_matter(body)
        given = list(read_front_matter(found.head, make_front_matter_shape(known, may_be_firm))) if found else []
    except InvalidValue as wrong:
        return ParsedInstructions(faults=(wrong.in_file(file),))
    if faults := tuple(held.in_file(file, key) for key, _, held in given if isinstance(held, InvalidValue)):
        return ParsedInstructions(faults=faults)
    plainly: Mapping[KeyPath, Any] = {key: held for key, _, held in given}
    rules = [part_from_rule(key[1], held, at) for key, at, held in given if key[0] == "rules"]
    return ParsedInstructions(
        parts=(*rules, *split_into_parts(number_lines(body, found.lines if found else 0))),
        types=plainly.get(("types",), ()),
        applies_to=plainly.get(("applies_to",), ()),
        replaces=plainly.get(("replaces",), False),
        firm=plainly.get(("firm",), False),
    )


def number_lines(text: str, skipped: int) -> list[NumberedLine]:
    return [NumberedLine(number, line) for number, line in enumerate(text.split("\n"), 1)][skipped:]


def read_front_matter(head: str, wanted: MappingShape) -> Iterable[tuple[KeyPath, int, Any]]:
    """Every value with its key and line. An empty line replaces the opening fence, so that line numbers are those of the file."""
    root = compose_checked_yaml("\n" + head.removesuffix("\n"))
    return walk_mapping(root, (), wanted) if root else ()


def make_front_matter_shape(known: Sequence[str], may_be_firm: bool) -> MappingShape:
    return MappingShape(
        "field",
        "{rules: {naming: Whole words.}}",
        {
            "types": make_list_rule("types", make_type_rule(known)),
            "applies_to": make_list_rule("patterns such as src/**/*.py", read_path_pattern),
            "rules": MappingShape("rule", "{naming: Whole words.}", {}, read_text),
            "replaces": read_boolean,
            "firm": read_boolean if may_be_firm else refuse_firm,
        },
    )


def make_list_rule(noun: str, each: ValueRule) -> ValueRule:
    def rule(node: "Node") -> tuple[Any, ...]:
        from yaml.nodes import SequenceNode

        if not isinstance(node, SequenceNode) or not node.value:
            raise InvalidValue(line_of_node(node), f"should be a list of {noun}")
        return tuple(each(item) for item in node.value)

    return rule


def make_type_rule(known: Sequence[str]) -> Callable[["Node"], str]:
    def rule(node: "Node") -> str:
        said = read_text(node)
        if known and said not in known:
            raise InvalidValue(
                line_of_node(node), f"there is no task type {quote_shortened(said)}", suggest_known_word(said, known)
            )
        if not NAME_PATTERN.fullmatch(said):
            raise InvalidValue(
                line_of_node(node), f"{quote_shortened(said)} can't be a task type", "use small letters, digits and _"
            )
        return said

    return rule


def read_path_pattern(node: "Node") -> str:
    said = read_text(node)
    if said.startswith(("/", "!", "#")) or ".." in said.split("/") or said.endswith("\\"):
        raise InvalidValue(
            line_of_node(node),
            f"{quote_shortened(said)} is no pattern below the root of the repository",
            "such as *.py or src/**/*.py",
        )
    return said


def read_boolean(node: "Node") -> bool:
    said = read_scalar(node, "true or false")
    if node.tag != BOOLEAN_TAG or said not in ("true", "false"):
        raise InvalidValue(line_of_node(node), f"should be true or false, {quote_shortened(said)} is not")
    return said == "true"


def refuse_firm(node: "Node") -> bool:
    raise InvalidValue(line_of_node(node), "only a file of the user's own may be firm", "take it out")


CURSOR_RULES_FOLDER = ".cursor/rules"
IMPORT_LINE_PATTERN = re.compile(r"\s*(?:[-*]\s+)?@([~\w./-]*[./][\w./-]*)\s*")
"""A line that imports another file."""
HEAD_FIELD_PATTERN = re.compile(r"(\w+):\s*(.*?)\s*")


def parse_foreign_instructions(file: str, text: str, skipped: int = 0) -> tuple[ParsedInstructions, tuple[str, ...]]:
    """A file written for other agents: its parts, and notes on what its author may expect and afresh does not do."""
    lines = number_lines(text, skipped)
    imports = [(line.number, match[1]) for line in lines if (match := IMPORT_LINE_PATTERN.fullmatch(line.text))]
    notes = [
        f"{file}:{number}: @{to_one_line(name, 60)} is not followed; the line is shown as it stands" for number, name in imports
    ]
    return ParsedInstructions(split_into_parts(lines)), tuple(notes)


def parse_cursor_rule(file: str, text: str) -> tuple[ParsedInstructions, tuple[str, ...]]:
    """The head is read line by line, since its patterns are often no YAML. A rule that is neither for all files nor for some is
    loaded by its own tool when asked for, which is not done here."""
    try:
        found = split_front_matter(text)
    except InvalidValue:
        found = None
    lines = found.head.split("\n") if found else []
    head = {match[1]: match[2] for line in lines if (match := HEAD_FIELD_PATTERN.fullmatch(line))}
    body, notes = parse_foreign_instructions(file, text, found.lines if found else 0)
    patterns = tuple(one.strip(" \"'") for one in head.get("globs", "").strip("[]").split(",") if one.strip(" \"'"))
    if head.get("alwaysApply") == "true" or not found:
        return body, notes
    if not patterns:
        return ParsedInstructions(), (f"{file} is not shown: it says neither alwaysApply nor globs",)
    return ParsedInstructions(body.parts, applies_to=patterns), notes
