"""What the manifests of packages declare: name, purpose, versions, libraries, and the programs that they install."""

import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from afresh.code.config_files import get_table, join_tree_path, list_texts, parse_ini, parse_json, parse_toml

GO_REQUIREMENT = re.compile(
    r"^[^\S\n]*+(?:require[^\S\n]++)?([\w-]++\.[\w.-]++/\S++)[^\S\n]++v\S++(?!.*// indirect)[^\S\n]*$", re.MULTILINE
)
REQUIREMENT_NAME = re.compile(r"\s*([\w.-]+)")


@dataclass(frozen=True, slots=True)
class Program:
    name: str
    target: str
    """A path from the root of the tree, or an object such as `shop.cli:main`."""
    where: str
    """The part of the manifest that declares it."""


@dataclass(frozen=True, slots=True)
class Manifest:
    name: str = ""
    about: str = ""
    versions: tuple[str, ...] = ()
    """Versions of the language that must work, as `Python >=3.11`."""
    libraries: tuple[str, ...] = ()
    """What the shipped code depends on, without packages of the same repository."""
    programs: tuple[Program, ...] = ()


def is_manifest(path: str) -> bool:
    return path.endswith(".csproj") or posixpath.basename(path) in MANIFEST_READERS


def read_manifest(path: str, text: str) -> Manifest:
    """Return what a manifest declares; nothing if the file is none or can't be parsed."""
    read = _read_csproj if path.endswith(".csproj") else MANIFEST_READERS.get(posixpath.basename(path))
    return read(posixpath.dirname(path), text) if read else Manifest()


def _make_manifest(
    name: object = "",
    about: object = "",
    versions: Mapping[str, object] | None = None,
    libraries: list[str] | None = None,
    programs: list[tuple[object, object, str]] | None = None,
) -> Manifest:
    """Keep what is text: a manifest may hold anything anywhere."""
    texts = [f"{word} {version}" for word, version in (versions or {}).items() if isinstance(version, str) and version]
    named = [
        Program(one, to, at) for one, to, at in programs or [] if isinstance(one, str) and isinstance(to, str) and one and to
    ]
    return Manifest(
        name if isinstance(name, str) else "",
        about if isinstance(about, str) else "",
        tuple(texts),
        tuple(libraries or ()),
        tuple(named),
    )


def _read_pyproject(folder: str, text: str) -> Manifest:
    toml = parse_toml(text)
    project, poetry = get_table(toml, "project"), get_table(toml, "tool", "poetry")
    needed = get_table(poetry, "dependencies")
    scripts = (("project", "scripts"), ("project", "gui-scripts"), ("tool", "poetry", "scripts"))
    return _make_manifest(
        project.get("name") or poetry.get("name"),
        project.get("description") or poetry.get("description"),
        {"Python": project.get("requires-python") or needed.get("python")},
        [*_name_requirements(list_texts(project.get("dependencies"))), *(name for name in needed if name != "python")],
        [(name, to, f"[{'.'.join(keys)}]") for keys in scripts for name, to in get_table(toml, *keys).items()],
    )


def _name_requirements(lines: list[str]) -> list[str]:
    return [match[1] for line in lines if (match := REQUIREMENT_NAME.match(line))]


def _read_setup_cfg(folder: str, text: str) -> Manifest:
    ini = parse_ini(text)
    about, options = ini.get("metadata", {}), ini.get("options", {})
    scripts = [line.partition("=") for line in ini.get("options.entry_points", {}).get("console_scripts", "").splitlines()]
    return _make_manifest(
        about.get("name"),
        about.get("description"),
        {"Python": options.get("python_requires")},
        _name_requirements(options.get("install_requires", "").splitlines()),
        [(name.strip(), to.strip(), "console_scripts") for name, _, to in scripts],
    )


def _read_package_json(folder: str, text: str) -> Manifest:
    values = parse_json(text)
    name, programs = values.get("name"), values.get("bin")
    if isinstance(programs, str):
        programs = {posixpath.basename(str(name or "")): programs}
    needed = {**get_table(values, "dependencies"), **get_table(values, "peerDependencies")}
    return _make_manifest(
        name,
        values.get("description"),
        {"Node": get_table(values, "engines").get("node")},
        [one for one, value in needed.items() if not str(value).startswith(("workspace:", "file:", "link:", "portal:"))],
        [(one, join_tree_path(folder, to) if isinstance(to, str) else to, "bin") for one, to in get_table(programs).items()],
    )


def _read_cargo_toml(folder: str, text: str) -> Manifest:
    """Programs that Cargo discovers itself are not declared: they are found by their `fn main`."""
    toml = parse_toml(text)
    package, shared = get_table(toml, "package"), get_table(toml, "workspace", "package")
    needed = {**get_table(toml, "workspace", "dependencies"), **get_table(toml, "dependencies")}
    programs = list[tuple[object, object, str]]()
    declared = toml.get("bin")
    for value in declared if isinstance(declared, list) else ():
        name = str(get_table(value).get("name", package.get("name", "")))
        programs.append((name, join_tree_path(folder, str(get_table(value).get("path", f"src/bin/{name}.rs"))), "[[bin]]"))
    said = {key: package[key] if isinstance(package.get(key), str) else shared.get(key) for key in ("rust-version", "edition")}
    return _make_manifest(
        package.get("name"),
        package.get("description"),
        {"Rust": said["rust-version"], "edition": said["edition"]},
        [name for name, raw_value in needed.items() if not (isinstance(raw_value, dict) and "path" in raw_value)],
        programs,
    )


def _read_go_mod(folder: str, text: str) -> Manifest:
    name = re.search(r"^module\s+\"?([^\s\"]+)", text, re.MULTILINE)
    version = re.search(r"^go\s+([\d.]+)", text, re.MULTILINE)
    return _make_manifest(name and name[1], "", {"Go": version and version[1]}, GO_REQUIREMENT.findall(text))


def _read_csproj(folder: str, text: str) -> Manifest:
    name = re.search(r"<AssemblyName>\s*([^<\s]+)", text)
    framework = re.search(r"<TargetFrameworks?>([\w.;]+)<", text)
    runs = re.search(r"<OutputType>\s*(?:Win)?Exe\s*<", text, re.IGNORECASE)
    called = name[1] if name else posixpath.basename(folder) or "program"
    libraries = re.findall(r"<PackageReference\s+Include=\"([\w.-]+)\"", text)
    programs: list[tuple[object, object, str]] = [(called, folder or ".", "OutputType")] if runs else []
    return _make_manifest("", "", {".NET": framework and framework[1]}, libraries, programs)


MANIFEST_READERS: dict[str, Callable[[str, str], Manifest]] = {
    "pyproject.toml": _read_pyproject,
    "setup.cfg": _read_setup_cfg,
    "package.json": _read_package_json,
    "Cargo.toml": _read_cargo_toml,
    "go.mod": _read_go_mod,
}
