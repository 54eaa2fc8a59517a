"""What of a project matters for one type of task."""

from collections.abc import Callable

from afresh.insight.commands import Trial
from afresh.insight.fingerprint.facts import Facts
from afresh.insight.fingerprint.level import Statement, statement

Parts = list[str]


def for_type(type: str, facts: Facts, trial: Trial | None) -> list[Statement]:
    """A type that is not known gets what any change needs."""
    return statement(f"for {type or 'a task'}", MATTERS.get(type, implement_feature)(facts, trial), 20)


def implement_feature(facts: Facts, trial: Trial | None) -> Parts:
    return [new_tests(facts), direction(facts), expected(facts), gathered(facts), noted(facts)]


def fix_bug(facts: Facts, trial: Trial | None) -> Parts:
    return [new_tests(facts), one_test(trial), *facts.style.errors[:1], hot(facts)]


def fix_violation(facts: Facts, trial: Trial | None) -> Parts:
    limits = ", ".join(facts.constraints.limits)
    lengths = next((habit for habit in facts.style.habits if habit.startswith("half of")), "")
    return [f"limits: {limits}" if limits else "no limits are set", checked(facts), lengths, one_test(trial)]


def refactor(facts: Facts, trial: Trial | None) -> Parts:
    return [direction(facts), cycles(facts), gathered(facts), hot(facts), hubs(facts), one_test(trial)]


def write_tests(facts: Facts, trial: Trial | None) -> Parts:
    shared = f"shared fixtures in {', '.join(facts.layout.shared)}" if facts.layout.shared else ""
    libraries = f"tests use {', '.join(facts.libraries.testing[:4])}" if facts.libraries.testing else ""
    return [new_tests(facts), *facts.testing[:4], shared, libraries, one_test(trial)]


def spec_design(facts: Facts, trial: Trial | None) -> Parts:
    docs = [name for name in facts.layout.beside if name in ("docs", "doc", "rfcs", "wiki")]
    return [
        f"documents in {', '.join(docs)}" if docs else "no folder for documents",
        papers(facts),
        direction(facts),
        hubs(facts),
        versions(facts),
    ]


def code_review(facts: Facts, trial: Trial | None) -> Parts:
    limits = ", ".join(facts.constraints.limits)
    return [
        checked(facts),
        f"limits: {limits}" if limits else "",
        direction(facts),
        versions(facts),
        expected(facts),
        noted(facts),
    ]


def discovery(facts: Facts, trial: Trial | None) -> Parts:
    starts = f"runs begin at {', '.join(facts.layout.entries)}" if facts.layout.entries else ""
    unread = f"not understood by the index: {', '.join(facts.layout.unread)}" if facts.layout.unread else ""
    return [starts, papers(facts), hubs(facts), hot(facts), unread]


def bridge(facts: Facts, trial: Trial | None) -> Parts:
    starts = f"commands: {', '.join(facts.layout.entries)}" if facts.layout.entries else ""
    central = f"built on {', '.join(facts.libraries.central[:4])}" if facts.libraries.central else ""
    return [f"public: {', '.join(facts.public)}" if facts.public else "", starts, versions(facts), central, hubs(facts)]


MATTERS: dict[str, Callable[[Facts, Trial | None], Parts]] = {
    "implement_feature": implement_feature, "fix_bug": fix_bug, "fix_violation": fix_violation, "refactor": refactor,
    "write_tests": write_tests, "spec_design": spec_design, "code_review": code_review, "discovery": discovery,
    "bridge": bridge,
}  # fmt: skip


def new_tests(facts: Facts) -> str:
    layout = facts.layout
    if not layout.tests:
        return "there are no tests yet"
    mirrored = ", in the folder named as that of the code" if layout.mirrored else ""
    place = (
        "tests stand beside the code" if layout.tests[0] == "beside the code" else f"tests belong in {layout.tests[0]}{mirrored}"
    )
    return place


def one_test(trial: Trial | None) -> str:
    return f"the suite is `{trial.command}`" if trial else ""


def direction(facts: Facts) -> str:
    """Without the zones themselves, which the level of the project names."""
    zones = facts.zones
    if len(zones.layers) > 1 and not zones.cycles:
        return f"imports between zones point one way, from {zones.layers[0][0]} to {zones.layers[-1][0]}; keep it so"
    return ""


def cycles(facts: Facts) -> str:
    return f"zones that import each other: {', '.join(facts.zones.cycles[0][:6])}" if facts.zones.cycles else ""


def expected(facts: Facts) -> str:
    """Only where nearly all of the code does so."""
    found = [said for said in (facts.style.typed, facts.style.documented) if said.startswith("nearly all")]
    words = {"functions are fully annotated": "annotations", "public names are documented": "documentation"}
    names = [word for key, word in words.items() if any(key in said for said in found)]
    return f"{' and '.join(names)} expected throughout" if names else ""


def gathered(facts: Facts) -> str:
    return f"others rely on {', '.join(facts.public[:3])}" if facts.public else ""


def noted(facts: Facts) -> str:
    log = next((path for path in facts.layout.papers if path.startswith(("CHANGE", "HISTORY", "NEWS"))), "")
    return f"changes are noted in {log}" if log else ""


def hot(facts: Facts) -> str:
    return f"hot spots: {', '.join(facts.hot[:3])}" if facts.hot else ""


def hubs(facts: Facts) -> str:
    return f"most used: {', '.join(facts.zones.hubs)}" if facts.zones.hubs else ""


def checked(facts: Facts) -> str:
    return f"checked by {', '.join(facts.constraints.linters)}" if facts.constraints.linters else "no linter is set"


def papers(facts: Facts) -> str:
    return f"see {', '.join(facts.layout.papers)}" if facts.layout.papers else ""


def versions(facts: Facts) -> str:
    return f"must do with {', '.join(facts.constraints.versions)}" if facts.constraints.versions else ""
