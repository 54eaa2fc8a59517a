"""For whom, on what project, at what type of task, on which part of it: four levels, from the code and from what people wrote."""

from collections.abc import MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256

from afresh.domain.codec import dumps, loads
from afresh.domain.text import roughly
from afresh.insight.code import Code
from afresh.insight.commands import Trial
from afresh.insight.configuration import Configuration
from afresh.insight.fingerprint.facts import Facts
from afresh.insight.fingerprint.level import Count, Statement, fitted
from afresh.insight.fingerprint.project import facts_of, project
from afresh.insight.fingerprint.sources import Sources
from afresh.insight.fingerprint.task import Question, Rank, by_words, task
from afresh.insight.fingerprint.types import for_type
from afresh.insight.fingerprint.user import user

__all__ = ["CAPS", "LEVELS", "About", "Fingerprint", "Question", "fingerprint"]

CAPS = {"user": 120, "project": 400, "type": 100, "task": 180}
"""Tokens that each level may take when nobody says otherwise."""
LEVELS = tuple(CAPS)
KEPT = 8
_facts: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class About:
    """What the tree itself does not tell."""

    user: tuple[str, ...] = ()
    """What the person has written down for all projects."""
    type: str = ""
    """One of those that come with afresh; for a type of the user's own, that which it is judged as."""
    question: Question = field(default_factory=Question)
    trial: Trial | None = None
    """The command that was seen to run the tests."""
    rank: Rank = by_words


@dataclass(frozen=True, slots=True)
class Fingerprint:
    levels: tuple[tuple[str, tuple[Statement, ...]], ...]

    def statements(self, level: str) -> tuple[Statement, ...]:
        return dict(self.levels)[level]

    def render(self, level: str, cap: int, count: Count = roughly) -> str:
        """At most `cap` tokens by that count, never more; what matters least is left out first."""
        return fitted(self.statements(level), cap, count)

    @property
    def user(self) -> str:
        return self.render("user", CAPS["user"])

    @property
    def project(self) -> str:
        return self.render("project", CAPS["project"])

    @property
    def type(self) -> str:
        return self.render("type", CAPS["type"])

    @property
    def task(self) -> str:
        return self.render("task", CAPS["task"])


def fingerprint(
    code: Code, configuration: Configuration, about: About, kept: MutableMapping[str, str] | None = None
) -> Fingerprint:
    """`kept` holds facts by what they were made of, so that an unchanged tree is not measured twice."""
    facts = known(code, configuration, _facts if kept is None else kept)
    return Fingerprint(
        (
            ("user", tuple(user(about.user))),
            ("project", tuple(project(facts, about.trial))),
            ("type", tuple(for_type(about.type, facts, about.trial))),
            ("task", tuple(task(Sources(code, configuration), facts, about.question, about.rank))),
        )
    )


def known(code: Code, configuration: Configuration, kept: MutableMapping[str, str]) -> Facts:
    """A thing that was kept and can't be read is measured again."""
    key = mark(code, configuration)
    if key in kept:
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            facts = loads(Facts, kept[key])
            if facts.layout.files:
                return facts
        del kept[key]
    facts = facts_of(code, configuration)
    for old in list(kept)[: max(0, len(kept) - KEPT + 1)]:
        del kept[old]
    kept[key] = dumps(facts)
    return facts


def mark(code: Code, configuration: Configuration) -> str:
    """Of all that facts depend on: the code, what configures it, and how often its files were changed."""
    changed = "".join(f"{path}\0{commits}\n" for path in code.files if (commits := code.churn(path).commits))
    said = "\0".join((code.digest, configuration.digest, changed))
    return sha256(said.encode("utf-8", "backslashreplace")).hexdigest()
