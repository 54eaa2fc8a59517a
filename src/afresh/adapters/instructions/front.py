"""The front matter of a file of instructions: what it may say, and a fault with its line for whatever else stands there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from afresh.adapters.templates.fault import Fault, Key, Wrong, nearest
from afresh.adapters.templates.read import composed, walk
from afresh.adapters.templates.values import NAME, Rule, Shape, line, plain, short, text
from afresh.domain.instructions import Line, Part, rule, split
from afresh.domain.text import one_line

if TYPE_CHECKING:
    from yaml.nodes import Node

FENCE = "---"
ENDS = ("---", "...")
TRUTH = "tag:yaml.org,2002:bool"


@dataclass(frozen=True, slots=True)
class Sheet:
    """A file of instructions as it is written: front matter and body."""

    parts: tuple[Part, ...] = ()
    types: tuple[str, ...] = ()
    applies_to: tuple[str, ...] = ()
    replaces: bool = False
    firm: bool = False
    faults: tuple[Fault, ...] = ()


def sheet(file: str, body: str, known: Sequence[str], may_be_firm: bool) -> Sheet:
    """Never raises. `known` are the types that may be named; none where that can't be told."""
    lines = body.split("\n")
    try:
        end = front_end(lines)
        found = list(values(lines[1:end], shape(known, may_be_firm))) if end else []
    except Wrong as wrong:
        return Sheet(faults=(Fault(file, wrong.line, "", wrong.what, wrong.next),))
    faults = tuple(
        Fault(file, held.line, one_line(".".join(key), 120), held.what, held.next)
        for key, _, held in found
        if isinstance(held, Wrong)
    )
    if faults:
        return Sheet(faults=faults)
    plainly: Mapping[Key, Any] = {key: held for key, _, held in found}
    rules = [rule(key[1], held, at) for key, at, held in found if key[0] == "rules"]
    return Sheet(
        parts=(*rules, *split(numbered(lines)[end + 1 if end else 0 :])),
        types=plainly.get(("types",), ()),
        applies_to=plainly.get(("applies_to",), ()),
        replaces=plainly.get(("replaces",), False),
        firm=plainly.get(("firm",), False),
    )


def numbered(lines: Sequence[str]) -> list[Line]:
    return [Line(number, text) for number, text in enumerate(lines, 1)]


def front_end(lines: Sequence[str]) -> int:
    """Index of the line that closes the front matter; 0 when there is none."""
    if lines[0].rstrip() != FENCE:
        return 0
    end = next((at for at, said in enumerate(lines[1:], 1) if said.rstrip() in ENDS), 0)
    if not end:
        raise Wrong(1, "the front matter that begins here has no end", f"close it with a line {FENCE}")
    return end


def values(lines: Sequence[str], wanted: Shape) -> Sequence[tuple[Key, int, Any]]:
    """The line of the opening fence is put before them, so that their numbers are those of the file."""
    if not any(said.strip() and not said.lstrip().startswith("#") for said in lines):
        return ()
    return list(walk(composed("\n".join(["", *lines]).encode()), (), wanted))


def shape(known: Sequence[str], may_be_firm: bool) -> Shape:
    return Shape(
        "field",
        "{rules: {naming: Whole words.}}",
        {
            "types": several("types", type_rule(known)),
            "applies_to": several("patterns such as src/**/*.py", pattern),
            "rules": Shape("rule", "{naming: Whole words.}", {}, text),
            "replaces": truth,
            "firm": truth if may_be_firm else not_firm,
        },
    )


def several(noun: str, each: Rule) -> Rule:
    def rule(node: "Node") -> tuple[Any, ...]:
        from yaml.nodes import SequenceNode

        if not isinstance(node, SequenceNode) or not node.value:
            raise Wrong(line(node), f"should be a list of {noun}")
        return tuple(each(item) for item in node.value)

    return rule


def type_rule(known: Sequence[str]) -> Callable[["Node"], str]:
    def rule(node: "Node") -> str:
        said = text(node)
        if known and said not in known:
            raise Wrong(line(node), f"there is no task type {short(said)}", nearest(said, known))
        if not NAME.fullmatch(said):
            raise Wrong(line(node), f"{short(said)} can't be a task type", "use small letters, digits and _")
        return said

    return rule


def pattern(node: "Node") -> str:
    said = text(node)
    if said.startswith(("/", "!", "#")) or ".." in said.split("/") or said.endswith("\\"):
        raise Wrong(line(node), f"{short(said)} is no pattern below the root of the repository", "such as *.py or src/**/*.py")
    return said


def truth(node: "Node") -> bool:
    said = plain(node, "true or false")
    if node.tag != TRUTH or said not in ("true", "false"):
        raise Wrong(line(node), f"should be true or false, {short(said)} is not")
    return said == "true"


def not_firm(node: "Node") -> bool:
    raise Wrong(line(node), "only a file of the user's own may be firm", "take it out")
