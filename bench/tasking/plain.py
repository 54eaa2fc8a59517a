"""A plain agent loop: every reply and every output stays in the conversation, and the model says when it is done."""

from dataclasses import dataclass

from afresh.actions.built_in_policies import refuse_completion_after_failure, refuse_unknown_tool
from afresh.actions.execute import execute_action
from afresh.core.action_policy import ProposedAction
from afresh.core.line_region import Region
from afresh.core.prompt import Request, ToolExchange, ToolResult, ToolSchema
from afresh.core.reply import Reply
from afresh.core.spending import CallBooking, CallPurpose
from afresh.core.state import State
from afresh.core.step_result import ActionResult
from afresh.core.task import Task
from afresh.core.tool_traits import ToolTrait
from afresh.core.usage import Usage
from afresh.errors import AfreshError
from afresh.models.call import call_model
from afresh.ports.workspace import FileTree
from afresh.runtime import Runtime

SYSTEM = """You are a careful coding agent. You work alone on one task in a private copy of a repository, with the tools
given, several in one reply where they belong together; they run in order. Look at the code before you change it, run the tests
after you have changed it, and call `complete` when the task is done."""
OFFERED = ("read", "search", "edit", "run", "complete")
"""The tools that do something to the repository: those for memory mean nothing to a loop that keeps everything."""
REPLY, LONGEST = 4_000, 10_000
"""Tokens of a reply, and characters of an output that are kept: as many plain agents do, its beginning and its end."""
POLICIES = (refuse_unknown_tool, refuse_completion_after_failure)
GO_ON = "There was no tool call in your reply. Go on, or call `complete`."


@dataclass(frozen=True, slots=True)
class Done:
    claimed: bool
    steps: int
    usage: Usage
    largest: int
    how: str


def work_plainly(state: State, agent: Runtime, most: int) -> Done:
    tools = {tool.schema.name: tool for tool in agent.settings.tools if tool.schema.name in OFFERED}
    turns, usage, largest = list[ToolExchange](), Usage(), 0
    for step in range(1, most + 1):
        request = asked(state.task, tuple(tool.schema for tool in tools.values()), tuple(turns))
        try:
            reply = call_model(request, purchase(request, state, agent, step), agent.gate)
        except AfreshError as fault:
            return Done(False, step - 1, usage, largest, f"stopped: {fault}")
        usage, largest = usage + reply.usage, max(largest, reply.usage.input + request.reserve)
        context, done = agent.tool_context(state), list[ActionResult]()
        for action in reply.actions:
            traits = tools[action.tool].traits if action.tool in tools else frozenset[ToolTrait]()
            proposed = ProposedAction(action, traits, tuple(tools), agent.settings.template.at(state.phase), state, tuple(done))
            done.append(ActionResult(action, execute_action(proposed, tools, context, POLICIES)))
        if any(one.outcome.complete for one in done):
            return Done(True, step, usage, largest, "the model says so")
        turns.append(exchange(reply, done, agent.files))
    return Done(False, most, usage, largest, f"{most} steps are used up")


def asked(task: Task, tools: tuple[ToolSchema, ...], turns: tuple[ToolExchange, ...]) -> Request:
    checks = "\n".join(f"- {check.command}" for check in task.checks)
    return Request(SYSTEM, f"{task.goal}\n\nThese commands must succeed in the end:\n{checks}", tools, REPLY, turns=turns)


def purchase(request: Request, state: State, agent: Runtime, step: int) -> CallBooking:
    """Its ceiling is the model's window: there is no other."""
    return CallBooking(
        task=state.task.id, project=state.task.project, kind=CallPurpose.WORK, model=agent.model.name, step=step,
        ceiling=agent.model.window, tokens=agent.settings.counter.whole(request), reserve=request.reserve,
    )  # fmt: skip


def exchange(reply: Reply, done: list[ActionResult], files: FileTree) -> ToolExchange:
    results = tuple(ToolResult(shortened(result(one, files)), one.outcome.ok) for one in done)
    return ToolExchange(reply, results, "" if done else GO_ON)


def result(one: ActionResult, files: FileTree) -> str:
    """What the tool says. Here nothing else shows the lines that were read; what was written stands in the call."""
    if one.action.tool == "edit":
        return one.outcome.text.partition("\n")[0]
    if one.action.tool != "read":
        return one.outcome.text
    shown = [line for region in one.outcome.regions for line in numbered(region, files)]
    return "\n".join([one.outcome.text, *shown])


def numbered(region: Region, files: FileTree) -> list[str]:
    lines = files.read(region.path).splitlines()[region.start - 1 : region.end]
    return [f"{number:>5} {line}" for number, line in enumerate(lines, region.start)]


def shortened(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]}\n… {len(text) - LONGEST:,} characters left out …\n{text[-half:]}"
