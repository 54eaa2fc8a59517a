"""Parts of a function as functions of their own: ranked by how much like one thing they are, named, and checked."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from afresh.insight.complexity import LIMIT
from afresh.insight.reshape.blocks import blocks
from afresh.insight.reshape.edits import Splice
from afresh.insight.reshape.extraction import Extraction, Shape, extraction
from afresh.insight.reshape.host import Host
from afresh.insight.reshape.naming import names_for
from afresh.insight.reshape.quality import CUT, FAR, ugliness
from afresh.insight.reshape.render import Home, call_lines, helper_lines, home
from afresh.insight.reshape.suggestion import Change, Suggestion, checked, unfinished
from afresh.insight.source import Function, Source

EVERY = float("inf")


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    ugly: float
    extracted: Extraction
    name: str
    where: Home


def extractions(source: Source, function: Function, taken: frozenset[str], cut: float = CUT) -> Iterator[Suggestion]:
    """Those that are not worse than `cut`; without one, all that would work."""
    host = Host(function)
    found = [extracted for block in blocks(function, source) if (extracted := extraction(host, block)) is not None]
    ranked: list[Ranked] = []
    for extracted in found:
        where = home(extracted, source)
        ugly = ugliness(extracted, where, source) if where is not None else EVERY
        if where is not None and ugly <= cut:
            name, distance = _name(extracted, source, where, taken)
            if ugly + distance <= cut:
                ranked.append(Ranked(ugly + distance, extracted, name, where))
    if cut == CUT and function.complexity - _reach(ranked) > LIMIT:
        ranked = [one for one in ranked if one.ugly <= FAR]
    for one in sorted(ranked, key=lambda one: one.ugly + _left(one.extracted)):
        score = one.ugly + _left(one.extracted)
        if suggestion := checked(source, function, _change(source, one.extracted, one.name, one.where, score)):
            yield suggestion


def _reach(ranked: list[Ranked]) -> int:
    """How much could go in all, of pieces that do not overlap."""
    lines: set[int] = set()
    total = 0
    for one in sorted(ranked, key=lambda one: -one.extracted.block.cost):
        block = one.extracted.block
        own = range(block.first_line, block.last_line + 1)
        if block.cost + 1 <= LIMIT and lines.isdisjoint(own):
            lines.update(own)
            total += block.cost
    return total


def _left(extracted: Extraction) -> float:
    block = extracted.block
    return unfinished(extracted.host.function.complexity - block.cost + (extracted.shape is Shape.MAYBE), 1 + block.cost)


def _name(extracted: Extraction, source: Source, where: Home, taken: frozenset[str]) -> tuple[str, float]:
    own = words(source.text)
    for name, distance in names_for(extracted, source):
        if name not in own and not (where.bound and name in taken):
            return name, distance
    return f"_part_of_{extracted.host.node.name.strip('_')}", EVERY


@lru_cache(maxsize=4096)
def words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


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
