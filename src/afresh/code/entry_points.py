"""What a package manifest declares: entry points and what the package is for."""

import configparser
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from afresh.code import config_files
from afresh.code.graph.calls import start_inference
from afresh.code.index.code_index import CodeIndex
from afresh.code.search_hit import EntryPoint
from afresh.errors import AfreshError


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    name: str
    """Display name: a command, a script or a package."""
    kind: str
    """`program` or `library`, or `script` for what a tool of the language runs on demand."""
    target: str
    """A path from the root of the tree, an object such as `shop.cli:main`, or for scripts the command itself."""
    where: str = field(default="", compare=False)
    """The part of the manifest that declares it."""


def is_manifest(path: str) -> bool:
    return _manifest_reader(path) is not None


def read_manifest_entries(path: str, text: str) -> tuple[ManifestEntry, ...]:
    """Return the entries in the order of the manifest; empty if the file is no manifest or can't be parsed."""
    read = _manifest_reader(path)
    return tuple(entry for entry in read(posixpath.dirname(path), text) if entry.name and entry.target) if read else ()


def _manifest_reader(path: str) -> Callable[[str, str], Iterator[ManifestEntry]] | None:
    name = posixpath.basename(path)
    return _read_csproj if name.endswith(".csproj") else MANIFEST_READERS.get(name)


def _read_package_json(folder: str, text: str) -> Iterator[ManifestEntry]:
    manifest = config_files.parse_json(text)
    name, programs = manifest.get("name"), manifest.get("bin")
    if isinstance(programs, str):
        programs = {posixpath.basename(str(name or "")): programs}
    yield from (
        ManifestEntry(one, "program", config_files.join_tree_path(folder, target), "bin") for one, target in _text_pairs(programs)
    )
    main = manifest.get("main") or manifest.get("module")
    if isinstance(main, str):
        yield ManifestEntry(str(name or "main"), "library", config_files.join_tree_path(folder, main))
    yield from (ManifestEntry(one, "script", command) for one, command in _text_pairs(manifest.get("scripts")))


def _read_pyproject(folder: str, text: str) -> Iterator[ManifestEntry]:
    manifest = config_files.parse_toml(text)
    for names in (("project", "scripts"), ("project", "gui-scripts"), ("tool", "poetry", "scripts")):
        scripts, where = config_files.get_table(manifest, *names), f"[{'.'.join(names)}]"
        yield from (ManifestEntry(one, "program", target, where) for one, target in _text_pairs(scripts))


def _read_setup_cfg(folder: str, text: str) -> Iterator[ManifestEntry]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
        listed = parser.get("options.entry_points", "console_scripts", fallback="")
    except configparser.Error:
        return
    for line in listed.splitlines():
        name, _, target = line.partition("=")
        yield ManifestEntry(name.strip(), "program", target.strip(), "console_scripts")


def _read_cargo_toml(folder: str, text: str) -> Iterator[ManifestEntry]:
    """Yield the declared targets. Programs that Cargo discovers itself are found by their `fn main`."""
    manifest = config_files.parse_toml(text)
    name = str(config_files.get_table(manifest, "package").get("name", ""))
    listed = manifest.get("bin")
    for one in listed if isinstance(listed, list) else ():
        program = config_files.get_table(one)
        called = str(program.get("name", name))
        yield ManifestEntry(
            called, "program", config_files.join_tree_path(folder, str(program.get("path", f"src/bin/{called}.rs"))), "[[bin]]"
        )
    library = config_files.get_table(manifest, "lib")
    if library:
        yield ManifestEntry(
            str(library.get("name", name)), "library", config_files.join_tree_path(folder, str(library.get("path", "src/lib.rs")))
        )


def _read_go_mod(folder: str, text: str) -> Iterator[ManifestEntry]:
    found = re.search(r"^module\s+\"?([^\s\"]+)", text, re.MULTILINE)
    if found:
        yield ManifestEntry(found[1], "library", folder or ".")


def _read_csproj(folder: str, text: str) -> Iterator[ManifestEntry]:
    name = re.search(r"<AssemblyName>\s*([^<\s]+)", text)
    if re.search(r"<OutputType>\s*(?:Win)?Exe\s*<", text, re.IGNORECASE):
        yield ManifestEntry(name[1] if name else posixpath.basename(folder) or "program", "program", folder or ".", "OutputType")


def _text_pairs(found: object) -> list[tuple[str, str]]:
    """Return the pairs of a table whose values are strings."""
    pairs = found.items() if isinstance(found, Mapping) else ()
    return [(str(key), value) for key, value in pairs if isinstance(value, str)]


MANIFEST_READERS: dict[str, Callable[[str, str], Iterator[ManifestEntry]]] = {
    "package.json": _read_package_json,
    "pyproject.toml": _read_pyproject,
    "setup.cfg": _read_setup_cfg,
    "Cargo.toml": _read_cargo_toml,
    "go.mod": _read_go_mod,
}


def list_entry_points(code: CodeIndex) -> list[EntryPoint]:
    """Return the entry points, commands first, then files. Tests are left out."""
    commands = [each for path in code.paths for each in _declared_entry_points(code, path)]
    files = [
        EntryPoint(path, 1, path, code.reading(path).entry)
        for path in code.files
        if code.reading(path).entry and not code.is_test(path)
    ]
    return [*commands, *files]


def _declared_entry_points(code: CodeIndex, path: str) -> Iterator[EntryPoint]:
    if not is_manifest(path):
        return
    try:
        text = code.text(path)
    except (OSError, ValueError, AfreshError):
        return
    programs = (one for one in read_manifest_entries(path, text) if one.kind == "program")
    for one in sorted(programs, key=lambda one: (one.where, one.name)):
        yield _locate_entry_point(code, path, text, one)


def _locate_entry_point(code: CodeIndex, path: str, text: str, program: ManifestEntry) -> EntryPoint:
    """Return the function that a command calls if it is in this tree, otherwise the line that declares the command."""
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
