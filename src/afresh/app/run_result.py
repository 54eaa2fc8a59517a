"""The result of a run as data, for programs that import afresh."""

from dataclasses import dataclass
from pathlib import Path

from afresh.app.dialogue.conversation import read_closing_summary
from afresh.app.project import Project
from afresh.app.queue.read_tasks import open_task_reader
from afresh.app.results.read_task_diff import read_diff_patch
from afresh.app.spending.spending_report import sum_task_spending
from afresh.core.answer_options import AnswerOption, parse_options
from afresh.core.state import State
from afresh.core.task import TaskStatus
from afresh.core.usage import NANO_PER_DOLLAR
from afresh.core.verdict import Verdict, describe_evidence
from afresh.views.task_facts import find_current_verdict


@dataclass(frozen=True, slots=True)
class RunCost:
    """The cost of a task's calls, with its subtasks."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """Input tokens that the provider had cached."""
    dollars: float = 0.0
    """Cost of the calls whose price is known."""
    unpriced_tokens: int = 0
    """Tokens of calls whose price is not known."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """What the task waits for. Answer with the number of an option or in words: `afresh.resume(result, answer=...)`."""

    text: str
    options: tuple[AnswerOption, ...]
    asked_by: str
    """`model` or `harness`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How a run ended. It is a snapshot: what happens to the task later is not in it."""

    task: str
    repo: Path
    status: TaskStatus
    """done: verified. failed. blocked: it asks `question`. unchanged: nothing to do. applied. ready: stopped, can go on."""
    reason: str
    verdict: Verdict | None
    """What the checks say: ruling, reason, runs. None if none was reached."""
    summary: str
    """The model's own summary."""
    branch: str
    commit: str
    """The result on that branch; empty if nothing was changed."""
    changed: tuple[str, ...]
    """Paths that differ from the base."""
    cost: RunCost
    question: OpenQuestion | None
    steps: int

    @property
    def verified(self) -> bool:
        """Whether afresh verified the result, as `afresh run` exits with 0."""
        return self.status in (TaskStatus.DONE, TaskStatus.APPLIED, TaskStatus.UNCHANGED)

    @property
    def evidence(self) -> str:
        """What the outcomes of the checks rest on, in words."""
        return describe_evidence(self.verdict.runs) if self.verdict else ""

    def read_diff(self) -> str:
        """Return the change as a patch, read from git now."""
        reader = open_task_reader(self.repo)
        try:
            return read_diff_patch(reader.root, reader.load(self.task)).decode(errors="replace")
        finally:
            reader.database.close()


def read_run_result(project: Project, state: State) -> RunResult:
    line = sum_task_spending(project, state.task.id)
    cost = RunCost(
        line.calls, line.input, line.output, line.cached, line.money / NANO_PER_DOLLAR, line.unpriced.tokens
    ) if line else RunCost()  # fmt: skip
    dialogue, workspace = state.dialogue, state.workspace
    asked = OpenQuestion(dialogue.question, parse_options(dialogue.options), dialogue.asked_by)
    return RunResult(
        task=state.task.id,
        repo=project.paths.root,
        status=state.status,
        reason=state.work.outcome,
        verdict=find_current_verdict(state)[0],
        summary=read_closing_summary(project, state.task.id),
        branch=workspace.branch,
        commit=workspace.commit,
        changed=workspace.changed,
        cost=cost,
        question=asked if dialogue.question else None,
        steps=state.work.step,
    )
