"""`afresh mcp`: serves memory and code understanding to other agents, and manages the MCP servers that tasks may use."""

import sys
from dataclasses import replace

import click

from afresh.cli.options import WholeNumber
from afresh.cli.output import wants_json
from afresh.cli.render.mcp_servers import mcp_server_to_json, render_mcp_server
from afresh.views.page import Page


@click.group(invoke_without_command=True)
@click.option("--http", type=WholeNumber(0, 65_535), metavar="PORT", help="Serve HTTP on this machine instead; 0: any port.")
@click.option("--read-only", is_flag=True, help="Leave out the tools that store something.")
@click.option("--folder", default=".", metavar="DIR", help="The repository to serve (default: the one you are in).")
@click.pass_context
def command(context: click.Context, http: int | None, read_only: bool, folder: str) -> None:
    """Serve this repository's memory and code to other agents, over stdio."""
    if context.invoked_subcommand is not None:
        return
    from contextlib import suppress
    from pathlib import Path

    from afresh.mcp_server.serve import find_served_project, serve_http, serve_stdio

    served = find_served_project(Path(folder), read_only)
    with suppress(KeyboardInterrupt):
        if http is None:
            if sys.stdin.isatty():
                click.echo(
                    "waiting for an agent on standard input; add the command `afresh mcp` to your agent's MCP servers", err=True
                )
            serve_stdio(served)
        else:
            serve_http(served, http, lambda line: click.echo(line, err=True))


@command.command("servers")
@click.argument("name", default="", metavar="[SERVER]")
@click.argument("tools", nargs=-1, metavar="[TOOL]…")
@click.option("--approve", is_flag=True, help="Approve tools of SERVER as they are described now (default: all).")
@click.option("--revoke", is_flag=True, help="Take back the approval of SERVER's tools.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask before tools are approved.")
def list_servers(name: str, tools: tuple[str, ...], approve: bool, revoke: bool, yes: bool) -> Page:
    """Start the MCP servers of your config.toml and list their tools."""
    from afresh.app.mcp_servers import list_mcp_servers, revoke_server
    from afresh.app.settings import load_user_settings

    if (approve or revoke) and not name:
        raise click.UsageError("name the SERVER")
    if approve and revoke:
        raise click.UsageError("give one of --approve and --revoke")
    if approve:
        return approve_server(name, tools, yes)
    if revoke:
        number = revoke_server(name)
        return Page({"revoked": number}, f"revoked {number} tools of {name}")
    listed = list_mcp_servers(load_user_settings(), [name] if name else [])
    text = "\n".join(map(render_mcp_server, listed)) or "no MCP servers; add [mcp.servers.NAME] to your config.toml"
    return Page([*map(mcp_server_to_json, listed)], text)


def approve_server(name: str, tools: tuple[str, ...], yes: bool) -> Page:
    from afresh.app.mcp_servers import ToolStanding, approve_tools, list_mcp_servers
    from afresh.app.settings import load_user_settings
    from afresh.errors import BadInput, NeedsPerson

    settings = load_user_settings()
    (server,) = list_mcp_servers(settings, [name])
    if server.fault:
        raise NeedsPerson(server.fault, safe="nothing was approved")
    if unknown := sorted(set(tools) - {tool.tool.name for tool in server.tools}):
        raise BadInput(f"{name} has no tool {unknown[0]!r}", next=f"afresh mcp servers {name}", safe="nothing was approved")
    chosen = [tool for tool in server.tools if not tools or tool.tool.name in tools]
    click.echo(render_mcp_server(replace(server, tools=tuple(chosen))), err=wants_json())
    able = [tool.tool for tool in chosen if tool.standing is not ToolStanding.REFUSED]
    if not able:
        raise BadInput("none of these tools can be approved", safe="nothing was approved")
    if not yes:
        click.confirm(f"Approve {len(able)} as described? They run outside of the sandbox, as you.", abort=True, err=True)
    approve_tools(settings, name, able)
    text = f"approved {len(able)}; a task uses them with --mcp {name}, or --mcp {able[0].full_name}"
    return Page({"approved": [tool.full_name for tool in able]}, text)
