"""Given a task's text and what it has touched: the files and symbols that matter, each with the reason why."""

from afresh.insight.ranking.map import RankedMapFile, select_map_files, render_ranked_map, render_map_files
from afresh.insight.ranking.question import RankingQuery, RankedFile
from afresh.insight.ranking.rank import rank_files_cached, rank_files

__all__ = [
    "RankingQuery",
    "RankedFile",
    "RankedMapFile",
    "select_map_files",
    "rank_files_cached",
    "render_ranked_map",
    "rank_files",
    "render_map_files",
]
