"""The user's MCP servers: what they offer, what is approved of it, and the tools that a task gets."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum

from afresh.app.queue.read_tasks import find_user_folder
from afresh.app.settings import Settings
from afresh.core.prompt import ToolSchema
from afresh.errors import BadInput, NeedsPerson
from afresh.mcp_client.connections import McpConnections
from afresh.mcp_client.offered_tool import OfferedTool
from afresh.mcp_client.pinned_tools import (
    ApprovedServer,
    RemoteTool,
    find_reason_not_to_offer,
    read_approvals,
    select_named_tools,
    write_approvals,
)
from afresh.mcp_client.server_settings import McpServer
from afresh.runtime import Runtime

NO_APPROVAL = ApprovedServer("", ())


class ToolStanding(StrEnum):
    APPROVED = "approved"
    NEW = "not approved"
    CHANGED = "changed since it was approved"
    REFUSED = "can't be approved"


@dataclass(frozen=True, slots=True)
class ListedTool:
    tool: RemoteTool
    standing: ToolStanding
    why: str = ""


@dataclass(frozen=True, slots=True)
class ListedServer:
    name: str
    origin: str
    tools: tuple[ListedTool, ...] = ()
    fault: str = ""
    """Why it could not be asked."""


def list_mcp_servers(settings: Settings, names: Sequence[str] = ()) -> list[ListedServer]:
    """Start or ask each server."""
    for name in names:
        find_server(settings, name)
    approvals, connections = read_approvals(find_user_folder()), McpConnections(settings.mcp.servers)
    try:
        return [
            list_server(name, server, approvals.get(name, NO_APPROVAL), connections)
            for name, server in settings.mcp.servers.items()
            if not names or name in names
        ]
    finally:
        connections.close()


def list_server(name: str, server: McpServer, approved: ApprovedServer, connections: McpConnections) -> ListedServer:
    try:
        tools = connections.list_tools(name)
    except NeedsPerson as fault:
        return ListedServer(name, server.origin, fault="; ".join(part for part in (fault.what, fault.next) if part))
    return ListedServer(name, server.origin, tuple(judge_tool(tool, server, approved) for tool in tools))


def judge_tool(tool: RemoteTool, server: McpServer, approved: ApprovedServer) -> ListedTool:
    if why := find_reason_not_to_offer(tool):
        return ListedTool(tool, ToolStanding.REFUSED, why)
    if approved.origin == server.origin and approved.holds(tool):
        return ListedTool(tool, ToolStanding.APPROVED)
    known = any(remote_tool.name == tool.name for remote_tool in approved.tools)
    return ListedTool(tool, ToolStanding.CHANGED if known else ToolStanding.NEW)


def find_server(settings: Settings, name: str) -> McpServer:
    if name not in settings.mcp.servers:
        known = ", ".join(settings.mcp.servers) or "none"
        advice = f"add [mcp.servers.{name}] to your config.toml; servers in it: {known}"
        raise BadInput(f"there is no MCP server {name!r}", next=advice, safe="nothing was changed")
    return settings.mcp.servers[name]


def approve_tools(settings: Settings, name: str, tools: Sequence[RemoteTool]) -> None:
    """Approve exactly these descriptions, as a person has seen them; other approved tools of the server stay as they are, unless
    they are of another program."""
    server, approvals = find_server(settings, name), read_approvals(find_user_folder())
    old = approvals.get(name, NO_APPROVAL)
    chosen = {tool.name for tool in tools}
    kept = [tool for tool in old.tools if tool.name not in chosen] if old.origin == server.origin else []
    write_approvals(find_user_folder(), {**approvals, name: ApprovedServer(server.origin, (*kept, *tools))})


def revoke_server(name: str) -> int:
    """Return how many tools are no longer approved. The server need not be configured any more."""
    approvals = read_approvals(find_user_folder())
    gone = approvals.pop(name, NO_APPROVAL)
    write_approvals(find_user_folder(), approvals)
    return len(gone.tools)


def list_approved_schemas(wanted: Sequence[str]) -> tuple[ToolSchema, ...]:
    """Return the schemas of approved tools that a task names; no server is asked."""
    approvals = read_approvals(find_user_folder()) if wanted else {}
    tools = [tool for approval in approvals.values() for tool in approval.tools]
    return tuple(tool.schema for tool in select_named_tools(tools, wanted))


def refuse_unapproved_tools(settings: Settings, wanted: Sequence[str]) -> None:
    """Raise BadInput for a server that is not configured, and for a name under which nothing is approved."""
    for name in wanted:
        server = name.partition(".")[0]
        find_server(settings, server)
        if not list_approved_schemas([name]):
            advice = f"`afresh mcp servers {server} --approve` shows its tools and asks"
            raise BadInput(f"no tool {name} is approved", next=advice, safe="nothing was added")


@contextmanager
def open_task_tools(settings: Settings, wanted: Sequence[str], alert: Callable[[str], None]) -> Iterator[tuple[OfferedTool, ...]]:
    """Connect to the servers that a task names, and yield the tools that are as approved. `alert` tells what is not offered."""
    if not wanted:
        yield ()
        return
    servers = {name.partition(".")[0] for name in wanted}
    for name in sorted(servers - settings.mcp.servers.keys()):
        alert(f"the MCP server {name} is not in your config.toml: its tools are not offered")
    connections = McpConnections(settings.mcp.servers)
    try:
        listed = list_mcp_tools(settings, sorted(servers & settings.mcp.servers.keys()), connections, alert)
        yield tuple(OfferedTool(tool, connections) for tool in select_named_tools(listed, wanted))
    finally:
        connections.close()


def list_mcp_tools(
    settings: Settings, names: Sequence[str], connections: McpConnections, alert: Callable[[str], None]
) -> list[RemoteTool]:
    """Return the tools that are approved as they are now; tell of servers that fail and of tools that have changed."""
    approvals, tools = read_approvals(find_user_folder()), list[RemoteTool]()
    for name in names:
        approved = approvals.get(name, NO_APPROVAL)
        listed = list_server(name, settings.mcp.servers[name], approved, connections)
        if listed.fault:
            alert(f"{listed.fault}; its tools are not offered")
        for tool in listed.tools:
            if tool.standing is ToolStanding.APPROVED:
                tools.append(tool.tool)
            elif any(old.name == tool.tool.name for old in approved.tools):
                alert(f"{tool.tool.full_name} is not offered: {tool.why or tool.standing}; `afresh mcp servers {name}` shows it")
    return tools


def add_tools_to_run(runtime: Runtime, tools: Sequence[OfferedTool]) -> Runtime:
    """Offer the tools in every call of the run: they are part of each request, and its ceiling counts them."""
    template = runtime.settings.template.with_tools(tuple(tool.schema.name for tool in tools))
    return replace(runtime, settings=replace(runtime.settings, template=template, tools=(*runtime.settings.tools, *tools)))
