"""The fingerprint of a project, for people and for prompts; measurements are cached next to the state."""

import json
from collections.abc import Iterator, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from shutil import which

from afresh import code
from afresh.app.choose_checks import ProjectWithSettings, find_project_tests
from afresh.app.explore_code import CHECKOUT_TREE_NAME, find_indexed_checkout, open_checkout_store
from afresh.app.project import Project
from afresh.code.config_files import read_configuration
from afresh.code.index.code_index import refresh_code_index
from afresh.code.project_profile.constraints import LINTER_PATTERNS, LINTER_PROGRAMS
from afresh.code.project_profile.profile import ProfileInputs, ProjectProfile, build_profile
from afresh.code.ranking.commit_history import churn_from_history
from afresh.code.ranking.query import RankingQuery as Asked
from afresh.code.ranking.rank_files import rank_files
from afresh.code.test_commands.try_commands import TrialResults
from afresh.config.templates.load_template import merge_task_type
from afresh.core.commit import CommitHistory
from afresh.core.fact import FactKind, FactScope
from afresh.core.instructions import InstructionLevel
from afresh.core.project_facts import FactQuery as Lookup
from afresh.sandbox.command_environment import list_search_path
from afresh.workspace.commit_history import read_commit_history
from afresh.workspace.disk_files import write_durable_file
from afresh.workspace.environment_files import find_environment_folders
from afresh.workspace.repository import Repository

PROFILE_FILE = "fingerprint.json"
MAX_RULES = 40
MAX_ASKED_TEST_SECONDS = 600.0
"""How long tests may run when the user asked for them."""


@dataclass(frozen=True, slots=True)
class ProfileRequest:
    """What the user wants to see."""

    type: str = ""
    goal: str = ""
    run: bool = False
    """Run the tests even if a cached result exists."""


@dataclass(frozen=True, slots=True)
class ProfileReport:
    fingerprint: ProjectProfile
    tried: TrialResults
    type: str


def profile_checkout(project: Project, wanted: ProfileRequest) -> ProfileReport:
    """Profile the checkout as it is now."""
    place = ProjectWithSettings(project.paths, project.settings)
    tried = find_project_tests(
        place, min(MAX_ASKED_TEST_SECONDS, project.settings.check_timeout) if wanted.run else 0.0, again=wanted.run
    )
    type = wanted.type or project.settings.type or "implement_feature"
    past, home = read_project_history(project), find_indexed_checkout(project)
    code = refresh_code_index(home.files, CHECKOUT_TREE_NAME, open_checkout_store(home), churn_from_history(past))
    about = ProfileInputs(
        user=tuple(gather_user_words(project, type)),
        type=merge_task_type(type, project.templates).family,
        likely=tuple(one.path for one in rank_files(code, Asked(wanted.goal, (), past))) if wanted.goal.strip() else (),
        trial=tried.best,
        missing=find_missing_linters(Repository.find(project.paths.root)),
    )
    made = build_profile(code, read_configuration(code.paths, code.text), about, ProfileCache(project.paths.state / PROFILE_FILE))
    return ProfileReport(made, tried, type)


def find_missing_linters(repository: Repository) -> frozenset[str]:
    """Return the linters that no command in the checkout's environments or on PATH runs."""
    own = [repository.root / name for name in find_environment_folders(repository)]
    folders = [str(folder / place) for folder in own for place in ("bin", ".bin")]
    search = ":".join([*folders, *map(str, list_search_path())])
    return frozenset(name for name in LINTER_PATTERNS if not which(LINTER_PROGRAMS.get(name, name), path=search))


def read_project_history(project: Project) -> CommitHistory:
    repository = Repository.find(project.paths.root)
    return read_commit_history(repository.git, repository.head, repository.state)


def gather_user_words(project: Project, type: str) -> Iterator[str]:
    """Return the user's own instructions and rules for all projects."""
    for source in project.instructions.look((type,), ()).sources:
        users = source.file.startswith(str(project.instructions.users).removesuffix("AGENT.md"))
        if source.level is InstructionLevel.USER or (source.level is InstructionLevel.TYPE and users):
            yield "\n".join(line.text for part in source.parts for line in part.lines)
    for known in project.facts.look_up(Lookup("", (FactKind.RULE,), limit=MAX_RULES)):
        if known.fact.scope is FactScope.USER:
            yield known.fact.text


class ProfileCache(MutableMapping[str, str]):
    """Measured facts by the hash of their input, in a file that may be deleted at any time. Entries of another program
    version are ignored."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held: dict[str, str] = {}
        with suppress(OSError, ValueError, AttributeError, TypeError, KeyError):
            held = json.loads(path.read_text("utf-8"))
            if held["program"] == hash_profiling_code():
                self._held = {key: value for key, value in held["facts"].items() if isinstance(value, str)}

    def __getitem__(self, key: str) -> str:
        return self._held[key]

    def __setitem__(self, key: str, value: str) -> None:
        self._held[key] = value
        with suppress(OSError):
            write_durable_file(self._path, json.dumps({"program": hash_profiling_code(), "facts": self._held}))

    def __delitem__(self, key: str) -> None:
        del self._held[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)


@cache
def hash_profiling_code() -> str:
    """Hash the code that measures."""
    folder = Path(code.__file__).parent
    return sha256(b"".join(path.read_bytes() for path in sorted(folder.rglob("*.py")))).hexdigest()
