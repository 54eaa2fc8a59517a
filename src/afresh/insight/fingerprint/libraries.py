"""Libraries of others that the code uses, and how much of it uses them."""

import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

from afresh.insight.configuration import json, table, toml
from afresh.insight.fingerprint.facts import Libraries
from afresh.insight.fingerprint.rounded import ranked
from afresh.insight.fingerprint.sources import Sources
from afresh.insight.fingerprint.zones import zone_of

STANDARD = sys.stdlib_module_names | {
    "distutils",
    "imp",
    "asynchat",
    "asyncore",
    "smtpd",
    "_typeshed",
    "annotationlib",
    "compression",
}
REQUIRED = re.compile(r"^\s*(?:require\s+)?([\w.-]+\.[\w.-]+/\S+)\s+v\S+(?!.*// indirect)\s*$", re.MULTILINE)
ARTIFACT = re.compile(r"<dependency>.*?<artifactId>\s*([\w.-]+)\s*</artifactId>", re.DOTALL)
REFERENCE = re.compile(r"<PackageReference\s+Include=\"([\w.-]+)\"")
GRADLE = re.compile(r"(?:implementation|api|testImplementation|compileOnly)[\s(]+['\"][\w.-]+:([\w.-]+)")
HARDLY = {"typing_extensions", "mypy_extensions", "six", "future"}
"""Never central, however often they are imported."""
MOST = 8


def libraries(sources: Sources) -> Libraries:
    if sources.main == "Python":
        return of_python(sources)
    shipped, development = declared(sources)
    used = used_by(sources, sources.understood, shipped)
    tested = used_by(sources, sources.tests, shipped | development)
    central = [name for name in ranked(used) if wide(used[name], len(sources.shipped))]
    rest = [name for name in ranked(used) if name not in central]
    testing = [name for name in ranked(tested) if name not in used]
    never = [name for name in sorted(shipped) if name not in used and name not in tested]
    unseen = never if tested or used or not development else [*never, *sorted(development)]
    return Libraries(tuple(central[:MOST]), tuple(rest[:MOST]), tuple(testing[:MOST]), tuple(unseen[:MOST]))


def of_python(sources: Sources) -> Libraries:
    """By what is imported, in files that are shipped and in tests."""
    own = own_names(sources)
    shipped, tests = (counted(sources, paths, own) for paths in (sources.shipped, sources.tests))
    central = [name for name in ranked(shipped) if wide(shipped[name], len(sources.shipped)) and name not in HARDLY]
    used = [name for name in ranked(shipped) if name not in central]
    testing = [name for name in ranked(tests) if name not in shipped and (tests[name] > 1 or len(sources.tests) < 10)]
    where = {name: zone_using(name, sources) for name in used[:MOST]}
    places = [f"{name} ({where[name]})" if where[name] else name for name in used[:MOST]]
    return Libraries(tuple(central[:MOST]), tuple(places), tuple(testing[:MOST]))


def wide(files: int, all_files: int) -> bool:
    return files >= 3 and files * 8 >= all_files


def zone_using(library: str, sources: Sources) -> str:
    """The only zone that imports it, if it is one of several."""
    users = {zone_of(path, sources) for path in sources.understood if imports(sources, path, library)}
    return users.pop() if len(users) == 1 and len(sources.shipped) > 10 else ""


def imports(sources: Sources, path: str, library: str) -> bool:
    return any(one.module == library or one.module.startswith(f"{library}.") for one in sources.code.imported_by(path))


def counted(sources: Sources, paths: Iterable[str], own: frozenset[str]) -> Counter[str]:
    """Files that import each top name."""
    found: Counter[str] = Counter()
    for path in paths:
        if path in sources.known:
            modules = {one.module.split(".")[0] for one in sources.code.imported_by(path) if not one.module.startswith(".")}
            found.update(name for name in modules if name and name not in STANDARD and name not in own)
    return found


def own_names(sources: Sources) -> frozenset[str]:
    """Names that a file or folder of the tree may be imported by."""
    names = set[str]()
    for path in sources.code.paths:
        pure = PurePosixPath(path)
        if pure.suffix in (".py", ".pyi", ".pyx", ".so"):
            names |= {pure.stem, *pure.parts[:-1]}
    return frozenset(names)


def declared(sources: Sources) -> tuple[set[str], set[str]]:
    """By the manifests of the top and of the largest roots: what is shipped with, and what only development needs."""
    shipped, testing = set[str](), set[str]()
    configuration = sources.configuration
    near = tuple(f"{root}/" for root in sources.roots[:3])
    for path, text in configuration.texts.items():
        name = path.rpartition("/")[2]
        if "/" in path and not path.startswith(near):
            continue
        if name == "package.json":
            held = json(text)
            shipped |= foreign(table(held, "dependencies")) | foreign(table(held, "peerDependencies"))
            testing |= foreign(table(held, "devDependencies")) if "/" not in path else set()
        elif name == "Cargo.toml":
            held = toml(text)
            shipped |= crates(held, "dependencies") | crates(table(held, "workspace"), "dependencies")
            testing |= crates(held, "dev-dependencies")
        elif name == "go.mod":
            shipped |= set(REQUIRED.findall(text))
        elif pattern := (
            ARTIFACT if name == "pom.xml" else GRADLE if "gradle" in name else REFERENCE if name.endswith("proj") else None
        ):
            shipped |= set(pattern.findall(text))
    own = {
        own
        for text in configuration.texts.values()
        for own in re.findall(r"^\s*\"?name\"?\s*[:=]\s*\"([^\"]+)\"", text, re.MULTILINE)
    }
    return shipped - own, testing - own - shipped


def foreign(given: dict[str, Any]) -> set[str]:
    """Without those of the same repository."""
    return {name for name, said in given.items() if not str(said).startswith(("workspace:", "file:", "link:", "portal:"))}


def crates(held: dict[str, Any], kind: str) -> set[str]:
    """Without those of the same workspace, which are named by their path."""
    given = table(held, kind)
    return {name for name, said in given.items() if not (isinstance(said, dict) and "path" in said)}


def used_by(sources: Sources, paths: Iterable[str], names: Iterable[str]) -> Counter[str]:
    """Files that import what is declared, where their language is understood."""
    found: Counter[str] = Counter()
    wanted = {key: name for name in names for key in (name, name.replace("-", "_"))}
    for path in paths:
        modules = [one.module for one in sources.code.imported_by(path)] if path in sources.known else []
        found.update({wanted[key] for module in modules for key in beginnings(module) if key in wanted})
    return found


def beginnings(module: str) -> list[str]:
    """A path of Go or JavaScript, or a name of Rust, from the whole to its first word."""
    parts = re.split(r"(::|/)", module)
    return ["".join(parts[: at + 1]) for at in range(len(parts))]
