"""Suggests parts of a function as new functions: ranked by cohesion, named, and checked."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from afresh.code.complexity import MAX_COMPLEXITY, FunctionNode
from afresh.code.python_source import PythonFunction, PythonSource
from afresh.code.refactoring.blocks import StatementBlock, count_paragraph_breaks, find_blocks
from afresh.code.refactoring.function_flow import FunctionFlow
from afresh.code.refactoring.identifier_words import collect_words
from afresh.code.refactoring.name_new_function import propose_names
from afresh.code.refactoring.name_usage import collect_bound_names
from afresh.code.refactoring.plan_extraction import Extraction, ExtractionShape, plan_extraction
from afresh.code.refactoring.render_extraction import NewFunctionPlacement, place_helper, render_call, render_helper
from afresh.code.refactoring.suggestion import LineSplice, ProposedRewrite, Suggestion, check_rewrite, score_remaining_complexity

MAX_EXTRACTION_SCORE = 9.0
"""A suggestion with a higher score is not offered."""
MAX_UNFINISHED_EXTRACTION_SCORE = 5.0
"""The same if the function would stay over the complexity limit whatever is extracted: then only good extractions are offered."""
MAX_HELPER_PARAMETERS = 5
MAX_HELPER_RESULTS = 2
MIN_BLOCK_LINES = 3


def score_extraction(extracted: Extraction, where: NewFunctionPlacement, source: PythonSource) -> float:
    """Return a score: 0 is a whole branch that makes a good function; infinity is what no reviewer would accept."""
    block = extracted.block
    parameters = len([name for name in extracted.parameters if name != where.bound])
    wide = parameters > MAX_HELPER_PARAMETERS or len(extracted.results) > MAX_HELPER_RESULTS
    if wide or block.lines < MIN_BLOCK_LINES or is_too_small(extracted):
        return float("inf")
    score = 0.6 * parameters + 2.0 * max(0, parameters - 3)
    score += {0: 0.0, 1: 0.5, 2: 4.0}[len(extracted.results)]
    score += 1.0 * len(set(extracted.results) & set(extracted.parameters))
    score += 6.0 * len(set(extracted.parameters) & extracted.host.imported)
    score += 5.0 * any(isinstance(statement, FunctionNode | ast.ClassDef) for statement in block.statements)
    score += {ExtractionShape.CALL: 0.0, ExtractionShape.RETURN: 0.0, ExtractionShape.CONTINUE: 1.0, ExtractionShape.MAYBE: 3.0}[
        extracted.shape
    ]
    score += 3.0 * (_count_unrelated_groups(extracted) - 1)
    return score + score_raggedness(block, source) + _score_size(block, extracted)


def _count_unrelated_groups(extracted: Extraction) -> int:
    """Return the number of groups of statements that share no variable; more than one means more than one purpose."""
    host = extracted.host
    shared = (collect_bound_names(extracted.block.statements) if extracted.results else host.names) - {"self", "cls"}
    groups: list[set[str]] = []
    for statement in extracted.block.statements:
        mentioned = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} & shared
        joined = [group for group in groups if group & mentioned]
        groups = [group for group in groups if not group & mentioned] + [mentioned.union(*joined)]
    return len(groups)


def is_too_small(extracted: Extraction) -> bool:
    """Whether the block removes too little of the excess complexity: such pieces only scatter a long function."""
    block, over = extracted.block, extracted.host.function.complexity - MAX_COMPLEXITY
    return block.cost < over and (block.cost < max(2, 0.12 * over) or block.lines < MIN_BLOCK_LINES + 2)


def score_raggedness(block: StatementBlock, source: PythonSource) -> float:
    """Return how incoherent the block is: a paragraph, a single statement or a whole branch scores low, an arbitrary run of lines
    high.
    """
    if block.whole:
        return 0.5 * count_paragraph_breaks(block, source)
    begins = block.start == 0 or block.first_line < block.statements[0].lineno or _is_blank_line(source, block.first_line - 1)
    ends = block.at_end or _is_blank_line(source, block.last_line + 1)
    if len(block.statements) == 1:
        return 0.5 * (not begins) + 0.5 * (not ends)
    return 2.5 * (not begins) + 2.0 * (not ends) + 0.4 * max(0, len(block.statements) - 5) + count_paragraph_breaks(block, source)


def _is_blank_line(source: PythonSource, line: int) -> bool:
    return not 1 <= line <= len(source.lines) or not source.line(line).strip()


def _score_size(block: StatementBlock, extracted: Extraction) -> float:
    node = extracted.host.node
    length = (node.end_lineno or node.lineno) - node.lineno + 1
    score = 2.5 if block.lines == MIN_BLOCK_LINES else 1.0 if block.lines == MIN_BLOCK_LINES + 1 else 0.0
    score += 3.0 if block.lines > 0.7 * length else 0.0
    return score + (2.0 if block.lines > 60 else 0.0)


NO_SCORE_LIMIT = float("inf")


@dataclass(frozen=True, slots=True, eq=False)
class RankedExtraction:
    ugly: float
    extracted: Extraction
    name: str
    where: NewFunctionPlacement


def suggest_extractions(
    source: PythonSource, function: PythonFunction, taken: frozenset[str], cut: float = MAX_EXTRACTION_SCORE
) -> Iterator[Suggestion]:
    """Yield extractions with a score of at most `cut`, the best first."""
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
    """Return the total complexity that blocks which do not overlap could remove."""
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


def _choose_name(
    extracted: Extraction, source: PythonSource, where: NewFunctionPlacement, taken: frozenset[str]
) -> tuple[str, float]:
    own = collect_words(source.text)
    for name, distance in propose_names(extracted, source):
        if name not in own and not (where.bound and name in taken):
            return name, distance
    return f"_part_of_{extracted.host.node.name.strip('_')}", NO_SCORE_LIMIT


def _make_rewrite(
    source: PythonSource, extracted: Extraction, name: str, where: NewFunctionPlacement, score: float
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


def _describe_extraction(source: PythonSource, extracted: Extraction, name: str, where: NewFunctionPlacement) -> str:
    function, block = extracted.host.function, extracted.block
    opening = source.line(block.statements[0].lineno).strip()[:60]
    arguments = ", ".join(extracted.parameters)
    results = ", ".join(extracted.results) or ("return" if extracted.shape is ExtractionShape.RETURN else "None")
    return (
        f"extract {block.lines} lines of {function.name} in {source.path} (from `{opening}`)"
        f" into {where.prefix}{name}({arguments}) -> {results}"
    )
