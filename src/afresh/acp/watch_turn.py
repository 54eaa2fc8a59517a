"""Follows a run for an editor: thoughts, plan, tool calls with their outputs and diffs, checks."""

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from acp import helpers

from afresh.acp.updates import (
    is_shown_as_call,
    make_output_content,
    make_plan_update,
    make_text_content,
    start_call_update,
)
from afresh.app.project import Project
from afresh.app.results.read_task_diff import list_file_versions
from afresh.core.action import Action
from afresh.core.event import ActionsExecuted, ChangeKeptOrReverted, JournalEntry, PlanSet, ReplyReceived, VerdictReached
from afresh.core.progress_event import (
    ActionBegan,
    ActionEnded,
    BaselineRunBegan,
    CallBegan,
    CallDelayed,
    CheckBegan,
    CheckEnded,
    ProgressEvent,
    ReplyStreamed,
    WorkNotice,
)
from afresh.core.state import State
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.core.verdict import Ruling, summarise_check_run
from afresh.views.timeline import describe_progress_event


class TurnWatcher:
    """A Watcher for one turn. Its ids are new in each turn, so that they are unique in the session."""

    def __init__(self, project: Project, task: str, send: Callable[[Any], None]) -> None:
        self.project, self.task, self.send = project, task, send
        self.turn, self.count = secrets.token_hex(4), 0
        self.calls: list[tuple[str, Action]] = []
        """Calls of the current step."""
        self.check = ""
        self.streamed = False
        self.snapshot = project.store.load(task).workspace.snapshot

    @property
    def root(self) -> Path:
        return self.project.paths.root

    def saw(self, state: State, entries: Sequence[JournalEntry]) -> None:
        if state.task.id != self.task:  # a subtask: its actions are shown, its result is a result of this task
            return
        for entry in entries:
            match entry.event:
                case ReplyReceived(_, reply):
                    if reply.thought and not self.streamed:
                        self.send(helpers.update_agent_thought_text(reply.thought))
                case PlanSet(items):
                    self.send(make_plan_update(items))
                case ActionsExecuted():
                    self._show_outputs(entry.event)
                case VerdictReached(_, verdict) if self.check:
                    results = (line for line in map(summarise_check_run, verdict.runs) if line not in verdict.reason)
                    text = "\n".join([verdict.reason, *results])
                    failed = verdict.ruling is Ruling.FAIL
                    self._update(self.check, "failed" if failed else "completed", [make_text_content(text)])
                    self.check = ""
                case ChangeKeptOrReverted():
                    self._show_change(entry.event)
                case _:
                    pass
        self.snapshot = state.workspace.snapshot

    def follow(self, event: ProgressEvent) -> None:
        match event:
            case CallBegan():
                self.streamed, self.calls = False, []
            case ReplyStreamed(text=text, spoken=True):
                self.streamed = True
                self.send(helpers.update_agent_thought_text(text))
            case CallDelayed(text) | WorkNotice(text):
                self.send(helpers.update_agent_thought_text(f"\n{text}\n"))
            case ActionBegan(action) if is_shown_as_call(action):
                self.calls.append((self._name_call(), action))
                self.send(start_call_update(self.calls[-1][0], action, self.root))
            case ActionEnded(action, ok) if is_shown_as_call(action):
                self._update(self._find_call(action), "completed" if ok else "failed")
            case CheckBegan():
                self.check, title = self._name_call(), describe_progress_event(event).capitalize()
                self.send(helpers.start_tool_call(self.check, title, kind="execute", status="in_progress"))
            case BaselineRunBegan(command) if self.check:
                self._update(self.check, "in_progress", [make_text_content(f"`{command}`")])
            case CheckEnded() if self.check:
                self._update(self.check, "completed")
            case _:
                pass

    def _name_call(self) -> str:
        self.count += 1
        return f"{self.turn}-{self.count}"

    def _find_call(self, action: Action) -> str:
        return next((call for call, known in reversed(self.calls) if known == action), "")

    def _update(self, call: str, status: Any, content: list[Any] | None = None) -> None:
        if call:
            self.send(helpers.update_tool_call(call, status=status, content=content))

    def _show_outputs(self, event: ActionsExecuted) -> None:
        for seen in event.observations:
            whole = self.project.store.read(seen.block) if seen.block and has_trait(seen.action, ToolTrait.RUNS) else seen.text
            if content := make_output_content(seen, whole):
                self._update(self._find_call(seen.action), "completed" if seen.ok else "failed", content)

    def _show_change(self, event: ChangeKeptOrReverted) -> None:
        """Show a kept change as diffs, each with the call that wrote the file; one that was reverted with the reason."""
        changing = [(call, action) for call, action in self.calls if has_trait(action, ToolTrait.CHANGES)]
        if not changing or (event.kept and event.snapshot == self.snapshot):
            return
        if not event.kept:
            self._update(changing[-1][0], "failed", [make_text_content(f"Undone: {event.why}")])
            return
        diffs: dict[str, list[Any]] = {}
        for file in list_file_versions(self.root, self.task, self.snapshot, event.snapshot):
            call = next((call for call, action in changing if action.args.get("path") == file.path), changing[-1][0])
            diffs.setdefault(call, []).append(helpers.tool_diff_content(str(self.root / file.path), file.new, file.old))
        for call, content in diffs.items():
            self._update(call, "completed", content)
