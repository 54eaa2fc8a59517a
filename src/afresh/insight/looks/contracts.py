"""Section `contracts`: what the sides that are to be joined offer in public, and who uses it already."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from afresh.domain.code import Kind, Symbol
from afresh.domain.fact import Look
from afresh.domain.text import one_line
from afresh.insight.looks import relevance
from afresh.insight.looks.naming import named_files
from afresh.insight.looks.relevance import DEFINITIONS
from afresh.insight.looks.scene import WIDEST, Scene, listed
from afresh.insight.looks.targets import order, wording

CALLED = ("__init__", "__call__", "__enter__", "__iter__", "__getitem__")
SIDES = 4
OFFERED = 14
USERS = 5
"""Modules that are told of; definitions of each; names of those who use it."""


def contracts(scene: Scene) -> Iterator[Look]:
    for path in sides(scene):
        lines = [f"  {one.line} {told(one)}" for one in public(scene, path)]
        if lines:
            users = [one for one in scene.code.importers(path) if not scene.code.is_test(one)]
            used = f" (used by {listed(users, USERS)})" if users else " (nobody imports it)"
            yield Look("contracts", path, "\n".join([f"{path}{used}", *lines]))


def sides(scene: Scene) -> list[str]:
    """Modules and packages that the task names, else those where what it is about stands, else those that say its words."""
    code, text = scene.code, order(scene.state)
    folders = {str(parent) for path in code.files for parent in PurePosixPath(path).parents} - {"."}
    words = [word.strip("'\"()`,;:!?.").rstrip("/") for word in text.split()]
    packages = [word for word in words if word in folders]
    inside = [path for path in code.files if any(str(PurePosixPath(path).parent) == one for one in packages)]
    named = [*sorted(named_files(code, text)), *inside, *[target.path for target in scene.targets]]
    chosen = [path for path in dict.fromkeys(named) if not code.is_test(path)]
    if len(chosen) < 2:
        scores = relevance.files(code, relevance.weights(code, wording(scene.state)))
        chosen += sorted((path for path in scores if not code.is_test(path)), key=lambda path: (-scores[path], path))
    return list(dict.fromkeys(chosen))[:SIDES]


def public(scene: Scene, path: str) -> list[Symbol]:
    """What an outsider may call: no function inside a function, and of special methods those that one calls by use."""
    held = [one for one in scene.code.reading(path).symbols if one.kind in DEFINITIONS and one.public]
    functions = {one.name for one in held if one.kind in (Kind.FUNCTION, Kind.METHOD)}
    open_ = [one for one in held if one.name.rpartition(".")[0] not in functions]
    return [one for one in open_ if not one.short.startswith("__") or one.short in CALLED][:OFFERED]


def told(one: Symbol) -> str:
    indent = "  " * one.name.count(".")
    return indent + one_line(f"{one.signature}{': ' + one.doc if one.doc else ''}", WIDEST)
