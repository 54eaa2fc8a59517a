"""Connections to MCP servers, in one background thread, since the rest is synchronous. They are opened when they are needed."""

import os
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import IO, TYPE_CHECKING, Any, TypeVar

from afresh import __version__
from afresh.core.truncate import to_one_line
from afresh.errors import NeedsPerson, suggest_extra
from afresh.mcp_client.pinned_tools import RemoteTool
from afresh.mcp_client.server_settings import McpServer

if TYPE_CHECKING:
    import asyncio

    from mcp import Client
    from mcp_types import CallToolResult

CONNECT_SECONDS = 30
MAX_LISTED_PAGES = 10
MAX_TOOLS = 64
"""Most tools of one server; further ones are ignored."""
CLOSE_SECONDS = 15
LAST_WORDS_BYTES = 2_000
T = TypeVar("T")


@dataclass(slots=True)
class OpenConnection:
    client: "Client"
    tools: tuple[RemoteTool, ...]
    closing: "asyncio.Event"
    holder: "asyncio.Task[None]"


class McpConnections:
    """One connection for each server. One that fails is dropped; the next use connects again."""

    def __init__(self, servers: Mapping[str, McpServer]) -> None:
        self._servers = servers
        self._open: dict[str, OpenConnection] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None

    def list_tools(self, server: str) -> Sequence[RemoteTool]:
        """What the server offers now. NeedsPerson if it can't be reached."""
        return self._wait(self._connect(server), CONNECT_SECONDS).tools

    def call(self, tool: RemoteTool, args: Mapping[str, Any]) -> "CallToolResult":
        """NeedsPerson if the server does not answer in time, ends, or describes the tool differently after a restart."""
        return self._wait(self._call(tool, dict(args)), CONNECT_SECONDS + self._servers[tool.server].timeout)

    def close(self) -> None:
        """End all connections, with the programs that were started for them."""
        if self._loop and self._thread:
            with suppress(Exception):
                self._wait(self._close_all(), CLOSE_SECONDS)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(CLOSE_SECONDS)
            self._loop = self._thread = None

    def _wait(self, work: "Coroutine[Any, Any, T]", seconds: float) -> T:
        """Run in the background thread. The time limits are in there; this one is for a thread that is stuck."""
        import asyncio

        if self._loop is None:
            require_client_package()
            self._loop = asyncio.new_event_loop()
            self._thread = Thread(target=self._loop.run_forever, name="mcp", daemon=True)
            self._thread.start()
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result(seconds + CLOSE_SECONDS)
        except TimeoutError:
            raise NeedsPerson("the connections to MCP servers are stuck") from None

    async def _connect(self, server: str) -> OpenConnection:
        import asyncio

        if server in self._open:
            return self._open[server]
        ready: asyncio.Future[OpenConnection] = asyncio.get_running_loop().create_future()
        holder = asyncio.create_task(self._hold(server, ready))
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                self._open[server] = await asyncio.shield(ready)
        except TimeoutError:
            holder.cancel()
            raise NeedsPerson(f"the MCP server {server} did not answer within {CONNECT_SECONDS} s") from None
        return self._open[server]

    async def _hold(self, server: str, ready: "asyncio.Future[OpenConnection]") -> None:
        """Keep a connection open until it is to be closed: what was entered in a task must be left in it."""
        import asyncio
        from tempfile import TemporaryFile

        with TemporaryFile() as errors:
            try:
                async with open_client(self._servers[server], errors) as client:
                    tools, closing = tuple(await list_remote_tools(server, client)), asyncio.Event()
                    holder = asyncio.current_task()
                    assert holder
                    ready.set_result(OpenConnection(client, tools, closing, holder))
                    await closing.wait()
            except Exception as fault:
                if not ready.done():
                    why = getattr(fault, "what", "") or read_last_words(errors) or describe_fault(fault)
                    ready.set_exception(NeedsPerson(f"the MCP server {server} can't be used: {why}"))

    async def _call(self, tool: RemoteTool, args: dict[str, Any]) -> "CallToolResult":
        import asyncio

        connection, seconds = await self._connect(tool.server), self._servers[tool.server].timeout
        if all(remote_tool.hash != tool.hash for remote_tool in connection.tools):
            raise NeedsPerson(f"{tool.full_name} is described differently than when it was approved")
        try:
            async with asyncio.timeout(seconds):
                return await connection.client.call_tool(tool.name, args)
        except TimeoutError:
            await self._drop(tool.server)
            raise NeedsPerson(f"{tool.full_name} did not answer within {seconds} s; the server was stopped") from None
        except Exception as fault:
            await self._drop(tool.server)
            raise NeedsPerson(f"{tool.full_name} failed: {describe_fault(fault)}") from fault

    async def _drop(self, server: str) -> None:
        """The next use starts the server again."""
        import asyncio

        connection = self._open.pop(server)
        connection.closing.set()
        with suppress(Exception):
            await asyncio.wait_for(asyncio.shield(connection.holder), CLOSE_SECONDS)

    async def _close_all(self) -> None:
        import asyncio

        await asyncio.gather(*[self._drop(server) for server in list(self._open)])


def require_client_package() -> None:
    try:
        import mcp  # noqa: F401
    except ImportError as missing:
        raise NeedsPerson("MCP servers need the package mcp, which is not installed", next=suggest_extra("mcp")) from missing


@asynccontextmanager
async def open_client(server: McpServer, errors: IO[bytes]) -> "AsyncGenerator[Client]":
    """A program starts in the user's home: nothing in a repository decides what is started."""
    from mcp import Client, StdioServerParameters, stdio_client
    from mcp.client.streamable_http import streamable_http_client
    from mcp_types import Implementation

    async with AsyncExitStack() as stack:
        if server.command:
            variables = {name: read_variable(name) for name in server.environment}
            program, *arguments = server.command
            start = StdioServerParameters(command=program, args=arguments, env=variables, cwd=Path.home())
            transport = stdio_client(start, errlog=errors)  # pyright: ignore[reportArgumentType]
        else:
            from httpx2 import AsyncClient

            headers = {"Authorization": f"Bearer {read_variable(server.token)}"} if server.token else {}
            web = await stack.enter_async_context(AsyncClient(headers=headers, timeout=server.timeout))
            transport = streamable_http_client(server.url, http_client=web)
        name = Implementation(name="afresh", version=__version__)
        yield await stack.enter_async_context(Client(transport, client_info=name))


def read_variable(name: str) -> str:
    if name not in os.environ:
        raise NeedsPerson(f"the environment variable {name} is not set")
    return os.environ[name]


async def list_remote_tools(server: str, client: "Client") -> list[RemoteTool]:
    tools, cursor = list[RemoteTool](), None
    for _ in range(MAX_LISTED_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += [RemoteTool(server, tool.name, tool.description or "", tool.input_schema) for tool in page.tools]
        if not (cursor := page.next_cursor) or len(tools) >= MAX_TOOLS:
            break
    return tools[:MAX_TOOLS]


def describe_fault(fault: BaseException) -> str:
    """One line; for a group of errors the first."""
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    return to_one_line(str(fault), 200) or type(fault).__name__


def read_last_words(errors: IO[bytes]) -> str:
    """The last line that a program wrote to its standard error."""
    errors.seek(max(0, errors.seek(0, os.SEEK_END) - LAST_WORDS_BYTES))
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return to_one_line(lines[-1], 200) if lines else ""
