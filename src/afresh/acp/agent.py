"""The agent's side of the protocol. Requests come in on the event loop; what takes time runs on a worker thread."""

import asyncio
import concurrent.futures
import secrets
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from acp import RequestError
from acp.interfaces import Client
from acp.meta import PROTOCOL_VERSION
from acp.schema import (
    AgentCapabilities,
    AllowedOutcome,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    SessionCapabilities,
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionInfo,
    SessionListCapabilities,
    SessionMode,
    SessionModeState,
    SetSessionConfigOptionResponse,
    SetSessionModeResponse,
    ToolCallUpdate,
)

from afresh import __version__
from afresh.acp.session import EditorOptions, EditorSession, TurnStop
from afresh.acp.updates import make_commands_update
from afresh.app.dialogue.conversation import SESSION_ID_BYTES, Conversation, find_session, open_conversation
from afresh.app.project import Project
from afresh.app.python_api import open_project_at
from afresh.core.states.supervision_state import AUTONOMOUS_MODE, SUPERVISED_MODE
from afresh.core.task import TicketOrder, TicketQuery
from afresh.core.truncate import to_one_line
from afresh.errors import AfreshError, BadInput, NeedsPerson

INTERNAL_ERROR = -32603
INVALID_PARAMS = -32602
MODEL_OPTION = "model"
MAX_SESSIONS_LISTED = 50
MODES = (
    SessionMode(
        id=AUTONOMOUS_MODE, name="Autonomous", description="Works until the checks pass; asks only what it can't decide."
    ),
    SessionMode(id=SUPERVISED_MODE, name="Supervised", description="Asks before the first change and before it is done."),
)


@contextmanager
def translate_errors() -> Generator[None]:
    """Errors for a person become errors of the protocol, with what is safe and what to do next."""
    try:
        yield
    except (AfreshError, OSError) as error:
        parts = (error.what, error.safe, error.next) if isinstance(error, NeedsPerson) else (str(error), "", "")
        code = INVALID_PARAMS if isinstance(error, BadInput) else INTERNAL_ERROR
        data = dict(zip(("what", "safe", "next"), parts, strict=True)) | {"kind": type(error).__name__}
        raise RequestError(code, "; ".join(filter(None, parts)), data) from None


class EditorAgent:
    """An `acp.Agent`."""

    def __init__(self, options: EditorOptions) -> None:
        self.options = options
        self.sessions: dict[str, EditorSession] = {}
        self.client: Client | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self.later: set[asyncio.Task[None]] = set()

    def on_connect(self, conn: Client) -> None:
        self.client, self.loop = conn, asyncio.get_running_loop()

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_capabilities=AgentCapabilities(
                load_session=True, session_capabilities=SessionCapabilities(list=SessionListCapabilities())
            ),
            agent_info=Implementation(name="afresh", title="afresh", version=__version__),
            auth_methods=[],
        )

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        name = secrets.token_hex(SESSION_ID_BYTES)
        with translate_errors():
            session, modes, models = await asyncio.to_thread(self._open, name, cwd, Conversation(session=name))
        self._announce(session)
        return NewSessionResponse(session_id=name, modes=modes, config_options=models)

    async def load_session(self, cwd: str, session_id: str, **_: Any) -> LoadSessionResponse:
        with translate_errors():
            session, modes, models = await asyncio.to_thread(self._open, session_id, cwd, None)
            await asyncio.to_thread(session.replay)
        self._announce(session)
        return LoadSessionResponse(modes=modes, config_options=models)

    async def list_sessions(self, cwd: str | None = None, **_: Any) -> ListSessionsResponse:
        with translate_errors():
            return ListSessionsResponse(sessions=await asyncio.to_thread(list_open_sessions, cwd or "."))

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> SetSessionModeResponse:
        if mode_id not in (mode.id for mode in MODES):
            raise RequestError(INVALID_PARAMS, f"no such mode: {mode_id}")
        self._find(session_id).mode = mode_id
        return SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> SetSessionConfigOptionResponse:
        session = self._find(session_id)
        if config_id != MODEL_OPTION:
            raise RequestError(INVALID_PARAMS, f"no such option: {config_id}")
        with translate_errors():
            await asyncio.to_thread(session.choose_model, str(value))
            options = await asyncio.to_thread(list_model_options, session)
        return SetSessionConfigOptionResponse(config_options=list(options or ()))

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        session = self._find(session_id)
        if session.stop:
            raise RequestError(INVALID_PARAMS, "a turn is running in this session; wait for it, or cancel it")
        session.stop = TurnStop()
        try:
            with translate_errors():
                text = read_prompt_text(prompt, session.root)
                return PromptResponse(stop_reason=await asyncio.to_thread(session.take_prompt, text, session.stop))
        finally:
            session.stop = None

    async def cancel(self, session_id: str, **_: Any) -> None:
        if (session := self.sessions.get(session_id)) and session.stop:
            session.stop.request()

    def stop_turns(self) -> None:
        """Let running turns end: the editor is gone."""
        for session in self.sessions.values():
            if session.stop:
                session.stop.request()

    # What worker threads call

    def send(self, session: str, update: Any) -> None:
        assert self.client, "sessions begin after the connection"
        with suppress(ConnectionError, RuntimeError, concurrent.futures.CancelledError):
            self._wait(self.client.session_update(session_id=session, update=update))

    def ask(self, session: str, call: ToolCallUpdate, options: list[PermissionOption], stop: TurnStop) -> str:
        assert self.client, "sessions begin after the connection"
        if stop.wanted:
            return ""
        question = self.client.request_permission(session_id=session, tool_call=call, options=options)
        try:
            answer = self._wait(question, lambda future: stop.end_question_by(future.cancel))
        except (ConnectionError, RuntimeError, concurrent.futures.CancelledError, RequestError):
            return ""
        finally:
            stop.wake = lambda: None
        return answer.outcome.option_id if isinstance(answer.outcome, AllowedOutcome) else ""

    def _wait(
        self, work: Coroutine[Any, Any, Any], begun: Callable[[concurrent.futures.Future[Any]], None] = lambda future: None
    ) -> Any:
        assert self.loop, "sessions begin after the connection"
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        begun(future)
        return future.result()

    # The rest

    def _find(self, session_id: str) -> EditorSession:
        if session_id not in self.sessions:
            raise RequestError(INVALID_PARAMS, f"no such session: {session_id}; session/load opens an earlier one")
        return self.sessions[session_id]

    def _open(self, name: str, cwd: str, now: Conversation | None) -> tuple[EditorSession, SessionModeState, Any]:
        with open_project_at(cwd) as project:
            now = now or open_conversation(project, name) or Conversation(session=name)
            session = EditorSession(name, project.paths.root, now, self.options, self)
            session.mode = choose_session_mode(project, now)
        if self.options.model:
            session.choose_model(self.options.model)
        self.sessions[name] = session
        return session, SessionModeState(current_mode_id=session.mode, available_modes=list(MODES)), list_model_options(session)

    def _announce(self, session: EditorSession) -> None:
        """Tell the commands, after the response that makes the session known."""
        assert self.client, "sessions begin after the connection"
        task = asyncio.create_task(self.client.session_update(session_id=session.name, update=make_commands_update()))
        self.later.add(task)
        task.add_done_callback(self.later.discard)


