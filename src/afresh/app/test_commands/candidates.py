"""Commands that may run a project's tests, from its own files, the most trusted first."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from afresh.app.test_commands import command_lines
from afresh.app.test_commands.command_lines import SourcedLine, make_script_command, read_make_lines, read_tox_lines
from afresh.app.test_commands.parse_command import ParsedCommand, RecipeReference, RejectedCommand, parse_line
from afresh.code.config_files import ProjectConfiguration, get_table, parse_json
from afresh.code.project_profile.constraints import find_pytest_settings
from afresh.core.truncate import to_one_line

MAX_CANDIDATES = 12
MAX_REJECTED_LINE_CHARACTERS = 300
PYTHON_TEST_FILE = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")
NODE_TEST_FILE = re.compile(r"(?:.*/)?(?:tests?/[^/]*|[^/]*[._-]test)\.[cm]?js")
MORE_THAN_TESTS = re.compile(r"\b(?:sudo|docker|podman|ssh|scp|rsync|curl|wget|install|deploy|publish|upload|git push)\b")
"""In the recipe of a target that is run as a whole: it does more than run tests."""
SKIPPED_FOLDER = re.compile(r"(?:^|/)(?:node_modules|\.venv|venv|build|dist|vendor|testdata)/")
CHOSEN_ENVIRONMENT = re.compile(r"\s-[es][ =]\$\{\{[^{}]*\}\}")
"""An environment of tox that CI fills in; which one does not matter here."""
DOTNET_TEST_PACKAGE = re.compile(r"Microsoft\.NET\.Test\.Sdk|xunit|nunit|MSTest", re.IGNORECASE)
PACKAGE_RUNNERS = {"vitest": "npx vitest run", "jest": "npx jest", "mocha": "npx mocha", "tap": "npx tap"}
"""For a project whose package manager is not installed, or whose script does more than run tests."""


@dataclass(frozen=True, slots=True)
class CommandCandidate:
    command: str
    kind: str
    """The test runner: pytest, unittest, script, go, cargo, node, package, mvn, gradle, make, dotnet."""
    source: str
    """The file that contains it, and where in it."""
    refused: str = ""
    """Why it must not be run; the command is then the unchanged line."""
    narrow: bool = False


def find_candidates(configuration: ProjectConfiguration) -> tuple[CommandCandidate, ...]:
    """Return each command once; of equally trusted ones, those that run only some of the tests come last. If a project has its
    own way to run its Python tests, a generic command that would find only a few of them by name is left out.
    """
    ci = [line for path in configuration.automated() for line in command_lines.read_ci_lines(path, configuration.text(path))]
    recipes = chain(*(read(configuration) for read in (read_tox_lines, command_lines.read_hatch_lines, read_make_lines)))
    candidates: dict[str, CommandCandidate] = {}
    for lines in (ci, recipes):
        group = [one for line in lines for one in candidates_from_line(line, configuration)]
        for candidate in sorted(group, key=lambda one: bool(one.refused) or one.narrow):
            candidates.setdefault(candidate.command, candidate)
    kinds = {one.kind for one in candidates.values() if not one.refused} & {"pytest", "unittest", "script"}
    known = {one.source for one in candidates.values()}
    for candidate in candidates_from_files(configuration):
        if candidate.kind == "make" and candidate.source in known:
            continue  # its lines were read: they are taken, or refused
        if candidate.kind not in ("pytest", "unittest") or not kinds or candidate.kind in kinds:
            candidates.setdefault(candidate.command, candidate)
    runnable = [one for one in candidates.values() if not one.refused]
    return (*runnable[:MAX_CANDIDATES], *[one for one in candidates.values() if one.refused][:MAX_CANDIDATES])


def candidates_from_line(line: SourcedLine, configuration: ProjectConfiguration, depth: int = 3) -> Iterator[CommandCandidate]:
    text, folder, source = line
    try:
        for one in parse_line(CHOSEN_ENVIRONMENT.sub("", text)):
            if isinstance(one, ParsedCommand):
                yield CommandCandidate(prefix_folder(one.command, folder, configuration), one.kind, source, narrow=one.narrow)
            elif depth:
                yield from follow_reference(one, source, configuration, depth - 1)
    except RejectedCommand as why:
        yield CommandCandidate(to_one_line(text, MAX_REJECTED_LINE_CHARACTERS), "", source, str(why))


def follow_reference(
    pointer: RecipeReference, source: str, configuration: ProjectConfiguration, depth: int
) -> Iterator[CommandCandidate]:
    """Yield the commands of the recipe that a line refers to."""
    if pointer.kind == "script":
        if command := make_script_command(configuration, pointer.name):
            yield CommandCandidate(command, "package", f"{source} and package.json")
        return
    named = read_make_lines if pointer.kind == "make" else read_tox_lines
    for line in named(configuration, pointer.name if re.fullmatch(r"[\w.-]+", pointer.name) else ""):
        for candidate in candidates_from_line(line, configuration, depth):
            yield replace(candidate, source=f"{source} and {candidate.source}")


def prefix_folder(command: str, folder: str, configuration: ProjectConfiguration) -> str:
    """Return the command, run in a folder of the tree."""
    folder = folder.removeprefix("./").strip("/")
    if folder in ("", "."):
        return command
    if not re.fullmatch(r"[\w.-]+(?:/[\w.-]+)*", folder) or ".." in folder.split("/"):
        raise RejectedCommand(f"is run in {folder[:40]!r}")
    if not any(path.startswith(f"{folder}/") for path in configuration.paths):
        raise RejectedCommand(f"is run in {folder}, which is not in the tree")
    return f"cd {folder} && {command}"


def candidates_from_files(configuration: ProjectConfiguration) -> Iterator[CommandCandidate]:
    """Yield commands by configuration and files, only if there are tests to run."""
    paths = [path for path in configuration.paths if not SKIPPED_FOLDER.search(path)]
    tests = [path for path in paths if PYTHON_TEST_FILE.fullmatch(path)]
    if tests:
        place = find_pytest_settings(configuration)
        yield CommandCandidate("python -m pytest -q", "pytest", place or f"files such as {tests[0]}")
        if not place:
            yield CommandCandidate(
                f"python -m unittest discover{choose_unittest_start(tests, paths)}", "unittest", f"files such as {tests[0]}"
            )
    package = parse_json(configuration.text("package.json"))
    for name in (name for name in ("test", "test:unit", "tests") if name in get_table(package, "scripts")):
        try:
            yield CommandCandidate(make_script_command(configuration, name), "package", "package.json")
        except RejectedCommand as why:
            yield CommandCandidate(f"npm run {name}", "package", "package.json", str(why))
    for command in (PACKAGE_RUNNERS[name] for name in PACKAGE_RUNNERS if name in get_table(package, "devDependencies")):
        yield CommandCandidate(command, "package", "package.json: devDependencies")
    if "Cargo.toml" in configuration.texts:
        yield CommandCandidate("cargo test", "cargo", "Cargo.toml")
    if "go.mod" in configuration.texts and any(path.endswith("_test.go") for path in paths):
        yield CommandCandidate("go test ./...", "go", "go.mod")
    if node := [path for path in paths if NODE_TEST_FILE.fullmatch(path)]:
        yield CommandCandidate("node --test", "node", f"files such as {node[0]}")
    yield from candidates_from_build_files(configuration, paths)
    for target, recipe in command_lines.list_make_targets(configuration):
        more = MORE_THAN_TESTS.search(recipe)
        why = f"its recipe also runs {more[0]!r}" if more else ""
        yield CommandCandidate(f"make {target}", "make", f"Makefile: {target}", why)


def candidates_from_build_files(configuration: ProjectConfiguration, paths: list[str]) -> Iterator[CommandCandidate]:
    tested = any("src/test/" in path for path in paths)
    if "pom.xml" in configuration.texts and tested:
        yield CommandCandidate("./mvnw -q test" if "mvnw" in paths else "mvn -q test", "mvn", "pom.xml")
    for path in ("build.gradle", "build.gradle.kts"):
        if path in configuration.texts and tested:
            yield CommandCandidate("./gradlew test" if "gradlew" in paths else "gradle test", "gradle", path)
    projects = [path for path, text in configuration.texts.items() if path.endswith("proj") and DOTNET_TEST_PACKAGE.search(text)]
    if projects:
        solution = any("/" not in path and path.endswith((".sln", ".slnx")) for path in paths)
        yield CommandCandidate("dotnet test" if solution else f"dotnet test {projects[0]}", "dotnet", projects[0])


def choose_unittest_start(tests: Sequence[str], paths: Sequence[str]) -> str:
    """Return the folder where unittest must start: the one that contains all tests, if it is not a package."""
    tops = {path.rpartition("/")[0].partition("/")[0] for path in tests}
    top = tops.pop() if len(tops) == 1 else ""
    return f" -s {top}" if re.fullmatch(r"[\w.-]+", top) and f"{top}/__init__.py" not in paths else ""
