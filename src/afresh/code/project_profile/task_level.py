"""What matters in a project for one type of task, and for one task: its likely files, their tests, their importers and risks."""

import time
from collections.abc import Callable, Sequence

from afresh.code.index.code_index import CodeIndex
from afresh.code.project_profile.layout import find_zone
from afresh.code.project_profile.source_files import SourceFiles
from afresh.code.project_profile.traits import (
    ProfileStatement,
    ProjectTraits,
    count_to_words,
    join_names,
    make_statement,
    round_to_words,
)
from afresh.code.test_commands.try_commands import CommandTrial
from afresh.core.recognise_test_files import is_test_code

StatementParts = list[str]


def describe_type(type: str, facts: ProjectTraits, trial: CommandTrial | None) -> list[ProfileStatement]:
    """Return the statements for a type of task; an unknown type gets those that any change needs."""
    return make_statement(f"for {type or 'a task'}", SELECT_BY_TASK_TYPE.get(type, select_for_feature)(facts, trial), 20)


def select_for_feature(facts: ProjectTraits, trial: CommandTrial | None) -> StatementParts:
    return [
        describe_import_direction(facts),
        describe_expected_habits(facts),
        describe_public_files(facts),
        describe_changelog(facts),
    ]


def select_for_bug(facts: ProjectTraits, trial: CommandTrial | None) -> StatementParts:
    own = [said for said in facts.style.errors if said.startswith("own")]
    return [describe_suite_command(trial), *own[:1], describe_hot_spots(facts)]


def select_for_violation(facts: ProjectTraits, trial: CommandTrial | None) -> StatementParts:
    limits = ", ".join(facts.constraints.limits)
    lengths = next((habit for habit in facts.style.habits if habit.startswith("half of")), "")
    return [
        f"limits: {limits}" if limits else "no limits are set",
        describe_linters(facts),
        lengths,
        describe_suite_command(trial),
    ]


def select_for_refactoring(facts: ProjectTraits, trial: CommandTrial | None) -> StatementParts:
    return [
        describe_import_direction(facts),
        describe_import_cycles(facts),
        describe_public_files(facts),
        describe_hot_spots(facts),
        describe_hubs(facts),
        describe_suite_command(trial),
    ]


def select_for_tests(facts: ProjectTraits, trial: CommandTrial | None) -> StatementParts:
    shared = f"shared fixtures in {', '.join(facts.layout.shared)}" if facts.layout.shared else ""
    libraries = f"tests use {', '.join(facts.libraries.testing[:4])}" if facts.libraries.testing else ""
    return [*facts.testing[:4], shared, libraries, describe_suite_command(trial)]


def select_for_design(facts: ProjectTraits, trial: CommandTrial | None) -> StatementParts:
    docs = [name for name in facts.layout.beside if name in ("docs", "doc", "rfcs", "wiki")]
    return [
        f"documents in {', '.join(docs)}" if docs else "no folder for documents",
        describe_documents(facts),
        describe_import_direction(facts),
        describe_hubs(facts),
        describe_versions(facts),
    ]


def select_for_review(facts: ProjectTraits, trial: CommandTrial | None) -> StatementParts:
    limits = ", ".join(facts.constraints.limits)
    return [
        describe_linters(facts),
        f"limits: {limits}" if limits else "",
        describe_import_direction(facts),
        describe_versions(facts),
        describe_expected_habits(facts),
        describe_changelog(facts),
    ]


def select_for_discovery(facts: ProjectTraits, trial: CommandTrial | None) -> StatementParts:
    starts = f"runs begin at {', '.join(facts.layout.entries)}" if facts.layout.entries else ""
    unread = f"not understood by the index: {', '.join(facts.layout.unread)}" if facts.layout.unread else ""
    return [starts, describe_documents(facts), describe_hubs(facts), describe_hot_spots(facts), unread]


def select_for_bridge(facts: ProjectTraits, trial: CommandTrial | None) -> StatementParts:
    starts = f"commands: {', '.join(facts.layout.entries)}" if facts.layout.entries else ""
    central = f"built on {', '.join(facts.libraries.central[:4])}" if facts.libraries.central else ""
    return [
        f"public: {', '.join(facts.public)}" if facts.public else "",
        starts,
        describe_versions(facts),
        central,
        describe_hubs(facts),
    ]


SELECT_BY_TASK_TYPE: dict[str, Callable[[ProjectTraits, CommandTrial | None], StatementParts]] = {
    "implement_feature": select_for_feature,
    "fix_bug": select_for_bug,
    "fix_violation": select_for_violation,
    "refactor": select_for_refactoring,
    "write_tests": select_for_tests,
    "spec_design": select_for_design,
    "code_review": select_for_review,
    "discovery": select_for_discovery,
    "bridge": select_for_bridge,
}


def describe_suite_command(trial: CommandTrial | None) -> str:
    return f"the suite is `{trial.command}`" if trial else ""


def describe_import_direction(facts: ProjectTraits) -> str:
    """Return the direction of imports without the names of the zones, which the project level lists."""
    zones = facts.zones
    if len(zones.layers) > 1 and not zones.cycles:
        return "keep imports between layers one-way"
    return ""


