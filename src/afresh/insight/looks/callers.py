"""Section `callers`: who uses what the work is about, and what that uses itself, one line each."""

from collections.abc import Iterator

from afresh.domain.code import Place
from afresh.domain.fact import Look
from afresh.insight.looks.relevance import mentions
from afresh.insight.looks.scene import Scene
from afresh.insight.looks.targets import WORDS, Target, enclosing

ABOUT, FILES, CALLS, CALLED = 4, 8, 8, 8
"""Targets that are asked for; files that are looked into; lines of one target's callers and of what it calls."""


def callers(scene: Scene) -> Iterator[Look]:
    for target in asked(scene):
        name = f"{target.symbol.name} ({target.why})"
        if found := list(uses(scene, target)):
            yield Look("callers", f"callers of {name}", "\n".join(found[:CALLS]))
        if found := list(used(scene, target)):
            yield Look("callers", f"called by {name}", "\n".join(found[:CALLED]))


def asked(scene: Scene) -> list[Target]:
    """What nobody has named may be something else: of that only the first."""
    named = [one for one in scene.functions if one.why != WORDS]
    return named[:ABOUT] or scene.functions[:1]


def uses(scene: Scene, target: Target) -> Iterator[str]:
    """Lines that say its name, outside of it and of tests: those have a section of their own."""
    code, name = scene.code, target.symbol.short
    files = [path for path in code.mentioning(name) if not code.is_test(path)]
    for path in sorted(files, key=lambda path: path != target.path)[:FILES]:
        for number in mentions(code.text(path), name):
            line, around = scene.line(path, number), enclosing(code, path, number)
            own = path == target.path and target.symbol.line <= number <= target.symbol.end
            if around and not own and not line.startswith(("import ", "from ", "#")):
                yield f"{path}:{number} in {around.name}: {line}"


def used(scene: Scene, target: Target) -> Iterator[str]:
    """What of this tree it calls, by the signatures."""
    code = scene.code
    lines = code.text(target.path).splitlines()[target.symbol.line - 1 : target.symbol.end]
    near = {target.path, *code.imports(target.path)}
    held = [Place(path, one) for path in sorted(near, key=lambda path: path != target.path) for one in code.reading(path).symbols]
    body = "\n".join(lines[1:])
    for place in held:
        if place.symbol.short != target.symbol.short and mentions_call(body, place.symbol.short):
            yield f"{place} {place.symbol.signature}"


def mentions_call(body: str, name: str) -> bool:
    return f"{name}(" in body and bool(mentions(body, name))
