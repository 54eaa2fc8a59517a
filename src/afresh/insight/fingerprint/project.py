"""The level that all tasks of a project share."""

import re

from afresh.domain.code import SymbolKind
from afresh.insight.code import CodeIndex
from afresh.insight.commands import CommandTrial
from afresh.insight.configuration import ProjectConfiguration
from afresh.insight.fingerprint.constraints import read_constraints
from afresh.insight.fingerprint.facts import ProjectTraits
from afresh.insight.fingerprint.hot import find_hot_spots
from afresh.insight.fingerprint.layout import measure_layout
from afresh.insight.fingerprint.level import ProfileStatement, make_statement
from afresh.insight.fingerprint.libraries import measure_libraries
from afresh.insight.fingerprint.rounded import round_to_words, count_to_words, join_names
from afresh.insight.fingerprint.sources import SourceFiles
from afresh.insight.fingerprint.style import measure_style
from afresh.insight.fingerprint.testing import measure_test_style
from afresh.insight.fingerprint.zones import measure_zones

INTERFACE_FILE = re.compile(
    r"(?:.*/)?(?:openapi[\w.-]*|swagger[\w.-]*|schema\.(?:json|graphql|sql)|[\w.-]+\.(?:proto|graphql|avsc|thrift|wsdl))|.*\.d\.ts"
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
    """Descriptions of interfaces, and the files that gather what a top package gives to others."""
    described = [path for path in sources.code.paths if INTERFACE_FILE.fullmatch(path) and not sources.is_beside(path)]
    gathered = [f"{root}/__init__.py" for root in sources.roots if f"{root}/__init__.py" in sources.known]
    speaking = [path for path in gathered if sources.code.imports(path) or has_definitions(sources, path)]
    return (*sorted(described)[:3], *speaking[:3])


def has_definitions(sources: SourceFiles, path: str) -> bool:
    return any(one.kind is not SymbolKind.CONSTANT for one in sources.code.reading(path).symbols)


def describe_project(facts: ProjectTraits, trial: CommandTrial | None) -> list[ProfileStatement]:
    """In the order in which a newcomer would ask."""
    layout, style, rules = facts.layout, facts.style, facts.constraints
    said = f"{layout.name or 'the repository'}" + (f" ({layout.about})" if layout.about else "")
    return [
        *make_statement("project", [said, describe_languages(facts), layout.files], 30),
        *make_statement("layout", describe_folders(facts), 26),
        *make_statement("tests", describe_test_command(facts, trial), 29),
        *make_statement("zones", describe_zones(facts), 24),
        *make_statement("libraries", describe_libraries(facts), 22),
        *make_statement(
            "style", [style.typed, style.documented, *style.naming, *style.written, *style.imports, *style.habits], 23
        ),
        *make_statement("errors", style.errors, 19),
        *make_statement("checked by", [*rules.linters, *rules.limits], 25),
        *make_statement("hooks before a commit", [", ".join(rules.hooks)], 12),
        *make_statement("hot spots", [join_names(facts.hot, 220)] if facts.hot else [], 20),
        *make_statement("written down in", [", ".join(facts.layout.papers)], 14),
    ]


def describe_languages(facts: ProjectTraits) -> str:
    """Languages, and the versions that must do."""
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
    return [many, tests.replace(", beside the code", " and beside the code") + mirrored, starts, beside]


def describe_test_command(facts: ProjectTraits, trial: CommandTrial | None) -> list[str]:
    """Only a command that was seen to run tests is told as one."""
    if trial is None:
        return []
    found = f", {count_to_words(trial.collected, 'test')}" if trial.collected else ""
    other = "; but it tests what is installed, not this tree" if "is imported from" in trial.said else ""
    return [f"`{trial.command}` (tried here{found}{other})"]


def describe_zones(facts: ProjectTraits) -> list[str]:
    """Layers read from left to right: who stands before imports those after."""
    zones, parts = facts.zones, list[str]()
    if zones.layers and len(zones.layers) > 1:
        parts.append("imports point right: " + " → ".join(", ".join(row) for row in zones.layers))
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
        f"tests also use {join_names(library.testing)}" if library.testing else "",
        f"declared {join_names(library.declared)}" if library.declared else "",
    ]
