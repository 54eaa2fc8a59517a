"""For whom, on what project, at what type of task, on which part of it: four levels, from the code and from what people wrote."""

from collections.abc import MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256

from afresh.code.config_files import ProjectConfiguration
from afresh.code.index.code_index import CodeIndex
from afresh.code.project_profile.project_level import describe_project, measure_project
from afresh.code.project_profile.source_files import SourceFiles
from afresh.code.project_profile.statement import CountTokens, ProfileStatement, fit_statements
from afresh.code.project_profile.task_level import RankFiles, TaskFocus, describe_task, rank_files_by_words
from afresh.code.project_profile.traits import ProjectTraits
from afresh.code.project_profile.type_level import describe_type
from afresh.code.project_profile.user_level import describe_user
from afresh.code.test_commands.try_commands import CommandTrial
from afresh.core.codec import to_canonical_json, value_from_json
from afresh.core.tokens import estimate_tokens

MAX_LEVEL_TOKENS = {"user": 120, "project": 400, "type": 100, "task": 180}
"""Tokens that each level may take when nobody says otherwise."""
LEVEL_NAMES = tuple(MAX_LEVEL_TOKENS)
MAX_CACHED_PROJECTS = 8
_traits_cache: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class ProfileInputs:
    """What the tree itself does not tell."""

    user: tuple[str, ...] = ()
    """What the person has written down for all projects."""
    type: str = ""
    """One of those that come with afresh; for a type of the user's own, that which it is judged as."""
    question: TaskFocus = field(default_factory=TaskFocus)
    trial: CommandTrial | None = None
    """The command that was seen to run the tests."""
    rank: RankFiles = rank_files_by_words


@dataclass(frozen=True, slots=True)
class ProjectProfile:
    levels: tuple[tuple[str, tuple[ProfileStatement, ...]], ...]

    def statements(self, level: str) -> tuple[ProfileStatement, ...]:
        return dict(self.levels)[level]

    def render(self, level: str, cap: int, count: CountTokens = estimate_tokens) -> str:
        """At most `cap` tokens by that count, never more; what matters least is left out first."""
        return fit_statements(self.statements(level), cap, count)

    @property
    def user(self) -> str:
        return self.render("user", MAX_LEVEL_TOKENS["user"])

    @property
    def project(self) -> str:
        return self.render("project", MAX_LEVEL_TOKENS["project"])

    @property
    def type(self) -> str:
        return self.render("type", MAX_LEVEL_TOKENS["type"])

    @property
    def task(self) -> str:
        return self.render("task", MAX_LEVEL_TOKENS["task"])


def build_profile(
    code: CodeIndex, configuration: ProjectConfiguration, about: ProfileInputs, kept: MutableMapping[str, str] | None = None
) -> ProjectProfile:
    """`kept` holds facts by what they were made of, so that an unchanged tree is not measured twice."""
    facts = load_or_measure_traits(code, configuration, _traits_cache if kept is None else kept)
    return ProjectProfile(
        (
            ("user", tuple(describe_user(about.user))),
            ("project", tuple(describe_project(facts, about.trial))),
            ("type", tuple(describe_type(about.type, facts, about.trial))),
            ("task", tuple(describe_task(SourceFiles(code, configuration), facts, about.question, about.rank))),
        )
    )


def load_or_measure_traits(code: CodeIndex, configuration: ProjectConfiguration, kept: MutableMapping[str, str]) -> ProjectTraits:
    """A thing that was kept and can't be read is measured again."""
    key = make_cache_key(code, configuration)
    if key in kept:
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            facts = value_from_json(ProjectTraits, kept[key])
            if facts.layout.files:
                return facts
        del kept[key]
    facts = measure_project(code, configuration)
    for old in list(kept)[: max(0, len(kept) - MAX_CACHED_PROJECTS + 1)]:
        del kept[old]
    kept[key] = to_canonical_json(facts)
    return facts


def make_cache_key(code: CodeIndex, configuration: ProjectConfiguration) -> str:
    """Of all that facts depend on: the code, what configures it, and how often its files were changed."""
    changed = "".join(f"{path}\0{commits}\n" for path in code.files if (commits := code.churn(path).commits))
    said = "\0".join((code.digest, configuration.digest, changed))
    return sha256(said.encode("utf-8", "backslashreplace")).hexdigest()
