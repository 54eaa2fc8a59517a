"""What the user and a repository say about how to work: files of settings, read and checked."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from afresh.adapters.models.choose import refuse_names
from afresh.adapters.models.settings import Named
from afresh.app.project import Project
from afresh.domain.limits import Limits
from afresh.domain.patience import Patience
from afresh.domain.price import Rate
from afresh.errors import BadInput


@dataclass(frozen=True, slots=True)
class Hooks:
    """Commands of the user's. They run as the user, outside the sandbox."""

    before_compaction: str = ""
    """Asked before memory is compacted."""
    timeout: int = 30


@dataclass(frozen=True, slots=True)
class Compaction:
    model_summary: bool | None = None
    """Whether a model writes the summary of a compaction. Unless told: a provider's does when the rules' own has no room."""


@dataclass(frozen=True, slots=True)
class Wording:
    model_wording: bool = False
    """Whether the model of a task is asked, once it is verified, to put what it has learnt into better words."""


@dataclass(frozen=True, slots=True)
class Delegation:
    parts: int = 4
    """How many parts of itself a task may hand out at most."""
    offer: bool = True
    """Whether any may be handed out at all."""


@dataclass(frozen=True, slots=True)
class Shared:
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
class Settings(Shared):
    """With what only the user sets. Each table is a class of its own, whose fields are the keys that it may have."""

    model: str = ""
    mode: Literal["autonomous", "supervised", "interactive"] = "autonomous"
    """How closely a person follows the work, unless the run or the task says otherwise."""
    readable: tuple[str, ...] = ()
    """Paths outside the repository that sandboxed commands may read."""
    hooks: Hooks = field(default_factory=Hooks)
    compaction: Compaction = field(default_factory=Compaction)
    knowledge: Wording = field(default_factory=Wording)
    models: Mapping[str, Named] = field(default_factory=dict[str, Named])
    delegation: Delegation = field(default_factory=Delegation)
    limits: Limits = field(default_factory=Limits)
    prices: Mapping[str, Rate] = field(default_factory=dict[str, Rate])
    """What models cost, by their full names, where no list knows it or the user knows better."""
    no_progress: Patience = field(default_factory=Patience)


def settings(project: Project) -> Settings:
    """The user's settings, and over them those of the repository that it may set."""
    own = read_settings(users_config(), Settings)
    of_repository = read_settings(project.folder / "config.toml", Shared)
    patterns = own.get("patterns", True) and of_repository.get("patterns", True)
    return Settings(**{**own, **of_repository, "patterns": patterns})


def users_config() -> Path:
    from platformdirs import user_config_path

    return user_config_path("afresh") / "config.toml"


def read_settings(path: Path, known: type) -> dict[str, Any]:
    """The fields of `known` that the file sets, each as its type wants it."""
    if not path.is_file():
        return {}
    try:
        plain = tomllib.loads(path.read_text("utf-8"))
        found = _fields(plain, known, "")
        refuse_names(found.get("models", {}))
        return found
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise BadInput(f"{path} can't be read: {fault}", next="mend the file", safe="nothing was changed") from fault
    except _Unknown as fault:
        may = f"it may set: {', '.join(fault.known)}"
        raise BadInput(f"{path} sets {fault}, which it may not", next=may, safe="nothing was changed") from fault
    except (_Unfit, ValueError) as fault:
        raise BadInput(f"{path}: {fault}", next="mend the file", safe="nothing was changed") from None


class _Unknown(Exception):
    def __init__(self, names: list[str], known: list[str]) -> None:
        super().__init__(", ".join(names))
        self.known = known


class _Unfit(Exception):
    pass


def _fields(plain: Mapping[str, Any], known: type, at: str) -> dict[str, Any]:
    hints = get_type_hints(known)
    names = [one.name for one in fields(known)]
    unknown = sorted(set(plain) - set(names))
    if unknown and at:
        raise _Unfit(f"{at.rstrip('.')} has no {', '.join(unknown)}; it may set: {', '.join(names)}")
    if unknown:
        raise _Unknown(unknown, names)
    return {name: _value(value, hints[name], f"{at}{name}") for name, value in plain.items()}


COUNTS = tuple[int, ...]
WHOLE = int | None
"""What has a value of its own for "unless told" may be 0."""
WANTED: dict[Any, str] = {
    tuple: "a list of texts", COUNTS: "a list of whole numbers of 0 or more", int: "a whole number above 0",
    WHOLE: "a whole number of 0 or more",    float: "a number of 0 or more", str: "a text", bool: "true or false",
}  # fmt: skip


def _value(value: Any, hint: Any, name: str) -> Any:
    """As the type wants it: a table, tables by name, a list of texts, or a plain value."""
    if hint != WHOLE and (isinstance(hint, UnionType) or get_origin(hint) is Union):
        hint = next(one for one in get_args(hint) if one is not NoneType)
    if is_dataclass(hint) and isinstance(hint, type):
        try:
            return hint(**_fields(_table(value, name), hint, f"{name}."))
        except ValueError as wrong:
            raise _Unfit(f"{name}: {wrong}") from None
    wanted = hint if hint in (COUNTS, WHOLE) else get_origin(hint) or hint
    if wanted is Literal:
        return _one_of(value, get_args(hint), name)
    if wanted is Mapping:
        held = get_args(hint)[1]
        return {key: _value(one, held, f"{name}.{key}") for key, one in _table(value, name).items()}
    if not _fits(value, wanted):
        raise _Unfit(f"{name} should be {WANTED[wanted]}")
    return tuple(value) if wanted in (tuple, COUNTS) else float(value) if wanted is float else value


def _one_of(value: Any, known: tuple[str, ...], name: str) -> Any:
    if value not in known:
        raise _Unfit(f"{name} should be one of: {', '.join(known)}")
    return value


def _table(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _Unfit(f"{name} should be a table")
    return value


def _fits(value: Any, wanted: Any) -> bool:
    if wanted is tuple:
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if wanted == COUNTS:
        return isinstance(value, list) and all(type(one) is int and one >= 0 for one in value)
    if wanted == WHOLE:
        return type(value) is int and value >= 0
    if wanted is int:
        return type(value) is int and value > 0
    if wanted is float:
        return type(value) in (int, float) and 0 <= value < float("inf")
    return isinstance(value, wanted)
