"""What the work is about: definitions that the task names, changes or describes, and the relevant files."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from afresh.code.context_items import match_text
from afresh.code.context_items.match_text import (
    DEFINITION_KINDS,
    PATH_AND_LINE,
    PATH_PATTERN,
    find_files_at_hand,
    find_named_definitions,
    find_named_files,
    find_option_classes,
)
from afresh.code.index.code_index import CodeIndex
from afresh.code.ranking.query import RankedFile, RankingQuery, find_surely_implied_files
from afresh.code.ranking.rank_files import rank_files_cached
from afresh.core.commit import NO_COMMIT_HISTORY, CommitHistory
from afresh.core.context_item import SourceLine
from afresh.core.line_region import Region
from afresh.core.state import State
from afresh.core.symbol import Symbol, SymbolKind, SymbolPlace
from afresh.core.truncate import to_one_line

FILE_SUFFIX = re.compile(r"\.(?:\w{1,3}|toml|yaml|json)$")
MAX_TARGETS = 8
MAX_PLAN_ITEMS = 2
MAX_DEFINITIONS_OF_WHOLE_FILE = 6
MAX_SEARCHED_FILES = 4
MAX_LIKELY_FILES = 5
MAX_PASSING_LINES = 60
"""Limits: targets; plan items; definitions of a file that is a target as a whole; files searched by words; highest ranked files,
in which a quoted word is looked up first; and lines of a definition that is a target when only mentioned in passing.
"""
NAMED_IN_TASK = "named in the task"
NAMED_IN_PLAN = "named in your plan"
NAMED_IN_THOUGHT = "named in your last thought"
IN_REVIEWED_DIFF = "in the diff"
CHANGED_BY_TASK = "changed by this task"
IN_NAMED_FILE = "in a file that the task names"
IN_IMPLIED_FILE = "in a file that the task is about"
NAMED_BY_OPTION = "what an option in the task is called after"
SHARES_WORDS = "speaks of the same"


@dataclass(frozen=True, slots=True)
class TargetDefinition:
    place: SymbolPlace
    why: str

    @property
    def path(self) -> str:
        return self.place.path

    @property
    def symbol(self) -> Symbol:
        return self.place.symbol


def find_targets(
    code: CodeIndex, state: State, about: Sequence[Region] = (), ranked: Sequence[RankedFile] = ()
) -> list[TargetDefinition]:
    """Return the targets, the surest first, each once."""
    found: dict[tuple[str, str], TargetDefinition] = {}
    guessed = (
        () if state.workspace.changed or any(not one.changed for one in about) else find_targets_by_words(code, state, ranked)
    )
    written = [
        *find_targets_in_regions(code, [one for one in about if not one.changed], IN_REVIEWED_DIFF),
        *find_changed_targets(code, about),
    ]
    options = [TargetDefinition(place, NAMED_BY_OPTION) for place in find_option_classes(code, join_user_texts(state))]
    for target in (
        *find_named_targets(code, state, ranked),
        *find_traceback_targets(code, state),
        *written,
        *find_targets_in_named_files(code, state),
        *options,
        *guessed,
    ):
        found.setdefault((target.path, target.symbol.name), target)
    return list(found.values())[:MAX_TARGETS]


def join_user_texts(state: State) -> str:
    """Return the texts that people wrote for the task."""
    return "\n".join((state.task.goal, *state.dialogue.words))


def remove_paths_from_texts(state: State) -> str:
    """Return the same texts without paths: files are resolved elsewhere, and parts of a path are no words of the task."""
    return PATH_PATTERN.sub(
        lambda match: match[0] if "/" not in match[0] and not FILE_SUFFIX.search(match[0]) else " ", join_user_texts(state)
    )


def find_named_targets(code: CodeIndex, state: State, ranked: Sequence[RankedFile]) -> Iterator[TargetDefinition]:
    """Yield definitions named in the goal, looked up in the files that it is about, and in plan and thought, looked up in touched
    files.
    """
    thought = state.memory.recent[-1].thought if state.memory.recent else ""
    ahead = "\n".join([item.text for item in state.work.plan if not item.done][:MAX_PLAN_ITEMS])
    about, said = find_task_files(code, state), join_user_texts(state)
    likely = [one.path for one in ranked if not code.is_test(one.path)][:MAX_LIKELY_FILES]
    at = find_files_at_hand(code, [*state.workspace.changed, *about] or likely)
    yield from (
        TargetDefinition(place, NAMED_IN_TASK)
        for place in (*find_cited_definitions(code, said), *find_named_definitions(code, said, at))
    )
    touched = find_files_at_hand(
        code, [*state.workspace.changed, *about, *[region.path for region in state.memory.regions]], strict=True
    )
    for text, why in ((ahead, NAMED_IN_PLAN), (thought, NAMED_IN_THOUGHT)):
        found = [
            TargetDefinition(place, why)
            for place in (*find_cited_definitions(code, text), *find_named_definitions(code, text, touched))
        ]
        yield from (one for one in found if one.symbol.end - one.symbol.line < MAX_PASSING_LINES)


def find_task_files(code: CodeIndex, state: State) -> list[str]:
    """Return the files that the goal names, otherwise those that it surely implies."""
    return sorted(find_named_files(code, join_user_texts(state))) or find_surely_implied_files(code, join_user_texts(state))


def find_cited_definitions(code: CodeIndex, text: str) -> Iterator[SymbolPlace]:
    """Yield the definitions at each `path:line` of a text."""
    for path, line in PATH_AND_LINE.findall(text):
        if path in code.files and (symbol := find_enclosing_definition(code, path, int(line))):
            yield SymbolPlace(path, symbol)


def find_traceback_targets(code: CodeIndex, state: State) -> Iterator[TargetDefinition]:
    """Yield the definitions in the traceback of a failing test, the innermost first."""
    runs = (
        state.verification.verdict.runs
        if state.verification.verdict
        else state.verification.baseline.runs
        if state.verification.baseline
        else ()
    )
    for failure in [failure for run in runs for failure in run.failures]:
        for path, line in reversed(PATH_AND_LINE.findall(failure.detail)):
            symbol = find_enclosing_definition(code, path, int(line)) if path in code.files and not code.is_test(path) else None
            if symbol:
                yield TargetDefinition(SymbolPlace(path, symbol), f"in the traceback of {failure.test.rpartition('::')[2]}")


def find_changed_targets(code: CodeIndex, about: Sequence[Region]) -> Iterator[TargetDefinition]:
    """Yield the changed definitions, without tests."""
    return find_targets_in_regions(code, [one for one in about if one.changed], CHANGED_BY_TASK)


def find_targets_in_regions(code: CodeIndex, regions: Sequence[Region], why: str) -> Iterator[TargetDefinition]:
    for region in regions:
        if region.path in code.files and not code.is_test(region.path):
            symbols = [one for one in code.reading(region.path).symbols if region.meets(one.line, one.end)]
            yield from (TargetDefinition(SymbolPlace(region.path, one), why) for one in keep_innermost_symbols(symbols))


def find_targets_in_named_files(code: CodeIndex, state: State) -> Iterator[TargetDefinition]:
    """Yield the definitions of files that the task names, one file after another in turn, if a file has few enough to be meant as
    a whole.
    """
    turns, named = list[list[TargetDefinition]](), find_named_files(code, join_user_texts(state))
    for path in find_task_files(code, state) if not state.workspace.changed else ():
        held = [one for one in code.reading(path).symbols if one.kind in DEFINITION_KINDS and "." not in one.name and one.public]
        if len(held) <= MAX_DEFINITIONS_OF_WHOLE_FILE and not code.is_test(path):
            turns.append(
                [TargetDefinition(SymbolPlace(path, one), IN_NAMED_FILE if path in named else IN_IMPLIED_FILE) for one in held]
            )
    return (one for turn in zip_longest(*turns) for one in turn if one)


def keep_innermost_symbols(symbols: list[Symbol]) -> list[Symbol]:
    """Return the symbols that contain none of the others."""
    chosen = [one for one in symbols if one.kind in DEFINITION_KINDS]
    return [one for one in chosen if not any(other.name.startswith(one.name + ".") for other in chosen)]


def find_targets_by_words(code: CodeIndex, state: State, ranked: Sequence[RankedFile], most: int = 3) -> list[TargetDefinition]:
    """Return definitions that share words with the task, from the files that do, even if nobody names them."""
    words = match_text.weigh_words(code, remove_paths_from_texts(state))
    likely = {one.path: one.score for one in [one for one in ranked if not code.is_test(one.path)][:MAX_SEARCHED_FILES]}
    best = dict.fromkeys(find_task_files(code, state), 1.0) or likely
    found = [
        (score * best[path], SymbolPlace(path, one))
        for path in best
        for one, score in match_text.score_symbols_by_words(code, path, words).items()
        if match_text.has_word_in_name(one.name, words)
    ]
    found.sort(key=lambda pair: (-pair[0], pair[1].path, pair[1].symbol.line))
    top = found[0][0] if found else 0.0
    return [TargetDefinition(place, SHARES_WORDS) for score, place in found[:most] if score > top / 2]


def find_enclosing_definition(code: CodeIndex, path: str, line: int) -> Symbol | None:
    around = [one for one in code.reading(path).symbols if one.kind in DEFINITION_KINDS and one.line <= line <= one.end]
    return max(around, key=lambda one: one.line, default=None)


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
    def reviewed(self) -> list[TargetDefinition]:
        return [target for target in self.targets if target.why == IN_REVIEWED_DIFF]

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


def join_first_names(names: Collection[str], most: int) -> str:
    """Return the first names, and how many more there are."""
    kept, more = list(names)[:most], len(names) - most
    return ", ".join(kept) + (f" and {more} more" if more > 0 else "")
