"""The files and symbols that matter for a question, and why."""

from collections import OrderedDict

from afresh.insight.code import Code
from afresh.insight.ranking.question import Question, Ranked
from afresh.insight.ranking.reasons import reasons
from afresh.insight.ranking.symbols import aim, symbols
from afresh.insight.ranking.weigh import weigh

KEPT = 8


def rank(code: Code, question: Question, most: int = 30) -> list[Ranked]:
    """The files that matter, the most telling first, with reasons and symbols."""
    weighed = weigh(code, question)
    best = weighed.best()[:most]
    at = aim(code, weighed.asked, weighed.saying, best)
    return [Ranked(path, weighed.total[path], reasons(code, question, weighed, path), symbols(code, at, path)) for path in best]


_answered: OrderedDict[tuple[str, Question, int], tuple[Ranked, ...]] = OrderedDict()


def concerning(code: Code, question: Question, most: int) -> list[Ranked]:
    """As `rank`; what was asked lately of the same code is not worked out again, whoever holds the view of it."""
    key = (code.digest, question, most)
    if key not in _answered:
        _answered[key] = tuple(rank(code, question, most))
        if len(_answered) > KEPT:
            _answered.popitem(last=False)
    _answered.move_to_end(key)
    return list(_answered[key])
