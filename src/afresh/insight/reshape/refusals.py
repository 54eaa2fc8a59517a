"""Why nothing is offered for a function: what the best piece of it lacks."""

from collections import Counter

from afresh.insight.reshape.blocks import blocks
from afresh.insight.reshape.extraction import Extraction, extraction, obstacle
from afresh.insight.reshape.host import Host
from afresh.insight.reshape.naming import names_for
from afresh.insight.reshape.quality import CUT, MOST_PARAMETERS, MOST_RESULTS, crumb, ugliness
from afresh.insight.reshape.render import Home, home
from afresh.insight.source import Function, Source


def refusal(source: Source, function: Function) -> str:
    """In words, the most frequent first hindrance of the pieces that could go."""
    host = Host(function)
    found: Counter[str] = Counter()
    for block in blocks(function, source):
        extracted = extraction(host, block)
        found[obstacle(host, block) if extracted is None else _lack(extracted, source)] += block.cost
    if not found:
        return "one decision after another on one level, and none of them a piece of its own"
    return found.most_common(1)[0][0]


def _lack(extracted: Extraction, source: Source) -> str:
    where = home(extracted, source)
    if where is None:
        return "pieces use names of their class"
    return _wide(extracted, where) or _shapeless(extracted, where, source)


def _wide(extracted: Extraction, where: Home) -> str:
    parameters = len([name for name in extracted.parameters if name != where.bound])
    if parameters > MOST_PARAMETERS:
        return f"pieces need more than {MOST_PARAMETERS} parameters"
    return f"pieces give back more than {MOST_RESULTS} results" if len(extracted.results) > MOST_RESULTS else ""


def _shapeless(extracted: Extraction, where: Home, source: Source) -> str:
    if crumb(extracted):
        return "pieces are too small beside what is left"
    if next(names_for(extracted, source), None) is None:
        return "the code has no word for what a piece does"
    torn = ugliness(extracted, where, source) > CUT / 2
    return "pieces are not one thing, or wide" if torn else "pieces have no good name"
