"""The level that all tasks of a project share."""

import re
from collections.abc import Collection, Sequence
from math import log2

from afresh.code.config_files import ProjectConfiguration
from afresh.code.index.code_index import CodeIndex
from afresh.code.project_profile.code_style import measure_style, measure_test_style, read_source_text
from afresh.code.project_profile.constraints import read_constraints
from afresh.code.project_profile.layout import measure_layout, measure_zones
from afresh.code.project_profile.libraries import measure_libraries
from afresh.code.project_profile.source_files import SourceFiles, measure_python_file
from afresh.code.project_profile.traits import (
    ProfileStatement,
    ProjectTraits,
    count_to_words,
    join_names,
    make_statement,
    round_to_words,
)
from afresh.code.test_commands.try_commands import CommandTrial, TrialNote
from afresh.core.symbol import SymbolKind

MAX_MEASURED_FILE_CHARACTERS = 600_000
MAX_FILES_MEASURED = 30
MAX_HOT_SPOTS = 5
MIN_COMMITS = 5
MIN_DECISIONS = 16
"""Limits: characters of a measured file, files measured, hot spots named; and the fewest commits and decisions of a hot spot."""


def find_hot_spots(sources: SourceFiles) -> tuple[str, ...]:
    """Return hot spots by commits times decisions, rounded in steps of forty percent so that small edits change nothing."""
    code = sources.code
    often = {path: commits for path in sources.understood if (commits := code.churn(path).commits) >= MIN_COMMITS}
    likely = sorted(often, key=lambda path: (-round(log2(often[path]) + log2(1 + code.reading(path).lines)), path))
    hard = {
        path: decisions
        for path in likely[:MAX_FILES_MEASURED]
        if (decisions := measure_intricacy(sources, path)) >= MIN_DECISIONS
    }
    heat = {path: round(2 * log2(often[path] * hard[path])) for path in hard}
    return tuple(sorted(heat, key=lambda path: (-heat[path], path))[:MAX_HOT_SPOTS])


def measure_intricacy(sources: SourceFiles, path: str) -> int:
    """Return the number of decisions in a Python file; for other languages, a tenth of its lines."""
    return (
        measure_python_file(read_source_text(sources, path, MAX_MEASURED_FILE_CHARACTERS)).decisions
        if path.endswith(".py")
        else sources.code.reading(path).lines // 10
    )


INTERFACE_FILE = re.compile(
    r"(?:.*/)?(?:openapi[\w.-]*|swagger[\w.-]*|schema\.(?:json|graphql|sql)|[\w.-]+\.(?:proto|graphql|avsc|thrift|wsdl))"
    r"|.*\.d\.ts"
)


def measure_project(code: CodeIndex, configuration: ProjectConfiguration) -> ProjectTraits:
    sources = SourceFiles(code, configuration)
    return ProjectTraits(
        measure_layout(sources),
        measure_libraries(sources),
        measure_style(sources),
        measure_zones(sources),
        read_constraints(configuration),
        measure_test_style(sources),
        find_hot_spots(sources),
        find_public_files(sources),
    )


def find_public_files(sources: SourceFiles) -> tuple[str, ...]:
    """Return interface descriptions, and the files in which top packages export their names."""
    described = [path for path in sources.code.paths if INTERFACE_FILE.fullmatch(path) and not sources.is_beside(path)]
    gathered = [f"{root}/__init__.py" for root in sources.roots if f"{root}/__init__.py" in sources.known]
    speaking = [path for path in gathered if sources.code.imports(path) or has_definitions(sources, path)]
    return (*sorted(described)[:3], *speaking[:3])


def has_definitions(sources: SourceFiles, path: str) -> bool:
    return any(one.kind is not SymbolKind.CONSTANT for one in sources.code.reading(path).symbols)


ORDINARY_STYLE = frozenset({"snake_case functions", "CapWords types", "indented by 4 spaces"})
"""What nobody would do otherwise in Python."""


