"""What of the code one task concerns: where it stands, who covers it, who depends on it, and what may go wrong."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log

from afresh.domain.paths import is_test
from afresh.domain.words import split
from afresh.insight.code import Code
from afresh.insight.fingerprint.facts import Facts
from afresh.insight.fingerprint.level import Statement, statement
from afresh.insight.fingerprint.rounded import about, counted, listed
from afresh.insight.fingerprint.sources import Sources
from afresh.insight.fingerprint.zones import zone_of

MOST = 4
NAMED = 200
NAME = re.compile(r"[\w./-]+")
RELIED_ON = 5
"""Files that import another, from which on its names are a contract."""


@dataclass(frozen=True, slots=True)
class Question:
    """A task as far as it tells which files it is about."""

    goal: str = ""
    touched: tuple[str, ...] = ()


Rank = Callable[[Code, Question], Sequence[str]]
"""The files that a task is likely about, the likeliest first."""


def by_words(code: Code, question: Question) -> list[str]:
    """What is named outright; else files that say the goal's rarest words most often for their length."""
    files, tests = frozenset(code.files), {path for path in code.files if is_test(path)}
    words = list(dict.fromkeys(NAME.findall(question.goal)))[:NAMED]
    outright = [path for path in question.touched if path in files]
    for word in words:
        stripped = word.strip("./-")
        outright += [path for path in code.files if path == stripped or ("." in stripped and path.endswith(f"/{stripped}"))]
        if "_" in stripped or "." in stripped or re.search(r"[a-z][A-Z]", stripped):
            outright += [place.path for place in code.defining(stripped)[:3] if place.path not in tests]
    scores: dict[str, float] = {}
    for part in sorted({part for word in words for part in split(word)}):
        said = code.words(part)
        weight = log(1 + len(code.files) / (1 + len(said)))
        for path, times in said.items():
            if path not in tests:
                scores[path] = scores.get(path, 0.0) + weight * times / (times + 1.2 + code.length(path) / 400)
    return list(dict.fromkeys([*outright, *sorted(scores, key=lambda path: (-scores[path], path))]))


def task(sources: Sources, facts: Facts, question: Question, rank: Rank = by_words) -> list[Statement]:
    """Nothing, when nothing is known of what it is about."""
    if not (question.goal.strip() or question.touched):
        return []
    code = sources.code
    ranked = [path for path in rank(code, question) if path in sources.known]
    tests = [path for path in ranked if is_test(path)]
    files = [path for path in ranked if not is_test(path) or path in question.touched][:MOST] or tests[:MOST]
    if not files:
        return []
    return [
        *statement("likely about", [placed(sources, path) for path in files], 30),
        *statement("tests that cover them", covered(code, files, tests[:2]), 27),
        *statement("depended on by", [depended(sources, files)], 24),
        *statement("history", [past(code, path) for path in files[:2]], 18),
        *statement("mind", risks(sources, facts, files), 26),
    ]


def placed(sources: Sources, path: str) -> str:
    zone = zone_of(path, sources)
    return path if zone in path.split("/") or zone == stem(path) or is_test(path) else f"{path} ({zone})"


def covered(code: Code, files: Sequence[str], likely: Sequence[str]) -> list[str]:
    """Those that are likely about the task first, then those that are named after a file."""
    found = dict.fromkeys(test for path in files for test in code.tests_of(path) if test not in files)
    near = [test for test in likely if test in found]
    rest = [test for test in found if test not in near]
    named = [*near, *sorted(rest, key=lambda test: (not any(stem(path) in test for path in files), test))]
    more = f"{about(len(named) - 4)} more" if len(named) > 4 else ""
    return [*named[:4], more]


def stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0].strip("_")


def depended(sources: Sources, files: Sequence[str]) -> str:
    users = {user for path in files for user in sources.code.importers(path) if not is_test(user)} - {*files}
    if not users:
        return ""
    zones = sorted({zone_of(user, sources) for user in users})
    return f"{counted(len(users), 'file')} in {listed(zones, 100)}"


def past(code: Code, path: str) -> str:
    churn = code.churn(path)
    if not churn.commits:
        return ""
    month = time.strftime("%Y-%m", time.gmtime(churn.last)) if churn.last else "?"
    return f"{path.rpartition('/')[2]} {counted(churn.commits, 'commit')}, last {month}"


def risks(sources: Sources, facts: Facts, files: Sequence[str]) -> list[str]:
    code, found = sources.code, list[str]()
    for path in files:
        users = [user for user in code.importers(path) if not is_test(user)]
        if path in code.faults:
            found.append(f"{path} {code.faults[path]}")
        if not is_test(path) and not code.tests_of(path):
            found.append(f"no test covers {path}")
        if path in facts.hot:
            found.append(f"{path} is a hot spot")
        if path in facts.public:
            found.append(f"{path} is what others import")
        elif len(users) >= RELIED_ON:
            found.append(f"{counted(len(users), 'file')} rely on {path}")
    return found[:6]
