"""An editor: the client of the protocol's own package, with `afresh acp` as a real process behind real pipes."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from acp import RequestError, text_block
from acp.schema import AllowedOutcome, ClientCapabilities, DeniedOutcome, RequestPermissionResponse
from acp.stdio import spawn_agent_process
from person import SOURCE, Person

PATIENCE = 900.0
"""Seconds until a test is given up that waits for what never comes."""


class Editor:
    """Keeps all that it is shown, and answers requests for permission as it was told."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.asked: list[tuple[str, list[tuple[str, str]]]] = []
        self.answers: list[str] = []
        """Options to choose, one for each request; an empty one cancels it, `never` leaves it unanswered."""
        self.changed = asyncio.Condition()
        self.agent: Any = None
        self.process: Any = None

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        async with self.changed:
            self.updates.append(update)
            self.changed.notify_all()

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any], **_: Any
    ) -> RequestPermissionResponse:
        async with self.changed:
            self.asked.append((tool_call.title, [(one.option_id, one.name) for one in options]))
            self.changed.notify_all()
        choice = self.answers.pop(0)
        if choice == "never":
            await asyncio.Event().wait()
        chosen = AllowedOutcome(outcome="selected", option_id=choice) if choice else DeniedOutcome(outcome="cancelled")
        return RequestPermissionResponse(outcome=chosen)

    def kinds(self) -> list[str]:
        return [update.session_update for update in self.updates]

    def text(self, kind: str = "agent_message_chunk") -> str:
        return "\n".join(update.content.text for update in self.updates if update.session_update == kind)

    def calls(self) -> dict[str, dict[str, Any]]:
        """Tool calls by title, with the latest of what was told of each."""
        found: dict[str, dict[str, Any]] = {}
        for update in self.updates:
            if update.session_update in ("tool_call", "tool_call_update"):
                told = {
                    name: value
                    for name in ("title", "kind", "status", "content", "locations")
                    if (value := getattr(update, name))
                }
                found.setdefault(update.tool_call_id, {}).update(told)
        return {call["title"]: call for call in found.values()}

    async def waits_for(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE), self.changed:
            await self.changed.wait_for(condition)

    async def opens(self, repo: Path) -> str:
        return (await self.agent.new_session(cwd=str(repo), mcp_servers=[])).session_id

    async def says(self, session: str, text: str) -> str:
        async with asyncio.timeout(PATIENCE):
            return (await self.agent.prompt(session_id=session, prompt=[text_block(text)])).stop_reason

    async def is_refused(self, work: Any) -> str:
        """The message of the error that a request gets."""
        try:
            await work
        except RequestError as error:
            return str(error)
        raise AssertionError("it was not refused")


@asynccontextmanager
async def start_editor(person: Person, *arguments: str) -> AsyncIterator[Editor]:
    editor = Editor()
    names = ("PATH", "HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    variables = {name: os.environ[name] for name in names if name in os.environ} | {"PYTHONPATH": SOURCE}
    command = ("-m", "afresh.cli.main", "acp", "--no-sandbox", "--type", "fix_bug", *arguments)
    async with spawn_agent_process(
        editor, sys.executable, *command, env=variables, cwd=person.folder, transport_kwargs={"stderr": None}
    ) as (agent, process):
        editor.agent, editor.process = agent, process
        told = await agent.initialize(protocol_version=1, client_capabilities=ClientCapabilities())
        assert told.agent_capabilities.load_session and told.agent_info.name == "afresh"
        yield editor
