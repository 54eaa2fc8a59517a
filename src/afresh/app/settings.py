"""Reads and checks the settings files of the user and of a repository."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from afresh.config.settings_file import find_user_config, read_settings_file
from afresh.core.context_alert import ContextThresholds
from afresh.core.rate_limit import RateLimit
from afresh.core.spending import SpendingLimits
from afresh.core.states.progress_state import StallThresholds
from afresh.mcp_client.server_settings import McpOptions
from afresh.models.model_settings import NamedModel
from afresh.spending.price_list import UserPrice
from afresh.storage.choose_storage import ExportOptions, make_state


@dataclass(frozen=True, slots=True)
class ProjectPaths:
    root: Path

    @property
    def folder(self) -> Path:
        return self.root / ".afresh"

    @property
    def state(self) -> Path:
        return self.folder / "state"

    def make_state(self) -> Path:
        """The same, made and hidden from git: for whoever writes there."""
        make_state(self.root)
        return self.state

    @property
    def database(self) -> Path:
        return self.state / "afresh.db"


@dataclass(frozen=True, slots=True)
class HookOptions:
    """The user's hook commands. They run as the user, outside of the sandbox."""

    before_compaction: str = ""
    """Run before memory is compacted."""
    timeout: int = 30
    notify: str = ""
    """Run when a task is over or needs an answer; `desktop`: a notification of the desktop."""


@dataclass(frozen=True, slots=True)
class CompactionOptions:
    model_summary: bool | None = None
    """Whether a model writes the summary of a compaction. Default: a provider's model does if the rule-based summary lacks
    space."""


@dataclass(frozen=True, slots=True)
class LessonOptions:
    model_wording: bool = False
    """Whether the model words the lesson of a verified task."""


@dataclass(frozen=True, slots=True)
class DelegationOptions:
    parts: int = 4
    """Maximum number of subtasks of a task."""
    offer: bool = True
    """Whether subtasks are allowed at all."""


@dataclass(frozen=True, slots=True)
class HeartbeatOptions:
    """The user's own for heartbeats; a checklist can set none of it."""

    model: str = ""
    """A cheap one; default: the one that the checklist names, or the model of tasks."""
    day: float = 0.25
    """Dollars that heartbeats of a project may cost a day."""
    day_tokens: int = 100_000
    webhooks: tuple[str, ...] = ()
    """Addresses that announcements are sent to."""


@dataclass(frozen=True, slots=True)
class RateOptions:
    """What all workers together may ask of a model or provider in a minute."""

    requests: int = 0
    tokens: int = 0
    """Sent and replied."""

    def __post_init__(self) -> None:
        if not (self.requests or self.tokens):
            raise ValueError("it should set requests or tokens, in a minute")


@dataclass(frozen=True, slots=True)
class ScheduleOptions:
    """For tasks of schedules that name no other; tasks that a person adds have their own."""

    type: str = ""
    """The type, and so the template of their prompts."""
    budget: int = 0
    """Tokens of a call."""
    model: str = ""


@dataclass(frozen=True, slots=True)
class FleetOptions:
    """The user's for workers on many machines; see docs/machines.md."""

    tasks_per_project: int = 4
    """Tasks of a project that are worked on at a time, by all workers together."""


@dataclass(frozen=True, slots=True)
class EvolveOptions:
    """How context policies are learnt from recorded work. A repository can set none of it."""

    mode: Literal["off", "suggest", "auto"] = "suggest"
    """off: the built-in policy; suggest: a person adopts; auto: what is proven better is adopted for a share of the tasks."""
    share: float = 0.25
    """Of the tasks, that a newly adopted policy is used for."""


