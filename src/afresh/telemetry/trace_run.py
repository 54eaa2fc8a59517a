"""Spans of a run: the task, its steps, model calls, tools and checks, with the attributes of the gen_ai conventions.

What people, models and code say is in no attribute, unless `content` is set: also not in the id of a task or the name of a tool.
"""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, set_span_in_context

from afresh import __version__
from afresh.core.action import Action
from afresh.core.event import JournalEntry, MemoryCompacted, ReplyReceived, StepFinished, VerdictReached
from afresh.core.leave import ChangeReviewed
from afresh.core.progress_event import (
    ActionBegan,
    ActionEnded,
    CallBegan,
    CallEnded,
    CheckBegan,
    CheckEnded,
    ProgressEvent,
)
from afresh.core.redaction import redact_value
from afresh.core.reply import Reply
from afresh.core.spending import CallPurpose
from afresh.core.state import State
from afresh.core.task import Task
from afresh.core.tool_traits import TRAITS_BY_TOOL
from afresh.core.usage import NANO_PER_DOLLAR

MAX_CONTENT_CHARACTERS = 8_000


class RunTracer:
    """A Watcher. The open spans are a stack: what begins is a part of what is open."""

    def __init__(self, tracer: Tracer, task: Task, content: bool) -> None:
        self.tracer, self.task, self.content = tracer, task.id, content
        about = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "afresh",
            "gen_ai.agent.version": __version__,
            "gen_ai.conversation.id": task.id if content else task.id.rpartition("-")[2],
            "afresh.task.type": task.judged_as,
        }
        self.open: list[Span] = []
        self._begin("invoke_agent afresh", about | ({"gen_ai.input.messages": task.goal} if content else {}))
        self.step: Span | None = None
        self.answered: tuple[Span, int] | None = None
        """A call that has ended, and when; its usage is known as soon as the reply is recorded."""

    def follow(self, event: ProgressEvent) -> None:
        match event:
            case CallBegan(model, purpose):
                self._end_answered(None)
                if purpose is CallPurpose.WORK:
                    self._begin_step()
                self._begin(f"chat {name_model(model)}", describe_call(model, purpose), SpanKind.CLIENT)
            case CallEnded(_, ok):
                if ok:
                    self.answered = self.open.pop(), time.time_ns()
                else:
                    self._end(failed=True)
            case ActionBegan(action):
                self._begin_step()
                self._begin(f"execute_tool {name_tool(action)}", self._describe_tool(action))
            case ActionEnded(_, ok):
                self._end(failed=not ok)
            case CheckBegan(scope):
                self._begin(f"check {scope}", {"afresh.check.scope": scope.value})
            case CheckEnded():
                self._end()
            case _:
                pass

    def saw(self, state: State, entries: Sequence[JournalEntry]) -> None:
        for entry in entries:
            match entry.event:
                case ReplyReceived(_, reply) | MemoryCompacted(reply=Reply() as reply) | ChangeReviewed(reply=Reply() as reply):
                    self._end_answered(reply)
                case VerdictReached(_, verdict) if self.step and entry.task == self.task:
                    self.step.set_attribute("afresh.verdict", verdict.ruling.value)
                case StepFinished(step) if self.step and entry.task == self.task:
                    self.step.set_attribute("afresh.step", step)
                    while self.open[-1] is not self.step:
                        self._end()
                    self._end()
                    self.step = None
                case _:
                    pass

    def finish(self, state: State, error: BaseException | None) -> None:
        """End all that is open; the run is over."""
        self._end_answered(None)
        while len(self.open) > 1:
            self._end(failed=error is not None)
        usage, span = state.spending.usage, self.open[0]
        span.set_attribute("afresh.status", state.status.value)
        span.set_attribute("afresh.steps", state.work.step)
        span.set_attribute("afresh.calls", state.spending.calls)
        span.set_attribute("afresh.cost.dollars", state.spending.costs.money / NANO_PER_DOLLAR)
        span.set_attribute("gen_ai.usage.input_tokens", usage.input)
        span.set_attribute("gen_ai.usage.output_tokens", usage.output)
        if error:
            span.set_attribute("error.type", type(error).__name__)
        self._end(failed=error is not None)

    def _begin(self, name: str, attributes: Mapping[str, Any], kind: SpanKind = SpanKind.INTERNAL) -> Span:
        inside = set_span_in_context(self.open[-1]) if self.open else None
        self.open.append(self.tracer.start_span(name, inside, kind, dict(attributes)))
        return self.open[-1]

    def _begin_step(self) -> None:
        if not self.step:
            self.step = self._begin("step", {})

    def _end(self, failed: bool = False) -> None:
        span = self.open.pop()
        if failed:
            span.set_status(Status(StatusCode.ERROR))
        span.end()

    def _end_answered(self, reply: Reply | None) -> None:
        if self.answered:
            span, at = self.answered
            span.set_attributes(describe_reply(reply) if reply else {})
            if reply and self.content:
                span.set_attribute("gen_ai.output.messages", reply.thought[:MAX_CONTENT_CHARACTERS])
            span.end(at)
            self.answered = None

    def _describe_tool(self, action: Action) -> dict[str, Any]:
        about = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name_tool(action), "gen_ai.tool.type": "function"}
        text = json.dumps(redact_value(dict(action.args)), ensure_ascii=False, default=str) if self.content else ""
        return about | ({"gen_ai.tool.call.arguments": text[:MAX_CONTENT_CHARACTERS]} if text else {})


def name_model(model: str) -> str:
    return model.partition(":")[2] or model


def name_tool(action: Action) -> str:
    """The tool's name; empty for one that the model made up."""
    return action.tool if action.tool in TRAITS_BY_TOOL or action.traits else "unknown"


def describe_call(model: str, purpose: CallPurpose) -> dict[str, Any]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": model.partition(":")[0],
        "gen_ai.request.model": name_model(model),
        "afresh.call.purpose": purpose.value,
    }


def describe_reply(reply: Reply) -> dict[str, Any]:
    usage = reply.usage
    known = {} if reply.cost is None else {"afresh.cost.dollars": reply.cost / NANO_PER_DOLLAR}
    return known | {
        "gen_ai.response.finish_reasons": ["length" if reply.cramped else "tool_calls" if reply.actions else "stop"],
        "gen_ai.response.model": name_model(reply.model),
        "gen_ai.usage.input_tokens": usage.input,
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.cache_read.input_tokens": usage.cached,
    }