def describe_project(facts: ProjectTraits, trial: CommandTrial | None, missing: Collection[str] = ()) -> list[ProfileStatement]:
    """Return the statements, in the order in which a newcomer would ask. Linters that are missing here are not named."""
    layout, style, rules = facts.layout, facts.style, facts.constraints
    said = f"{layout.name or 'the repository'}" + (f" ({layout.about})" if layout.about else "")
    return [
        *make_statement("project", [said, describe_languages(facts)], 30),
        *make_statement("layout", describe_folders(facts), 26),
        *make_statement("tests", describe_test_command(facts, trial), 29),
        *make_statement("layers", describe_zones(facts), 24),
        *make_statement("libraries", describe_libraries(facts), 22),
        *make_statement("style", [part for part in list_style_parts(facts) if part not in ORDINARY_STYLE], 23),
        *make_statement("errors", [said for said in style.errors if not said.endswith("built in")], 19),
        *make_statement("checked by", [*select_installed(rules.linters, missing), *rules.limits], 25),
        *make_statement("hooks before a commit", [", ".join(rules.hooks)], 12),
        *make_statement("hot spots", [join_names(facts.hot, 220)] if facts.hot else [], 20),
        *make_statement("written down in", [", ".join(facts.layout.papers)], 14),
    ]


def list_style_parts(facts: ProjectTraits) -> list[str]:
    style = facts.style
    return [style.typed, style.documented, *style.naming, *style.written, *style.imports, *style.habits]


def select_installed(linters: Sequence[str], missing: Collection[str]) -> list[str]:
    return [linter for linter in linters if linter.partition(" (")[0] not in missing]


def describe_languages(facts: ProjectTraits) -> str:
    """Return the languages, and the versions that must work."""
    versions = [one.removeprefix("Python ").removeprefix("Go ").removeprefix("Rust ") for one in facts.constraints.versions]
    said = ", ".join(facts.layout.languages)
    return f"{said} ({', '.join(versions)})" if versions and said else said


def describe_folders(facts: ProjectTraits) -> list[str]:
    layout = facts.layout
    roots = [root if root != "." else "the root" for root in layout.roots]
    many = (
        f"code in {', '.join(roots[:4])}" + (f" and {round_to_words(len(roots) - 4)} more" if len(roots) > 4 else "")
        if roots
        else ""
    )
    tests = (
        f"tests in {', '.join(layout.tests)}"
        if layout.tests and layout.tests != ("beside the code",)
        else "tests beside the code"
    )
    tests = tests if layout.tests else "no tests"
    mirrored = ", in folders named as those of the code" if layout.mirrored else ""
    starts = f"started by {', '.join(layout.entries)}" if layout.entries else ""
    beside = f"also {', '.join(layout.beside)}" if layout.beside else ""
    place = facts.constraints.test_configuration
    configured = f" (configured in {place})" if place else ""
    return [many, tests.replace(", beside the code", " and beside the code") + mirrored + configured, starts, beside]


def describe_test_command(facts: ProjectTraits, trial: CommandTrial | None) -> list[str]:
    """Return the command that ran tests when it was tried, if any."""
    if trial is None:
        return []
    found = f", {count_to_words(trial.collected, 'test')}" if trial.collected else ""
    other = "; but it tests what is installed, not this tree" if trial.note is TrialNote.FOREIGN_IMPORT else ""
    return [f"`{trial.command}` (tried here{found}{other})"]


def describe_zones(facts: ProjectTraits) -> list[str]:
    """Return the layers; zones to the left import those to the right."""
    zones, parts = facts.zones, list[str]()
    if zones.layers and len(zones.layers) > 1:
        parts.append("each imports only to its right: " + " → ".join(", ".join(row) for row in zones.layers))
    for group in zones.cycles[:2]:
        names = ", ".join(group[:10]) + (" …" if len(group) > 10 else "")
        parts.append(f"import each other: {names}")
    if zones.hubs:
        parts.append(f"most used: {', '.join(zones.hubs)}")
    return parts


def describe_libraries(facts: ProjectTraits) -> list[str]:
    library = facts.libraries
    return [
        f"central {join_names(library.central)}" if library.central else "",
        f"{'also ' if library.central else ''}{join_names(library.used)}" if library.used else "",
        f"tests use {join_names(library.testing)}" if library.testing else "",
        f"declared {join_names(library.declared)}" if library.declared else "",
    ]
