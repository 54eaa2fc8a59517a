"""Where runs begin: files that can be started, and commands that a package installs."""

import re
from collections.abc import Iterator

from afresh.domain.found import EntryPoint
from afresh.errors import AfreshError
from afresh.insight.calls import start_inference
from afresh.insight.code import CodeIndex
from afresh.insight.languages import manifests


def list_entry_points(code: CodeIndex) -> list[EntryPoint]:
    """Commands first, then files; tests are started by their runner and left out."""
    commands = [each for path in code.paths for each in _declared_entry_points(code, path)]
    files = [
        EntryPoint(path, 1, path, code.reading(path).entry)
        for path in code.files
        if code.reading(path).entry and not code.is_test(path)
    ]
    return [*commands, *files]


def _declared_entry_points(code: CodeIndex, path: str) -> Iterator[EntryPoint]:
    if not manifests.is_manifest(path):
        return
    try:
        text = code.text(path)
    except (OSError, ValueError, AfreshError):
        return
    programs = (one for one in manifests.read_manifest_entries(path, text) if one.kind == "program")
    for one in sorted(programs, key=lambda one: (one.where, one.name)):
        yield _locate_entry_point(code, path, text, one)


def _locate_entry_point(code: CodeIndex, path: str, text: str, program: manifests.ManifestEntry) -> EntryPoint:
    """The function that a command calls, where it is of this tree; else the line that declares it."""
    command, target, why = program.name, program.target, f"{program.where} in {path}"
    module, _, name = target.partition(":")
    world = start_inference(code)
    file = world.module(module, path)
    name = name.partition("[")[0].strip()
    if file:
        held = [symbol for symbol in code.reading(file).symbols if symbol.name == name]
        return EntryPoint(file, held[-1].line if held else 1, command, f"{target}, {why}")
    if target in code.paths:
        return EntryPoint(target, 1, command, why)
    declared = re.search(rf"^\W*{re.escape(command)}\W.*$", text, re.MULTILINE)
    return EntryPoint(path, text.count("\n", 0, declared.start()) + 1 if declared else 1, command, f"{target}, {why}")
