"""Why nothing is offered for a function: what the best piece of it lacks."""

from collections import Counter

from afresh.insight.reshape.blocks import find_blocks
from afresh.insight.reshape.extraction import Extraction, plan_extraction, explain_obstacle
from afresh.insight.reshape.host import FunctionFlow
from afresh.insight.reshape.naming import propose_names
from afresh.insight.reshape.quality import (
    MAX_EXTRACTION_SCORE,
    MAX_HELPER_PARAMETERS,
    MAX_HELPER_RESULTS,
    is_too_small,
    score_extraction,
)
from afresh.insight.reshape.render import HelperPlacement, place_helper
from afresh.insight.source import PythonFunction, PythonSource


def explain_missing_suggestion(source: PythonSource, function: PythonFunction) -> str:
    """In words, the most frequent first hindrance of the pieces that could go."""
    host = FunctionFlow(function)
    found: Counter[str] = Counter()
    for block in find_blocks(function, source):
        extracted = plan_extraction(host, block)
        found[explain_obstacle(host, block) if extracted is None else _explain_weakness(extracted, source)] += block.cost
    if not found:
        return "one decision after another on one level, and none of them a piece of its own"
    return found.most_common(1)[0][0]


def _explain_weakness(extracted: Extraction, source: PythonSource) -> str:
    where = place_helper(extracted, source)
    if where is None:
        return "pieces use names of their class"
    return _explain_width(extracted, where) or _explain_shape(extracted, where, source)


def _explain_width(extracted: Extraction, where: HelperPlacement) -> str:
    parameters = len([name for name in extracted.parameters if name != where.bound])
    if parameters > MAX_HELPER_PARAMETERS:
        return f"pieces need more than {MAX_HELPER_PARAMETERS} parameters"
    return f"pieces give back more than {MAX_HELPER_RESULTS} results" if len(extracted.results) > MAX_HELPER_RESULTS else ""


def _explain_shape(extracted: Extraction, where: HelperPlacement, source: PythonSource) -> str:
    if is_too_small(extracted):
        return "pieces are too small beside what is left"
    if next(propose_names(extracted, source), None) is None:
        return "the code has no word for what a piece does"
    torn = score_extraction(extracted, where, source) > MAX_EXTRACTION_SCORE / 2
    return "pieces are not one thing, or wide" if torn else "pieces have no good name"
