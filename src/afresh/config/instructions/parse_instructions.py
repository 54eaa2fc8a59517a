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
    make_integer_rule,
    quote_shortened,
    read_scalar,
    read_text,
    split_front_matter,
    suggest_known_word,
    walk_mapping,
)
from afresh.core.instructions import (
    CONSTRAINTS_KEY,
    NO_DEFAULTS,
    PREFERENCES_KEY,
    RULES_KEY,
    TEST_CHANGES_KEY,
    InstructionPart,
    NumberedLine,
    TaskDefaults,
)
from afresh.core.text import escape_hidden
from afresh.core.truncate import to_one_line

if TYPE_CHECKING:
    from yaml.nodes import Node


HEADING_LINE = re.compile(r" {0,3}(#{1,6})(?:[ \t](.*))?")
FENCE_LINE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
MARKUP_CHARACTERS = re.compile(r"[*_`]")


def split_into_parts(lines: Sequence[NumberedLine]) -> tuple[InstructionPart, ...]:
    """The text in parts by heading. A single `#` heading above all others is the title, and part of the text before them."""
    headings = list(find_headings(lines))
    titled = len(headings) > 1 and headings[0][1] == 1 and all(depth > 1 for _, depth, _ in headings[1:])
    starts = headings[1:] if titled else headings
    ends = [*(at for at, _, _ in starts[1:]), len(lines)]
    opening = trim_empty_lines(lines[: starts[0][0] if starts else len(lines)])
    headed = titled and opening[0] == lines[headings[0][0]]
    parts = [InstructionPart((), opening, headings[0][2] if headed else "", int(headed))] if opening else []
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
            words = (match[2] or "").strip()
            bare = words.rstrip("#")
            yield at, len(match[1]), bare.strip() if not bare or bare[-1] in " \t" else words


def close_fence(fence: str, match: re.Match[str]) -> str:
    """A fence ends with one of its own kind, at least as long, and nothing after it."""
    ends = match[1][0] == fence[0] and len(match[1]) >= len(fence) and not match[2].strip()
    return "" if ends else fence


def normalize_heading(title: str) -> str:
    """Reduce a heading to its words: headings with the same words are the same."""
    return " ".join(MARKUP_CHARACTERS.sub("", title).split()).casefold().rstrip(":.")


def trim_empty_lines(lines: Sequence[NumberedLine]) -> tuple[NumberedLine, ...]:
    """The lines without empty ones at both ends."""
    held = [at for at, line in enumerate(lines) if line.text.strip()]
    return tuple(lines[held[0] : held[-1] + 1]) if held else ()


def part_from_rule(name: str, text: str, line: int, key: str = RULES_KEY, label: str = "") -> InstructionPart:
    """`label` is what the line begins with, if it is not the name of the rule."""
    note = "\n  ".join(text.split("\n"))
    return InstructionPart(
        (key, name), tuple(NumberedLine(line, word) for word in f"- {label or name}: {note}".split("\n")), name
    )


def list_front_matter_parts(given: Sequence[tuple[KeyPath, int, Any]]) -> Iterator[InstructionPart]:
    """What is neither a setting nor a pattern of files, as lines that prompts show."""
    for key, at, value in given:
        if key[0] in ("rules", "style", "patterns"):
            yield part_from_rule(key[1], value, at)
        elif key in (("project", "name"), ("project", "language")):
            yield part_from_rule(key[1], value, at, label=" ".join(key))
        elif key[0] == "instructions":
            yield from split_into_parts(number_lines("\n" * at + value, at))
        elif key[0] == "preferences":
            yield part_from_rule(key[1], value, at, PREFERENCES_KEY, f"{key[1]} (preferred)")
        elif key[0] == "constraints":
            yield from [part_from_rule(text, text, at, CONSTRAINTS_KEY, "always") for text in value]
        elif key[0] == "allow_test_changes":
            yield from [part_from_rule(path, path, at, TEST_CHANGES_KEY, "tests that may change") for path in value]


MAX_DEFAULT_STEPS = 10_000
BOOLEAN_TAG = "tag:yaml.org,2002:bool"


@dataclass(frozen=True, slots=True)
class ParsedInstructions:
    """A file of instructions as it is written: front matter and body."""

    parts: tuple[InstructionPart, ...] = ()
    types: tuple[str, ...] = ()
    applies_to: tuple[str, ...] = ()
    replaces: bool = False
    firm: bool = False
    defaults: TaskDefaults = NO_DEFAULTS
    faults: tuple[FileFault, ...] = ()


def parse_own_instructions(
    file: str, body: str, known: Sequence[str], is_user_file: bool, is_folder_file: bool = False
) -> ParsedInstructions:
    """A file written for afresh; never raises. `known` are the task types that may be named; empty: any."""
    try:
        front_matter = split_front_matter(body)
        given = (
            list(read_front_matter(front_matter.head, make_front_matter_shape(known, is_user_file, is_folder_file)))
            if front_matter
            else []
        )
    except InvalidValue as wrong:
        return ParsedInstructions(faults=(wrong.in_file(file),))
    if faults := tuple(
        invalid_value.in_file(file, key) for key, _, invalid_value in given if isinstance(invalid_value, InvalidValue)
    ):
        return ParsedInstructions(faults=faults)
    plainly: Mapping[KeyPath, Any] = {key: value for key, _, value in given}
    return ParsedInstructions(
        parts=(*list_front_matter_parts(given), *split_into_parts(number_lines(body, front_matter.lines if front_matter else 0))),
        types=plainly.get(("types",), ()),
        applies_to=plainly.get(("applies_to",), ()),
        replaces=plainly.get(("replaces",), False),
        firm=plainly.get(("firm",), False),
        defaults=TaskDefaults(
            plainly.get(("defaults", "max_steps")),
            plainly.get(("defaults", "require_tests")),
            plainly.get(("defaults", "auto_commit")),
            plainly.get(("project", "test_command"), ""),
        ),
    )


