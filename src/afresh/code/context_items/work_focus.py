"""What the work is about: target definitions and relevant files."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from afresh.code.context_items.target_definitions import TargetDefinition, find_targets, join_user_texts
from afresh.code.index.code_index import CodeIndex
from afresh.code.ranking.query import RankedFile, RankingQuery
from afresh.code.ranking.rank_files import rank_files_cached
from afresh.core.commit import NO_COMMIT_HISTORY, CommitHistory
from afresh.core.context_item import SourceLine
from afresh.core.line_region import Region
from afresh.core.state import State
from afresh.core.symbol import Symbol, SymbolKind
from afresh.core.truncate import to_one_line

TOOL_MADE_PATH = re.compile(
    r"\.(?:egg|dist)-info(?:/|$)|(?:^|/)(?:node_modules|vendor|__pycache__)/|\.lock$|-lock\.json$|\.min\.\w+$"
)
"""Files made by tools, for tools."""
MAX_LINE_CHARACTERS = 110
MAX_RANKED_FILES = 12
ASIDE_SCORE_FACTOR = 0.6
"""Characters of a source line that is shown alone; files that are ranked; and the score factor of a file outside the product."""
ASIDE_FOLDERS = frozenset(
    ("bench", "benches", "benchmark", "benchmarks", "example", "examples", "docs", "doc", "scripts", "demo", "demos")
)


@dataclass(frozen=True, slots=True)
class WorkFocus:
    code: CodeIndex
    state: State
    targets: tuple[TargetDefinition, ...]
    ranked: tuple[RankedFile, ...] = ()
    """Relevant files, the highest ranked first."""
    written: tuple[Region, ...] = ()
    """Lines that the task itself has written."""

    def made(self, path: str, start: int, end: int) -> bool:
        """Whether most of these lines are the task's own."""
        own = {line for one in self.written if one.path == path for line in range(max(start, one.start), min(end, one.end) + 1)}
        return 2 * len(own) > end - start + 1

    def seen(self, path: str, start: int, end: int) -> bool:
        """Whether the model has read or written one of these lines, so that the section `files` shows them."""
        return any(region.path == path and region.meets(start, end) for region in self.state.memory.regions)

    def source(self, path: str, start: int, end: int) -> tuple[SourceLine, ...]:
        """Return the lines as on disk now."""
        lines = self.code.text(path).splitlines()
        return tuple([SourceLine(number, lines[number - 1]) for number in range(start, min(end, len(lines)) + 1)])

    def line(self, path: str, number: int) -> str:
        lines = self.code.text(path).splitlines()
        return to_one_line(lines[number - 1].strip(), MAX_LINE_CHARACTERS) if 0 < number <= len(lines) else ""

    @property
    def functions(self) -> list[TargetDefinition]:
        return [target for target in self.targets if target.symbol.kind in (SymbolKind.FUNCTION, SymbolKind.METHOD)]

    @property
    def places(self) -> list[str]:
        """Return the files of the targets and the changed files, each once."""
        return list(dict.fromkeys([*[target.path for target in self.targets], *self.state.workspace.changed]))

    def methods(self, path: str, symbol: Symbol) -> Iterator[Symbol]:
        start = symbol.name + "."
        return (one for one in self.code.reading(path).symbols if one.kind is SymbolKind.METHOD and one.name.startswith(start))


def build_work_focus(
    code: CodeIndex, state: State, about: Sequence[Region] = (), history: CommitHistory = NO_COMMIT_HISTORY
) -> WorkFocus:
    """Build the focus. The ranking uses what people wrote and what was changed, not the last thought, so it seldom changes."""
    touched = tuple(path for path in state.workspace.changed if path in code.files)
    ranked = rerank_product_first(
        code, state, rank_files_cached(code, RankingQuery(join_user_texts(state), touched, history), 2 * MAX_RANKED_FILES)
    )[:MAX_RANKED_FILES]
    written = tuple(one for one in about if one.changed)
    return WorkFocus(code, state, tuple(find_targets(code, state, about, ranked)), tuple(ranked), written)


def rerank_product_first(code: CodeIndex, state: State, ranked: Sequence[RankedFile]) -> list[RankedFile]:
    """Sort the product before supporting files, and before its tests unless the task asks for tests."""
    asks = state.task.judged_as == "write_tests"
    scores = [
        one.score * (ASIDE_SCORE_FACTOR if (code.is_test(one.path) and not asks) or is_aside(one.path) else 1.0) for one in ranked
    ]
    top = max(scores, default=0.0) or 1.0
    found = [replace(one, score=score / top) for one, score in zip(ranked, scores, strict=True)]
    return sorted(found, key=lambda one: (-one.score, one.path))


def is_aside(path: str) -> bool:
    """Whether the path is in a top folder that supports the product, such as docs or examples."""
    return path.split("/")[0] in ASIDE_FOLDERS
