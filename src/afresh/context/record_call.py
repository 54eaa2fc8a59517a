"""Put a call and its reply on disk, before anything is done with the reply."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.context.calibration import check_reported_usage
from afresh.context.extend_prompt import name_prompt_terms
from afresh.context.prepare_call import PreparedCall
from afresh.context.rebuild_call import audit_call
from afresh.context.sources.lessons import detect_used_lessons, record_consultation
from afresh.core.event import CallRequested, Event, ReplyReceived
from afresh.core.prompt import PromptOrigin
from afresh.core.reply import Reply
from afresh.core.state import State
from afresh.core.tool_traits import find_tool_traits
from afresh.journal.append import append_events
from afresh.ports.tool import Tool
from afresh.runtime import Runtime


def record_call(state: State, call: PreparedCall, reply: Reply, runtime: Runtime) -> State:
    """The call with all that it was built of, its reply, and what both say of lessons and of the count: one durable commit."""
    step, memory = state.work.step + 1, call.inputs.memory
    audit, blocks = audit_call(call.prompt, memory, call.settings, runtime.model.name, runtime.model.window)
    events: list[Event] = [
        *record_consultation(state, memory, runtime.knowledge.lessons),
        CallRequested(step, audit, make_prompt_origin(call, runtime.model.name)),
        ReplyReceived(step, _record_traits(reply, call.settings.tools)),
        *check_reported_usage(step, audit, reply),
        *detect_used_lessons(step, memory, call.prompt, reply),
    ]
    return append_events(state, runtime, events, blocks)


def make_prompt_origin(call: PreparedCall, model: str) -> PromptOrigin:
    base = call.inputs.memory.state.tokens.prompt.base if call.decision.extend else 0
    return PromptOrigin(base, call.decision.reason, name_prompt_terms(call.inputs, model))


def _record_traits(reply: Reply, tools: Sequence[Tool]) -> Reply:
    """The reply whose actions say what a tool is for that was made at run time: later steps may no longer know the tool."""
    own = {tool.schema.name: tuple(sorted(tool.traits)) for tool in tools if tool.traits != find_tool_traits(tool.schema.name)}
    if own.keys().isdisjoint(action.tool for action in reply.actions):
        return reply
    return replace(reply, actions=tuple(replace(action, traits=own.get(action.tool, ())) for action in reply.actions))
