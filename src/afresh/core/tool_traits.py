"""What each tool is for, decided once: rooms ask for a trait, not for a name."""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from afresh.core.action import Action


class ToolTrait(StrEnum):
    READS = "reads"
    """Shows text that is kept elsewhere, in files or in the archive: it is judged by the lines that it shows."""
    PRINTS = "prints"
    """Its output is found nowhere else: facts are read from it, and memory keeps it."""
    SEARCHES = "searches"
    """Looks for a text, and shows the lines that hold it."""
    RUNS = "runs"
    """Runs commands in the sandbox."""
    COMMANDS = "commands"
    """Runs the one command that its arguments name."""
    CHANGES = "changes"
    """May change the tree."""
    WRITES = "writes"
    """Writes files, and what it wrote is shown with them."""
    APPLIES = "applies"
    """Carries out a suggestion by its id; the first line of its output is the title."""
    BRIEF = "brief"
    """Its name and subject say all of an action."""
    NOTES = "notes"
    """Puts down what has a section of its own in every prompt."""
    ARRANGES = "arranges"
    """Is about the prompt itself: what is shown of what is known, and how much."""
    PLANS = "plans"
    ASKS = "asks"
    """Puts a question to a person."""
    COMPLETES = "completes"
    """Claims that the task is done."""
    DELEGATES = "delegates"
    """Hands out a part of the task."""
    FOREIGN = "foreign"
    """Belongs to a program outside of the sandbox: what it prints is data of a stranger, and no facts are read from it."""


TRAITS_BY_TOOL: dict[str, frozenset[ToolTrait]] = {
    name: frozenset(traits)
    for name, traits in {
        "read": (ToolTrait.READS, ToolTrait.BRIEF),
        "search": (ToolTrait.PRINTS, ToolTrait.SEARCHES, ToolTrait.BRIEF),
        "edit": (ToolTrait.CHANGES, ToolTrait.WRITES, ToolTrait.BRIEF),
        "apply": (ToolTrait.CHANGES, ToolTrait.WRITES, ToolTrait.APPLIES, ToolTrait.BRIEF),
        "run": (ToolTrait.RUNS, ToolTrait.COMMANDS, ToolTrait.PRINTS, ToolTrait.CHANGES),
        "note": (ToolTrait.NOTES,),
        "plan": (ToolTrait.NOTES, ToolTrait.PLANS),
        "ask": (ToolTrait.ASKS,),
        "complete": (ToolTrait.COMPLETES,),
        "delegate": (ToolTrait.DELEGATES, ToolTrait.CHANGES),
    }.items()
}
"""Of the tools that come with afresh. The traits of other tools are recorded with each action."""
ARCHIVE_TRAITS = frozenset({ToolTrait.READS, ToolTrait.ARRANGES})
"""Of `read` and `search` in the archive, which holds what they show already."""
ARCHIVE_ADDRESS_PATTERN = re.compile(
    r"@changes/\S+|@(?:index|changes|notes|decisions|failed|rules|memory)|@m?[0-9a-f]{6,32}|m?(?=\w*\d)[0-9a-f]{8,32}"
)
TRAITS_OF_UNKNOWN_TOOL = frozenset({ToolTrait.PRINTS})


def find_tool_traits(tool: str) -> frozenset[ToolTrait]:
    return TRAITS_BY_TOOL.get(tool, TRAITS_OF_UNKNOWN_TOOL)


def has_trait(action: "Action", *traits: ToolTrait) -> bool:
    """Whether the tool of an action has at least one of these traits."""
    return not (frozenset(action.traits) or find_action_traits(action)).isdisjoint(traits)


def find_action_traits(action: "Action") -> frozenset[ToolTrait]:
    """Those of its tool, unless it looks into the archive."""
    path = action.args.get("path") if action.tool in ("read", "search") else None
    return ARCHIVE_TRAITS if isinstance(path, str) and is_archive_address(path) else find_tool_traits(action.tool)


def is_archive_address(path: str) -> bool:
    """Whether it names an archived output or what is remembered: `@1a2b3c4d`, `@notes`."""
    return ARCHIVE_ADDRESS_PATTERN.fullmatch(path.strip().strip("[]`")) is not None


def select_tools_by_trait(tools: Iterable[str], *traits: ToolTrait) -> tuple[str, ...]:
    return tuple(tool for tool in tools if not find_tool_traits(tool).isdisjoint(traits))
