"""What of the code one task concerns: where it stands, who covers it, who depends on it, and what may go wrong."""

import time
from collections.abc import Sequence

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
from afresh.core.recognise_test_files import is_test_code

MAX_LIKELY_FILES = 4
MIN_IMPORTERS_OF_CONTRACT = 5
"""Files that import another, from which on its names are a contract."""


def describe_task(sources: SourceFiles, facts: ProjectTraits, likely: Sequence[str]) -> list[ProfileStatement]:
    """Statements about the files that a task is likely about, given the likeliest first; none without such files."""
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
    """Those that are likely about the task first, then those that are named after a file."""
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
