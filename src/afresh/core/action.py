"""One tool call and its outcome."""

from collections.abc import Mapping
from dataclasses import field
from fnmatch import fnmatch
from posixpath import normpath
from typing import Any

from afresh.core.fast_dataclass import dataclass
from afresh.core.line_region import Region
from afresh.core.network_access import NetworkUse
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.core.truncate import to_one_line


@dataclass(frozen=True, slots=True)
class Action:
    """One tool call."""

    tool: str
    args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    traits: tuple[ToolTrait, ...] = ()
    """Of a tool that was made at run time; those that come with afresh are in core/tool_traits.py."""


SUBJECT_ARGUMENTS = ("what", "goal", "path", "command", "text", "id", "question", "summary", "which", "subject")


def describe_subject(action: Action) -> str:
    """The most telling argument of an action, in one line."""
    if has_trait(action, ToolTrait.SEARCHES) and isinstance(action.args.get("text"), str):
        return to_one_line(repr(action.args["text"]) + (f" in {action.args['path']}" if action.args.get("path") else ""), 100)
    texts = {name: value for name, value in action.args.items() if isinstance(value, str) and value.strip()}
    first = ("subject",) if has_trait(action, ToolTrait.NOTES) else ()
    for name in (*first, *SUBJECT_ARGUMENTS, *sorted(texts)):
        if name in texts:
            return to_one_line(texts[name], 100)
    return ""


def normalize_scope(path: str) -> str:
    """The scope in the form of tree paths; empty for the whole tree."""
    return "" if not path or (plain := normpath(path)) == "." else plain


def is_within_scope(path: str, pattern: str) -> bool:
    return not pattern or path == pattern or path.startswith(pattern.rstrip("/") + "/") or fnmatch(path, pattern)


def describe_action(action: Action) -> str:
    return f"{action.tool} {describe_subject(action)}".strip()


@dataclass(frozen=True, slots=True)
class Observation:
    """What one action led to. `text` is the digest that windows may show; the whole output is block `block`."""

    action: Action
    ok: bool
    text: str
    block: str = ""
    size: int = 0
    lines: int = 0
    """Lines of files that it brought into view."""
    regions: tuple[Region, ...] = ()
    """Which they are."""


@dataclass(frozen=True, slots=True)
class FileAccess:
    """The files of the tree that a command opened and wrote."""

    opened: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()
    """Also what was made, moved or deleted, and folders of which one of these holds."""
    gap: str = ""
    """Why not all of it is known."""


@dataclass(frozen=True, slots=True)
class RunManner:
    """How a check is run for a verdict."""

    watched: bool = False
    """Report which files of the tree the command opens and writes."""
    fixed: tuple[str, ...] = ()
    """Files and folders that it can't write, where the sandbox can mount them so; writing them is seen at every level."""
    elsewhere: bool = False
    """Under another user's and host's name, and without the variables of ours that other commands get."""


PLAIN_MANNER = RunManner()


@dataclass(frozen=True, slots=True)
class CommandRun:
    """A command that has run in the sandbox."""

    command: str
    exit: int
    output: str
    seconds: float = 0.0
    timed_out: bool = False
    reports: Mapping[str, str] = field(default_factory=dict[str, str])
    """Files that it left in its report folder, by name."""
    keys: tuple[str, ...] = ()
    """What a report must begin with to be from a reporter of ours: one for each test session."""
    network: NetworkUse | None = None
    """How it used the network; None if it was closed."""
    files: FileAccess | None = None
    """The files that it opened and wrote; None if nobody watched."""
    spoiled: bool = False
    """It wrote more than allowed: the tree must be restored."""
