"""Where a run of the project may begin: the commands that its manifests declare, and files that are meant to be run."""

import re

from afresh.code.graph.python_modules import PythonModules
from afresh.code.index.code_index import CodeIndex
from afresh.code.manifests import Program, is_manifest, read_manifest
from afresh.code.search_hit import EntryPoint


def list_entry_points(code: CodeIndex) -> list[EntryPoint]:
    """Return the entry points, commands first, then files. Tests are left out."""
    files = [EntryPoint(path, 1, path, why) for path, why in code.entries.items() if not code.is_test(path)]
    commands = list[EntryPoint]()
    for path in filter(is_manifest, code.paths):
        text = code.text(path)
        programs = sorted(read_manifest(path, text).programs, key=lambda program: (program.where, program.name))
        commands += [_locate_entry_point(code, path, text, program) for program in programs]
    return [*commands, *files]


def _locate_entry_point(code: CodeIndex, path: str, text: str, program: Program) -> EntryPoint:
    """Return the function that a command calls if it is in this tree, otherwise the line that declares the command."""
    command, target, why = program.name, program.target, f"{program.where} in {path}"
    module, _, name = target.partition(":")
    file = PythonModules(code).find(module, path)
    name = name.partition("[")[0].strip()
    if file:
        symbols = [symbol for symbol in code.reading(file).symbols if symbol.name == name]
        return EntryPoint(file, symbols[-1].line if symbols else 1, command, f"{target}, {why}")
    if target in code.paths:
        return EntryPoint(target, 1, command, why)
    declared = re.search(rf"^\W*{re.escape(command)}\W.*$", text, re.MULTILINE)
    return EntryPoint(path, text.count("\n", 0, declared.start()) + 1 if declared else 1, command, f"{target}, {why}")
