"""What the user and a repository say about how to work: files of settings, read and checked."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from afresh.adapters.models.choose import check_model_names
from afresh.adapters.models.settings import NamedModel
from afresh.app.project import ProjectPaths
from afresh.domain.limits import SpendingLimits
from afresh.domain.patience import StallThresholds
from afresh.domain.price import UserPrice
from afresh.errors import BadInput


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


def find_user_config() -> Path:
    from platformdirs import user_config_path

    return user_config_path("afresh") / "config.toml"


def read_settings_file(path: Path, known: type) -> dict[str, Any]:
    """The fields of `known` that the file sets, each as its type wants it."""
    if not path.is_file():
        return {}
    try:
        plain = tomllib.loads(path.read_text("utf-8"))
        found = _read_fields(plain, known, "")
        check_model_names(found.get("models", {}))
        return found
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise BadInput(f"{path} can't be read: {fault}", next="mend the file", safe="nothing was changed") from fault
    except _UnknownKeys as fault:
        may = f"it may set: {', '.join(fault.known)}"
        raise BadInput(f"{path} sets {fault}, which it may not", next=may, safe="nothing was changed") from fault
    except (_UnfitValue, ValueError) as fault:
        raise BadInput(f"{path}: {fault}", next="mend the file", safe="nothing was changed") from None


class _UnknownKeys(Exception):
    def __init__(self, names: list[str], known: list[str]) -> None:
        super().__init__(", ".join(names))
        self.known = known


class _UnfitValue(Exception):
    pass


def _read_fields(plain: Mapping[str, Any], known: type, at: str) -> dict[str, Any]:
    hints = get_type_hints(known)
    names = [one.name for one in fields(known)]
    unknown = sorted(set(plain) - set(names))
    if unknown and at:
        raise _UnfitValue(f"{at.rstrip('.')} has no {', '.join(unknown)}; it may set: {', '.join(names)}")
    if unknown:
        raise _UnknownKeys(unknown, names)
    return {name: _read_value(value, hints[name], f"{at}{name}") for name, value in plain.items()}


INTEGER_LIST_TYPE = tuple[int, ...]
OPTIONAL_INTEGER_TYPE = int | None
"""What has a value of its own for "unless told" may be 0."""
EXPECTED_VALUES: dict[Any, str] = {
    tuple: "a list of texts", INTEGER_LIST_TYPE: "a list of whole numbers of 0 or more", int: "a whole number above 0",
    OPTIONAL_INTEGER_TYPE: "a whole number of 0 or more",    float: "a number of 0 or more", str: "a text", bool: "true or false",
}  # fmt: skip


def _read_value(value: Any, hint: Any, name: str) -> Any:
    """As the type wants it: a table, tables by name, a list of texts, or a plain value."""
    if hint != OPTIONAL_INTEGER_TYPE and (isinstance(hint, UnionType) or get_origin(hint) is Union):
        hint = next(one for one in get_args(hint) if one is not NoneType)
    if is_dataclass(hint) and isinstance(hint, type):
        try:
            return hint(**_read_fields(_read_table(value, name), hint, f"{name}."))
        except ValueError as wrong:
            raise _UnfitValue(f"{name}: {wrong}") from None
    wanted = hint if hint in (INTEGER_LIST_TYPE, OPTIONAL_INTEGER_TYPE) else get_origin(hint) or hint
    if wanted is Literal:
        return _read_choice(value, get_args(hint), name)
    if wanted is Mapping:
        held = get_args(hint)[1]
        return {key: _read_value(one, held, f"{name}.{key}") for key, one in _read_table(value, name).items()}
    if not _is_fitting(value, wanted):
        raise _UnfitValue(f"{name} should be {EXPECTED_VALUES[wanted]}")
    return tuple(value) if wanted in (tuple, INTEGER_LIST_TYPE) else float(value) if wanted is float else value


def _read_choice(value: Any, known: tuple[str, ...], name: str) -> Any:
    if value not in known:
        raise _UnfitValue(f"{name} should be one of: {', '.join(known)}")
    return value


def _read_table(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _UnfitValue(f"{name} should be a table")
    return value


def _is_fitting(value: Any, wanted: Any) -> bool:
    if wanted is tuple:
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if wanted == INTEGER_LIST_TYPE:
        return isinstance(value, list) and all(type(one) is int and one >= 0 for one in value)
    if wanted == OPTIONAL_INTEGER_TYPE:
        return type(value) is int and value >= 0
    if wanted is int:
        return type(value) is int and value > 0
    if wanted is float:
        return type(value) in (int, float) and 0 <= value < float("inf")
    return isinstance(value, wanted)
