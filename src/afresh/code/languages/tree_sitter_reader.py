"""Reads a file with a tree-sitter grammar into a `FileReading`.

A language provides one query. The names of its captures say what a node is:

- `mention`, `comment`, `import`, `package` and `error` mean what their names say;
- `class`, `interface`, `function`, `method`, `member` (of an object literal) and `constant` define a symbol;
- `module` and `scope` add their name to symbols inside them; only `module` is a symbol itself;
- `outer` is the enclosing statement that belongs to a definition, unless it is a `group` of several;
- `hidden` is a comment that documents nothing, `text` a string, `code` what is computed inside one;
- `before` is a decorator, annotation or attribute.
"""

import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from afresh.code.languages.doc_comments import CommentStyle, DocComments, SourceBytes
from afresh.code.languages.symbol_extraction import CapturedNode, NamedDefinition, extract_symbols
from afresh.core.symbol import FileReading, ImportedModule
from afresh.errors import suggest_reinstall

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query


MAX_MISREAD_SHARE = 0.25
"""The share of a file that may fail to parse without being reported."""

QUOTED = re.compile(rb"'[^'\n]*'|\"[^\"\n]*\"")
WORD, ASCII_WORD = re.compile(r"\w+"), re.compile(r"\w+", re.ASCII)
_start_byte = attrgetter("start_byte")
"""Used to sort captures, which come in no order."""


@dataclass(frozen=True, slots=True)
class Grammar:
    language: str
    title: str
    wheel: str
    query: str
    style: CommentStyle
    name: Callable[[CapturedNode], NamedDefinition | None]
    imports: Callable[[CapturedNode], Iterable[ImportedModule]]
    entry: Callable[[FileReading, str, Collection[str]], str]
    """Returns why a run may begin in a file, given its reading, its text and its captures."""
    dialect: str = "language"
    is_strict: bool = False
    """Whether any error is a fault, since people wrote no errors where the grammar knows the whole language."""
    keywords: frozenset[str] = frozenset()
    """If given, every other word outside of `text` and `hidden` is a mention."""


def read_with_grammar(grammar: Grammar, text: str) -> FileReading:
    """Return what could be parsed, even if there are errors; an empty reading if the text is not safe to parse."""
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if _load_grammar(grammar.wheel, grammar.dialect, grammar.query) is None:
        return FileReading(grammar.language, _count_lines(text), fault=f"{grammar.title} is not read: {suggest_reinstall()}")
    content = text.encode()
    if fault := unparsable_reason_from_content(content):
        return FileReading(grammar.language, _count_lines(text), fault=fault)
    return _build_reading(grammar, text, SourceBytes(content), _captures(grammar, content))


def _count_lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and bool(text))


@cache
def _load_grammar(wheel: str, dialect: str, query: str) -> "tuple[Language, Query] | None":
    """Return the grammar and query; None when the grammars are not installed."""
    try:
        sitter: Any = import_module("tree_sitter")
        language = sitter.Language(getattr(import_module(wheel), dialect)())
    except ImportError:
        return None
    return language, sitter.Query(language, query)


def _captures(grammar: Grammar, content: bytes) -> "dict[str, list[Node]]":
    """Return the captures by name, in no order. `matches` is used because `captures` sorts, in time quadratic in the length of a
    statement.
    """
    from tree_sitter import Parser, QueryCursor

    loaded = _load_grammar(grammar.wheel, grammar.dialect, grammar.query)
    assert loaded is not None
    found: dict[str, list[Node]] = defaultdict(list)
    for _, captured in QueryCursor(loaded[1]).matches(Parser(loaded[0]).parse(content).root_node):
        for name, nodes in captured.items():
            found[name] += nodes
    return found


def _sort_nodes(nodes: "Iterable[Node]") -> "list[Node]":
    """Return each node once, in reading order."""
    return sorted({node.id: node for node in nodes}.values(), key=_start_byte)


