"""The fingerprint of a project in four levels (user, project, type of task, task): what its files and people have written."""

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import log2

from afresh.code.config_files import ProjectConfiguration
from afresh.code.index.code_index import CodeIndex
from afresh.code.manifests import Manifest, read_manifest
from afresh.code.project_profile.constraints import find_hooks, find_linters, find_pytest_settings, read_limits
from afresh.code.project_profile.source_files import SourceFiles
from afresh.code.project_profile.statements import ProfileStatement, fit_statements, make_statement
from afresh.core.recognise_test_files import is_test_code
from afresh.core.tokens import estimate_tokens
from afresh.core.truncate import join_first, to_one_line, truncate_text

MAX_LEVEL_TOKENS = {"user": 120, "project": 400, "type": 100, "task": 180}
"""Default token limit of each level."""
MAX_LISTED = 6
MAX_LIBRARIES = 12
MAX_ABOUT_CHARACTERS = 90
MAX_RULE_CHARACTERS = 90
MAX_LIKELY_FILES = 4
MIN_IMPORTERS_OF_CONTRACT = 5
MIN_COMMITS = 5
MIN_LINES = 100
"""Limits: names in a list; libraries; characters of the project's description and of a rule; likely files; importers from which
on a file's names are a contract; the fewest commits and lines of a hot spot."""
DOCUMENT_FILE = re.compile(
    r"(?:CHANGE(?:LOG|S)|CONTRIBUTING|ARCHITECTURE|HISTORY|NEWS|SECURITY)(?:\.\w+)?|docs/(?:decisions|adr|architecture)[\w./-]*"
)
CHANGELOG = re.compile(r"(?:CHANGE|HISTORY|NEWS).*")
LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(.+)$")


@dataclass(frozen=True, slots=True)
class ProfileInputs:
    """The inputs of a profile that the tree does not contain."""

    user: tuple[str, ...] = ()
    """The user's rules for all projects."""
    type: str = ""
    """A built-in task type; for a custom type, the built-in one that it is based on."""
    likely: tuple[str, ...] = ()
    """Files that the task is likely about, the likeliest first."""
    tests: str = ""
    """The command that ran the tests when it was tried, and its result."""
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


def build_profile(code: CodeIndex, configuration: ProjectConfiguration, about: ProfileInputs) -> ProjectProfile:
    facts = {name: [part for part in parts if part] for name, parts in gather_facts(code, configuration, about).items()}
    project = chain.from_iterable(make_statement(name, facts[name], weight) for name, weight in PROJECT_WEIGHTS.items())
    names = FACTS_BY_TASK_TYPE.get(about.type, FACTS_BY_TASK_TYPE["implement_feature"])
    parts = [f"{name}: {', '.join(facts[name])}" for name in names if facts[name]]
    return ProjectProfile(
        (
            ("user", tuple(describe_user(about.user, about.learnt))),
            ("project", tuple(project)),
            ("type", tuple(make_statement(f"for {about.type or 'a task'}", parts, 20))),
            ("task", tuple(describe_task(code, about.likely))),
        )
    )


PROJECT_WEIGHTS = {
    "project": 30, "layout": 26, "tests": 29, "libraries": 22, "checked by": 25, "hooks before a commit": 12,
    "hot spots": 20, "written down in": 14,
}  # fmt: skip
"""The facts of a project, in the order in which a newcomer would ask, each with its importance."""
FACTS_BY_TASK_TYPE = {
    "implement_feature": ("versions", "checked by", "changelog"),
    "fix_bug": ("tests", "changelog", "hot spots"),
    "fix_violation": ("checked by", "tests"),
    "refactor": ("checked by", "tests", "hot spots"),
    "write_tests": ("tests", "shared fixtures"),
    "spec_design": ("written down in", "versions", "libraries"),
    "code_review": ("checked by", "versions", "changelog"),
    "discovery": ("started by", "written down in", "hot spots"),
    "bridge": ("started by", "versions", "libraries"),
}


def gather_facts(code: CodeIndex, configuration: ProjectConfiguration, about: ProfileInputs) -> dict[str, list[str]]:
    """Return what there is to say, by name."""
    sources, place = SourceFiles(code.paths), find_pytest_settings(configuration)
    manifests = [
        read_manifest(path, text) for path, text in configuration.texts.items() if "/" not in path or path.endswith("proj")
    ]
    named = next((manifest for manifest in manifests if manifest.name), Manifest())
    versions = list(dict.fromkeys(version for manifest in manifests for version in manifest.versions))
    summary = re.split(r"(?<=\w)\.\s", " ".join(named.about.split()))[0].rstrip(".")
    title = named.name + (f" ({truncate_text(summary, MAX_ABOUT_CHARACTERS)})" if summary else "")
    told = {version.partition(" ")[0]: version for version in reversed(versions)}
    written = [*(told.pop(name, name) for name in sources.languages), *told.values()]
    tests = f"tests in {', '.join(sources.test_folders)}" if sources.test_folders else "no tests"
    started = list_programs(code, manifests)
    linters = [linter for linter in find_linters(configuration) if linter.partition(" (")[0] not in about.missing]
    documents = [path for path in code.paths if DOCUMENT_FILE.fullmatch(path)][:MAX_LISTED]
    return {
        "project": [title or "the repository", ", ".join(written)],
        "layout": [
            f"code in {', '.join(sources.roots)}" if sources.roots else "",
            tests.replace("in beside", "beside") + (f" (configured in {place.partition(' [')[0]})" if place else ""),
            f"started by {', '.join(started)}" if started else "",
            f"also {', '.join(sources.support_folders)}" if sources.support_folders else "",
        ],
        "tests": [about.tests],
        "libraries": [
            join_first(list(dict.fromkeys(name for manifest in manifests for name in manifest.libraries)), MAX_LIBRARIES)
        ],
        "checked by": [*linters, *read_limits(configuration)],
        "hooks before a commit": [", ".join(find_hooks(configuration))],
        "hot spots": [", ".join(find_hot_spots(code, sources))],
        "written down in": [", ".join(documents)],
        "versions": versions,
        "changelog": [path for path in documents if CHANGELOG.fullmatch(path)],
        "shared fixtures": [path for path in code.paths if path.endswith("conftest.py")][:3],
        "started by": started,
    }


