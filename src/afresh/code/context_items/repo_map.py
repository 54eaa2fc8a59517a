"""The source tree as a map for a task: relevant files first, with signatures and the reason; the rest by name.

It depends on the goal, on changed and read files, and on the tree, but not on the last thought, so that it seldom changes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import PurePosixPath

from afresh.code.context_items import match_text
from afresh.code.context_items.match_text import DEFINITION_KINDS
from afresh.code.context_items.target_definitions import NAMED_IN_TASK, join_user_texts, remove_paths_from_texts
from afresh.code.context_items.work_focus import TOOL_MADE_PATH, WorkFocus, is_aside
from afresh.code.index.code_index import CodeIndex
from afresh.code.names_in_text import find_named_files, match_file_names
from afresh.code.ranking.query import RankedFile, find_implied_files
from afresh.code.ranking.score_files import WORDS_REASON
from afresh.core.context_item import MapEntry, RepoMap
from afresh.core.recognise_test_files import get_file_name, get_file_stem, is_test_code
from afresh.core.state import State
from afresh.core.symbol import Symbol, SymbolKind
from afresh.core.truncate import list_first, to_one_line
from afresh.errors import AfreshError

MAX_MAP_CHARACTERS = 9_000
TOKENS_PER_LINE_CHARACTER = 25
MIN_LINE_CHARACTERS = 120
MAX_LINE_CHARACTERS = 220
MAX_SIGNATURE_CHARACTERS = 60
MAX_LIST_CHARACTERS = 140
MAX_DETAILED_FILES = 12
MAX_GUESSED_FILES = 4
MIN_SCORE_SHARE = 0.2
MAX_TEST_FOLDERS = 3
MAX_NAMED_TESTS = 6
MAX_HEADINGS = 3
"""Limits of the map. A file's entry may take one character for each `TOKENS_PER_LINE_CHARACTER` tokens of the ceiling, within the
given bounds; `MIN_SCORE_SHARE` is the share of the best score that a file needs to be listed because of its rank alone, which
`MAX_GUESSED_FILES` are at most.
"""
IMPLIED_BY_TASK = "what the task speaks of"
UNDERLINE = re.compile(r"([=~^*+#-])\1{2,}\s*")
CHANGELOG_STEMS = frozenset({"changelog", "changes", "history", "news"})
WELL_KNOWN_DOCUMENTS = (
    (re.compile(r"\bREADME\b", re.IGNORECASE), frozenset({"readme"})),
    (
        re.compile(r"(?i:\bchange ?log\b|\brelease notes\b)|\bCHANGES\b"),
        CHANGELOG_STEMS,
    ),
)
"""What a task calls a document, and what its file is called."""
DOCUMENT_FOLDERS = (".", "docs")
READABLE_SUFFIXES = (".md", ".rst", ".toml", ".cfg", ".txt", ".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class MapFile:
    path: str
    why: str


def build_repo_map(scene: WorkFocus) -> RepoMap:
    code, state, targets = scene.code, scene.state, scene.targets
    near = select_detailed_files(scene)
    words = match_text.weigh_words(code, remove_paths_from_texts(state))
    width = min(MAX_LINE_CHARACTERS, max(MIN_LINE_CHARACTERS, state.task.budget // TOKENS_PER_LINE_CHARACTER))
    entries = [
        _build_entry(code, one, words, [target.symbol for target in targets if target.path == one.path], width) for one in near
    ]
    documents = [_build_document_entry(code, path, join_user_texts(state)) for path in find_named_documents(code, state)]
    named = [one for one in entries if one.why == NAMED_IN_TASK]
    entries = [*named, *documents, *entries[len(named) :]]
    own, tests = _render_folders(scene, {one.path for one in near})
    tail = [MapEntry(symbols=(line,)) for line in (*_render_other_files(code, state), *tests, *_render_faults(code))]
    room = MAX_MAP_CHARACTERS - sum(len(str(line)) + 1 for line in tail) - 60
    return RepoMap((*_fit_entries([*entries, *[MapEntry(symbols=(line,)) for line in own]], room), *tail))


def find_named_documents(code: CodeIndex, state: State) -> list[str]:
    """Return the files without code that the task names, by path or by what everybody calls them."""
    told, known = join_user_texts(state), set(code.files)
    words = set(match_file_names(told, code.paths))
    meant = [stems for pattern, stems in WELL_KNOWN_DOCUMENTS if pattern.search(told)]
    return [path for path in code.paths if path not in known and (path in words or (meant and _is_well_known(path, meant)))]


def find_changelogs(code: CodeIndex, state: State) -> list[str]:
    return [path for path in find_named_documents(code, state) if get_file_stem(path).lower() in CHANGELOG_STEMS]


def _is_well_known(path: str, meant: Sequence[frozenset[str]]) -> bool:
    if (path.rpartition("/")[0] or ".") not in DOCUMENT_FOLDERS:
        return False
    return any(get_file_stem(path).lower() in stems for stems in meant)


def _build_document_entry(code: CodeIndex, path: str, told: str) -> MapEntry:
    """Return an entry with the headings of a document that the task speaks of."""
    try:
        lines = code.text(path).splitlines()
    except AfreshError:
        return MapEntry(path)
    headings = [f"{number} {title}" for number, title in _list_headings(lines, path) if title.lower() in told.lower()]
    return MapEntry(path, len(lines), symbols=tuple(headings[:MAX_HEADINGS]))


def _list_headings(lines: Sequence[str], path: str) -> Iterator[tuple[int, str]]:
    """Yield the headings of Markdown and reStructuredText, each with its line number."""
    for number, (line, below) in enumerate(pairwise((*lines, "")), 1):
        marked = path.endswith(".md") and line.startswith("#")
        ruled = path.endswith((".md", ".rst")) and line.strip() and UNDERLINE.fullmatch(below) and not UNDERLINE.fullmatch(line)
        if marked or ruled:
            yield number, to_one_line(line.lstrip("# "), MAX_SIGNATURE_CHARACTERS)


def select_detailed_files(scene: WorkFocus) -> list[MapFile]:
    """Return files that are named, changed, read or define a target; the nearest test of each; and a few that rank highest."""
    code, state, targets = scene.code, scene.state, scene.targets
    named = find_named_files(join_user_texts(state), tuple(code.files))
    told = [one for one in scene.ranked if one.score >= MIN_SCORE_SHARE]
    found = [MapFile(path, NAMED_IN_TASK) for path in named]
    found += [MapFile(path, IMPLIED_BY_TASK) for path in find_implied_files(code, join_user_texts(state))]
    found += [MapFile(path, "changed") for path in state.workspace.changed if path in code.files]
    found += [MapFile(target.path, f"holds {target.symbol.name}") for target in targets if target.why == NAMED_IN_TASK]
    found += [MapFile(region.path, "read") for region in state.memory.regions if region.path in code.files and not region.changed]
    reasons = dict(_list_rank_reasons(scene, told))
    central = list(dict.fromkeys(one.path for one in found))
    for path in [path for path in central if not code.is_test(path)][:3]:
        found += [
            MapFile(test, f"tests {PurePosixPath(path).name}")
            for test in _nearest_tests(code.tests_of(path), path, list(reasons))
        ]
    guessed = [MapFile(path, why) for path, why in reasons.items() if path not in central]
    found += [] if state.workspace.changed else guessed[:MAX_GUESSED_FILES]
    first: dict[str, MapFile] = {}
    for one in found:
        if not _is_generated_or_empty(code, one.path) or one.why == NAMED_IN_TASK:
            first.setdefault(one.path, one)
    return list(first.values())[:MAX_DETAILED_FILES]


def _list_rank_reasons(scene: WorkFocus, told: Sequence[RankedFile]) -> Iterator[tuple[str, str]]:
    """Yield each file with its weightiest reason. Words of the task are none: without another only code of the product is listed,
    which has definitions.
    """
    for one in told:
        reason = next(iter(one.reasons), "")
        defines = any(symbol.kind in DEFINITION_KINDS for symbol in scene.code.reading(one.path).symbols)
        if not reason.startswith(WORDS_REASON.format("")):
            yield one.path, reason
        elif defines and not (is_aside(one.path) or scene.code.is_test(one.path)):
            yield one.path, ""


def _is_generated_or_empty(code: CodeIndex, path: str) -> bool:
    """Whether a file was made by a tool, or only makes a folder of tests a package."""
    return code.is_generated(path) or bool(TOOL_MADE_PATH.search(path)) or (is_test_code(path) and path.endswith("/__init__.py"))


def _nearest_tests(tests: Sequence[str], path: str, ranked: Sequence[str]) -> list[str]:
    """Return the test file that is named after the path, or ranks highest."""
    stem, places = PurePosixPath(path).stem, {test: at for at, test in enumerate(ranked)}
    return sorted(tests, key=lambda test: (stem not in PurePosixPath(test).stem, places.get(test, len(ranked)), test))[:1]


def _build_entry(code: CodeIndex, near: MapFile, words: dict[str, float], wanted: Sequence[Symbol], width: int) -> MapEntry:
    """Return a map entry with the signatures of targets, then of symbols that share the task's words, in file order."""
    reading = code.reading(near.path)
    held = [
        one for one in reading.symbols if one.kind in DEFINITION_KINDS and (one.kind is not SymbolKind.METHOD or one in wanted)
    ]
    held = [one for one in held if "." not in one.name or one in wanted]
    scores = match_text.score_symbols_by_words(code, near.path, words) if not reading.fault else {}
    if near.why not in (NAMED_IN_TASK, IMPLIED_BY_TASK) and not reading.fault:
        scores = scores if near.why in ("changed", "read") or near.why.startswith("holds ") else {}
        held = [one for one in held if one in wanted or one in scores]
    ranked = sorted(held, key=lambda one: (one not in wanted, -scores.get(one, 0.0), one.line))
    bare, shown = MapEntry(near.path, reading.lines, near.why), list[Symbol]()
    for one in ranked:
        if len(f"{bare}: ") + sum(len(_render_symbol(other)) + 2 for other in (*shown, one)) > width:
            break
        shown.append(one)
    parts = [_render_symbol(one) for one in sorted(shown, key=lambda one: one.line)]
    return replace(bare, symbols=tuple(parts))