def choose_session_mode(project: Project, now: Conversation) -> str:
    known = project.store.load(now.task).dialogue.supervision.mode if now.task else ""
    return AUTONOMOUS_MODE if (known or project.settings.mode) == AUTONOMOUS_MODE else SUPERVISED_MODE


def list_model_options(session: EditorSession) -> list[SessionConfigOptionSelect] | None:
    """Return the user's models to choose from; None if no model is set up."""
    with open_project_at(session.root) as project:
        task = project.store.load(session.now.task).task.model if session.now.task else ""
        used = session.now.model or task or project.settings.model
        names = dict.fromkeys(filter(None, (used, project.settings.model, *project.settings.models)))
    if not names:
        return None
    offered = [SessionConfigSelectOption(value=name, name=name) for name in names]
    return [
        SessionConfigOptionSelect(
            type="select",
            id=MODEL_OPTION,
            name="Model",
            category="model",
            current_value=used or offered[0].value,
            options=offered,
        )
    ]


def list_open_sessions(cwd: str) -> list[SessionInfo]:
    """Return what can be continued here: sessions of editors, and other tasks that are not applied yet."""
    with open_project_at(cwd) as project:
        tickets = project.queue.tickets(TicketQuery(parents=(), order=TicketOrder.TOUCHED, most=MAX_SESSIONS_LISTED))
        root = str(project.paths.root)
    session_infos: dict[str, SessionInfo] = {}
    for ticket in tickets:
        name = find_session(ticket.task)
        if name or not ticket.status.closed:
            info = SessionInfo(session_id=name or ticket.task, cwd=root, title=to_one_line(ticket.goal, 100))
            session_infos.setdefault(info.session_id, info)
    return list(session_infos.values())


def read_prompt_text(blocks: list[Any], root: Path) -> str:
    """Return the words of a message; files that the person refers to are named by their path."""
    parts: list[str] = []
    for block in blocks:
        if block.type == "text":
            parts.append(block.text)
        elif block.type in ("resource_link", "resource"):
            parts.append(name_resource(block.uri if block.type == "resource_link" else block.resource.uri, root))
        else:
            raise RequestError(INVALID_PARAMS, f"messages of type {block.type} can't be read; send text")
    return "".join(parts).strip()


def name_resource(uri: str, root: Path) -> str:
    address = urlsplit(uri)
    path = Path(unquote(address.path))
    return f"`{path.relative_to(root) if path.is_relative_to(root) else path}`" if address.scheme == "file" else uri
