"""What each tool is for, decided once: rooms ask for a trait, not for a name."""

from collections.abc import Iterable
from enum import StrEnum


class ToolTrait(StrEnum):
    READS = "reads"
    """Shows text that is kept elsewhere, in files or in the archive: it is judged by the lines that it shows."""
    PRINTS = "prints"
    """Its output is found nowhere else: facts are read from it, and memory keeps it."""
    RUNS = "runs"
    """Runs commands in the sandbox."""
    CHANGES = "changes"
    """May change the tree."""
    WRITES = "writes"
    """Writes files, and what it wrote is shown with them."""
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
        "read": (ToolTrait.READS,),
        "search": (ToolTrait.PRINTS,),
        "edit": (ToolTrait.CHANGES, ToolTrait.WRITES),
        "write": (ToolTrait.CHANGES, ToolTrait.WRITES),
        "apply": (ToolTrait.CHANGES, ToolTrait.WRITES),
        "run": (ToolTrait.RUNS, ToolTrait.PRINTS, ToolTrait.CHANGES),
        "test": (ToolTrait.RUNS, ToolTrait.PRINTS),
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
"""Of the tools that come with afresh. A tool that is made at run time brings its own."""
TRAITS_OF_UNKNOWN_TOOL = frozenset({ToolTrait.PRINTS})


def find_tool_traits(tool: str) -> frozenset[ToolTrait]:
    return TRAITS_BY_TOOL.get(tool, TRAITS_OF_UNKNOWN_TOOL)


def has_trait(tool: str, *traits: ToolTrait) -> bool:
    """Whether a tool, by its name, has one of these traits at least."""
    return not find_tool_traits(tool).isdisjoint(traits)


def select_tools_by_trait(tools: Iterable[str], *traits: ToolTrait) -> tuple[str, ...]:
    return tuple(tool for tool in tools if has_trait(tool, *traits))
