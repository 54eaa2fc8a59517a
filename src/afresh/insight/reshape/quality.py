"""How far an extraction is from one that a reviewer would have written, and where that is too far."""

import ast

from afresh.insight.complexity import MAX_COMPLEXITY, FunctionNode
from afresh.insight.reshape.blocks import StatementBlock, count_paragraph_breaks
from afresh.insight.reshape.extraction import Extraction, ExtractionShape
from afresh.insight.reshape.names import collect_bound_names
from afresh.insight.reshape.render import HelperPlacement
from afresh.insight.source import PythonSource

MAX_EXTRACTION_SCORE = 9.0
"""Rather no suggestion than one that is worse than this."""
MAX_UNFINISHED_EXTRACTION_SCORE = 5.0
"""The same where the function would stay over the limit whatever is taken out of it: only what is good by itself."""
MAX_HELPER_PARAMETERS = 5
MAX_HELPER_RESULTS = 2
MIN_BLOCK_LINES = 3


def score_extraction(extracted: Extraction, where: HelperPlacement, source: PythonSource) -> float:
    """0 is a whole branch with a good reason to be a function; infinite is what no reviewer would take."""
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
    """Into how many groups the statements fall that have no variable in common: more than one is more than one thing."""
    host = extracted.host
    shared = (collect_bound_names(extracted.block.statements) if extracted.results else host.names) - {"self", "cls"}
    groups: list[set[str]] = []
    for statement in extracted.block.statements:
        mentioned = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} & shared
        joined = [group for group in groups if group & mentioned]
        groups = [group for group in groups if not group & mentioned] + [mentioned.union(*joined)]
    return len(groups)


def is_too_small(extracted: Extraction) -> bool:
    """Too little of what is too much: such pieces only scatter a long function."""
    block, over = extracted.block, extracted.host.function.complexity - MAX_COMPLEXITY
    return block.cost < over and (block.cost < max(2, 0.12 * over) or block.lines < MIN_BLOCK_LINES + 2)


def score_raggedness(block: StatementBlock, source: PythonSource) -> float:
    """How little the piece looks like one thing: a paragraph, a statement or a whole branch is one, a run of lines is not."""
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
