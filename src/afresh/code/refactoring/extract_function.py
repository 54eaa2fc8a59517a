"""Suggests parts of a function as new functions: ranked by cohesion, named, and checked."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from afresh.code.complexity import MAX_COMPLEXITY, FunctionNode, LoopNode
from afresh.code.python_source import PythonFunction, PythonSource
from afresh.code.refactoring.alike_code import has_duplicate
from afresh.code.refactoring.blocks import StatementBlock, count_paragraph_breaks, find_blocks
from afresh.code.refactoring.clean_interface import explain_unclean_interface
from afresh.code.refactoring.function_flow import FunctionFlow
from afresh.code.refactoring.identifier_words import collect_words
from afresh.code.refactoring.name_new_function import propose_names
from afresh.code.refactoring.name_usage import collect_bound_names, walk_own_scope
from afresh.code.refactoring.plan_extraction import Extraction, ExtractionShape, explain_obstacle, plan_extraction
from afresh.code.refactoring.project_facts import ProjectFacts
from afresh.code.refactoring.render_extraction import NewFunctionPlacement, place_helper, render_call, render_helper
from afresh.code.refactoring.signature_types import SignatureTypes, find_signature_types
from afresh.code.refactoring.suggestion import LineSplice, ProposedRewrite, Suggestion, check_rewrite, score_remaining_complexity

MAX_EXTRACTION_SCORE = 9.0
"""A suggestion with a higher score is not offered."""
MAX_HELPER_PARAMETERS = 5
MAX_HELPER_RESULTS = 2
MIN_BLOCK_LINES = 4
MIN_BLOCK_DECISIONS = 2
MIN_BLOCK_SHARE_OF_EXCESS = 0.12
MAX_BLOCK_SHARE = 0.7
"""A piece with more of the function's lines is the function under another name."""


def score_extraction(extracted: Extraction, where: NewFunctionPlacement, source: PythonSource) -> float:
    """Return a score: 0 is a whole branch that makes a good function; infinity is what no reviewer would accept."""
    block = extracted.block
    parameters = len([name for name in extracted.parameters if name != where.bound])
    wide = parameters > MAX_HELPER_PARAMETERS or len(extracted.results) > MAX_HELPER_RESULTS
    if wide or is_too_small(extracted):
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
    return score + score_raggedness(block, source) + _score_size(block)


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
    """Whether the block has too little in it, or removes too little of the excess: such pieces only scatter a function."""
    block, over = extracted.block, extracted.host.function.complexity - MAX_COMPLEXITY
    return block.lines < MIN_BLOCK_LINES or block.cost < max(MIN_BLOCK_DECISIONS, MIN_BLOCK_SHARE_OF_EXCESS * over)


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


def _score_size(block: StatementBlock) -> float:
    score = 2.5 if block.lines == MIN_BLOCK_LINES else 1.0 if block.lines == MIN_BLOCK_LINES + 1 else 0.0
    return score + (2.0 if block.lines > 60 else 0.0)


NO_SCORE_LIMIT = float("inf")


@dataclass(frozen=True, slots=True, eq=False)
class RankedExtraction:
    ugly: float
    extracted: Extraction
    name: str
    where: NewFunctionPlacement
    types: SignatureTypes


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a block is not offered."""

    block: StatementBlock
    reason: str
    ugly: float = float("inf")


def suggest_extractions(
    source: PythonSource, function: PythonFunction, project: ProjectFacts, cut: float = MAX_EXTRACTION_SCORE
) -> Iterator[Suggestion]:
    """Yield extractions with a score of at most `cut`, the best first."""
    ranked = [one for one in judge_blocks(source, function, project, cut) if isinstance(one, RankedExtraction)]
    for one in sorted(ranked, key=score_with_remainder):
        if suggestion := check_rewrite(source, function, make_rewrite(source, one)):
            yield suggestion


def judge_blocks(
    source: PythonSource, function: PythonFunction, project: ProjectFacts, cut: float = MAX_EXTRACTION_SCORE
) -> Iterator[RankedExtraction | Obstacle]:
    """Yield each block of the function as an extraction that may be offered, or with the reason why not."""
    host = FunctionFlow(function, project.find_frame_sensitive_names(source, function))
    for block in find_blocks(function, source):
        extracted = plan_extraction(host, block)
        if extracted is None:
            yield Obstacle(block, explain_obstacle(host, block))
        else:
            yield _judge_extraction(source, extracted, project, cut)


def _judge_extraction(
    source: PythonSource, extracted: Extraction, project: ProjectFacts, cut: float
) -> RankedExtraction | Obstacle:
    block, where = extracted.block, place_helper(extracted, source)
    if where is None:
        return Obstacle(block, "pieces use names of their class")
    ugly = score_extraction(extracted, where, source)
    if cut < NO_SCORE_LIMIT and (reason := _explain_weakness(extracted, where, source, ugly, cut)):
        return Obstacle(block, reason)
    name, distance = _choose_name(extracted, source, where, project)
    if ugly + distance > cut:
        return Obstacle(block, NO_NAME if distance > cut else NOT_ONE_THING, ugly)
    types = find_signature_types(extracted, source, where.bound)
    if types.unknown and cut < NO_SCORE_LIMIT:
        return Obstacle(block, f"{types.unknown} is not known where code has types", NAMED_BUT_REFUSED)
    if cut < NO_SCORE_LIMIT and has_duplicate(source, block):
        return Obstacle(block, "pieces are in the file twice", NAMED_BUT_REFUSED)
    return RankedExtraction(ugly + distance, extracted, name, where, types)


NO_NAME = "no good name"
NAMED_BUT_REFUSED = -1.0
"""In place of a score: nothing but this reason is in the way."""
NOT_ONE_THING = "pieces are not one thing"


def _explain_weakness(extracted: Extraction, where: NewFunctionPlacement, source: PythonSource, ugly: float, cut: float) -> str:
    """Return why no reviewer would accept the extraction; empty if one might."""
    parameters = [name for name in extracted.parameters if name != where.bound]
    if len(parameters) > MAX_HELPER_PARAMETERS:
        return f"pieces need more than {MAX_HELPER_PARAMETERS} parameters"
    if len(extracted.results) > MAX_HELPER_RESULTS:
        return f"pieces give back more than {MAX_HELPER_RESULTS} results"
    if is_too_small(extracted):
        return "pieces are too small beside what is left"
    node = extracted.host.node
    if extracted.block.lines > MAX_BLOCK_SHARE * ((node.end_lineno or node.lineno) - node.lineno + 1):
        return "pieces are most of the function"
    odd = _explain_odd_helper(extracted, parameters) or explain_unclean_interface(extracted, source)
    return odd or ("" if ugly <= cut else NOT_ONE_THING)


def _explain_odd_helper(extracted: Extraction, parameters: Sequence[str]) -> str:
    if extracted.yields and _yields_once(extracted.block.statements):
        return "pieces only pass on one value"
    if "self" in parameters:
        return "pieces need self outside their class"
    return "pieces give back functions" if _returns_function(extracted) else ""


def _returns_function(extracted: Extraction) -> bool:
    """Whether a result is a function that the piece defines: it would keep the helper's variables alive."""
    nodes = list(walk_own_scope(extracted.block.statements))
    made = {node.name for node in nodes if isinstance(node, FunctionNode)}
    given = [node.value for node in nodes if isinstance(node, ast.Return) and node.value is not None]
    for node in nodes:
        if isinstance(node, ast.Assign) and {one.id for one in node.targets if isinstance(one, ast.Name)} & {*extracted.results}:
            given.append(node.value)
    return bool(made & {*extracted.results}) or any(
        isinstance(value, ast.Lambda) or (isinstance(value, ast.Name) and value.id in made) for value in given
    )


