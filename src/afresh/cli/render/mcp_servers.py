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
            "name": one.tool.name,
            "standing": one.standing.value,
            "why": one.why,
            "description": one.tool.description,
            "parameters": one.tool.parameters,
            "hash": one.tool.hash,
        }
        for one in server.tools
    ]
    return {"name": server.name, "origin": server.origin, "fault": server.fault, "tools": tools}


def render_mcp_server(server: ListedServer) -> str:
    head = f"{server.name}  {to_one_line(server.origin, 120)}"
    if server.fault:
        return f"{head}\n  {server.fault}"
    return "\n".join([head, *map(render_listed_tool, server.tools), *([] if server.tools else ["  no tools"])])


def render_listed_tool(one: ListedTool) -> str:
    """The whole description and schema, since both are approved."""
    why = f": {one.why}" if one.why else ""
    schema = escape_hidden(json.dumps(one.tool.parameters, ensure_ascii=False))
    said = "\n".join(part for part in (escape_hidden(one.tool.description).strip(), f"arguments: {schema}") if part)
    return f"  {escape_hidden(one.tool.full_name)}  ({one.standing}{why}; {one.tool.hash[:12]})\n{indent(said, '    ')}"
