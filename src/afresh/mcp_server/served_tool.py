"""A tool that other agents can call: its schema, what answers it, and what is checked around every call."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from afresh.actions.tools.function_tool import find_argument_mistake
from afresh.app.project import Project
from afresh.core.prompt import ToolSchema
from afresh.core.redaction import redact_secrets
from afresh.core.text import escape_hidden
from afresh.core.truncate import truncate_text
from afresh.errors import AfreshError, BadInput, NeedsPerson
from afresh.views.project_memory_file import read_rules_and_corrections

MAX_ANSWER_CHARACTERS = 12_000
CUT_NOTE = "\n[cut: ask for something narrower]"


@dataclass(frozen=True, slots=True)
class ClientCall:
    """A call of a tool by a program outside. All that it says is data."""

    project: Project
    client: str
    """The name that the client gives itself."""
    args: Mapping[str, Any]

    def text(self, name: str) -> str:
        return str(self.args.get(name, "")).strip()

    def number(self, name: str, default: int, most: int) -> int:
        return max(1, min(int(self.args.get(name, default)), most))


@dataclass(frozen=True, slots=True)
class ServedTool:
    schema: ToolSchema
    answer: Callable[[ClientCall], str]
    writes: bool = False


def answer_call(tool: ServedTool, call: ClientCall) -> str:
    """Return bounded, visible text without secrets and without what a person wants forgotten. BadInput for arguments that
    don't fit."""
    if mistake := find_argument_mistake(tool.schema, call.args):
        raise BadInput(f"{tool.schema.name}: {mistake}")
    scrub = read_rules_and_corrections(call.project.facts).scrub
    text = escape_hidden(redact_secrets(scrub(tool.answer(call))))
    return text if len(text) <= MAX_ANSWER_CHARACTERS else truncate_text(text, MAX_ANSWER_CHARACTERS) + CUT_NOTE


def describe_refusal(error: AfreshError | OSError) -> str:
    """Return what a caller reads of an error."""
    lines = [error.what, error.safe, error.next] if isinstance(error, NeedsPerson) else [str(error)]
    return escape_hidden(redact_secrets("; ".join(part for part in lines if part)))