def describe_import_cycles(facts: ProjectTraits) -> str:
    return f"zones that import each other: {', '.join(facts.zones.cycles[0][:6])}" if facts.zones.cycles else ""


def describe_expected_habits(facts: ProjectTraits) -> str:
    """Return habits that nearly all of the code follows."""
    found = [said for said in (facts.style.typed, facts.style.documented) if said.startswith("nearly all")]
    words = {"functions are fully annotated": "annotations", "public names are documented": "documentation"}
    names = [word for key, word in words.items() if any(key in said for said in found)]
    return f"{' and '.join(names)} expected throughout" if names else ""


def describe_public_files(facts: ProjectTraits) -> str:
    return f"public interface: {', '.join(facts.public[:3])}" if facts.public else ""


def describe_changelog(facts: ProjectTraits) -> str:
    log = next((path for path in facts.layout.papers if path.startswith(("CHANGE", "HISTORY", "NEWS"))), "")
    return f"changes are noted in {log}" if log else ""


def describe_hot_spots(facts: ProjectTraits) -> str:
    return f"hot spots: {', '.join(facts.hot[:3])}" if facts.hot else ""


def describe_hubs(facts: ProjectTraits) -> str:
    return f"most used: {', '.join(facts.zones.hubs)}" if facts.zones.hubs else ""


def describe_linters(facts: ProjectTraits) -> str:
    return f"checked by {', '.join(facts.constraints.linters)}" if facts.constraints.linters else "no linter is set"


def describe_documents(facts: ProjectTraits) -> str:
    return f"see {', '.join(facts.layout.papers)}" if facts.layout.papers else ""


def describe_versions(facts: ProjectTraits) -> str:
    return f"must do with {', '.join(facts.constraints.versions)}" if facts.constraints.versions else ""


MAX_LIKELY_FILES = 4
MIN_IMPORTERS_OF_CONTRACT = 5
"""Limits: likely files shown, and importers from which on a file's names are a contract."""


def describe_task(sources: SourceFiles, facts: ProjectTraits, likely: Sequence[str]) -> list[ProfileStatement]:
    """Return statements about the files that a task is likely about, given the likeliest first; empty without such files."""
    code = sources.code
    ranked = [path for path in likely if path in sources.known]
    tests = [path for path in ranked if is_test_code(path)]
    files = ([path for path in ranked if not is_test_code(path)] or tests)[:MAX_LIKELY_FILES]
    if not files:
        return []
    return [
        *make_statement("likely about", [describe_file_place(sources, path) for path in files], 30),
        *make_statement("tests that cover them", find_covering_tests(code, files, tests[:2]), 27),
        *make_statement("depended on by", [describe_dependents(sources, files)], 24),
        *make_statement("history", [describe_file_history(code, path) for path in files[:2]], 18),
        *make_statement("mind", list_risks(sources, facts, files), 26),
    ]


def describe_file_place(sources: SourceFiles, path: str) -> str:
    zone = find_zone(path, sources)
    return path if zone in path.split("/") or zone == read_stem(path) or is_test_code(path) else f"{path} ({zone})"


def find_covering_tests(code: CodeIndex, files: Sequence[str], likely: Sequence[str]) -> list[str]:
    """Return test files, those among the likely files first, then those named after a file."""
    found = dict.fromkeys(test for path in files for test in code.tests_of(path) if test not in files)
    near = [test for test in likely if test in found]
    rest = [test for test in found if test not in near]
    named = [*near, *sorted(rest, key=lambda test: (not any(read_stem(path) in test for path in files), test))]
    more = f"{round_to_words(len(named) - 4)} more" if len(named) > 4 else ""
    return [*named[:4], more]


def read_stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0].strip("_")


def describe_dependents(sources: SourceFiles, files: Sequence[str]) -> str:
    users = {user for path in files for user in sources.code.importers(path) if not is_test_code(user)} - {*files}
    if not users:
        return ""
    zones = sorted({find_zone(user, sources) for user in users})
    return f"{count_to_words(len(users), 'file')} in {join_names(zones, 100)}"


def describe_file_history(code: CodeIndex, path: str) -> str:
    churn = code.churn(path)
    if not churn.commits:
        return ""
    month = time.strftime("%Y-%m", time.gmtime(churn.last)) if churn.last else "?"
    return f"{path.rpartition('/')[2]} {count_to_words(churn.commits, 'commit')}, last {month}"


def list_risks(sources: SourceFiles, facts: ProjectTraits, files: Sequence[str]) -> list[str]:
    code, found = sources.code, list[str]()
    for path in files:
        users = [user for user in code.importers(path) if not is_test_code(user)]
        if path in code.faults:
            found.append(f"{path} {code.faults[path]}")
        if not is_test_code(path) and not code.tests_of(path):
            found.append(f"no test covers {path}")
        if path in facts.hot:
            found.append(f"{path} is a hot spot")
        if path in facts.public:
            found.append(f"{path} is what others import")
        elif len(users) >= MIN_IMPORTERS_OF_CONTRACT:
            found.append(f"{count_to_words(len(users), 'file')} rely on {path}")
    return found[:6]
