"""Where runs begin: files that can be started, and commands that a package installs."""

import re
from collections.abc import Iterator

from afresh.domain.found import Entry
from afresh.errors import AfreshError
from afresh.insight.calls import world_of
from afresh.insight.code import Code
from afresh.insight.languages import manifests


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
    if not manifests.known(path):
        return
    try:
        text = code.text(path)
    except (OSError, ValueError, AfreshError):
        return
    programs = (one for one in manifests.entries(path, text) if one.kind == "program")
    for one in sorted(programs, key=lambda one: (one.where, one.name)):
        yield _located(code, path, text, one)


def _located(code: Code, path: str, text: str, program: manifests.Entry) -> Entry:
    """The function that a command calls, where it is of this tree; else the line that declares it."""
    command, target, why = program.name, program.target, f"{program.where} in {path}"
    module, _, name = target.partition(":")
    world = world_of(code)
    file = world.module(module, path)
    name = name.partition("[")[0].strip()
    if file:
        held = [symbol for symbol in code.reading(file).symbols if symbol.name == name]
        return Entry(file, held[-1].line if held else 1, command, f"{target}, {why}")
    if target in code.paths:
        return Entry(target, 1, command, why)
    declared = re.search(rf"^\W*{re.escape(command)}\W.*$", text, re.MULTILINE)
    return Entry(path, text.count("\n", 0, declared.start()) + 1 if declared else 1, command, f"{target}, {why}")
