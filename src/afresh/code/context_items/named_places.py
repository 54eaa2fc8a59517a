"""Where the names, options and texts that the task writes like code stand, as far as they are no definition that is shown."""

import builtins
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePosixPath

from afresh.code.context_items import match_text
from afresh.code.context_items.target_definitions import SHARES_WORDS
from afresh.code.context_items.work_focus import TOOL_MADE_PATH, WorkFocus, is_aside
from afresh.code.names_in_text import NameForm, find_names, remove_code_blocks
from afresh.core.change import group_consecutive
from afresh.core.context_item import Excerpt, Note
from afresh.core.open_goal import describe_next_item
from afresh.core.search_words import drop_stop_words, split_words
from afresh.errors import AfreshError

MAX_NAMES = 8
MAX_PLACES = 3
MAX_SEARCHED_FILES = 60
MAX_PROSE_FILES = 60
MAX_PROSE_CHARACTERS = 200_000
MAX_COMPARED_LINES = 6
"""Names that are looked up, and files that are shown for each; files of code and of text that are searched for one, characters of
each; and lines of a file of which the most informative is shown.
"""
MIN_NAME_CHARACTERS = 3
MAX_TELLING_FILES = 12
"""A plain word that more files have is no name."""
MAX_PLACE_LINES = 60
MAX_PARAGRAPH_LINES = 12
NEAR_LINES = 1
"""Lines of code around all places of a name; of a paragraph that is shown whole; and on each side in a longer one."""
OPTION_OR_KEY = re.compile(
    r"(?<![\w-])(--[a-z]\w*(?:-\w+)*)|(?<![\w.])([A-Za-z_]\w{2,})=(?!=)|`([\w.-]{3,60})(?:\(\))?`|\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b"
)
SAMPLE_NAME = re.compile(r"\w(?:\.\w)+")
"""Such as `a.b.c`."""
PROSE_SUFFIXES = (".md", ".rst", ".txt", ".toml", ".cfg", ".ini", ".yaml", ".yml", ".json")
UNTELLING_STARTS = ("import ", "from ", "#", "//", "*")
"""Beginnings of lines that say little about a name: imports and comments."""


def gather_named_places(scene: WorkFocus) -> Iterator[Note]:
    """Yield for each name of the task, or once it has begun of the next item, the lines that hold it."""
    begun, goal = scene.state.workspace.changed, scene.state.topic
    text = describe_next_item(scene.state.task.goal, scene.state.work.plan) if begun else goal
    absent = list[str]()
    for name in find_unshown_names(scene, text)[:MAX_NAMES]:
        shown = {one.path for one in cut_name_places(scene, name)}
        lines = list(render_name_places(scene, name, skipped=shown))
        if len(lines) > MAX_TELLING_FILES and name.isalpha() and name.islower():
            continue
        if lines:
            more = f" (and in {len(lines) - MAX_PLACES} more files)" if len(lines) > MAX_PLACES else ""
            yield Note("callers", f"where {name} is{more}", "\n".join(lines[:MAX_PLACES]))
        elif not shown and not begun and (not (holder := name.partition(".")[0]) or holder == name or is_own_name(scene, holder)):
            absent.append(name)
    if absent:
        yield Note("callers", "named in the task, and not found in the code", ", ".join(absent))


def cut_name_places(scene: WorkFocus, name: str) -> list[Excerpt]:
    """Return the code around each place of an option or a name in backticks that the task gives before its first change: what is
    wanted is like it, or a change of it. Nothing of a name that many files hold.
    """
    goal, short = scene.state.topic, get_searched_name(scene, name)
    if scene.state.workspace.changed or "." in name or not (name.startswith("--") or f"`{name}`" in goal):
        return []
    product = [path for path in find_files_with_words(scene, short) if not scene.code.is_test(path) and not is_aside(path)]
    found = {path: numbers for path in product if (numbers := find_name_lines(scene, path, short))}
    spans = [(path, span) for path, numbers in found.items() for span in _join_paragraphs(scene, path, numbers)]
    most = sum(end - start + 1 for _, (start, end) in spans) <= MAX_PLACE_LINES
    return [
        Excerpt("target", path, *span, (f"where {name} is",), scene.source(path, *span), basis="named")
        for path, span in (spans if most else ())
    ]


