"""Renders MCP servers with their tools: all that is approved is shown, and what a server wrote is made visible."""

from __future__ import annotations

import json
from textwrap import indent
from typing import TYPE_CHECKING, Any

from afresh.core.text import escape_hidden
from afresh.core.truncate import to_one_line

if TYPE_CHECKING:
    from afresh.app.mcp_servers import ListedServer, ListedTool


def mcp_server_to_json(server: ListedServer) -> dict[str, Any]:
    tools = [
        {
            "name": tool.tool.name,
            "standing": tool.standing.value,
            "why": tool.why,
            "description": tool.tool.description,
            "parameters": tool.tool.parameters,
            "hash": tool.tool.hash,
        }
        for tool in server.tools
    ]
    return {"name": server.name, "origin": server.origin, "fault": server.fault, "tools": tools}


def render_mcp_server(server: ListedServer) -> str:
    head = f"{server.name}  {to_one_line(server.origin, 120)}"
    if server.fault:
        return f"{head}\n  {server.fault}"
    return "\n".join([head, *map(render_listed_tool, server.tools), *([] if server.tools else ["  no tools"])])


def render_listed_tool(tool: ListedTool) -> str:
    """The whole description and schema, since both are approved."""
    why = f": {tool.why}" if tool.why else ""
    schema = escape_hidden(json.dumps(tool.tool.parameters, ensure_ascii=False))
    text = "\n".join(part for part in (escape_hidden(tool.tool.description).strip(), f"arguments: {schema}") if part)
    return f"  {escape_hidden(tool.tool.full_name)}  ({tool.standing}{why}; {tool.tool.hash[:12]})\n{indent(text, '    ')}"