def number_lines(text: str, skipped: int) -> list[NumberedLine]:
    return [NumberedLine(number, line) for number, line in enumerate(text.split("\n"), 1)][skipped:]


def read_front_matter(head: str, wanted: MappingShape) -> Iterable[tuple[KeyPath, int, Any]]:
    """Every value with its key and line. An empty line replaces the opening fence, so that line numbers are those of the file."""
    root = compose_checked_yaml("\n" + head.removesuffix("\n"))
    return walk_mapping(root, (), wanted) if root else ()


def make_front_matter_shape(known: Sequence[str], is_user_file: bool, is_folder_file: bool) -> MappingShape:
    defaults = MappingShape(
        "default",
        "{max_steps: 40}",
        {
            "max_steps": make_integer_rule(1, MAX_DEFAULT_STEPS),
            "require_tests": read_boolean,
            "auto_commit": read_boolean if is_user_file else make_refusal("only a file of your own may set auto_commit"),
        },
    )
    test_command = read_text if not is_user_file else make_refusal("a file for all your repositories can't know their tests")
    project = MappingShape(
        "field of project", "{test_command: pytest -q}", {"test_command": test_command, "name": read_text, "language": read_text}
    )
    refused = make_refusal("a file of a folder can't set this for whole tasks")
    return MappingShape(
        "field",
        "{rules: {naming: Whole words.}}",
        {
            "types": make_list_rule("types", make_type_rule(known)),
            "applies_to": make_list_rule("patterns such as src/**/*.py", read_path_pattern),
            "rules": MappingShape("rule", "{naming: Whole words.}", {}, read_text),
            "style": MappingShape("style", "{naming: Whole words.}", {}, read_any_scalar),
            "patterns": MappingShape("pattern", "{errors: Raise, don't return None.}", {}, read_any_scalar),
            "instructions": read_text,
            "preferences": MappingShape("preference", "{style: Functions over classes.}", {}, read_text),
            "constraints": make_list_rule("constraints", read_text),
            "allow_test_changes": make_list_rule("paths such as tests/snapshots/", read_path_pattern),
            "defaults": refused if is_folder_file else defaults,
            "project": refused if is_folder_file else project,
            "replaces": read_boolean,
            "firm": read_boolean if is_user_file else make_refusal("only a file of the user's own may be firm"),
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
        text = read_text(node)
        if known and text not in known:
            raise InvalidValue(
                line_of_node(node), f"there is no task type {quote_shortened(text)}", suggest_known_word(text, known)
            )
        if not NAME_PATTERN.fullmatch(text):
            raise InvalidValue(
                line_of_node(node), f"{quote_shortened(text)} can't be a task type", "use small letters, digits and _"
            )
        return text

    return rule


def read_path_pattern(node: "Node") -> str:
    text = read_text(node)
    if text.startswith(("/", "!", "#")) or ".." in text.split("/") or text.endswith("\\"):
        raise InvalidValue(
            line_of_node(node),
            f"{quote_shortened(text)} is no pattern below the root of the repository",
            "such as *.py or src/**/*.py",
        )
    return text


def read_any_scalar(node: "Node") -> str:
    """Also a number, as in `max_line_length: 100`."""
    return escape_hidden(read_scalar(node, "a text or a number").strip())


def read_boolean(node: "Node") -> bool:
    scalar = read_scalar(node, "true or false")
    if node.tag != BOOLEAN_TAG or scalar not in ("true", "false"):
        raise InvalidValue(line_of_node(node), f"should be true or false, {quote_shortened(scalar)} is not")
    return scalar == "true"


def make_refusal(why: str) -> ValueRule:
    """The rule of a field that this file may not have."""

    def rule(node: "Node") -> Any:
        raise InvalidValue(line_of_node(node), why, "take it out")

    return rule


CURSOR_RULES_FOLDER = ".cursor/rules"
IMPORT_LINE_PATTERN = re.compile(r"\s*(?:[-*]\s+)?@((?:[~\w-]*+[./])++[\w-]*+)\s*")
"""A line that imports another file."""
HEAD_FIELD_PATTERN = re.compile(r"(\w+):\s*+((?:\S++|\s++(?!\Z))*+)\s*")


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
        front_matter = split_front_matter(text)
    except InvalidValue:
        front_matter = None
    lines = front_matter.head.split("\n") if front_matter else []
    head = {match[1]: match[2] for line in lines if (match := HEAD_FIELD_PATTERN.fullmatch(line.rstrip()))}
    body, notes = parse_foreign_instructions(file, text, front_matter.lines if front_matter else 0)
    patterns = tuple(word.strip(" \"'") for word in head.get("globs", "").strip("[]").split(",") if word.strip(" \"'"))
    if head.get("alwaysApply") == "true" or not front_matter:
        return body, notes
    if not patterns:
        return ParsedInstructions(), (f"{file} is not shown: it says neither alwaysApply nor globs",)
    return ParsedInstructions(body.parts, applies_to=patterns), notes