@dataclass(frozen=True, slots=True)
class NetworkOptions:
    """What tasks of one repository may reach, without asking."""

    addresses: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RepositorySettings:
    """What a repository may set. Models, keys, endpoints, money and the sandbox are settings of the user only."""

    checks: tuple[str, ...] = ()
    type: str = ""
    loop: Literal["react", "plan_execute"] | None = None
    """Strategy for tasks that name none; default: the template's."""
    budget: int = 0
    """Ceiling in tokens for each call; 0 uses the template's."""
    max_budget: int = 0
    """Highest ceiling; 0 is four times the task's budget."""
    max_steps: int = 0
    """Steps before a task stops and asks; 0: as AGENT.md says, else 60."""
    check_timeout: int = 600
    """Seconds after which a check is killed."""
    copy: tuple[str, ...] = ()
    """Ignored files and folders of the checkout that tests need, such as `dist`; put into the task's tree."""
    patterns: bool = True
    """Whether patterns are shared with other projects; both user and repository must allow it."""
    linters: bool = True
    """Whether the project's own linters and formatter are checks of tasks that lower complexity."""


@dataclass(frozen=True, slots=True)
class OutsideSettings(RepositorySettings):
    """What is reached beyond the repository. Only the user may set it."""

    readable: tuple[str, ...] = ()
    """Paths outside the repository that sandboxed commands may read."""
    network: Mapping[str, NetworkOptions] = field(default_factory=dict[str, NetworkOptions])
    """By the path of a repository; `afresh allow --always` writes it."""
    hooks: HookOptions = field(default_factory=HookOptions)
    mcp: McpOptions = field(default_factory=McpOptions)
    telemetry: bool = False
    """Whether spans of each run are sent by OpenTelemetry."""
    store: str = field(default="", repr=False)
    """The address of a PostgreSQL that keeps journals, queue and ledger; AFRESH_STORE overrides it."""
    fleet: FleetOptions = field(default_factory=FleetOptions)


@dataclass(frozen=True, slots=True)
class CallLimitSettings(OutsideSettings):
    """What calls of models may take. Only the user may set it."""

    limits: SpendingLimits = field(default_factory=SpendingLimits)
    prices: Mapping[str, UserPrice] = field(default_factory=dict[str, UserPrice])
    """Prices by full model name; they override the price list."""
    alerts: ContextThresholds = field(default_factory=ContextThresholds)
    rates: Mapping[str, RateOptions] = field(default_factory=dict[str, RateOptions])
    """By `provider:model`, or by provider for all of its models together."""

    @property
    def rate_limits(self) -> tuple[RateLimit, ...]:
        return tuple(RateLimit(name, rate.requests, rate.tokens) for name, rate in self.rates.items())


@dataclass(frozen=True, slots=True)
class Settings(CallLimitSettings):
    """Repository settings and those that only the user may set. Each table is a class; its fields are the allowed keys."""

    model: str = ""
    mode: Literal["autonomous", "supervised", "interactive"] = "autonomous"
    """Default supervision of runs."""
    compaction: CompactionOptions = field(default_factory=CompactionOptions)
    knowledge: LessonOptions = field(default_factory=LessonOptions)
    models: Mapping[str, NamedModel] = field(default_factory=dict[str, NamedModel])
    delegation: DelegationOptions = field(default_factory=DelegationOptions)
    heartbeat: HeartbeatOptions = field(default_factory=HeartbeatOptions)
    schedules: ScheduleOptions = field(default_factory=ScheduleOptions)
    no_progress: StallThresholds = field(default_factory=StallThresholds)
    evolve: EvolveOptions = field(default_factory=EvolveOptions)
    export: ExportOptions = field(default_factory=ExportOptions)


def load_settings(project: ProjectPaths) -> Settings:
    """Load the user's settings, overridden by the repository's where it may set them."""
    own = read_settings_file(find_user_config(), Settings)
    of_repository = read_settings_file(project.folder / "config.toml", RepositorySettings)
    patterns = own.get("patterns", True) and of_repository.get("patterns", True)
    return Settings(**{**own, **of_repository, "patterns": patterns})


def load_user_settings() -> Settings:
    """Load the user's settings only; repositories cannot set models, keys or addresses."""
    return Settings(**read_settings_file(find_user_config(), Settings))
