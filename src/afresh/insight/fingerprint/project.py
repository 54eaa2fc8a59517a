"""The level that all tasks of a project share."""

import re

from afresh.domain.code import Kind
from afresh.insight.code import Code
from afresh.insight.commands import Trial
from afresh.insight.configuration import Configuration
from afresh.insight.fingerprint.constraints import constraints
from afresh.insight.fingerprint.facts import Facts
from afresh.insight.fingerprint.hot import hot
from afresh.insight.fingerprint.layout import layout
from afresh.insight.fingerprint.level import Statement, statement
from afresh.insight.fingerprint.libraries import libraries
from afresh.insight.fingerprint.rounded import about, counted, listed
from afresh.insight.fingerprint.sources import Sources
from afresh.insight.fingerprint.style import style
from afresh.insight.fingerprint.testing import testing
from afresh.insight.fingerprint.zones import zones

CONTRACTS = re.compile(
    r"(?:.*/)?(?:openapi[\w.-]*|swagger[\w.-]*|schema\.(?:json|graphql|sql)|[\w.-]+\.(?:proto|graphql|avsc|thrift|wsdl))|.*\.d\.ts"
)


def facts_of(code: Code, configuration: Configuration) -> Facts:
    sources = Sources(code, configuration)
    return Facts(
        layout(sources),
        libraries(sources),
        style(sources),
        zones(sources),
        constraints(configuration),
        testing(sources),
        hot(sources),
        public(sources),
    )


def public(sources: Sources) -> tuple[str, ...]:
    """Descriptions of interfaces, and the files that gather what a top package gives to others."""
    described = [path for path in sources.code.paths if CONTRACTS.fullmatch(path) and not sources.is_beside(path)]
    gathered = [f"{root}/__init__.py" for root in sources.roots if f"{root}/__init__.py" in sources.known]
    speaking = [path for path in gathered if sources.code.imports(path) or defines(sources, path)]
    return (*sorted(described)[:3], *speaking[:3])


def defines(sources: Sources, path: str) -> bool:
    return any(one.kind is not Kind.CONSTANT for one in sources.code.reading(path).symbols)


def project(facts: Facts, trial: Trial | None) -> list[Statement]:
    """In the order in which a newcomer would ask."""
    layout, style, rules = facts.layout, facts.style, facts.constraints
    said = f"{layout.name or 'the repository'}" + (f" ({layout.about})" if layout.about else "")
    return [
        *statement("project", [said, spoken(facts), layout.files], 30),
        *statement("layout", placed(facts), 26),
        *statement("tests", tested(facts, trial), 29),
        *statement("zones", zoned(facts), 24),
        *statement("libraries", used(facts), 22),
        *statement("style", [style.typed, style.documented, *style.naming, *style.written, *style.imports, *style.habits], 23),
        *statement("errors", style.errors, 19),
        *statement("checked by", [*rules.linters, *rules.limits], 25),
        *statement("hooks before a commit", [", ".join(rules.hooks)], 12),
        *statement("hot spots", [listed(facts.hot, 220)] if facts.hot else [], 20),
        *statement("written down in", [", ".join(facts.layout.papers)], 14),
    ]


def spoken(facts: Facts) -> str:
    """Languages, and the versions that must do."""
    versions = [one.removeprefix("Python ").removeprefix("Go ").removeprefix("Rust ") for one in facts.constraints.versions]
    said = ", ".join(facts.layout.languages)
    return f"{said} ({', '.join(versions)})" if versions and said else said


def placed(facts: Facts) -> list[str]:
    layout = facts.layout
    roots = [root if root != "." else "the root" for root in layout.roots]
    many = f"code in {', '.join(roots[:4])}" + (f" and {about(len(roots) - 4)} more" if len(roots) > 4 else "") if roots else ""
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


def tested(facts: Facts, trial: Trial | None) -> list[str]:
    """Only a command that was seen to run tests is told as one."""
    if trial is None:
        return []
    found = f", {counted(trial.collected, 'test')}" if trial.collected else ""
    other = "; but it tests what is installed, not this tree" if "is imported from" in trial.said else ""
    return [f"`{trial.command}` (tried here{found}{other})"]


def zoned(facts: Facts) -> list[str]:
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


def used(facts: Facts) -> list[str]:
    library = facts.libraries
    return [
        f"central {listed(library.central)}" if library.central else "",
        f"{'also ' if library.central else ''}{listed(library.used)}" if library.used else "",
        f"tests also use {listed(library.testing)}" if library.testing else "",
        f"declared {listed(library.declared)}" if library.declared else "",
    ]
