"""The seam to tools."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from afresh.core.change import Change
from afresh.core.project_facts import EMPTY_FACT_INDEX
from afresh.core.prompt import ToolSchema
from afresh.core.state import State
from afresh.core.step_result import ToolOutcome
from afresh.core.subtask import RunSubtask
from afresh.core.tokens import estimate_tokens
from afresh.core.tool_traits import ToolTrait
from afresh.ports.code import CodeAnalysis
from afresh.ports.storage import FactIndex, JournalStore
from afresh.ports.workspace import FileTree, Sandbox


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The ports and values that a tool may use."""

    state: State
    files: FileTree
    sandbox: Sandbox
    store: JournalStore
    insight: CodeAnalysis
    recall: int = 1_200
    """Tokens of an archived output that are shown at once; and how they are counted."""
    count: Callable[[str], int] = estimate_tokens
    facts: FactIndex = EMPTY_FACT_INDEX
    hand_out: RunSubtask | None = None
    list_changes: Callable[[], Sequence[Change]] = tuple
    """The changes of the task, as of the last step."""


class Tool(Protocol):
    @property
    def schema(self) -> ToolSchema: ...
    @property
    def traits(self) -> frozenset[ToolTrait]: ...

    def run(self, args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
        """ModelMistake for arguments that can't be used."""
        ...
