"""The harness runs the checks: targeted ones after a change, all of them when the model says it is finished."""

from dataclasses import dataclass, replace

from afresh.domain.fact import Block
from afresh.domain.state import State
from afresh.domain.verdict import Ruling, Verdict
from afresh.engine.act import StepActions
from afresh.engine.agent import Runtime
from afresh.engine.record import report_progress
from afresh.engine.verify import verify_completion, verify_step


@dataclass(frozen=True, slots=True)
class StepVerification:
    verdict: Verdict | None = None
    blocks: tuple[Block, ...] = ()

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return (self.verdict,) if self.verdict else ()

    @property
    def regressed(self) -> bool:
        return self.verdict is not None and self.verdict.ruling is Ruling.FAIL and not self.verdict.final

    @property
    def refused(self) -> bool:
        return self.verdict is not None and self.verdict.final and self.verdict.ruling is Ruling.FAIL

    @property
    def passed(self) -> bool:
        return self.verdict is not None and self.verdict.final and self.verdict.ruling is Ruling.PASS


def verify_step_or_completion(state: State, deeds: StepActions, agent: Runtime) -> StepVerification:
    """Checks leave no trace: whatever they wrote into the tree is gone afterwards."""
    if not deeds.complete and not deeds.changes:
        return StepVerification()
    bench = agent.bench(replace(state, snapshot=deeds.snapshot))
    report_progress(agent, "running every check" if deeds.complete else "running the tests that concern the change")
    if deeds.complete:
        verdict, blocks = verify_completion(bench, agent.workspace)
    else:
        verdict, blocks = verify_step(bench, [change.path for change in deeds.changes])
    agent.workspace.restore(deeds.snapshot)
    return StepVerification(verdict, blocks)
