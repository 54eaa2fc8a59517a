"""The fingerprint of a project, for people and for whoever builds windows: what is measured is kept beside the state."""

import json
from collections import Counter
from collections.abc import Iterator, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from afresh import insight
from afresh.adapters.templates import merged_type
from afresh.adapters.workspace.history import history
from afresh.adapters.workspace.repository import Repository
from afresh.adapters.workspace.trees import write_durably
from afresh.app.checks import Place, find_tests
from afresh.app.code import CHECKOUT, home_of, store_of
from afresh.app.tasks import Desk
from afresh.domain.code import Churn
from afresh.domain.fact import FactKind, Scope
from afresh.domain.history import History
from afresh.domain.instructions import Level
from afresh.domain.known import Question as Lookup
from afresh.insight.commands import Tried
from afresh.insight.configuration import configuration_of
from afresh.insight.fingerprint import About, Fingerprint, Question, fingerprint
from afresh.insight.index import refresh
from afresh.insight.ranking import Question as Asked
from afresh.insight.ranking import rank

FILE = "fingerprint.json"
RULES = 40
WHOLE = 600.0
"""Seconds that the tests may run for when they were asked for."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person asks to see."""

    type: str = ""
    goal: str = ""
    run: bool = False
    """The tests themselves are to be run, however long ago they were."""


@dataclass(frozen=True, slots=True)
class Printed:
    fingerprint: Fingerprint
    tried: Tried
    type: str


def printed(desk: Desk, wanted: Wanted) -> Printed:
    """Of the checkout as it is now."""
    place = Place(desk.project, desk.settings)
    tried = find_tests(place, min(WHOLE, desk.settings.check_timeout) if wanted.run else 0.0, again=wanted.run)
    type = wanted.type or desk.settings.type or "implement_feature"
    past, home = past_of(desk), home_of(desk)
    code = refresh(home.files, CHECKOUT, store_of(home), churn(past))
    about = About(
        user=tuple(own_words(desk, type)),
        type=merged_type(type, desk.templates).family,
        question=Question(wanted.goal),
        trial=tried.best,
        rank=lambda code, question: [one.path for one in rank(code, Asked(question.goal, question.touched, past))],
    )
    made = fingerprint(code, configuration_of(code.paths, code.text), about, Kept(desk.project.state / FILE))
    return Printed(made, tried, type)


def past_of(desk: Desk) -> History:
    repository = Repository.find(desk.project.root)
    return history(repository.git, repository.head, repository.state)


def churn(past: History) -> dict[str, Churn]:
    """How often each file was changed by the newest commits, and when last."""
    counts = Counter(path for commit in past.commits for path in commit.paths)
    last = {path: commit.when for commit in reversed(past.commits) for path in commit.paths}
    return {path: Churn(number, last[path]) for path, number in counts.items()}


def own_words(desk: Desk, type: str) -> Iterator[str]:
    """What the user has written for all projects: instructions in the config folder, rules told to all. Nothing of a project."""
    for source in desk.instructions.look((type,), ()).sources:
        users = source.file.startswith(str(desk.instructions.users).removesuffix("AGENT.md"))
        if source.level is Level.USER or (source.level is Level.TYPE and users):
            yield "\n".join(line.text for part in source.parts for line in part.lines)
    for known in desk.lore.look_up(Lookup("", (FactKind.RULE,), limit=RULES)):
        if known.fact.scope is Scope.USER:
            yield known.fact.text


class Kept(MutableMapping[str, str]):
    """Facts by what they were made of, in a file that may be deleted at any time. Those of another program are not believed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: dict[str, str] = {}
        with suppress(OSError, ValueError, AttributeError, TypeError, KeyError):
            held = json.loads(path.read_text("utf-8"))
            if held["program"] == program():
                self._held = {key: value for key, value in held["facts"].items() if isinstance(value, str)}

    def __getitem__(self, key: str) -> str:
        return self._held[key]

    def __setitem__(self, key: str, value: str) -> None:
        self._held[key] = value
        with suppress(OSError):
            write_durably(self._path, json.dumps({"program": program(), "facts": self._held}))

    def __delitem__(self, key: str) -> None:
        del self._held[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)


@cache
def program() -> str:
    """Changes with the code that measures."""
    folder = Path(insight.__file__).parent
    return sha256(b"".join(path.read_bytes() for path in sorted(folder.rglob("*.py")))).hexdigest()