def _render_symbol(symbol: Symbol) -> str:
    plain = re.sub(r"^(?:async )?def ", "", symbol.signature)
    return f"{symbol.line} {to_one_line(plain, MAX_SIGNATURE_CHARACTERS)}"


def _render_folders(scene: WorkFocus, told: set[str]) -> tuple[list[str], list[str]]:
    """Return lines for the other source files by folder, relevant folders first and supporting ones last; and lines for the test
    folders.
    """
    code, folders = scene.code, dict[tuple[bool, str], list[str]]()
    for path in code.files:
        if path not in told and not _is_generated_or_empty(code, path):
            folder, _, name = path.rpartition("/")
            folders.setdefault((code.is_test(path), folder or "."), []).append(name)
    places: dict[str, int] = {}
    for at, path in enumerate([*find_implied_files(code, join_user_texts(scene.state)), *[one.path for one in scene.ranked]]):
        places.setdefault(str(PurePosixPath(path).parent), at)
    keys = sorted(folders, key=lambda key: (is_aside(key[1]), places.get(key[1], len(code.files)), key))
    lines = {
        key: f"{'top' if key[1] == '.' else key[1]}: "
        + (f"{len(folders[key])} test files" if key[0] and len(folders[key]) > MAX_NAMED_TESTS else _join_names(folders[key]))
        for key in keys
    }
    tests = [line for key, line in lines.items() if key[0]]
    others = [line for key, line in lines.items() if not key[0] and not is_aside(key[1])]
    aside = dict.fromkeys(key[1].split("/")[0] for key in keys if is_aside(key[1]))
    others += [f"also: {_join_names(list(aside))}"] if aside else []
    return others, list_first(tests, MAX_TEST_FOLDERS, "… and {0} more folders of tests")


