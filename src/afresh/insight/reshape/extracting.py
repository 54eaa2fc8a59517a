"""Parts of a function as functions of their own: ranked by how much like one thing they are, named, and checked."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from afresh.insight.complexity import MAX_COMPLEXITY
from afresh.insight.reshape.blocks import find_blocks
from afresh.insight.reshape.edits import LineSplice
from afresh.insight.reshape.extraction import Extraction, ExtractionShape, plan_extraction
from afresh.insight.reshape.host import FunctionFlow
from afresh.insight.reshape.naming import propose_names
from afresh.insight.reshape.quality import MAX_EXTRACTION_SCORE, MAX_UNFINISHED_EXTRACTION_SCORE, score_extraction
from afresh.insight.reshape.render import HelperPlacement, render_call, render_helper, place_helper
from afresh.insight.reshape.suggestion import ProposedRewrite, Suggestion, check_rewrite, score_remaining_complexity
from afresh.insight.source import PythonFunction, PythonSource

NO_SCORE_LIMIT = float("inf")


@dataclass(frozen=True, slots=True, eq=False)
class RankedExtraction:
    ugly: float
    extracted: Extraction
    name: str
    where: HelperPlacement


def suggest_extractions(
    source: PythonSource, function: PythonFunction, taken: frozenset[str], cut: float = MAX_EXTRACTION_SCORE
) -> Iterator[Suggestion]:
    """Those that are not worse than `cut`; without one, all that would work."""
    host = FunctionFlow(function)
    found = [extracted for block in find_blocks(function, source) if (extracted := plan_extraction(host, block)) is not None]
    ranked: list[RankedExtraction] = []
    for extracted in found:
        where = place_helper(extracted, source)
        ugly = score_extraction(extracted, where, source) if where is not None else NO_SCORE_LIMIT
        if where is not None and ugly <= cut:
            name, distance = _choose_name(extracted, source, where, taken)
            if ugly + distance <= cut:
                ranked.append(RankedExtraction(ugly + distance, extracted, name, where))
    if cut == MAX_EXTRACTION_SCORE and function.complexity - _total_extractable_cost(ranked) > MAX_COMPLEXITY:
        ranked = [one for one in ranked if one.ugly <= MAX_UNFINISHED_EXTRACTION_SCORE]
    for one in sorted(ranked, key=lambda one: one.ugly + _score_remainder(one.extracted)):
        score = one.ugly + _score_remainder(one.extracted)
        if suggestion := check_rewrite(source, function, _make_rewrite(source, one.extracted, one.name, one.where, score)):
            yield suggestion


def _total_extractable_cost(ranked: list[RankedExtraction]) -> int:
    """How much could go in all, of pieces that do not overlap."""
    lines: set[int] = set()
    total = 0
    for one in sorted(ranked, key=lambda one: -one.extracted.block.cost):
        block = one.extracted.block
        own = range(block.first_line, block.last_line + 1)
        if block.cost + 1 <= MAX_COMPLEXITY and lines.isdisjoint(own):
            lines.update(own)
            total += block.cost
    return total


def _score_remainder(extracted: Extraction) -> float:
    block = extracted.block
    return score_remaining_complexity(
        extracted.host.function.complexity - block.cost + (extracted.shape is ExtractionShape.MAYBE), 1 + block.cost
    )


def _choose_name(extracted: Extraction, source: PythonSource, where: HelperPlacement, taken: frozenset[str]) -> tuple[str, float]:
    own = collect_words(source.text)
    for name, distance in propose_names(extracted, source):
        if name not in own and not (where.bound and name in taken):
            return name, distance
    return f"_part_of_{extracted.host.node.name.strip('_')}", NO_SCORE_LIMIT


@lru_cache(maxsize=4096)
def collect_words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


def _make_rewrite(
    source: PythonSource, extracted: Extraction, name: str, where: HelperPlacement, score: float
) -> ProposedRewrite:
    block = extracted.block
    call = LineSplice(block.first_line, block.last_line + 1, tuple(render_call(extracted, source, name, where)))
    helper = render_helper(extracted, source, name, where)
    apart = [""] if where.indent else ["", ""]
    lines = [*apart, *helper] if where.after else [*helper, *apart]
    splices = (call, LineSplice(where.line, where.line, tuple(lines)))
    parents = extracted.host.function.name.split(".")[:-1] if where.bound else []
    new = (".".join([*parents, name]),)
    head = _describe_extraction(source, extracted, name, where)
    return ProposedRewrite("extract", head, splices, (block.first_line, block.last_line), score, new)


def _describe_extraction(source: PythonSource, extracted: Extraction, name: str, where: HelperPlacement) -> str:
    function, block = extracted.host.function, extracted.block
    opening = source.line(block.statements[0].lineno).strip()[:60]
    arguments = ", ".join(extracted.parameters)
    results = ", ".join(extracted.results) or ("return" if extracted.shape is ExtractionShape.RETURN else "None")
    return (
        f"extract {block.lines} lines of {function.name} in {source.path} (from `{opening}`)"
        f" into {where.prefix}{name}({arguments}) -> {results}"
    )
