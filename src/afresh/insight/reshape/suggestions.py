"""Extractions that are known to work: applied in memory, compiled, names checked, complexity measured before and after."""

import re
import symtable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from afresh.domain.chain import block_id
from afresh.insight.complexity import LIMIT
from afresh.insight.reshape.blocks import Block, blocks
from afresh.insight.reshape.edits import Splice, as_json, edits, spliced
from afresh.insight.reshape.extraction import Extraction, Shape, extraction
from afresh.insight.reshape.host import Host
from afresh.insight.reshape.naming import names_for
from afresh.insight.reshape.render import Home, call_lines, helper_lines, home
from afresh.insight.source import Function, Source, parse

KNOWN = {
    "__file__",
    "__name__",
    "__doc__",
    "__spec__",
    "__loader__",
    "__package__",
    "__builtins__",
    "__annotations__",
    "__path__",
}

ALIKE = 0.75


@dataclass(frozen=True, slots=True)
class Suggestion:
    id: str
    text: str
    path: str
    function: str
    lines: tuple[int, int]
    before: int
    after: int

    def overlap(self, other: "Suggestion") -> float:
        """Share of the lines of both that they have in common."""
        common = min(self.lines[1], other.lines[1]) - max(self.lines[0], other.lines[0]) + 1
        return max(0, common) / (max(self.lines[1], other.lines[1]) - min(self.lines[0], other.lines[0]) + 1)

    @property
    def head(self) -> str:
        return self.text.partition("\n")[0]


def suggestions(source: Source, function: Function, taken: frozenset[str]) -> Iterator[Suggestion]:
    """Best first, none much like one before it. `taken` are words of the project that a new method may not be named by."""
    given: list[Suggestion] = []
    for suggestion in all_suggestions(source, function, taken):
        if not any(suggestion.overlap(other) > ALIKE for other in given):
            given.append(suggestion)
            yield suggestion


def all_suggestions(source: Source, function: Function, taken: frozenset[str]) -> Iterator[Suggestion]:
    host = Host(function)
    found = [extracted for block in blocks(function, source) if (extracted := extraction(host, block)) is not None]
    ranked: list[tuple[float, int, Extraction, str, Home]] = []
    for number, extracted in enumerate(found):
        where = home(extracted, source)
        if where is not None:
            name, distance = _name(extracted, source, where, taken)
            ranked.append((rank(extracted, where, source) + distance, number, extracted, name, where))
    for _, _, extracted, name, where in sorted(ranked, key=lambda one: one[:2]):
        if suggestion := _verified(source, extracted, name, where):
            yield suggestion


def _name(extracted: Extraction, source: Source, where: Home, taken: frozenset[str]) -> tuple[str, int]:
    own = words(source.text)
    for name, distance in names_for(extracted, source):
        if name not in own and not (where.bound and name in taken):
            return name, distance
    return f"_part_of_{extracted.host.node.name.strip('_')}", 9


@lru_cache(maxsize=4096)
def words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


def rank(extracted: Extraction, where: Home, source: Source) -> float:
    """Lower is better: enough in one go, then a narrow interface, then a piece that reads as one thing."""
    block, before = extracted.block, extracted.host.function.complexity
    after, helper = before - block.cost + (extracted.shape is Shape.MAYBE), 1 + block.cost
    score = 0.0
    score += 0 if after <= LIMIT else 40 + 4 * (after - LIMIT)
    score += 0 if helper <= LIMIT else 40 + 4 * (helper - LIMIT)
    score += _width(len([name for name in extracted.parameters if name != where.bound]), len(extracted.results))
    score += 6 * len(set(extracted.parameters) & extracted.host.imported)
    score += 0.4 * max(after, helper)
    score += {Shape.CALL: 0.0, Shape.RETURN: 0.0, Shape.CONTINUE: 1.0, Shape.MAYBE: 3.0}[extracted.shape]
    return score + _roughness(block, extracted, source)


def _width(parameters: int, results: int) -> float:
    return parameters + 1.5 * results + 2 * max(0, parameters - 3) + 4 * max(0, parameters - 6) + 4 * max(0, results - 1)


def _roughness(block: Block, extracted: Extraction, source: Source) -> float:
    """How little the piece looks like one thing: torn from the middle, begun or ended by statements of no weight."""
    node = extracted.host.node
    length = (node.end_lineno or node.lineno) - node.lineno + 1
    score = 3.0 if block.lines < 4 else 0.0
    score += 4.0 if block.lines > 0.7 * length else 0.0
    begins = block.first_line < block.statements[0].lineno or not source.line(block.first_line - 1).strip()
    score -= 1.5 if begins else 0.0
    ends = block.at_end or not source.lines[block.last_line : block.last_line + 1][0].strip()
    score -= 1.0 if ends else 0.0
    score -= 1.5 if block.whole or len(block.statements) == 1 else 0.0
    return score + 0.5 * max(0, len(block.statements) - 4)


def _verified(source: Source, extracted: Extraction, name: str, where: Home) -> Suggestion | None:
    splices = _splices(source, extracted, name, where)
    result = parse(source.path, spliced(source, splices))
    if result is None or undefined(result) - undefined(source):
        return None
    function = extracted.host.function
    measured = {one.name: one.complexity for one in result.functions}
    helper = measured.get(".".join([*(function.name.split(".")[:-1] if where.bound else []), name]))
    after = measured.get(function.name)
    if helper is None or after is None or after >= function.complexity or (helper > LIMIT and helper > function.complexity - 3):
        return None
    changes = edits(source, splices)
    text = f"{_header(source, extracted, name, where, after)}\n{as_json(source.path, changes)}"
    block = extracted.block
    lines = (block.first_line, block.last_line)
    return Suggestion(block_id(text)[:12], text, source.path, function.name, lines, function.complexity, after)


def _splices(source: Source, extracted: Extraction, name: str, where: Home) -> list[Splice]:
    block = extracted.block
    call = Splice(block.first_line, block.last_line + 1, tuple(call_lines(extracted, source, name, where)))
    helper = helper_lines(extracted, source, name, where)
    apart = [""] if where.indent else ["", ""]
    lines = [*apart, *helper] if where.after else [*helper, *apart]
    return [call, Splice(where.line, where.line, tuple(lines))]


def _header(source: Source, extracted: Extraction, name: str, where: Home, after: int) -> str:
    """No line numbers: the same suggestion keeps its id when lines above it move."""
    function, block = extracted.host.function, extracted.block
    opening = source.line(block.statements[0].lineno).strip()[:60]
    arguments = ", ".join(extracted.parameters)
    results = ", ".join(extracted.results) or ("return" if extracted.shape is Shape.RETURN else "None")
    return (
        f"extract {block.lines} lines of {function.name} in {source.path} (from `{opening}`)"
        f" into {where.prefix}{name}({arguments}) -> {results}: complexity {function.complexity} -> {after}"
    )


def undefined(source: Source) -> frozenset[str]:
    """Names that the file reads as globals and does not define itself (builtins among them)."""
    top = symtable.symtable(source.text, source.path, "exec")
    defined = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()} | KNOWN
    found: set[str] = set()
    pending = [top]
    while pending:
        table = pending.pop()
        found.update(s.get_name() for s in table.get_symbols() if s.is_referenced() and (s.is_global() or table is top))
        pending.extend(table.get_children())
    return frozenset(found - defined)