def _join_paragraphs(scene: WorkFocus, path: str, numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return the lines between blank ones around each of these; of a longer paragraph the nearest."""
    lines = ["", *scene.code.text(path).splitlines(), ""]
    shown = set[int]()
    for number in numbers:
        start = next(one for one in range(number - 1, -1, -1) if not lines[one].strip()) + 1
        end = next(one for one in range(number + 1, len(lines)) if not lines[one].strip()) - 1
        long = end - start >= MAX_PARAGRAPH_LINES
        shown.update(range(max(start, number - NEAR_LINES), min(end, number + NEAR_LINES) + 1) if long else range(start, end + 1))
    return group_consecutive(shown)


def find_code_names(text: str) -> list[str]:
    """Return what a text writes like code, in its order: dotted and compound names, options, keys, and what is in backticks."""
    prose = remove_code_blocks(text)
    dotted = [(word.start, word.name) for word in find_names(prose) if word.form is NameForm.CODE]
    keys = [(match.start(), next(filter(None, match.groups()))) for match in OPTION_OR_KEY.finditer(prose)]
    names = dict.fromkeys(name.removesuffix("()") for _, name in sorted([*dotted, *keys]))
    return [
        name
        for name in names
        if len(name) >= MIN_NAME_CHARACTERS and re.fullmatch(r"-*[\w.-]*\w", name) and not SAMPLE_NAME.fullmatch(name)
    ]


def find_unshown_names(scene: WorkFocus, text: str) -> list[str]:
    """Return the names of a text that are no file, no definition among the targets and no name that Python itself has."""
    shown = {name for one in scene.targets if one.why != SHARES_WORDS for name in (one.symbol.name, one.symbol.short)}
    files = {PurePosixPath(path).name for path in scene.code.paths} | set(scene.code.paths)
    by_search: dict[str, str] = {}
    for name in find_code_names(text):
        if name not in files:
            by_search.setdefault(get_searched_name(scene, name), name)
    return [name for searched, name in by_search.items() if searched not in shown and not hasattr(builtins, searched)]


def render_name_places(scene: WorkFocus, name: str, skipped: Collection[str] = ()) -> Iterator[str]:
    """Yield one line of each file that mentions the name: code, then tests, then prose. Lines that the task wrote are skipped. Of
    `A.b` it is `b`, and assignments to it come first; of a module of others it is the whole name.
    """
    code, short = scene.code, get_searched_name(scene, name)
    texts = [
        path
        for path in code.paths
        if path.endswith(PROSE_SUFFIXES) and path not in code.files and not TOOL_MADE_PATH.search(path)
    ][:MAX_PROSE_FILES]
    saying = find_files_with_words(scene, short.rpartition(".")[2])
    saying.sort(key=lambda path: (code.is_test(path), is_aside(path), path))
    for path in (*saying[:MAX_SEARCHED_FILES], *texts):
        numbers = [
            one for one in (find_name_lines(scene, path, short) if path not in skipped else ()) if not scene.made(path, one, one)
        ]
        if numbers and PurePosixPath(path).stem != name:
            told = find_assignments(scene, path, numbers, short) if short != name else []
            first = min(numbers[:MAX_COMPARED_LINES], key=lambda one: (rank_line(scene.line(path, one), short), one))
            more = f" ({len(numbers)} lines)" if len(numbers) > 1 else ""
            rows = [(f"{path}:{one}", scene.line(path, one)) for one in told or [first]]
            yield "\n".join(f"{at}{'' if at != rows[0][0] else more} {line}" for at, line in rows)


def find_assignments(scene: WorkFocus, path: str, numbers: Sequence[int], name: str) -> list[int]:
    """Return the lines, outside the functions that are shown, that give an attribute a value."""
    assigned = re.compile(rf"\.{re.escape(name)}(?:\s*:[^=]+)?\s*[-+*/|&]?=(?!=)")
    shown = [one.symbol for one in scene.functions if one.path == path]
    found = [number for number in numbers if assigned.search(scene.line(path, number))]
    return [number for number in found if not any(one.line <= number <= one.end for one in shown)][:MAX_PLACES]


def get_searched_name(scene: WorkFocus, name: str) -> str:
    """Return the last part of a dotted name, but the whole of one that begins with a module of others: `functools.wraps`. Of an
    option of several words the name that code has for its value.
    """
    if name.startswith("--") and re.search(r"\w[-_]\w", name):
        return name.removeprefix("--").replace("-", "_")
    holder, short = name.partition(".")[0], name.rpartition(".")[2]
    if not holder or is_own_name(scene, holder):
        return short
    imported_by = scene.code.imported_by
    modules = (one.module.partition(".")[0] for path in scene.code.files for one in imported_by(path))
    return name if holder in sys.stdlib_module_names or holder in modules else short


def is_own_name(scene: WorkFocus, name: str) -> bool:
    """Whether the project defines it, or has a module or a package of that name."""
    return bool(scene.code.defining(name)) or any(name in re.split(r"[/.]", path) for path in scene.code.files)


def rank_line(line: str, name: str) -> int:
    """Return a low rank for a line that uses the name as code does, a high one for imports and comments."""
    if line.startswith(UNTELLING_STARTS):
        return 2
    return 0 if re.search(rf"(?:^|[.({{\[\"'*]){re.escape(name)}\b|\b{re.escape(name)}\s*[=:(\[]", line) else 1


def find_files_with_words(scene: WorkFocus, name: str) -> list[str]:
    """Return the files of code that may hold a text: those with all of its words."""
    held = [scene.code.words(word).keys() for word in dict.fromkeys(drop_stop_words(split_words(name.replace("_", " "))))]
    return sorted(set(held[0]).intersection(*held[1:])) if held else []


def find_name_lines(scene: WorkFocus, path: str, name: str) -> list[int]:
    """Return the numbers of the lines with the name, or with the option that sets it."""
    try:
        text = scene.code.text(path)
    except AfreshError:
        return []
    spellings = [one for one in (name, f"--{name.replace('_', '-')}") if one in text and len(text) < MAX_PROSE_CHARACTERS]
    return sorted({number for one in spellings for number in match_text.find_mention_lines(text, one)})
