"""The harness runs the checks: targeted ones after a change, all of them when the model says it is finished."""

from dataclasses import dataclass, replace

from afresh.domain.fact import Block
from afresh.domain.state import State
from afresh.domain.verdict import Ruling, Verdict
from afresh.engine.act import Deeds
from afresh.engine.agent import Agent
from afresh.engine.record import doing
from afresh.engine.verify import grade, verify_step


@dataclass(frozen=True, slots=True)
class Judgement:
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


def judge(state: State, deeds: Deeds, agent: Agent) -> Judgement:
    """Checks leave no trace: whatever they wrote into the tree is gone afterwards."""
    if not deeds.complete and not deeds.changes:
        return Judgement()
    bench = agent.bench(replace(state, snapshot=deeds.snapshot))
    doing(agent, "running every check" if deeds.complete else "running the tests that concern the change")
    if deeds.complete:
        verdict, blocks = grade(bench, agent.workspace)
    else:
        verdict, blocks = verify_step(bench, [change.path for change in deeds.changes])
    agent.workspace.restore(deeds.snapshot)
    return Judgement(verdict, blocks)