def _render_other_files(code: CodeIndex, state: State) -> list[str]:
    words, known = list_mentioned_words(state), set(code.files)
    known.update(find_named_documents(code, state))
    other = [path for path in code.paths if path not in known and not TOOL_MADE_PATH.search(path)]
    other.sort(key=lambda path: (rank_other_file(path, words), path))
    return ["other files: " + _join_names(other)] if other else []


def _render_faults(code: CodeIndex) -> list[str]:
    faults = [f"{path} ({fault})" for path, fault in sorted(code.faults.items()) if not TOOL_MADE_PATH.search(path)]
    return ["not understood: " + _join_names(faults, 2 * MAX_LIST_CHARACTERS)] if faults else []


def _fit_entries(entries: list[MapEntry], room: int) -> list[MapEntry]:
    kept: list[MapEntry] = []
    for entry in entries:
        room -= len(str(entry)) + 1
        if room < 0:
            return [*kept, MapEntry(symbols=(f"… and {len(entries) - len(kept)} more lines: use search",))]
        kept.append(entry)
    return kept


def rank_other_file(path: str, words: frozenset[str]) -> int:
    """Return a sort rank: files that the task mentions, then documents for people, then the rest, then hidden files."""
    if path in words or get_file_name(path) in words:
        return 0
    if path.startswith(".") or "/." in path:
        return 3
    return 1 if path.endswith(READABLE_SUFFIXES) else 2


def list_mentioned_words(state: State) -> frozenset[str]:
    """Return the words of the goal, the user's messages, the plan and the facts."""
    texts = [state.topic, *state.dialogue.words, *(item.text for item in state.work.plan)]
    texts += [f"{fact.subject} {fact.text}" for fact in state.memory.facts]
    return frozenset(re.findall(r"[\w./-]+", " ".join(texts)))


def _join_names(names: Sequence[str], most: int = MAX_LIST_CHARACTERS) -> str:
    kept = list(names[:24])
    while len(kept) > 1 and len(", ".join(kept)) > most - 20:
        kept.pop()
    more = len(names) - len(kept)
    return ", ".join(kept)[: most - 20] + (f" and {more} more" if more else "")
