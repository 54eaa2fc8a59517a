"""The profile of a project in four levels (user, project, type of task, task), made from the code and from what people wrote."""

import re
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256

from afresh.code.config_files import ProjectConfiguration
from afresh.code.index.code_index import CodeIndex
from afresh.code.project_profile.project_level import describe_project, measure_project
from afresh.code.project_profile.source_files import SourceFiles
from afresh.code.project_profile.task_level import describe_task, describe_type
from afresh.code.project_profile.traits import ProfileStatement, ProjectTraits, fit_statements, make_statement
from afresh.code.test_commands.try_commands import CommandTrial
from afresh.core.codec import to_canonical_json, value_from_json
from afresh.core.tokens import estimate_tokens
from afresh.core.truncate import to_one_line

MAX_LEVEL_TOKENS = {"user": 120, "project": 400, "type": 100, "task": 180}
"""Default token limit of each level."""
MAX_CACHED_PROJECTS = 8


@dataclass(frozen=True, slots=True)
class ProfileInputs:
    """What the tree itself does not contain."""

    user: tuple[str, ...] = ()
    """What the user has written down for all projects."""
    type: str = ""
    """A built-in task type; for a custom type, the built-in one that it is based on."""
    likely: tuple[str, ...] = ()
    """Files that the task is likely about, the likeliest first."""
    trial: CommandTrial | None = None
    """The command that ran the tests when it was tried."""
    missing: frozenset[str] = frozenset()
    """Linters that are not installed where commands run."""
    learnt: tuple[str, ...] = ()
    """Titles of patterns that were learnt in the user's projects, the most used first."""


@dataclass(frozen=True, slots=True)
class ProjectProfile:
    levels: tuple[tuple[str, tuple[ProfileStatement, ...]], ...]

    def statements(self, level: str) -> tuple[ProfileStatement, ...]:
        return dict(self.levels)[level]

    def render(self, level: str, cap: int | None = None) -> str:
        """Return the text in at most `cap` tokens, by default the level's limit; the least important parts are left out first."""
        return fit_statements(self.statements(level), MAX_LEVEL_TOKENS[level] if cap is None else cap, estimate_tokens)


def build_profile(
    code: CodeIndex, configuration: ProjectConfiguration, about: ProfileInputs, kept: MutableMapping[str, str]
) -> ProjectProfile:
    """Build the profile. `kept` caches facts by what they were made from, so that an unchanged tree is not measured twice."""
    facts = load_or_measure_traits(code, configuration, kept)
    return ProjectProfile(
        (
            ("user", tuple(describe_user(about.user, about.learnt))),
            ("project", tuple(describe_project(facts, about.trial, about.missing))),
            ("type", tuple(describe_type(about.type, facts, about.trial))),
            ("task", tuple(describe_task(SourceFiles(code, configuration), facts, about.likely))),
        )
    )


def load_or_measure_traits(code: CodeIndex, configuration: ProjectConfiguration, kept: MutableMapping[str, str]) -> ProjectTraits:
    """Return the cached traits; measure them again if they are missing or unreadable."""
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
    """Return a hash of everything that the traits depend on: the code, its configuration, and how often files were changed."""
    changed = "".join(f"{path}\0{commits}\n" for path in code.files if (commits := code.churn(path).commits))
    said = "\0".join((code.digest, configuration.digest, changed))
    return sha256(said.encode()).hexdigest()


