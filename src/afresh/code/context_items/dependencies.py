"""Sections `callers`, `graph` and `contracts`: who uses the targets, which files depend on each other, what modules export."""

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

from afresh.code.context_items import match_text
from afresh.code.context_items.match_text import DEFINITION_KINDS, find_named_files
from afresh.code.context_items.named_places import gather_named_places
from afresh.code.context_items.target_definitions import (
    CHANGED_BY_TASK,
    TargetDefinition,
    join_user_texts,
    remove_paths_from_texts,
)
from afresh.code.context_items.work_focus import MAX_LINE_CHARACTERS, WorkFocus
from afresh.code.graph import calls
from afresh.code.index.code_index import CodeIndex
from afresh.code.search_hit import SymbolUse, UseKind
from afresh.core.context_item import ModuleContract, Note, SymbolLine
from afresh.core.symbol import Symbol, SymbolKind
from afresh.core.truncate import list_first, to_one_line
from afresh.core.verdict import join_first_names

MAX_TARGETS = 4
MAX_CALLER_LINES = 8
MAX_CALLEES = 8


def gather_callers(scene: WorkFocus) -> Iterator[Note]:
    yield from gather_named_places(scene)
    for target in select_caller_targets(scene):
        found = [one for one in calls.find_callers_cached(scene.code, target.place) if one.kind is not UseKind.IMPORT]
        inner = [one for one in found if not scene.code.is_test(one.path)]
        tests = len({(one.path, one.within) for one in found if scene.code.is_test(one.path)})
        if found:
            lines = [*render_callers(inner), *render_test_count(tests, inner)]
            what = "callers" if any(one.kind is not UseKind.PASSED for one in found) else "uses"
            yield Note("callers", f"{what} of {target.symbol.name}", "\n".join(lines))
        if called := render_callees(scene, target):
            yield Note("callers", f"what {target.symbol.name} calls", called)


def render_callees(scene: WorkFocus, target: TargetDefinition) -> str:
    """Return the functions of the tree that a target calls, where they are not shown yet. In Python the target's source and its
    imports tell as much."""
    if scene.code.reading(target.path).language == "python":
        return ""
    found = [one.target for one in calls.find_callees(scene.code, target.place)]
    unseen = [one for one in found if not scene.seen(one.path, one.symbol.line, one.symbol.end)]
    return "\n".join(
        list_first([f"{one}: {to_one_line(one.symbol.signature, MAX_LINE_CHARACTERS)}" for one in unseen], MAX_CALLEES)
    )


def select_caller_targets(scene: WorkFocus) -> list[TargetDefinition]:
    """Return the targets that the task is about; once something is changed, what is changed."""
    sure = [one for one in scene.functions if one.is_sure]
    return [one for one in sure if not scene.state.workspace.changed or one.why == CHANGED_BY_TASK][:MAX_TARGETS]


def render_callers(found: list[SymbolUse]) -> list[str]:
    return list_first(
        [f"{one.path}:{one.line} in {one.within or 'the file'}{render_remarks(one)}" for one in found], MAX_CALLER_LINES
    )


def render_remarks(one: SymbolUse) -> str:
    remarks = (*(["no call"] if one.kind is UseKind.PASSED else []), *([] if one.sure else ["by name"]))
    return f" ({', '.join(remarks)})" if remarks else ""


def render_test_count(tests: int, inner: list[SymbolUse]) -> list[str]:
    """Return a line with how many tests call the target, and whether only tests do."""
    if not tests:
        return []
    return [f"{'and' if inner else 'only'} {tests} test{'s' if tests > 1 else ''}"]


MAX_GRAPH_FILES = 4
MAX_LISTED_NAMES = 6
MAX_FOLDER_LINES = 8


