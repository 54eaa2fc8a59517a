"""Third-party libraries that the code uses, and how many files use them."""

import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

from afresh.code.config_files import get_table, parse_json, parse_toml
from afresh.code.project_profile.layout import find_zone
from afresh.code.project_profile.source_files import SourceFiles
from afresh.code.project_profile.traits import LibraryUse, rank_by_magnitude

STANDARD_LIBRARY = sys.stdlib_module_names | {
    "distutils",
    "imp",
    "asynchat",
    "asyncore",
    "smtpd",
    "_typeshed",
    "annotationlib",
    "compression",
}
GO_REQUIREMENT = re.compile(
    r"^[^\S\n]*+(?:require[^\S\n]++)?([\w-]++\.[\w.-]++/\S++)[^\S\n]++v\S++(?!.*// indirect)[^\S\n]*$", re.MULTILINE
)
MAVEN_ARTIFACT = re.compile(r"<dependency>.*?<artifactId>\s*([\w.-]+)\s*</artifactId>", re.DOTALL)
DOTNET_REFERENCE = re.compile(r"<PackageReference\s+Include=\"([\w.-]+)\"")
GRADLE_DEPENDENCY = re.compile(r"(?:implementation|api|testImplementation|compileOnly)[\s(]+['\"][\w.-]+:([\w.-]+)")
NEVER_CENTRAL = {"typing_extensions", "mypy_extensions", "six", "future"}
"""Never reported as central, however often they are imported."""
MAX_LIBRARIES = 8


def measure_libraries(sources: SourceFiles) -> LibraryUse:
    if sources.main == "Python":
        return measure_python_libraries(sources)
    shipped, development = read_declared_libraries(sources)
    used = count_declared_uses(sources, sources.understood, shipped)
    tested = count_declared_uses(sources, sources.tests, shipped | development)
    central = [name for name in rank_by_magnitude(used) if is_widely_used(used[name], len(sources.shipped))]
    rest = [name for name in rank_by_magnitude(used) if name not in central]
    testing = [name for name in rank_by_magnitude(tested) if name not in used]
    never = [name for name in sorted(shipped) if name not in used and name not in tested]
    unseen = never if tested or used or not development else [*never, *sorted(development)]
    return LibraryUse(
        tuple(central[:MAX_LIBRARIES]), tuple(rest[:MAX_LIBRARIES]), tuple(testing[:MAX_LIBRARIES]), tuple(unseen[:MAX_LIBRARIES])
    )


def measure_python_libraries(sources: SourceFiles) -> LibraryUse:
    """Return the libraries that shipped files and tests import."""
    own = collect_own_modules(sources)
    shipped, tests = (count_importing_files(sources, paths, own) for paths in (sources.shipped, sources.tests))
    central = [
        name
        for name in rank_by_magnitude(shipped)
        if is_widely_used(shipped[name], len(sources.shipped)) and name not in NEVER_CENTRAL
    ]
    used = [name for name in rank_by_magnitude(shipped) if name not in central]
    testing = [name for name in rank_by_magnitude(tests) if name not in shipped and (tests[name] > 1 or len(sources.tests) < 10)]
    where = {name: find_only_zone(name, sources) for name in used[:MAX_LIBRARIES]}
    places = [f"{name} ({where[name]})" if where[name] else name for name in used[:MAX_LIBRARIES]]
    return LibraryUse(tuple(central[:MAX_LIBRARIES]), tuple(places), tuple(testing[:MAX_LIBRARIES]))


def is_widely_used(files: int, all_files: int) -> bool:
    return files >= 3 and files * 8 >= all_files


def find_only_zone(library: str, sources: SourceFiles) -> str:
    """Return the zone that imports a library, if it is the only one and the project is not tiny."""
    users = {find_zone(path, sources) for path in sources.understood if has_import_of(sources, path, library)}
    return users.pop() if len(users) == 1 and len(sources.shipped) > 10 else ""