def _yields_once(statements: Sequence[ast.stmt]) -> bool:
    """Whether the piece yields in one place and not in a loop: a generator for one value."""
    nodes = list(walk_own_scope(statements))
    looped = [inner for node in nodes if isinstance(node, LoopNode) for inner in ast.walk(node)]
    yields = [node for node in nodes if isinstance(node, ast.Yield | ast.YieldFrom)]
    return len(yields) == 1 and not any(node is yields[0] for node in looped)


def score_with_remainder(one: RankedExtraction) -> float:
    return one.ugly + _score_remainder(one.extracted)


def _score_remainder(extracted: Extraction) -> float:
    block = extracted.block
    return score_remaining_complexity(
        extracted.host.function.complexity - block.cost + (extracted.shape is ExtractionShape.MAYBE), 1 + block.cost
    )


def _choose_name(
    extracted: Extraction, source: PythonSource, where: NewFunctionPlacement, project: ProjectFacts
) -> tuple[str, float]:
    own, owner = collect_words(source.text), extracted.host.function.owner if where.bound else None
    for name, distance in propose_names(extracted, source):
        if name not in own and (owner is None or project.is_free_method(source, owner, name)):
            return name, distance
    return _name_without_words(own, extracted), NO_SCORE_LIMIT


def _name_without_words(own: frozenset[str], extracted: Extraction) -> str:
    """Return a name for a piece that is never offered: the limit of the score keeps it out."""
    stem = f"_part_of_{extracted.host.node.name.strip('_')}"
    return next(name for number in count() if (name := f"{stem}_{number}" if number else stem) not in own)


def make_rewrite(source: PythonSource, one: RankedExtraction) -> ProposedRewrite:
    extracted, name, where = one.extracted, one.name, one.where
    block = extracted.block
    call = LineSplice(block.first_line, block.last_line + 1, tuple(render_call(extracted, source, name, where)))
    helper = render_helper(extracted, source, name, where, one.types)
    apart = [""] if where.indent else ["", ""]
    lines = [*apart, *helper] if where.after else [*helper, *apart]
    splices = (call, LineSplice(where.line, where.line, tuple(lines)))
    parents = extracted.host.function.name.split(".")[:-1] if where.bound else []
    new = (".".join([*parents, name]),)
    head = _describe_extraction(source, extracted, name, where)
    span = (block.first_line, block.last_line)
    return ProposedRewrite("extract", head, splices, span, score_with_remainder(one), new)


def _describe_extraction(source: PythonSource, extracted: Extraction, name: str, where: NewFunctionPlacement) -> str:
    function, block = extracted.host.function, extracted.block
    opening = source.line(block.statements[0].lineno).strip()[:60]
    arguments = ", ".join(extracted.parameters)
    results = ", ".join(extracted.results) or ("return" if extracted.shape is ExtractionShape.RETURN else "None")
    return (
        f"extract {block.lines} lines of {function.name} in {source.path} (from `{opening}`)"
        f" into {where.prefix}{name}({arguments}) -> {results}"
    )
