"""Section `contracts`: what the sides that are to be joined offer in public, and who uses it already."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from afresh.code.context_items import word_relevance
from afresh.code.context_items.find_targets import join_user_texts, remove_paths_from_texts
from afresh.code.context_items.named_definitions import find_named_files
from afresh.code.context_items.word_relevance import DEFINITION_KINDS
from afresh.code.context_items.work_focus import MAX_LINE_CHARACTERS, WorkFocus, join_first_names
from afresh.core.context_item import ModuleContract, SymbolLine
from afresh.core.symbol import Symbol, SymbolKind
from afresh.core.truncate import to_one_line

PUBLIC_SPECIAL_METHODS = ("__init__", "__call__", "__enter__", "__iter__", "__getitem__")
MAX_MODULES = 4
MAX_DEFINITIONS_PER_MODULE = 14
MAX_LISTED_USERS = 5
"""Modules that are told of; definitions of each; names of those who use it."""


def gather_contracts(scene: WorkFocus) -> Iterator[ModuleContract]:
    for path in select_contract_modules(scene):
        lines = [SymbolLine(one.line, render_public_symbol(one)) for one in list_public_symbols(scene, path)]
        if lines:
            users = [one for one in scene.code.importers(path) if not scene.code.is_test(one)]
            used = f" (used by {join_first_names(users, MAX_LISTED_USERS)})" if users else " (nobody imports it)"
            yield ModuleContract(path, used, tuple(lines))


def select_contract_modules(scene: WorkFocus) -> list[str]:
    """Modules and packages that the task names, else those where what it is about stands, else those that say its words."""
    code, text = scene.code, join_user_texts(scene.state)
    folders = {str(parent) for path in code.files for parent in PurePosixPath(path).parents} - {"."}
    words = [word.strip("'\"()`,;:!?.").rstrip("/") for word in text.split()]
    packages = [word for word in words if word in folders]
    inside = [path for path in code.files if any(str(PurePosixPath(path).parent) == one for one in packages)]
    named = [*sorted(find_named_files(code, text)), *inside, *[target.path for target in scene.targets]]
    chosen = [path for path in dict.fromkeys(named) if not code.is_test(path)]
    if len(chosen) < 2:
        scores = word_relevance.score_files_by_words(code, word_relevance.weigh_words(code, remove_paths_from_texts(scene.state)))
        chosen += sorted((path for path in scores if not code.is_test(path)), key=lambda path: (-scores[path], path))
    return list(dict.fromkeys(chosen))[:MAX_MODULES]


def list_public_symbols(scene: WorkFocus, path: str) -> list[Symbol]:
    """What an outsider may call: no function inside a function, and of special methods those that one calls by use."""
    held = [one for one in scene.code.reading(path).symbols if one.kind in DEFINITION_KINDS and one.public]
    functions = {one.name for one in held if one.kind in (SymbolKind.FUNCTION, SymbolKind.METHOD)}
    open_ = [one for one in held if one.name.rpartition(".")[0] not in functions]
    return [one for one in open_ if not one.short.startswith("__") or one.short in PUBLIC_SPECIAL_METHODS][
        :MAX_DEFINITIONS_PER_MODULE
    ]


def render_public_symbol(one: Symbol) -> str:
    indent = "  " * one.name.count(".")
    return indent + to_one_line(f"{one.signature}{': ' + one.doc if one.doc else ''}", MAX_LINE_CHARACTERS)
