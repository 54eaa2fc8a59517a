"""Commands that may run a project's tests, by what its own files say, the most trusted first."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from afresh.domain.text import one_line
from afresh.insight.commands import recipes
from afresh.insight.commands.automation import spoken
from afresh.insight.commands.recipes import Line
from afresh.insight.commands.shape import Pointer, Refused, Shape, shaped
from afresh.insight.configuration import Configuration, ini, table

MOST = 12
LONGEST = 300
TEST_FILE = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")
SKIPPED = re.compile(r"(?:^|/)(?:node_modules|\.venv|venv|build|dist|vendor|testdata)/")
CHOSEN = re.compile(r"\s-[es][ =]\$\{\{[^{}]*\}\}")
"""An environment of tox or nox that the server puts in: which one does not matter here."""
TESTS_OF_NET = re.compile(r"Microsoft\.NET\.Test\.Sdk|xunit|nunit|MSTest", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Candidate:
    command: str
    kind: str
    """Who runs the tests: pytest, unittest, script, go, cargo, node, package, mvn, gradle, dotnet."""
    source: str
    """The file that says so, and where in it."""
    refused: str = ""
    """Why it is not to be run; the command is then the line as it stands."""
    narrow: bool = False


def candidates(configuration: Configuration) -> tuple[Candidate, ...]:
    """Each command once; those that name only some of the tests come last within what is as trusted. Where a project has its own
    way to run the tests of its Python, another that would find a few of them by their names is none."""
    found: dict[str, Candidate] = {}
    for group in (automated, written):
        for one in sorted(group(configuration), key=lambda one: bool(one.refused) or one.narrow):
            found.setdefault(one.command, one)
    said = {one.kind for one in found.values() if not one.refused} & {"pytest", "unittest", "script"}
    for one in known(configuration):
        if one.kind not in ("pytest", "unittest") or not said or one.kind in said:
            found.setdefault(one.command, one)
    runnable = [one for one in found.values() if not one.refused]
    return (*runnable[:MOST], *[one for one in found.values() if one.refused][:MOST])


def automated(configuration: Configuration) -> Iterator[Candidate]:
    """What a server runs. It often only says which recipe."""
    for path in configuration.automated():
        for line, folder in spoken(path, configuration.text(path)):
            yield from taken((line, folder.removeprefix("./").strip("/"), path), configuration)


def written(configuration: Configuration) -> Iterator[Candidate]:
    for lines in (recipes.tox, recipes.nox, recipes.tasks, recipes.made, recipes.just):
        for line in lines(configuration):
            yield from taken(line, configuration)


def taken(line: Line, configuration: Configuration, depth: int = 3) -> Iterator[Candidate]:
    text, folder, source = line
    try:
        for one in shaped(CHOSEN.sub("", text)):
            if isinstance(one, Shape):
                yield Candidate(placed(one.command, folder, configuration), one.kind, source, narrow=one.narrow)
            elif depth:
                yield from followed(one, source, configuration, depth - 1)
    except Refused as why:
        yield Candidate(one_line(text, LONGEST), "", source, str(why))


def followed(pointer: Pointer, source: str, configuration: Configuration, depth: int) -> Iterator[Candidate]:
    """What the recipe says that a line names."""
    if pointer.kind == "script":
        if command := recipes.script(configuration, pointer.name):
            yield Candidate(command, "package", f"{source} and package.json")
        return
    named = {
        "make": lambda: recipes.made(configuration, pointer.name),
        "just": lambda: recipes.just(configuration, pointer.name),
        "tox": lambda: recipes.tox(configuration, pointer.name if re.fullmatch(r"[\w.-]+", pointer.name) else ""),
        "nox": lambda: recipes.nox(configuration),
    }
    for text, folder, place in named[pointer.kind]():
        for one in taken((text, folder, place), configuration, depth):
            yield replace(one, source=f"{source} and {one.source}")


def placed(command: str, folder: str, configuration: Configuration) -> str:
    """In a folder of the tree."""
    if not folder or folder == ".":
        return command
    if not re.fullmatch(r"[\w.-]+(?:/[\w.-]+)*", folder) or ".." in folder.split("/"):
        raise Refused(f"is run in {folder[:40]!r}")
    if not any(path.startswith(f"{folder}/") for path in configuration.paths):
        raise Refused(f"is run in {folder}, which is not in the tree")
    return f"cd {folder} && {command}"


def known(configuration: Configuration) -> Iterator[Candidate]:
    """By what is configured and which files there are; only if there are tests to run."""
    paths = [path for path in configuration.paths if not SKIPPED.search(path)]
    tests = [path for path in paths if TEST_FILE.fullmatch(path)]
    if tests:
        place = pytest_place(configuration)
        yield Candidate("python -m pytest -q", "pytest", place or f"files such as {tests[0]}")
        if not place:
            yield Candidate(f"python -m unittest discover{start(tests, paths)}", "unittest", f"files such as {tests[0]}")
    for name in recipes.scripts_of_tests(configuration):
        try:
            yield Candidate(recipes.script(configuration, name), "package", "package.json")
        except Refused as why:
            yield Candidate(f"npm run {name}", "package", "package.json", str(why))
    if "Cargo.toml" in configuration.texts:
        yield Candidate("cargo test", "cargo", "Cargo.toml")
    if "go.mod" in configuration.texts and any(path.endswith("_test.go") for path in paths):
        yield Candidate("go test ./...", "go", "go.mod")
    yield from on_virtual_machines(configuration, paths)


def on_virtual_machines(configuration: Configuration, paths: list[str]) -> Iterator[Candidate]:
    tested = any("src/test/" in path for path in paths)
    if "pom.xml" in configuration.texts and tested:
        yield Candidate("./mvnw -q test" if "mvnw" in paths else "mvn -q test", "mvn", "pom.xml")
    for path in ("build.gradle", "build.gradle.kts"):
        if path in configuration.texts and tested:
            yield Candidate("./gradlew test" if "gradlew" in paths else "gradle test", "gradle", path)
    projects = [path for path, text in configuration.texts.items() if path.endswith("proj") and TESTS_OF_NET.search(text)]
    if projects:
        solution = any("/" not in path and path.endswith((".sln", ".slnx")) for path in paths)
        yield Candidate("dotnet test" if solution else f"dotnet test {projects[0]}", "dotnet", projects[0])


def pytest_place(configuration: Configuration) -> str:
    """Where pytest is configured."""
    if table(configuration.project, "tool", "pytest"):
        return "pyproject.toml [tool.pytest]"
    for path, section in (
        ("pytest.ini", "pytest"),
        (".pytest.ini", "pytest"),
        ("tox.ini", "pytest"),
        ("setup.cfg", "tool:pytest"),
    ):
        if section in ini(configuration.text(path)):
            return f"{path} [{section}]"
    return ""


def start(tests: list[str], paths: list[str]) -> str:
    """Where unittest has to begin: at the folder that holds all tests, if Python does not see it as a package."""
    tops = {path.partition("/")[0] if "/" in path else "" for path in tests}
    if len(tops) == 1 and (top := tops.pop()) and f"{top}/__init__.py" not in paths and re.fullmatch(r"[\w.-]+", top):
        return f" -s {top}"
    return ""