def list_programs(code: CodeIndex, manifests: Sequence[Manifest]) -> list[str]:
    """Return the commands that the project installs; where there are none, files that are meant to be run."""
    commands = [f"{program.name} = {program.target}" for manifest in manifests for program in manifest.programs]
    sources = SourceFiles(code.paths)
    begun = [path for path in sources.shipped if path in code.entries]
    return (commands or begun)[:MAX_LISTED]


def find_hot_spots(code: CodeIndex, sources: SourceFiles) -> list[str]:
    """Return large files that change often, by commits times lines in steps of forty percent: small edits change nothing."""
    often = [path for path in sources.shipped if path in code.files and code.churn(path).commits >= MIN_COMMITS]
    lines = {path: reading.lines for path, reading in code.readings(often).items() if reading.lines >= MIN_LINES}
    heat = {path: round(2 * log2(code.churn(path).commits * lines[path])) for path in lines}
    return sorted(heat, key=lambda path: (-heat[path], path))[:5]


def describe_user(texts: Sequence[str], learnt: Sequence[str] = ()) -> list[ProfileStatement]:
    """Return the statements about the user; empty if the user has written nothing and nothing was learnt."""
    titles = [to_one_line(one, MAX_RULE_CHARACTERS) for one in learnt[:4]]
    return [
        *make_statement("in the user's words", list(quote_rules(texts))[:MAX_LISTED], 16),
        *make_statement("learnt in the user's projects", titles, 14),
    ]


def quote_rules(texts: Sequence[str]) -> Iterator[str]:
    """Yield short rules as written: list items, or texts of one sentence. Code blocks are examples and no rules."""
    for text in texts:
        prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
        lines = [match[1] for line in prose.split("\n") if (match := LIST_ITEM.match(line))]
        for line in lines or ([text] if "\n" not in text.strip() else []):
            if 0 < len(line.strip()) <= MAX_RULE_CHARACTERS:
                yield to_one_line(line.rstrip(". "))


def describe_task(code: CodeIndex, likely: Sequence[str]) -> list[ProfileStatement]:
    """Return statements about the files that a task is likely about, given the likeliest first; empty without such files."""
    known = [path for path in likely if path in code.files]
    tests = [path for path in known if is_test_code(path)]
    files = ([path for path in known if path not in tests] or tests)[:MAX_LIKELY_FILES]
    covering = list(dict.fromkeys(test for path in files for test in code.tests_of(path) if test not in files))
    covering.sort(key=lambda test: (test not in tests, not any(read_stem(path) in test for path in files), test))
    users = {user for path in files for user in code.importers(path) if not is_test_code(user)} - {*files}
    return [
        *make_statement("likely about", files, 30),
        *make_statement("tests that cover them", [*covering[:4], f"{len(covering) - 4} more" if len(covering) > 4 else ""], 27),
        *make_statement("depended on by", [join_first(sorted(users), MAX_LISTED)], 24),
        *make_statement("history", [describe_file_history(code, path) for path in files[:2]], 18),
        *make_statement("mind", list(list_risks(code, files))[:MAX_LISTED], 26),
    ]


def read_stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0].strip("_")


def describe_file_history(code: CodeIndex, path: str) -> str:
    churn = code.churn(path)
    if not churn.commits:
        return ""
    month = time.strftime("%Y-%m", time.gmtime(churn.last)) if churn.last else "?"
    return f"{path.rpartition('/')[2]} {churn.commits} commit{'' if churn.commits == 1 else 's'}, last {month}"


def list_risks(code: CodeIndex, files: Sequence[str]) -> Iterator[str]:
    for path in files:
        users = [user for user in code.importers(path) if not is_test_code(user)]
        if path in code.faults:
            yield f"{path} {code.faults[path]}"
        if not is_test_code(path) and not code.tests_of(path):
            yield f"no test covers {path}"
        if len(users) >= MIN_IMPORTERS_OF_CONTRACT:
            yield f"{len(users)} files rely on {path}"
