"""A session of an editor: a conversation in one repository. Everything here runs on a worker thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from acp import helpers
from acp.schema import PermissionOption, StopReason, ToolCallUpdate

from afresh.acp.updates import CONTINUE_COMMAND, list_history_updates, make_text_content, quote_block
from afresh.acp.watch_turn import TurnWatcher
from afresh.app.compose import RunTerms, run_task
from afresh.app.dialogue.answer_question import parse_user_message
from afresh.app.dialogue.chat_commands import run_chat_command
from afresh.app.dialogue.conversation import Conversation, ConversationOrder, read_closing_summary, take_message
from afresh.app.project import Project
from afresh.app.python_api import open_project_at
from afresh.app.results.read_task_diff import read_diff_patch
from afresh.core.answer_options import parse_options
from afresh.core.reply import ANSWERED
from afresh.core.state import State
from afresh.core.states.supervision_state import PersonRequest
from afresh.core.task import TaskStatus
from afresh.errors import Cancelled
from afresh.views.task_facts import describe_outcome

OWN_WORDS = "own-words"
STOPPED = "Stopped. What was done so far is kept: /continue goes on, or say what to do instead."


class EditorLink(Protocol):
    """The editor as a worker thread sees it."""

    def send(self, session: str, update: Any) -> None:
        """Show something; nothing happens if the editor is gone."""
        ...

    def ask(self, session: str, call: ToolCallUpdate, options: list[PermissionOption], stop: "TurnStop") -> str:
        """Return the chosen option; empty if the person chose none, stopped the turn, or is gone."""
        ...


class TurnStop:
    """A Cancellation: the editor wants the turn to end. It ends before the next call or action."""

    def __init__(self) -> None:
        self.wanted = False
        self.wake: Callable[[], object] = lambda: None
        """Ends a question that is being asked."""

    def check(self) -> None:
        if self.wanted:
            raise Cancelled("stopped in the editor")

    def request(self) -> None:
        self.wanted = True
        self.wake()

    def end_question_by(self, wake: Callable[[], object]) -> None:
        """End the question by this call, at once if the stop came while it was being sent."""
        self.wake = wake
        if self.wanted:
            wake()


@dataclass(frozen=True, slots=True)
class EditorPerson:
    """A Supervisor: questions with options are requests for permission. Others wait for the next message."""

    project: Project
    ask: Callable[[ToolCallUpdate, list[PermissionOption]], str]

    def at_pause(self, state: State) -> PersonRequest | None:
        question, options = state.dialogue.question, parse_options(state.dialogue.options)
        if not question or not options:
            return None
        call = ToolCallUpdate(
            tool_call_id=f"{state.task.id}-{state.head.seq}",
            title=question,
            kind="other",
            status="pending",
            content=[make_text_content(question)],
        )
        offered = [PermissionOption(option_id=str(option.number), name=option.words, kind="allow_once") for option in options]
        offered.append(PermissionOption(option_id=OWN_WORDS, name="stop here; I answer in my own words", kind="reject_once"))
        chosen = self.ask(call, offered)
        return parse_user_message(self.project, state, chosen) if chosen.isdecimal() else None


@dataclass(frozen=True, slots=True)
class EditorOptions:
    """What the editor's configuration says for every session."""

    order: ConversationOrder = field(default_factory=ConversationOrder)
    model: str = ""
    no_sandbox: bool = False


class EditorSession:
    """All that lasts is in the journal; what is here can be made again from it."""

    def __init__(self, name: str, root: Path, now: Conversation, options: EditorOptions, editor: EditorLink) -> None:
        self.name, self.root, self.now, self.options, self.editor = name, root, now, options, editor
        self.mode = ""
        self.stop: TurnStop | None = None
        """The stop of the running turn."""

    def take_prompt(self, text: str, stop: TurnStop) -> StopReason:
        """Do what a message asks; return how the turn ended."""
        with open_project_at(self.root) as project:
            if text.startswith("/"):
                name, _, words = text[1:].strip().partition(" ")
                return self._command(project, name, words.strip(), stop)
            self.now = take_message(project, self.now, text, self.options.order)
            if (state := project.store.load(self.now.task)).status.over:  # an answer has accepted the work
                self._say(describe_outcome(state))
                return "end_turn"
            return self._run(project, stop)

    def replay(self) -> None:
        """Show the editor what was said and done before."""
        with open_project_at(self.root) as project:
            for task in filter(None, (self.now.applied, self.now.task)):
                for update in list_history_updates(project.store.journal(task), project.paths.root):
                    self.editor.send(self.name, update)
            if self.now.task and project.store.load(self.now.task).status in (TaskStatus.READY, TaskStatus.RUNNING):
                self._say("The last turn was interrupted. " + STOPPED.partition(" ")[2])

    def _command(self, project: Project, name: str, words: str, stop: TurnStop) -> StopReason:
        if name == CONTINUE_COMMAND and self.now.task:
            return self._run(project, stop)
        if name == "diff" and self.now.task:
            patch = read_diff_patch(project.paths.root, project.store.load(self.now.task)).decode(errors="replace")
            self._say(quote_block(patch, "diff") if patch else "Nothing was changed.")
            return "end_turn"
        self.now, said = run_chat_command(project, self.now, name, words, (CONTINUE_COMMAND,))
        self._say(said)
        return "end_turn"

    def _run(self, project: Project, stop: TurnStop) -> StopReason:
        watcher = TurnWatcher(project, self.now.task, lambda update: self.editor.send(self.name, update))
        terms = RunTerms(
            self.now.model,
            self.options.no_sandbox,
            (watcher,),
            alert=self._say,
            mode=self.mode,
            person=EditorPerson(project, lambda call, options: self.editor.ask(self.name, call, options, stop)),
            cancellations=(stop,),
        )
        try:
            state = run_task(project, self.now.task, terms)
        except Cancelled:
            self._say(STOPPED)
            return "cancelled"
        assert state, "a named task is claimed or refused"
        self._say("\n\n".join(describe_turn_end(project, state)))
        return "cancelled" if stop.wanted else "end_turn"

    def _say(self, text: str) -> None:
        self.editor.send(self.name, helpers.update_agent_message_text(text))

    def choose_model(self, name: str) -> None:
        with open_project_at(self.root) as project:
            self.now, _ = run_chat_command(project, self.now, "model", name, ())


def describe_turn_end(project: Project, state: State) -> Sequence[str]:
    """Return what the model says, its question, or how the turn ended and what to do with the result."""
    lines = [read_closing_summary(project, state.task.id).strip()]
    if state.dialogue.question:
        lines.append(state.dialogue.question)
        lines += [f"{option.number}. {option.words}" for option in parse_options(state.dialogue.options)]
    elif state.work.outcome != ANSWERED:
        lines.append(describe_outcome(state))
        if state.workspace.changed:
            files = ", ".join(state.workspace.changed)
            lines.append(
                f"Changed on branch `{state.workspace.branch}`: {files}. /diff shows it, /apply merges it, /undo takes it back."
            )
    return [part for part in lines if part]
