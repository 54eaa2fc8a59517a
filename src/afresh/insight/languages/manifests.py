"""What the manifest of a package says of it: where runs may begin, and what it is for."""

import configparser
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from afresh.insight.languages import settings


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    """As a person would call it: a command, a script, a package."""
    kind: str
    """`program` or `library`, or `script` for what a tool of the language runs on demand."""
    target: str
    """A path from the top of the tree, an object as `shop.cli:main`, or for scripts the command itself."""
    where: str = field(default="", compare=False)
    """The part of the manifest that says so."""


def known(path: str) -> bool:
    return _reader(path) is not None


def entries(path: str, text: str) -> tuple[Entry, ...]:
    """In the order of the manifest; nothing for a file that is none, or makes no sense."""
    read = _reader(path)
    return tuple(entry for entry in read(posixpath.dirname(path), text) if entry.name and entry.target) if read else ()


def described(path: str, text: str) -> str:
    """What the package is for, in a line."""
    name = posixpath.basename(path)
    found: object = ""
    if name == "package.json":
        found = settings.json_of(text).get("description")
    elif name == "pyproject.toml":
        manifest = settings.toml_of(text)
        found = settings.table(manifest, "project").get("description") or _poetry(manifest).get("description")
    elif name == "Cargo.toml":
        found = settings.table(settings.toml_of(text), "package").get("description")
    elif name.endswith(".csproj"):
        found = next(iter(re.findall(r"<Description>\s*([^<]*)</Description>", text)), "")
    return " ".join(found.split()) if isinstance(found, str) else ""


def _reader(path: str) -> Callable[[str, str], Iterator[Entry]] | None:
    name = posixpath.basename(path)
    return _project if name.endswith(".csproj") else READERS.get(name)


def _package(folder: str, text: str) -> Iterator[Entry]:
    manifest = settings.json_of(text)
    name, programs = manifest.get("name"), manifest.get("bin")
    if isinstance(programs, str):
        programs = {posixpath.basename(str(name or "")): programs}
    yield from (Entry(one, "program", settings.joined(folder, target), "bin") for one, target in _texts(programs))
    main = manifest.get("main") or manifest.get("module")
    if isinstance(main, str):
        yield Entry(str(name or "main"), "library", settings.joined(folder, main))
    yield from (Entry(one, "script", command) for one, command in _texts(manifest.get("scripts")))


def _pyproject(folder: str, text: str) -> Iterator[Entry]:
    manifest = settings.toml_of(text)
    for names in (("project", "scripts"), ("project", "gui-scripts"), ("tool", "poetry", "scripts")):
        scripts, where = settings.table(manifest, *names), f"[{'.'.join(names)}]"
        yield from (Entry(one, "program", target, where) for one, target in _texts(scripts))


def _poetry(manifest: Mapping[str, object]) -> Mapping[str, object]:
    return settings.table(manifest, "tool", "poetry")


def _setup(folder: str, text: str) -> Iterator[Entry]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
        listed = parser.get("options.entry_points", "console_scripts", fallback="")
    except configparser.Error:
        return
    for line in listed.splitlines():
        name, _, target = line.partition("=")
        yield Entry(name.strip(), "program", target.strip(), "console_scripts")


def _cargo(folder: str, text: str) -> Iterator[Entry]:
    """What it names; programs that Cargo finds by itself are known by their `fn main`."""
    manifest = settings.toml_of(text)
    name = str(settings.table(manifest, "package").get("name", ""))
    listed = manifest.get("bin")
    for one in listed if isinstance(listed, list) else ():
        program = settings.table(one)
        called = str(program.get("name", name))
        yield Entry(called, "program", settings.joined(folder, str(program.get("path", f"src/bin/{called}.rs"))), "[[bin]]")
    library = settings.table(manifest, "lib")
    if library:
        yield Entry(str(library.get("name", name)), "library", settings.joined(folder, str(library.get("path", "src/lib.rs"))))


def _go(folder: str, text: str) -> Iterator[Entry]:
    found = re.search(r"^module\s+\"?([^\s\"]+)", text, re.MULTILINE)
    if found:
        yield Entry(found[1], "library", folder or ".")


def _project(folder: str, text: str) -> Iterator[Entry]:
    name = re.search(r"<AssemblyName>\s*([^<\s]+)", text)
    if re.search(r"<OutputType>\s*(?:Win)?Exe\s*<", text, re.IGNORECASE):
        yield Entry(name[1] if name else posixpath.basename(folder) or "program", "program", folder or ".", "OutputType")


def _texts(found: object) -> list[tuple[str, str]]:
    """The pairs of a table that are text."""
    pairs = found.items() if isinstance(found, Mapping) else ()
    return [(str(key), value) for key, value in pairs if isinstance(value, str)]


READERS: dict[str, Callable[[str, str], Iterator[Entry]]] = {
    "package.json": _package,
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup,
    "Cargo.toml": _cargo,
    "go.mod": _go,
}
