"""Where a project's things are, and what its files say about how to work on it."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afresh.errors import BadInput

SETTINGS: dict[str, type] = {
    "checks": list,
    "type": str,
    "budget": int,
    "max_budget": int,
    "max_steps": int,
    "check_timeout": int,
    "patterns": bool,
}
"""What a repository may set. Models, keys, endpoints and the sandbox are the user's alone."""
TABLES: dict[str, dict[str, type]] = {
    "hooks": {"before_compaction": str, "timeout": int},
    "compaction": {"model_summary": bool},
    "knowledge": {"model_wording": bool},
}
"""Hooks run as the user, outside the sandbox, and what a model writes besides the work is paid for: not a repository's to set."""
OWN_SETTINGS: dict[str, type] = {**SETTINGS, "model": str, "readable": list, **dict.fromkeys(TABLES, dict)}


@dataclass(frozen=True, slots=True)
class Project:
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
class Settings:
    checks: tuple[str, ...] = ()
    type: str = ""
    budget: int = 0
    """Ceiling in tokens for each call; 0 leaves it to the template of the task's type."""
    max_budget: int = 0
    """0: four times the task's budget."""
    max_steps: int = 60
    check_timeout: int = 600
    """Seconds after which a check is killed."""
    model: str = ""
    readable: tuple[str, ...] = ()
    """Paths outside the repository that sandboxed commands may read."""
    before_compaction: str = ""
    """Command of the user's that is asked before memory is compacted."""
    hook_timeout: int = 30
    model_summary: bool | None = None
    """Whether a model writes the summary of a compaction. Unless told: a provider's does when the rules' own has no room."""
    model_wording: bool = False
    """Whether the model of a task is asked, once it is verified, to put what it has learnt into better words."""
    patterns: bool = True
    """Whether patterns come from other projects and go to them: only if both the user and the repository let them."""


def settings(project: Project) -> Settings:
    """The user's settings, and over them those of the repository that it may set."""
    from platformdirs import user_config_path

    own = read_settings(user_config_path("afresh") / "config.toml", OWN_SETTINGS)
    of_repository = read_settings(project.folder / "config.toml", SETTINGS)
    merged = {**own, **of_repository, "patterns": own.get("patterns", True) and of_repository.get("patterns", True)}
    hooks, compaction, knowledge = (merged.pop(name, {}) for name in TABLES)
    plain: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in merged.items()}
    return Settings(
        **plain,
        before_compaction=hooks.get("before_compaction", ""),
        hook_timeout=hooks.get("timeout", 30),
        model_summary=compaction.get("model_summary"),
        model_wording=knowledge.get("model_wording", False),
    )


def read_settings(path: Path, known: dict[str, type]) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        plain = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise BadInput(f"{path} can't be read: {fault}", next="mend the file", safe="nothing was changed") from fault
    if unknown := sorted(set(plain) - set(known)):
        raise BadInput(
            f"{path} sets {', '.join(unknown)}, which it may not",
            next=f"it may set: {', '.join(known)}",
            safe="nothing was changed",
        )
    for name, value in plain.items():
        if why := unfit(name, value, known[name]):
            raise BadInput(f"{path}: {why}", next="mend the file", safe="nothing was changed")
    return plain


WANTED: dict[type, str] = {
    list: "a list of texts", int: "a whole number above 0", str: "a text", bool: "true or false", dict: "a table",
}  # fmt: skip


def unfit(name: str, value: Any, wanted: type) -> str:
    """What is wrong with it, or, in a table, with the first that is wrong; empty when nothing is."""
    if not fits(value, wanted):
        return f"{name} should be {WANTED[wanted]}"
    if wanted is not dict:
        return ""
    known = TABLES[name]
    if unknown := sorted(set(value) - set(known)):
        return f"{name} has no {', '.join(unknown)}; it may set: {', '.join(known)}"
    return next((why for key, held in value.items() if (why := unfit(f"{name}.{key}", held, known[key]))), "")


def fits(value: Any, wanted: type) -> bool:
    if wanted is list:
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if wanted is int:
        return type(value) is int and value > 0
    return isinstance(value, wanted)
