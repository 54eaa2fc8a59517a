"""Definitions that the work is about: what the task names, changes or describes."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from afresh.code.context_items import match_text
from afresh.code.context_items.match_text import (
    DEFINITION_KINDS,
    find_files_at_hand,
    find_named_definitions,
    find_option_classes,
)
from afresh.code.index.code_index import CodeIndex
from afresh.code.names_in_text import PATH_AND_LINE, PATH_WORD, find_named_files, remove_code_blocks, remove_code_names
from afresh.code.ranking.query import RankedFile, find_implied_files
from afresh.core.line_region import Region
from afresh.core.open_goal import describe_next_item
from afresh.core.state import State
from afresh.core.symbol import Symbol, SymbolKind, SymbolPlace
from afresh.core.task import FIX_BUG_TYPE

FILE_SUFFIX = re.compile(r"\.(?:\w{1,3}|toml|yaml|json)$")
MAX_TARGETS = 8
MAX_GUESSES = 2
MAX_DEFINITIONS_OF_WHOLE_FILE = 6
MAX_SEARCHED_FILES = 4
MAX_LIKELY_FILES = 5
MAX_PASSING_LINES = 60
"""Limits: targets; those found by words; definitions of a file that is a target as a whole; files searched by words;
highest ranked files, in which a quoted word is looked up first; and lines of a definition that is a target when only mentioned
in passing.
"""
NAMED_IN_TASK = "named in the task"
NAMED_IN_PLAN = "named in your plan"
NAMED_IN_THOUGHT = "named in your last thought"
IN_REVIEWED_DIFF = "in the diff"
CHANGED_BY_TASK = "changed by this task"
IN_NAMED_FILE = "in a file that the task names"
IN_IMPLIED_FILE = "in a file that the task is about"
IN_EXAMPLE = "used in an example of the task"
NAMED_BY_OPTION = "what an option in the task is called after"
SHARES_WORDS = "shares words with the task"
BASIS_BY_REASON = {
    NAMED_IN_TASK: "named",
    NAMED_IN_PLAN: "plan",
    NAMED_IN_THOUGHT: "thought",
    IN_REVIEWED_DIFF: "diff",
    IN_NAMED_FILE: "file",
    IN_IMPLIED_FILE: "file",
    IN_EXAMPLE: "example",
    NAMED_BY_OPTION: "option",
    SHARES_WORDS: "words",
}
"""How the context policy calls these reasons; any other is a traceback."""


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

    @property
    def basis(self) -> str:
        return BASIS_BY_REASON.get(self.why, "traceback")

    @property
    def is_sure(self) -> bool:
        """Whether the task is about it, rather than about something that has to do with it."""
        return self.why not in (SHARES_WORDS, IN_EXAMPLE, NAMED_BY_OPTION)

    @property
    def names(self) -> tuple[str, ...]:
        """Return its name and, unless the task names it, the reason why it is shown."""
        return (self.symbol.name,) if self.why == NAMED_IN_TASK else (self.symbol.name, self.why)


def find_targets(
    code: CodeIndex, state: State, about: Sequence[Region] = (), ranked: Sequence[RankedFile] = ()
) -> list[TargetDefinition]:
    """Return the targets, the surest first, each once."""
    found: dict[tuple[str, str], TargetDefinition] = {}
    named = list(find_named_targets(code, state, ranked))
    sure = state.workspace.changed or any(not one.changed for one in about)
    is_guessed = state.task.judged_as == FIX_BUG_TYPE and not sure
    guessed = find_targets_by_words(code, state, ranked, named) if is_guessed else ()
    written = [
        *find_targets_in_regions(code, [one for one in about if not one.changed], IN_REVIEWED_DIFF),
        *find_changed_targets(code, about),
    ]
    options = [TargetDefinition(place, NAMED_BY_OPTION) for place in find_option_classes(code, join_user_texts(state))]
    for target in (
        *named,
        *written,
        *find_traceback_targets(code, state),
        *find_targets_in_named_files(code, state),
        *options,
        *guessed,
        *[TargetDefinition(place, IN_EXAMPLE) for place in find_example_definitions(code, state, ranked)],
    ):
        if target.why == CHANGED_BY_TASK or not code.is_generated(target.path):
            found.setdefault((target.path, target.symbol.name), target)
    return list(found.values())[:MAX_TARGETS]


def join_user_texts(state: State) -> str:
    """Return the texts that people wrote for the task."""
    return "\n".join((state.topic, *state.dialogue.words))


def remove_paths_from_texts(state: State) -> str:
    """Return the same texts without paths: files are resolved elsewhere, and parts of a path are no words of the task."""
    return PATH_WORD.sub(
        lambda match: " " if FILE_SUFFIX.search(match[0]) or {*"./"} <= {*match[0]} else match[0], join_user_texts(state)
    )


def find_named_targets(code: CodeIndex, state: State, ranked: Sequence[RankedFile]) -> Iterator[TargetDefinition]:
    """Yield definitions named in the goal, looked up in the files that it is about, and in plan and thought, looked up in touched
    files; once an item of the plan is done, those of the next item first.
    """
    thought = state.memory.recent[-1].thought if state.memory.recent else ""
    ahead = describe_next_item(state.task.goal, state.work.plan)
    about, said = find_task_files(code, state), join_user_texts(state)
    prose, at = remove_code_blocks(said), find_goal_files(code, state, ranked)
    named = [
        TargetDefinition(place, NAMED_IN_TASK)
        for place in (*find_cited_definitions(code, said), *find_named_definitions(code, prose, at))
    ]
    touched = find_files_at_hand(
        code, [*state.workspace.changed, *about, *[region.path for region in state.memory.regions]], strict=True
    )
    begun, passing = any(item.done for item in state.work.plan), list[TargetDefinition]()
    for text, why in ((ahead, NAMED_IN_PLAN), (thought, NAMED_IN_THOUGHT)):
        found = [
            TargetDefinition(place, why)
            for place in (*find_cited_definitions(code, text), *find_named_definitions(code, text, touched))
        ]
        short = [one for one in found if one.symbol.end - one.symbol.line < MAX_PASSING_LINES]
        yield from found if begun and why == NAMED_IN_PLAN else ()
        passing += short
    yield from named
    yield from passing


def find_goal_files(code: CodeIndex, state: State, ranked: Sequence[RankedFile]) -> match_text.FilesAtHand:
    """Return the files in which names of the goal are looked up first."""
    likely = [one.path for one in ranked if not code.is_test(one.path)][:MAX_LIKELY_FILES]
    return find_files_at_hand(code, [*state.workspace.changed, *find_task_files(code, state)] or likely)


def find_example_definitions(code: CodeIndex, state: State, ranked: Sequence[RankedFile]) -> Iterator[SymbolPlace]:
    """Yield what the examples of the task call: the way in, from which the cause may be far."""
    said = join_user_texts(state)
    if remove_code_blocks(said) != said:
        yield from find_named_definitions(code, said, find_goal_files(code, state, ranked))


def find_task_files(code: CodeIndex, state: State) -> list[str]:
    """Return the files that the goal names, otherwise those that it surely implies."""
    return find_named_files(join_user_texts(state), tuple(code.files)) or find_implied_files(code, join_user_texts(state))


def find_cited_definitions(code: CodeIndex, text: str) -> Iterator[SymbolPlace]:
    """Yield the definitions at each `path:line` of a text."""
    for path, line in PATH_AND_LINE.findall(text):
        if path in code.files and (symbol := find_enclosing_definition(code, path, int(line))):
            yield SymbolPlace(path, symbol)


def find_traceback_targets(code: CodeIndex, state: State) -> Iterator[TargetDefinition]:
    """Yield the definitions in the traceback of a failing test, the innermost first."""
    for failure in state.failures:
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
    turns, named = list[list[TargetDefinition]](), find_named_files(join_user_texts(state), tuple(code.files))
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


def find_targets_by_words(
    code: CodeIndex, state: State, ranked: Sequence[RankedFile], named: Sequence[TargetDefinition]
) -> list[TargetDefinition]:
    """Return definitions that share words with a bug report: methods of a class that it names, or definitions of the files that
    it is about or that share its words.
    """
    words = match_text.weigh_words(code, remove_code_names(remove_paths_from_texts(state)))
    likely = {one.path: one.score for one in [one for one in ranked if not code.is_test(one.path)][:MAX_SEARCHED_FILES]}
    outer = {(one.path, one.symbol.name) for one in named if one.symbol.kind in (SymbolKind.CLASS, SymbolKind.INTERFACE)}
    about = [path for path in find_task_files(code, state) if not code.is_test(path)]
    best = dict.fromkeys(path for path, _ in outer) or dict.fromkeys(about, 1.0) or likely
    found = [
        (score * (best[path] or 1.0), SymbolPlace(path, one))
        for path in best
        for one, score in match_text.score_symbols_by_words(code, path, words).items()
        if match_text.has_word_in_name(one.short, words) and (not outer or (path, one.name.rpartition(".")[0]) in outer)
    ]
    found.sort(key=lambda pair: (-pair[0], pair[1].path, pair[1].symbol.line))
    top = found[0][0] if found else 0.0
    return [TargetDefinition(place, SHARES_WORDS) for score, place in found[:MAX_GUESSES] if score > top / 2]


def find_enclosing_definition(code: CodeIndex, path: str, line: int) -> Symbol | None:
    around = [one for one in code.reading(path).symbols if one.kind in DEFINITION_KINDS and one.line <= line <= one.end]
    return max(around, key=lambda one: one.line, default=None)
