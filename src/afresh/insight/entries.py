"""Where runs begin: files that can be started, and commands that a package installs."""

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from afresh.domain.found import Entry
from afresh.errors import AfreshError
from afresh.insight.calls import world_of
from afresh.insight.code import Code


def entries(code: Code) -> list[Entry]:
    """Commands first, then files; tests are started by their runner and left out."""
    commands = [each for path in code.paths for each in _declared(code, path)]
    files = [
        Entry(path, 1, path, code.reading(path).entry)
        for path in code.files
        if code.reading(path).entry and not code.is_test(path)
    ]
    return [*commands, *files]


def _declared(code: Code, path: str) -> Iterator[Entry]:
    name = path.rpartition("/")[2]
    if name not in ("pyproject.toml", "package.json"):
        return
    try:
        text = code.text(path)
        told = tomllib.loads(text) if name == "pyproject.toml" else json.loads(text)
    except (OSError, ValueError, AfreshError):
        return
    found = _scripts(code, path, told) if name == "pyproject.toml" else _binaries(path, told)
    for command, target, why in found:
        yield _located(code, path, text, command, target, why)


def _table(told: Any, *names: str) -> dict[str, Any]:
    for name in names:
        told = told.get(name) if isinstance(told, dict) else None
    return told if isinstance(told, dict) else {}


def _scripts(code: Code, path: str, told: Any) -> Iterator[tuple[str, str, str]]:
    for table in (("project", "scripts"), ("project", "gui-scripts"), ("tool", "poetry", "scripts")):
        for command, target in sorted(_table(told, *table).items()):
            if isinstance(target, str):
                yield command, target, f"[{'.'.join(table)}] in {path}"


def _binaries(path: str, told: Any) -> Iterator[tuple[str, str, str]]:
    held = told.get("bin") if isinstance(told, dict) else None
    named = {str(told.get("name", "")): held} if isinstance(held, str) else held if isinstance(held, dict) else {}
    for command, target in sorted(named.items()):
        if isinstance(target, str):
            yield command, target.removeprefix("./"), f"bin in {path}"


def _located(code: Code, path: str, text: str, command: str, target: str, why: str) -> Entry:
    """The function that a command calls, where it is of this tree; else the line that declares it."""
    module, _, name = target.partition(":")
    world = world_of(code)
    file = world.module(module, path)
    name = name.partition("[")[0].strip()
    if file:
        held = [symbol for symbol in code.reading(file).symbols if symbol.name == name]
        return Entry(file, held[-1].line if held else 1, command, f"{target}, {why}")
    folder = path.rpartition("/")[0]
    beside = f"{folder}/{target}" if folder else target
    if beside in code.paths:
        return Entry(beside, 1, command, why)
    declared = re.search(rf"^\W*{re.escape(command)}\W.*$", text, re.MULTILINE)
    return Entry(path, text.count("\n", 0, declared.start()) + 1 if declared else 1, command, f"{target}, {why}")