def gather_dependency_graph(scene: WorkFocus) -> Iterator[Note]:
    code = scene.code
    for path in [path for path in scene.places if path in code.files][:MAX_GRAPH_FILES]:
        users = [one for one in code.importers(path) if not code.is_test(one)]
        parts = [("used by", users), ("uses", code.imports(path)), ("tests", code.tests_of(path))]
        told = [f"{what} {join_first_names(names, MAX_LISTED_NAMES)}" for what, names in parts if names]
        if told:
            yield Note("graph", path, f"{path}: {'; '.join(told)}")
    if arrows := render_folder_dependencies(code):
        yield Note("graph", "folders", "folders: " + "; ".join(arrows))


def render_folder_dependencies(code: CodeIndex) -> list[str]:
    """Return lines that say which folder imports from which and how often, without tests; empty for a tree of one folder."""
    counts: Counter[tuple[str, str]] = Counter()
    for path in code.files:
        if not code.is_test(path):
            counts.update(
                (folder_from_path(path), folder_from_path(other))
                for other in code.imports(path)
                if folder_from_path(other) != folder_from_path(path)
            )
    used: dict[str, list[str]] = {}
    for (user, owner), count in sorted(counts.items(), key=lambda one: (-one[1], one[0])):
        used.setdefault(user, []).append(f"{owner} ({count})")
    return [f"{user} → {join_first_names(owners, MAX_LISTED_NAMES)}" for user, owners in list(used.items())[:MAX_FOLDER_LINES]]


def folder_from_path(path: str) -> str:
    return str(PurePosixPath(path).parent)


PUBLIC_SPECIAL_METHODS = ("__init__", "__call__", "__enter__", "__iter__", "__getitem__")
MAX_MODULES = 4
MAX_DEFINITIONS_PER_MODULE = 14
MAX_LISTED_USERS = 5


def gather_contracts(scene: WorkFocus) -> Iterator[ModuleContract]:
    for path in select_contract_modules(scene):
        lines = [SymbolLine(one.line, render_public_symbol(one)) for one in list_public_symbols(scene, path)]
        if lines:
            users = [one for one in scene.code.importers(path) if not scene.code.is_test(one)]
            used = f" (used by {join_first_names(users, MAX_LISTED_USERS)})" if users else " (nobody imports it)"
            yield ModuleContract(path, used, tuple(lines))


def select_contract_modules(scene: WorkFocus) -> list[str]:
    """Return the modules and packages that the task names, otherwise those that define its targets, otherwise those that share
    its words.
    """
    code, text = scene.code, join_user_texts(scene.state)
    folders = {str(parent) for path in code.files for parent in PurePosixPath(path).parents} - {"."}
    words = [word.strip("'\"()`,;:!?.").rstrip("/") for word in text.split()]
    packages = [word for word in words if word in folders]
    inside = [path for path in code.files if any(str(PurePosixPath(path).parent) == one for one in packages)]
    named = [*sorted(find_named_files(code, text)), *inside, *[target.path for target in scene.targets]]
    chosen = [path for path in dict.fromkeys(named) if not code.is_test(path)]
    if len(chosen) < 2:
        scores = match_text.score_files_by_words(code, match_text.weigh_words(code, remove_paths_from_texts(scene.state)))
        chosen += sorted((path for path in scores if not code.is_test(path)), key=lambda path: (-scores[path], path))
    return list(dict.fromkeys(chosen))[:MAX_MODULES]


def list_public_symbols(scene: WorkFocus, path: str) -> list[Symbol]:
    """Return the symbols that other modules may call: no nested functions, and only special methods that others trigger."""
    held = [one for one in scene.code.reading(path).symbols if one.kind in DEFINITION_KINDS and one.public]
    functions = {one.name for one in held if one.kind in (SymbolKind.FUNCTION, SymbolKind.METHOD)}
    open_ = [one for one in held if one.name.rpartition(".")[0] not in functions]
    return [one for one in open_ if not one.short.startswith("__") or one.short in PUBLIC_SPECIAL_METHODS][
        :MAX_DEFINITIONS_PER_MODULE
    ]


def render_public_symbol(one: Symbol) -> str:
    indent = "  " * one.name.count(".")
    return indent + to_one_line(f"{one.signature}{': ' + one.doc if one.doc else ''}", MAX_LINE_CHARACTERS)