KNOWN_LANGUAGES = (
    "Python",
    "TypeScript",
    "JavaScript",
    "Go",
    "Rust",
    "Java",
    "C#",
    "C++",
    "Kotlin",
    "Swift",
    "Ruby",
    "PHP",
    "Scala",
    "SQL",
    "Bash",
)
KNOWN_TOOLS = (
    "pytest", "unittest", "hypothesis", "ruff", "black", "isort", "flake8", "pylint", "mypy", "pyright", "uv", "poetry",
    "pip", "pipenv", "conda", "tox", "nox", "make", "just", "docker", "podman", "git", "jj", "gh", "npm", "pnpm", "yarn",
    "bun", "deno", "jest", "vitest", "mocha", "playwright", "eslint", "prettier", "biome", "cargo", "clippy", "gradle",
    "maven", "dotnet", "bazel", "terraform", "kubectl", "rg", "fd", "sqlite", "postgres", "redis", "django", "flask",
    "fastapi", "react", "vue", "svelte", "angular", "pydantic", "sqlalchemy", "pandas", "numpy",
)  # fmt: skip
EVERYDAY_WORDS = {"go", "make", "just", "black", "rust", "swift", "java", "bash", "bun", "fd", "react"}
"""Names that are also everyday words: they count only as written here, or marked as code."""
REJECTING_WORDS = re.compile(
    r"\bprefer\b.*?\b(?:to|over)\b"
    r"|\b(?:no(?!\s*[:,])|not|never|avoid|without|don'?t|do not|instead of|rather than|stop|nor|isn'?t)\b",
    re.IGNORECASE,
)
LEADING_WORDS = r"\b(?:use|using|run|with|prefer|avoid|like|of|than|over|never)\s+(?:the\s+)?"
CLAUSE_BOUNDARY = re.compile(
    r"(?<=[.;!?])\s+|\n|,\s+(?=(?:not|never|no|instead|rather|but)\b)|\s(?=(?:instead of|rather than|but not)\b)"
)
LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(.+)$")
MAX_RULE_CHARACTERS = 90
MAX_RULES = 6
MAX_LEARNT = 4


def describe_user(texts: Sequence[str], learnt: Sequence[str] = ()) -> list[ProfileStatement]:
    """Return the statements about the user; empty if the user has written nothing and nothing was learnt."""
    clauses = [clause for text in texts for clause in CLAUSE_BOUNDARY.split(strip_code_blocks(text)) if clause and clause.strip()]
    languages, tools, avoided = (list(dict.fromkeys(found)) for found in sort_names_by_preference(clauses))
    return [
        *make_statement("the user's own rules speak of", [", ".join(languages), ", ".join(tools)], 20),
        *make_statement("and against", [", ".join(avoided)], 18),
        *make_statement("in the user's words", list(quote_preferences(texts)), 16),
        *make_statement(
            "learnt in the user's projects", [to_one_line(one, MAX_RULE_CHARACTERS) for one in learnt[:MAX_LEARNT]], 14
        ),
    ]


def strip_code_blocks(text: str) -> str:
    """Return the text without code blocks, which are examples and not statements."""
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def sort_names_by_preference(clauses: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Return languages, tools, and names that a clause rejects. A name that is both wanted and rejected is left out."""
    wanted, avoided = list[str](), list[str]()
    for clause in clauses:
        against = REJECTING_WORDS.search(clause)
        for name in () if clause.rstrip().endswith("?") else (*KNOWN_LANGUAGES, *KNOWN_TOOLS):
            if place := find_name(name, clause):
                (avoided if against and against.end() <= place.end() - len(name) else wanted).append(name)
    both = {*wanted} & {*avoided}
    return (
        [name for name in KNOWN_LANGUAGES if name in wanted and name not in both],
        [name for name in KNOWN_TOOLS if name in wanted and name not in both],
        [name for name in (*KNOWN_LANGUAGES, *KNOWN_TOOLS) if name in avoided and name not in both],
    )


def find_name(name: str, clause: str) -> re.Match[str] | None:
    pattern = rf"(?<![\w/.-]){re.escape(name)}(?![\w/-]|\.\w)"
    if name.lower() in EVERYDAY_WORDS:
        marked = re.search(rf"`[^`]*{pattern}[^`]*`|{LEADING_WORDS}{pattern}", clause, re.IGNORECASE)
        return marked or (re.search(pattern, clause) if name in KNOWN_LANGUAGES and name not in ("Go", "Swift") else None)
    return re.search(pattern, clause, re.IGNORECASE)


def quote_preferences(texts: Sequence[str]) -> Iterator[str]:
    """Yield short rules as written: list items, or texts of one sentence."""
    seen = list[str]()
    for text in texts:
        lines = [match[1] for line in strip_code_blocks(text).split("\n") if (match := LIST_ITEM.match(line))]
        seen += lines or ([text] if "\n" not in text.strip() else [])
    short = [to_one_line(line.rstrip(". ")) for line in dict.fromkeys(seen) if len(line.strip()) <= MAX_RULE_CHARACTERS]
    yield from [line for line in short if line][:MAX_RULES]