def _build_reading(grammar: Grammar, text: str, source: SourceBytes, captures: "dict[str, list[Node]]") -> FileReading:
    comments = DocComments(source, _sort_nodes(captures.get("comment", ())), grammar.style)
    symbols = extract_symbols(captures, source, comments, grammar.name)
    imports = [
        module
        for node in _sort_nodes(captures.get("import", ()))
        for module in grammar.imports(CapturedNode("import", node, source))
    ]
    reading = FileReading(
        grammar.language,
        _count_lines(text),
        symbols=tuple(symbols),
        imports=tuple(imports),
        mentions=_list_mentions(captures, source.content, grammar.keywords),
        fault=_parse_fault(source.content, captures.get("error", ()), grammar.is_strict),
        packages=tuple(dict.fromkeys(_package_name(node, source) for node in _sort_nodes(captures.get("package", ())))),
    )
    entry = grammar.entry(reading, text, captures)
    return replace(reading, entry=entry) if entry else reading


def _list_mentions(captures: "dict[str, list[Node]]", content: bytes, keywords: frozenset[str]) -> tuple[str, ...]:
    names = {name.decode() for name in {content[node.start_byte : node.end_byte] for node in captures.get("mention", ())}}
    if keywords:
        texts = sorted((node.start_byte, node.end_byte) for role in ("text", "hidden") for node in captures.get(role, ()))
        pieces = [QUOTED.sub(b"", content[node.start_byte : node.end_byte]) for node in captures.get("code", ())]
        at = 0
        for start, end in (*texts, (len(content), 0)):
            pieces.append(content[at:start])
            at = max(at, end)
        code = b"\n".join(pieces).decode()
        words = {*(ASCII_WORD if code.isascii() else WORD).findall(code)} - keywords
        names |= {word for word in words if not word[0].isdigit()}
    return tuple(sorted(names))


def _package_name(node: "Node", source: SourceBytes) -> str:
    return "".join(source.text(node).split())


def _parse_fault(content: bytes, errors: "Iterable[Node]", is_strict: bool) -> str:
    nodes = _sort_nodes(errors)
    misread = sum(_unparsed_bytes(node) for node in nodes)
    if is_strict:
        return "does not parse" if nodes else ""
    if misread > MAX_MISREAD_SHARE * len(content):
        return f"does not parse: {100 * misread // len(content)} % of it makes no sense"
    return ""


def _unparsed_bytes(error: "Node") -> int:
    """Return the number of bytes of an error node that none of its children covers."""
    return error.end_byte - error.start_byte - sum(c.end_byte - c.start_byte for c in error.named_children if c.child_count)


NON_BRACKET_BYTES = bytes(byte for byte in range(256) if byte not in b"()[]{}")
MAX_BRACKET_ROUNDS = 400
MAX_UNPAIRED_BRACKETS = 4_000
"""Limits: rounds that each remove one to three levels of brackets, and unmatched brackets."""
MAX_UNCHECKED_BYTES = 4_000
MAX_COMPRESSION_RATIO = 40
WHOLE_LINE_ENDS = (b")", b"}", b";")
"""Texts of up to this many bytes are not checked; larger ones must not compress by more than this ratio, but lines that end so
count once: a statement that is repeated harms nobody, an expression that goes on does."""


def unparsable_reason_from_content(content: bytes) -> str:
    """Return why the content is not parsed (nested too deeply, too many unmatched brackets, repetitive data); empty if it is."""
    lines = content.split(b"\n")
    whole = {line for line in lines if line.rstrip().endswith(WHOLE_LINE_ENDS)}
    unlike = b"\n".join([*whole, *(line for line in lines if line not in whole)])
    if len(unlike) > MAX_UNCHECKED_BYTES and len(zlib.compress(unlike, 1)) * MAX_COMPRESSION_RATIO < len(unlike):
        return "the same over and over, data"
    left = content.translate(None, NON_BRACKET_BYTES)
    for _ in range(MAX_BRACKET_ROUNDS):
        before = len(left)
        left = left.replace(b"()", b"").replace(b"[]", b"").replace(b"{}", b"")
        if len(left) == before:
            return f"does not parse: {before:,} brackets without a partner" if before > MAX_UNPAIRED_BRACKETS else ""
    return f"does not parse: brackets nested more than {MAX_BRACKET_ROUNDS} deep"
