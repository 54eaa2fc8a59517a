"""What each tool is for, decided once: rooms ask for a trait, not for a name."""

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


TRAITS_BY_TOOL: dict[str, frozenset[ToolTrait]] = {
    name: frozenset(traits)
    for name, traits in {
        "read": (ToolTrait.READS, ToolTrait.BRIEF),
        "search": (ToolTrait.PRINTS, ToolTrait.SEARCHES, ToolTrait.BRIEF),
        "edit": (ToolTrait.CHANGES, ToolTrait.WRITES, ToolTrait.BRIEF),
        "write": (ToolTrait.CHANGES, ToolTrait.WRITES, ToolTrait.BRIEF),
        "apply": (ToolTrait.CHANGES, ToolTrait.WRITES, ToolTrait.APPLIES, ToolTrait.BRIEF),
        "run": (ToolTrait.RUNS, ToolTrait.COMMANDS, ToolTrait.PRINTS, ToolTrait.CHANGES),
        "test": (ToolTrait.RUNS, ToolTrait.PRINTS, ToolTrait.BRIEF),
        "remember": (ToolTrait.NOTES,),
        "decide": (ToolTrait.NOTES,),
        "plan": (ToolTrait.NOTES, ToolTrait.PLANS),
        "recall": (ToolTrait.READS, ToolTrait.ARRANGES),
        "compact": (ToolTrait.ARRANGES,),
        "more_room": (ToolTrait.ARRANGES,),
        "ask": (ToolTrait.ASKS,),
        "complete": (ToolTrait.COMPLETES,),
        "delegate": (ToolTrait.DELEGATES, ToolTrait.CHANGES),
    }.items()
}
"""Of the tools that come with afresh. The traits of other tools are recorded with each action."""
TRAITS_OF_UNKNOWN_TOOL = frozenset({ToolTrait.PRINTS})


def find_tool_traits(tool: str) -> frozenset[ToolTrait]:
    return TRAITS_BY_TOOL.get(tool, TRAITS_OF_UNKNOWN_TOOL)


def has_trait(action: "Action", *traits: ToolTrait) -> bool:
    """Whether the tool of an action has at least one of these traits."""
    return not (frozenset(action.traits) or find_tool_traits(action.tool)).isdisjoint(traits)


def select_tools_by_trait(tools: Iterable[str], *traits: ToolTrait) -> tuple[str, ...]:
    return tuple(tool for tool in tools if not find_tool_traits(tool).isdisjoint(traits))
