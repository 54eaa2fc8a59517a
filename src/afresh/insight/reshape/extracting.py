"""Parts of a function as functions of their own: ranked by how much like one thing they are, named, and checked."""

import re
from collections.abc import Iterator
from functools import lru_cache

from afresh.insight.reshape.blocks import Block, blocks
from afresh.insight.reshape.edits import Splice
from afresh.insight.reshape.extraction import Extraction, Shape, extraction
from afresh.insight.reshape.host import Host
from afresh.insight.reshape.naming import names_for
from afresh.insight.reshape.render import Home, call_lines, helper_lines, home
from afresh.insight.reshape.suggestion import Change, Suggestion, checked, unfinished
from afresh.insight.source import Function, Source


def extractions(source: Source, function: Function, taken: frozenset[str]) -> Iterator[Suggestion]:
    host = Host(function)
    found = [extracted for block in blocks(function, source) if (extracted := extraction(host, block)) is not None]
    ranked: list[tuple[float, int, Extraction, str, Home]] = []
    for number, extracted in enumerate(found):
        where = home(extracted, source)
        if where is not None:
            name, distance = _name(extracted, source, where, taken)
            ranked.append((rank(extracted, where, source) + distance, number, extracted, name, where))
    for score, _, extracted, name, where in sorted(ranked, key=lambda one: one[:2]):
        if suggestion := checked(source, function, _change(source, extracted, name, where, score)):
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
    score = unfinished(before - block.cost + (extracted.shape is Shape.MAYBE), 1 + block.cost)
    score += _width(len([name for name in extracted.parameters if name != where.bound]), len(extracted.results))
    score += 6 * len(set(extracted.parameters) & extracted.host.imported)
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


def _change(source: Source, extracted: Extraction, name: str, where: Home, score: float) -> Change:
    block = extracted.block
    call = Splice(block.first_line, block.last_line + 1, tuple(call_lines(extracted, source, name, where)))
    helper = helper_lines(extracted, source, name, where)
    apart = [""] if where.indent else ["", ""]
    lines = [*apart, *helper] if where.after else [*helper, *apart]
    splices = (call, Splice(where.line, where.line, tuple(lines)))
    parents = extracted.host.function.name.split(".")[:-1] if where.bound else []
    new = (".".join([*parents, name]),)
    head = _head(source, extracted, name, where)
    return Change("extract", head, splices, (block.first_line, block.last_line), score, new)


def _head(source: Source, extracted: Extraction, name: str, where: Home) -> str:
    function, block = extracted.host.function, extracted.block
    opening = source.line(block.statements[0].lineno).strip()[:60]
    arguments = ", ".join(extracted.parameters)
    results = ", ".join(extracted.results) or ("return" if extracted.shape is Shape.RETURN else "None")
    return (
        f"extract {block.lines} lines of {function.name} in {source.path} (from `{opening}`)"
        f" into {where.prefix}{name}({arguments}) -> {results}"
    )
