"""The files and symbols that matter for a question, and why."""

from collections import OrderedDict

from afresh.insight.code import CodeIndex
from afresh.insight.ranking.question import RankingQuery, RankedFile
from afresh.insight.ranking.reasons import explain_rank
from afresh.insight.ranking.symbols import make_symbol_criteria, rank_symbols
from afresh.insight.ranking.weigh import score_files

MAX_CACHED_RANKINGS = 8


def rank_files(code: CodeIndex, question: RankingQuery, most: int = 30) -> list[RankedFile]:
    """The files that matter, the most telling first, with reasons and symbols."""
    weighed = score_files(code, question)
    best = weighed.best()[:most]
    at = make_symbol_criteria(code, weighed.asked, weighed.saying, best)
    return [
        RankedFile(path, weighed.total[path], explain_rank(code, question, weighed, path), rank_symbols(code, at, path))
        for path in best
    ]


_cached_rankings: OrderedDict[tuple[str, RankingQuery, int], tuple[RankedFile, ...]] = OrderedDict()


def rank_files_cached(code: CodeIndex, question: RankingQuery, most: int) -> list[RankedFile]:
    """As `rank`; what was asked lately of the same code is not worked out again, whoever holds the view of it."""
    key = (code.digest, question, most)
    if key not in _cached_rankings:
        _cached_rankings[key] = tuple(rank_files(code, question, most))
        if len(_cached_rankings) > MAX_CACHED_RANKINGS:
            _cached_rankings.popitem(last=False)
    _cached_rankings.move_to_end(key)
    return list(_cached_rankings[key])
