"""Given a task's text and what it has touched: the files and symbols that matter, each with the reason why."""

from afresh.insight.ranking.map import Shown, chosen, map_of, written
from afresh.insight.ranking.question import Question, Ranked
from afresh.insight.ranking.rank import concerning, rank

__all__ = ["Question", "Ranked", "Shown", "chosen", "concerning", "map_of", "rank", "written"]
