"""Turns the captured nodes of a file into symbols: nesting, the lines that belong to each definition, and signatures."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from afresh.code.languages.doc_comments import DocComments, SourceBytes
from afresh.core.symbol import Symbol, SymbolKind
from afresh.core.truncate import truncate_text

if TYPE_CHECKING:
    from tree_sitter import Node


KIND_BY_CAPTURE = {
    "class": SymbolKind.CLASS,
    "module": SymbolKind.CLASS,
    "interface": SymbolKind.INTERFACE,
    "function": SymbolKind.FUNCTION,
    "method": SymbolKind.METHOD,
    "member": SymbolKind.METHOD,
    "constant": SymbolKind.CONSTANT,
}
CAPTURE_ORDER = {
    "outer": 0,
    "before": 1,
    "scope": 2,
    "module": 3,
    "class": 3,
    "interface": 3,
    "function": 4,
    "method": 4,
    "member": 4,
    "constant": 5,
}
"""Order of captures that have the same range; only the first definition is used."""

TYPE_KINDS = frozenset({SymbolKind.CLASS, SymbolKind.INTERFACE})
FUNCTION_KINDS = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD})
MAX_NESTING = 12
MAX_SIGNATURE_CHARACTERS = 160
MAX_SIGNATURE_BYTES = 1_500
"""Limits: nested definitions, characters of a signature, and bytes that one is made from."""
LOOSE_SPACE = re.compile(r"(?<=[(\[]) |(?<=\w<) | (?=[),;\]])")
PREPROCESSOR_LINE = re.compile(r"^[ \t]*#(?:if|elif|else|endif|pragma|region|endregion|nullable)\b.*$", re.MULTILINE)
SIGNATURE_TAILS = ("=>", "{", "=", ";", ",", ":", " ")
SPACE_AND_COMMENTS = re.compile(rb"\s*(?://[^\n]*\n\s*)*")


@dataclass(frozen=True, slots=True)
class CapturedNode:
    """A captured node, passed to a language module to get its name."""

    role: str
    node: "Node"
    source: SourceBytes

    def text(self, node: "Node | None") -> str:
        return self.source.text(node) if node else ""

    def field(self, name: str) -> str:
        return self.text(self.node.child_by_field_name(name))

    def of(self, node: "Node") -> "CapturedNode":
        """Return another node of the same file in the same form."""
        return CapturedNode(self.role, node, self.source)

    @property
    def line(self) -> int:
        return self.source.row(self.node.start_byte) + 1


@dataclass(frozen=True, slots=True)
class NamedDefinition:
    name: str
    """Empty for a node that only groups its members."""
    kind: SymbolKind | None = None
    """None: the kind that the capture names."""
    bases: tuple[str, ...] = ()
    until: int = 0
    """The byte where its signature ends; 0: where its body begins."""
    lead: str = ""
    """Prefix of its signature, if the text does not begin with it because it is in a group."""
    adds: tuple[str, ...] = ()
    """Bases that it adds to the type of that name, as a Rust `impl` does."""
    doc: str = ""
    """Where it is inside the definition; otherwise it is the comment above."""


class NestingFrame(NamedTuple):
    start: int
    end: int
    row: int
    last: int
    name: str = ""
    kind: SymbolKind | None = None
    outer: bool = False
    first: int = 0
    """The byte of its first decorator."""


@dataclass(slots=True)
class NestingState:
    source: SourceBytes
    comments: DocComments
    hidden: Sequence[tuple[int, int]]
    """Comments and decorators, which are left out of signatures."""
    frames: list[NestingFrame] = field(default_factory=list[NestingFrame])
    chain: tuple[int, int, int] = (0, -1, 0)
    """First byte, end and row of the last sequence of adjacent decorators."""
    added: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def leave(self, start: int) -> None:
        while self.frames and self.frames[-1].end <= start:
            self.frames.pop()

    def decorate(self, node: "Node") -> None:
        joined = self.chain[1] >= 0 and SPACE_AND_COMMENTS.fullmatch(self.source.content, self.chain[1], node.start_byte)
        first = self.chain if joined else (node.start_byte, 0, self.source.row(node.start_byte))
        self.chain = (first[0], node.end_byte, first[2])

    def around(self) -> NestingFrame | None:
        for frame in reversed(self.frames):
            if not frame.outer:
                return frame
        return None

    def frame(self, node: "Node", named: NamedDefinition, kind: SymbolKind | None) -> NestingFrame:
        """Return a frame that includes the statements and decorators of the definition."""
        start, end = node.start_byte, node.end_byte
        for outer in reversed(self.frames):
            if not outer.outer:
                break
            start, end = outer.start, outer.end
        row, last = self.source.rows(start, end)
        first = start
        if (
            self.chain[1] <= start
            and self.chain[1] >= 0
            and SPACE_AND_COMMENTS.fullmatch(self.source.content, self.chain[1], start)
        ):
            first, _, row = self.chain
        around = self.around()
        prefix = f"{around.name}." if around and around.name else ""
        return NestingFrame(start, end, row, last, prefix + named.name if named.name else prefix[:-1], kind, first=first)


def extract_symbols(
    captures: "Mapping[str, list[Node]]",
    source: SourceBytes,
    comments: DocComments,
    name: Callable[[CapturedNode], NamedDefinition | None],
) -> list[Symbol]:
    hidden = sorted(
        (node.start_byte, node.end_byte) for role in ("comment", "hidden", "before") for node in captures.get(role, ())
    )
    nest = NestingState(source, comments, hidden)
    symbols = list(_walk_captures(captures, nest, name))
    return [_add_bases(symbol, nest.added) for symbol in symbols] if nest.added else symbols


def _walk_captures(
    captures: "Mapping[str, list[Node]]", nest: NestingState, name: Callable[[CapturedNode], NamedDefinition | None]
) -> Iterator[Symbol]:
    taken = (-1, -1)
    for start, end, _, role, node in _sort_captures(captures):
        nest.leave(start)
        if role == "outer":
            nest.frames.append(NestingFrame(start, -end, 0, 0, outer=True))
        elif role == "before":
            nest.decorate(node)
        elif taken != (start, end) and len(nest.frames) < 2 * MAX_NESTING and _is_symbol(role, nest.around()):
            named = name(CapturedNode(role, node, nest.source))
            if named is None:
                continue
            taken = (start, end)
            yield from _make_symbol(nest, role, node, named)


def _sort_captures(captures: "Mapping[str, list[Node]]") -> "list[tuple[int, int, int, str, Node]]":
    groups = {node.start_byte for node in captures.get("group", ())}
    nodes: dict[tuple[int, int, int, str], Node] = {}
    for role, rank in CAPTURE_ORDER.items():
        for node in captures.get(role, ()):
            if role != "outer" or node.start_byte not in groups:
                nodes[node.start_byte, -node.end_byte, rank, role] = node
    return [(*key, nodes[key]) for key in sorted(nodes, key=itemgetter(0, 1, 2))]


def _is_symbol(role: str, around: NestingFrame | None) -> bool:
    """Whether a definition is a symbol: not if it is local to a function or a member of an anonymous object."""
    if role == "constant":
        return around is None or around.kind not in FUNCTION_KINDS
    return role != "member" or (around is not None and around.kind not in FUNCTION_KINDS)


def _make_symbol(nest: NestingState, role: str, node: "Node", named: NamedDefinition) -> Iterator[Symbol]:
    around = nest.around()
    kind = named.kind or KIND_BY_CAPTURE.get(role)
    if kind is SymbolKind.FUNCTION and around and around.kind in TYPE_KINDS:
        kind = SymbolKind.METHOD
    if role == "member" and not (around and around.name):
        kind = SymbolKind.FUNCTION
    frame = nest.frame(node, named, None if role == "module" else kind or SymbolKind.CLASS)
    nest.frames.append(frame._replace(start=node.start_byte, end=node.end_byte))
    if named.adds:
        nest.added[frame.name] = (*nest.added.get(frame.name, ()), *named.adds)
    if kind is None or not named.name:
        return
    signature = _signature(nest, frame.start, named.until or _body_start(node) or frame.end)
    if not signature.startswith(named.lead):
        signature = named.lead + signature
    doc = named.doc or nest.comments.before(frame.row, frame.first)
    yield Symbol(frame.name, kind, frame.row + 1, frame.last + 1, signature, doc, named.bases)


def _body_start(node: "Node") -> int:
    body = node.child_by_field_name("body")
    if body is None and (value := node.child_by_field_name("value")):
        body = value.child_by_field_name("body")
    return body.start_byte if body else 0


def _signature(nest: NestingState, start: int, until: int) -> str:
    until = min(until, start + MAX_SIGNATURE_BYTES)
    parts: list[bytes] = []
    at, number = start, bisect_left(nest.hidden, (start, 0))
    while number < len(nest.hidden) and nest.hidden[number][0] < until:
        parts.append(nest.source.content[at : nest.hidden[number][0]])
        at = max(at, nest.hidden[number][1])
        number += 1
    parts.append(nest.source.content[at:until])
    text = b" ".join(parts).decode("utf-8", "ignore")
    return render_signature(PREPROCESSOR_LINE.sub("", text) if "#" in text else text)


def render_signature(text: str) -> str:
    line = " ".join(text.split())
    if len(line) != len(text):
        line = LOOSE_SPACE.sub("", line).replace(",)", ")")
    while line.endswith(SIGNATURE_TAILS):
        line = line.removesuffix("=>").rstrip("{=;,: ")
    return truncate_text(line, MAX_SIGNATURE_CHARACTERS)


def _add_bases(symbol: Symbol, added: Mapping[str, tuple[str, ...]]) -> Symbol:
    if symbol.kind not in TYPE_KINDS or symbol.name not in added:
        return symbol
    return replace(symbol, bases=tuple(dict.fromkeys((*symbol.bases, *added[symbol.name]))))
