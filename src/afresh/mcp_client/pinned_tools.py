"""Which tools the user has approved: name, description and schema of each, as they were shown. What differs is not offered."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from afresh.core.codec import to_canonical_json
from afresh.core.prompt import ToolSchema
from afresh.core.text import escape_hidden, to_visible_json
from afresh.core.tokens import EstimatingCounter, render_tool_schemas
from afresh.errors import Damaged
from afresh.workspace.disk_files import write_durable_file

APPROVALS_FILE = "mcp-tools.json"
"""In the user's data folder: no repository can write there."""
MAX_TOOL_TOKENS = 600
"""Most tokens of one tool's schema: every call of a task pays for it."""
MAX_NAME_CHARACTERS = 64
"""Longer names of tools are refused by providers."""
_OTHER_CHARACTERS = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class RemoteTool:
    """A tool as its server describes it."""

    server: str
    name: str
    description: str
    parameters: Mapping[str, Any]

    @property
    def full_name(self) -> str:
        """The name that users type."""
        return f"{self.server}.{self.name}"

    @property
    def hash(self) -> str:
        canonical_json = to_canonical_json([self.server, self.name, self.description, self.parameters])
        return sha256(canonical_json.encode()).hexdigest()

    @property
    def schema(self) -> ToolSchema:
        """As a model is offered it. The name has two underscores, as no tool of afresh has."""
        description = f"{self.description.strip()} [tool of the MCP server {self.server}]".strip()
        parameters = {"properties": {}, **self.parameters, "type": "object"}
        return ToolSchema(f"{self.server}__{_OTHER_CHARACTERS.sub('_', self.name)}", description, parameters)


def find_reason_not_to_offer(tool: RemoteTool) -> str:
    """Why a tool can't be approved at all; empty if it can."""
    canonical_json = to_canonical_json([tool.name, tool.description, tool.parameters])
    if escape_hidden(canonical_json) != canonical_json:
        return "its description has hidden characters"
    if not isinstance(tool.schema.parameters["properties"], Mapping):
        return "its arguments are not described as JSON Schema"
    if len(tool.schema.name) > MAX_NAME_CHARACTERS or not tool.name:
        return f"its name is empty or too long: at most {MAX_NAME_CHARACTERS} characters with the server's"
    tokens = EstimatingCounter()(render_tool_schemas([tool.schema]))
    return f"its description takes {tokens:,} tokens, {MAX_TOOL_TOKENS} are the most" if tokens > MAX_TOOL_TOKENS else ""


@dataclass(frozen=True, slots=True)
class ApprovedServer:
    origin: str
    """The command or address at the time: another program under the same name is not approved."""
    tools: tuple[RemoteTool, ...]

    def holds(self, tool: RemoteTool) -> bool:
        return any(remote_tool.hash == tool.hash for remote_tool in self.tools)


def read_approvals(folder: Path) -> dict[str, ApprovedServer]:
    """Damaged for a file that can't be read: no tool is offered because of it."""
    path = folder / APPROVALS_FILE
    try:
        held = json.loads(path.read_text("utf-8")) if path.exists() else {}
        return {
            name: ApprovedServer(one["origin"], tuple(RemoteTool(name, *fields) for fields in one["tools"]))
            for name, one in held.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise Damaged(f"{path} can't be read: {fault}", next="delete it, and approve the servers again") from fault


def write_approvals(folder: Path, approvals: Mapping[str, ApprovedServer]) -> None:
    held = {
        name: {"origin": approval.origin, "tools": [[tool.name, tool.description, tool.parameters] for tool in approval.tools]}
        for name, approval in approvals.items()
    }
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_durable_file(folder / APPROVALS_FILE, to_visible_json(held, indent=1), new_rights=0o600)


def select_named_tools(tools: Sequence[RemoteTool], wanted: Sequence[str]) -> list[RemoteTool]:
    """Those that are named as SERVER or SERVER.TOOL; of two that would be offered under one name, the first."""
    chosen = {tool.schema.name: tool for tool in reversed(tools) if tool.server in wanted or tool.full_name in wanted}
    return list(reversed(chosen.values()))
