"""What the work is about: the definitions that somebody named, that fail, that are changed, or that speak of the same."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from afresh.code.context_items import word_relevance
from afresh.code.context_items.named_definitions import (
    PATH_AND_LINE,
    PATH_PATTERN,
    find_files_at_hand,
    find_named_definitions,
    find_named_files,
    find_option_classes,
)
from afresh.code.context_items.word_relevance import DEFINITION_KINDS
from afresh.code.index.code_index import CodeIndex
from afresh.code.ranking.implied_files import find_surely_implied_files
from afresh.code.ranking.query import RankedFile
from afresh.core.line_region import Region
from afresh.core.state import State
from afresh.core.symbol import Symbol, SymbolPlace

FILE_SUFFIX = re.compile(r"\.(?:\w{1,3}|toml|yaml|json)$")
MAX_TARGETS = 8
MAX_PLAN_ITEMS = 2
MAX_DEFINITIONS_OF_WHOLE_FILE = 6
MAX_SEARCHED_FILES = 4
MAX_LIKELY_FILES = 5
MAX_PASSING_LINES = 60
"""Targets in all; items of the plan; definitions of a file that is meant as a whole; files that are looked through for what
nobody named; files that the ranking puts first, in which a quoted word is looked for before others; and lines from which on a
definition is not meant when it is named in passing."""
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
    """The surest first, each once."""
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
    """What people have said."""
    return "\n".join((state.task.goal, *state.dialogue.words))


def remove_paths_from_texts(state: State) -> str:
    """The same without paths: what they lead to is known, and their parts are no words of the task."""
    return PATH_PATTERN.sub(
        lambda match: match[0] if "/" not in match[0] and not FILE_SUFFIX.search(match[0]) else " ", join_user_texts(state)
    )


def find_named_targets(code: CodeIndex, state: State, ranked: Sequence[RankedFile]) -> Iterator[TargetDefinition]:
    """Names of the order are looked for in what it is about; those of plan and thought in what the work has touched."""
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
    """Files that the order names, else those that it means as surely."""
    return sorted(find_named_files(code, join_user_texts(state))) or find_surely_implied_files(code, join_user_texts(state))


def find_cited_definitions(code: CodeIndex, text: str) -> Iterator[SymbolPlace]:
    """Definitions at a `path:line`."""
    for path, line in PATH_AND_LINE.findall(text):
        if path in code.files and (symbol := find_enclosing_definition(code, path, int(line))):
            yield SymbolPlace(path, symbol)


def find_traceback_targets(code: CodeIndex, state: State) -> Iterator[TargetDefinition]:
    """What a failing test went through, the innermost first."""
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
    """Tests of the task's own are no target."""
    return find_targets_in_regions(code, [one for one in about if one.changed], CHANGED_BY_TASK)


def find_targets_in_regions(code: CodeIndex, regions: Sequence[Region], why: str) -> Iterator[TargetDefinition]:
    for region in regions:
        if region.path in code.files and not code.is_test(region.path):
            symbols = [one for one in code.reading(region.path).symbols if region.meets(one.line, one.end)]
            yield from (TargetDefinition(SymbolPlace(region.path, one), why) for one in keep_innermost_symbols(symbols))


def find_targets_in_named_files(code: CodeIndex, state: State) -> Iterator[TargetDefinition]:
    """What files that the task names have to offer, if that is little enough to be meant as a whole; of each file in turn."""
    turns, named = list[list[TargetDefinition]](), find_named_files(code, join_user_texts(state))
    for path in find_task_files(code, state) if not state.workspace.changed else ():
        held = [one for one in code.reading(path).symbols if one.kind in DEFINITION_KINDS and "." not in one.name and one.public]
        if len(held) <= MAX_DEFINITIONS_OF_WHOLE_FILE and not code.is_test(path):
            turns.append(
                [TargetDefinition(SymbolPlace(path, one), IN_NAMED_FILE if path in named else IN_IMPLIED_FILE) for one in held]
            )
    return (one for turn in zip_longest(*turns) for one in turn if one)


def keep_innermost_symbols(symbols: list[Symbol]) -> list[Symbol]:
    """Without those that hold another of them."""
    chosen = [one for one in symbols if one.kind in DEFINITION_KINDS]
    return [one for one in chosen if not any(other.name.startswith(one.name + ".") for other in chosen)]


def find_targets_by_words(code: CodeIndex, state: State, ranked: Sequence[RankedFile], most: int = 3) -> list[TargetDefinition]:
    """Those that say the words of the task, in the files that do, whether anybody names them or not."""
    words = word_relevance.weigh_words(code, remove_paths_from_texts(state))
    likely = {one.path: one.score for one in [one for one in ranked if not code.is_test(one.path)][:MAX_SEARCHED_FILES]}
    best = dict.fromkeys(find_task_files(code, state), 1.0) or likely
    found = [
        (score * best[path], SymbolPlace(path, one))
        for path in best
        for one, score in word_relevance.score_symbols_by_words(code, path, words).items()
        if word_relevance.has_word_in_name(one.name, words)
    ]
    found.sort(key=lambda pair: (-pair[0], pair[1].path, pair[1].symbol.line))
    top = found[0][0] if found else 0.0
    return [TargetDefinition(place, SHARES_WORDS) for score, place in found[:most] if score > top / 2]


def find_enclosing_definition(code: CodeIndex, path: str, line: int) -> Symbol | None:
    around = [one for one in code.reading(path).symbols if one.kind in DEFINITION_KINDS and one.line <= line <= one.end]
    return max(around, key=lambda one: one.line, default=None)
