"""What the user and a repository say about how to work: files of settings, read and checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from afresh.config.settings_file import find_user_config, read_settings_file
from afresh.core.progress_state import StallThresholds
from afresh.core.spending import SpendingLimits
from afresh.models.model_settings import NamedModel
from afresh.spending.price_list import UserPrice


@dataclass(frozen=True, slots=True)
class ProjectPaths:
    root: Path

    @property
    def folder(self) -> Path:
        return self.root / ".afresh"

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def database(self) -> Path:
        return self.state / "afresh.db"


@dataclass(frozen=True, slots=True)
class HookOptions:
    """Commands of the user's. They run as the user, outside the sandbox."""

    before_compaction: str = ""
    """Asked before memory is compacted."""
    timeout: int = 30


@dataclass(frozen=True, slots=True)
class CompactionOptions:
    model_summary: bool | None = None
    """Whether a model writes the summary of a compaction. Unless told: a provider's does when the rules' own has no room."""


@dataclass(frozen=True, slots=True)
class LessonOptions:
    model_wording: bool = False
    """Whether the model of a task is asked, once it is verified, to put what it has learnt into better words."""


@dataclass(frozen=True, slots=True)
class DelegationOptions:
    parts: int = 4
    """How many parts of itself a task may hand out at most."""
    offer: bool = True
    """Whether any may be handed out at all."""


@dataclass(frozen=True, slots=True)
class RepositorySettings:
    """What a repository may set. Models, keys, endpoints, money and the sandbox are the user's alone."""

    checks: tuple[str, ...] = ()
    type: str = ""
    loop: Literal["react", "plan_execute"] | None = None
    """For tasks whose order names none; unless told as the template of the type has it."""
    budget: int = 0
    """Ceiling in tokens for each call; 0 leaves it to the template of the task's type."""
    max_budget: int = 0
    """0: four times the task's budget."""
    max_steps: int = 60
    check_timeout: int = 600
    """Seconds after which a check is killed."""
    patterns: bool = True
    """Whether patterns come from other projects and go to them: only if both the user and the repository let them."""


@dataclass(frozen=True, slots=True)
class Settings(RepositorySettings):
    """With what only the user sets. Each table is a class of its own, whose fields are the keys that it may have."""

    model: str = ""
    mode: Literal["autonomous", "supervised", "interactive"] = "autonomous"
    """How closely a person follows the work, unless the run or the task says otherwise."""
    readable: tuple[str, ...] = ()
    """Paths outside the repository that sandboxed commands may read."""
    hooks: HookOptions = field(default_factory=HookOptions)
    compaction: CompactionOptions = field(default_factory=CompactionOptions)
    knowledge: LessonOptions = field(default_factory=LessonOptions)
    models: Mapping[str, NamedModel] = field(default_factory=dict[str, NamedModel])
    delegation: DelegationOptions = field(default_factory=DelegationOptions)
    limits: SpendingLimits = field(default_factory=SpendingLimits)
    prices: Mapping[str, UserPrice] = field(default_factory=dict[str, UserPrice])
    """What models cost, by their full names, where no list knows it or the user knows better."""
    no_progress: StallThresholds = field(default_factory=StallThresholds)


def load_settings(project: ProjectPaths) -> Settings:
    """The user's settings, and over them those of the repository that it may set."""
    own = read_settings_file(find_user_config(), Settings)
    of_repository = read_settings_file(project.folder / "config.toml", RepositorySettings)
    patterns = own.get("patterns", True) and of_repository.get("patterns", True)
    return Settings(**{**own, **of_repository, "patterns": patterns})


def load_user_settings() -> Settings:
    """The user's alone: no repository has a say in models, keys and addresses."""
    return Settings(**read_settings_file(find_user_config(), Settings))