def has_import_of(sources: SourceFiles, path: str, library: str) -> bool:
    return any(one.module == library or one.module.startswith(f"{library}.") for one in sources.code.imported_by(path))


def count_importing_files(sources: SourceFiles, paths: Iterable[str], own: frozenset[str]) -> Counter[str]:
    """Return the number of files that import each top-level name."""
    found: Counter[str] = Counter()
    for path in paths:
        if path in sources.known:
            modules = {one.module.split(".")[0] for one in sources.code.imported_by(path) if not one.module.startswith(".")}
            found.update(name for name in modules if name and name not in STANDARD_LIBRARY and name not in own)
    return found


def collect_own_modules(sources: SourceFiles) -> frozenset[str]:
    """Return the names under which files and folders of the tree may be imported."""
    names = set[str]()
    for path in sources.code.paths:
        pure = PurePosixPath(path)
        if pure.suffix in (".py", ".pyi", ".pyx", ".so"):
            names |= {pure.stem, *pure.parts[:-1]}
    return frozenset(names)


def read_declared_libraries(sources: SourceFiles) -> tuple[set[str], set[str]]:
    """Return the libraries in the manifests of the root and of the largest roots: those that are shipped, and those for
    development only.
    """
    shipped, testing = set[str](), set[str]()
    configuration = sources.configuration
    near = tuple(f"{root}/" for root in sources.roots[:3])
    for path, text in configuration.texts.items():
        name = path.rpartition("/")[2]
        if "/" in path and not path.startswith(near):
            continue
        if name == "package.json":
            held = parse_json(text)
            shipped |= drop_local_packages(get_table(held, "dependencies")) | drop_local_packages(
                get_table(held, "peerDependencies")
            )
            testing |= drop_local_packages(get_table(held, "devDependencies")) if "/" not in path else set()
        elif name == "Cargo.toml":
            held = parse_toml(text)
            shipped |= read_crates(held, "dependencies") | read_crates(get_table(held, "workspace"), "dependencies")
            testing |= read_crates(held, "dev-dependencies")
        elif name == "go.mod":
            shipped |= set(GO_REQUIREMENT.findall(text))
        elif pattern := (
            MAVEN_ARTIFACT
            if name == "pom.xml"
            else GRADLE_DEPENDENCY
            if "gradle" in name
            else DOTNET_REFERENCE
            if name.endswith("proj")
            else None
        ):
            shipped |= set(pattern.findall(text))
    own = {
        own
        for text in configuration.texts.values()
        for own in re.findall(r"^\s*\"?name\"?\s*[:=]\s*\"([^\"]+)\"", text, re.MULTILINE)
    }
    return shipped - own, testing - own - shipped


def drop_local_packages(given: dict[str, Any]) -> set[str]:
    """Return the names without packages of the same repository."""
    return {name for name, said in given.items() if not str(said).startswith(("workspace:", "file:", "link:", "portal:"))}


def read_crates(held: dict[str, Any], kind: str) -> set[str]:
    """Return the names without crates of the same workspace, which are given by path."""
    given = get_table(held, kind)
    return {name for name, said in given.items() if not (isinstance(said, dict) and "path" in said)}


def count_declared_uses(sources: SourceFiles, paths: Iterable[str], names: Iterable[str]) -> Counter[str]:
    """Return the number of files that import each declared library, in supported languages."""
    found: Counter[str] = Counter()
    wanted = {key: name for name in names for key in (name, name.replace("-", "_"))}
    for path in paths:
        modules = [one.module for one in sources.code.imported_by(path)] if path in sources.known else []
        found.update({wanted[key] for module in modules for key in list_module_prefixes(module) if key in wanted})
    return found


def list_module_prefixes(module: str) -> list[str]:
    """Return a Go or JavaScript path, or a Rust name, and all its prefixes, the longest first."""
    parts = re.split(r"(::|/)", module)
    return ["".join(parts[: at + 1]) for at in range(len(parts))]
