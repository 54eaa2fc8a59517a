"""The two ways. Both get the same model, tools, sandbox and limit of steps; they differ in what a call is sent and in who says
that the work is done."""

from dataclasses import asdict, dataclass
from pathlib import Path

from afresh.app.compose import RunTerms, build_runtime, run_task
from afresh.app.inspect.inspect_calls import list_audits
from afresh.app.orders.tasks import TaskOrder, add_task
from afresh.app.project import Project, open_project
from afresh.core.event import TaskClaimed
from afresh.core.state import State
from afresh.core.task import TaskStatus
from afresh.core.usage import Usage
from afresh.errors import AfreshError
from afresh.journal.append import append_events
from afresh.runtime import Runtime
from afresh.spending.price_list import PriceTable
from tasking.plain import work_plainly
from tasking.problem import CHECK, Problem

ARMS = ("afresh", "plain")
SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How one task ended in one arm."""

    problem: str
    arm: str
    claimed: bool
    """It was said to be done: by the harness here, by the model there."""
    solved: bool
    """By the referee."""
    steps: int
    usage: Usage
    largest: int
    """Tokens of the largest call, as reported or else as estimated, with the room for its reply."""
    ceiling: int
    """Of that call."""
    how: str
    dollars: float | None = None
    """By the price list; None: nobody knows the price, or nobody is paid."""

    @property
    def false_claim(self) -> bool:
        return self.claimed and not self.solved

    def plain(self) -> dict[str, object]:
        return asdict(self) | {"false_claim": self.false_claim}


def attempt(arm: str, problem: Problem, model: str, folder: Path, no_sandbox: bool = False) -> Ended:
    project = open_project(problem.copy(folder / f"{problem.name}-{arm}"))
    order = TaskOrder(problem.goal, problem.type, (CHECK,), model=model, max_steps=problem.steps)
    state, terms = add_task(project, order), RunTerms(no_sandbox=no_sandbox)
    return (by_afresh if arm == "afresh" else by_plain_loop)(project, state, problem, terms)


def by_afresh(project: Project, state: State, problem: Problem, terms: RunTerms) -> Ended:
    task = state.task.id
    try:
        run_task(project, task, terms)
        how = project.store.load(task).work.outcome
    except AfreshError as fault:
        how = f"stopped: {fault}"
    state = project.store.load(task)
    claimed = state.status is TaskStatus.DONE
    agent = build_runtime(project, state, terms)
    agent.workspace.restore(state.workspace.snapshot)
    calls = [call for _, call in list_audits(project, task)]
    largest = max(calls, key=lambda call: call.tokens + call.reserve, default=None)
    size, ceiling = (largest.tokens + largest.reserve, largest.budget) if largest else (0, 0)
    paid, solved = dollars(agent.model.name, state.spending.usage), judged(agent, problem)
    return Ended(problem.name, "afresh", claimed, solved, state.work.step, state.spending.usage, size, ceiling, how, paid)


def by_plain_loop(project: Project, state: State, problem: Problem, terms: RunTerms) -> Ended:
    agent = build_runtime(project, state, terms)
    state = append_events(state, agent, [TaskClaimed("bench"), agent.workspace.open()])
    done = work_plainly(state, agent, problem.steps)
    solved, ceiling, paid = judged(agent, problem), agent.model.window, dollars(agent.model.name, done.usage)
    return Ended(problem.name, "plain", done.claimed, solved, done.steps, done.usage, done.largest, ceiling, done.how, paid)


def dollars(model: str, usage: Usage) -> float | None:
    price = PriceTable().of(model)
    return (price.read(usage) + price.said(usage)) / 1e9 if price else None


def judged(agent: Runtime, problem: Problem) -> bool:
    """Its own tests as they were given, and those that nobody has seen, in the sandbox."""
    for path, text in {**problem.tests(), **problem.hidden()}.items():
        agent.files.write(path, text)
    return agent.sandbox.run(CHECK, SECONDS).exit == 0
