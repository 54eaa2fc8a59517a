"""The front matter of a file of instructions: what it may say, and a fault with its line for whatever else stands there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from afresh.adapters.templates.fault import FileFault, KeyPath, InvalidValue, suggest_known_word
from afresh.adapters.templates.read import compose_checked_yaml, walk_mapping
from afresh.adapters.templates.values import (
    NAME_PATTERN,
    ValueRule,
    MappingShape,
    line_of_node,
    read_scalar,
    quote_shortened,
    read_text,
)
from afresh.domain.instructions import NumberedLine, InstructionPart, part_from_rule, split_into_parts
from afresh.domain.text import to_one_line

if TYPE_CHECKING:
    from yaml.nodes import Node

FRONT_MATTER_FENCE = "---"
FRONT_MATTER_ENDS = ("---", "...")
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
    """Never raises. `known` are the types that may be named; none where that can't be told."""
    lines = body.split("\n")
    try:
        end = find_front_matter_end(lines)
        found = list(read_front_matter(lines[1:end], make_front_matter_shape(known, may_be_firm))) if end else []
    except InvalidValue as wrong:
        return ParsedInstructions(faults=(FileFault(file, wrong.line, "", wrong.what, wrong.next),))
    faults = tuple(
        FileFault(file, held.line, to_one_line(".".join(key), 120), held.what, held.next)
        for key, _, held in found
        if isinstance(held, InvalidValue)
    )
    if faults:
        return ParsedInstructions(faults=faults)
    plainly: Mapping[KeyPath, Any] = {key: held for key, _, held in found}
    rules = [part_from_rule(key[1], held, at) for key, at, held in found if key[0] == "rules"]
    return ParsedInstructions(
        parts=(*rules, *split_into_parts(number_lines(lines)[end + 1 if end else 0 :])),
        types=plainly.get(("types",), ()),
        applies_to=plainly.get(("applies_to",), ()),
        replaces=plainly.get(("replaces",), False),
        firm=plainly.get(("firm",), False),
    )


def number_lines(lines: Sequence[str]) -> list[NumberedLine]:
    return [NumberedLine(number, text) for number, text in enumerate(lines, 1)]


def find_front_matter_end(lines: Sequence[str]) -> int:
    """Index of the line that closes the front matter; 0 when there is none."""
    if lines[0].rstrip() != FRONT_MATTER_FENCE:
        return 0
    end = next((at for at, said in enumerate(lines[1:], 1) if said.rstrip() in FRONT_MATTER_ENDS), 0)
    if not end:
        raise InvalidValue(1, "the front matter that begins here has no end", f"close it with a line {FRONT_MATTER_FENCE}")
    return end


def read_front_matter(lines: Sequence[str], wanted: MappingShape) -> Sequence[tuple[KeyPath, int, Any]]:
    """The line of the opening fence is put before them, so that their numbers are those of the file."""
    if not any(said.strip() and not said.lstrip().startswith("#") for said in lines):
        return ()
    return list(walk_mapping(compose_checked_yaml("\n".join(["", *lines]).encode()), (), wanted))


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
