"""States that are as full as they can be, in scripts and with words that are hard to count."""

from dataclasses import replace

from hypothesis import strategies as st

from afresh.core.decision import Decision
from afresh.core.fact import Fact, FactKind
from afresh.core.state import State, TaskTimes
from afresh.core.states.dialogue_state import DialogueState
from afresh.core.states.memory_state import MemoryState
from afresh.core.states.strategy_state import PlanItem
from afresh.core.states.verification_state import VerificationState
from afresh.core.states.work_state import WorkState
from afresh.core.states.workspace_state import WorkspaceState
from afresh.core.task import Check, Task, TaskStatus
from afresh.core.verdict import Baseline, CheckRun, FailedTest, Ruling, Verdict

NASTY = [
    "word ",
    "漢字",
    "🙂",
    "a1",
    "\x1b",
    '"',
    "\\",
    "é ",
    ". ",
    "𒀀",
    "Pneumonoultramicroscopic",
    "\n",
    "\u202e",
    "ა",
    "e\u0301",
]
scraps = st.lists(st.sampled_from(NASTY) | st.text(max_size=5), max_size=8).map("".join)
words = st.builds(lambda scrap, times: scrap * times, scraps, st.sampled_from([1, 3, 40, 600]))


@st.composite
def states(draw: st.DrawFn) -> State:
    """As full as a state can be, and of any status."""
    texts = draw(st.lists(words, min_size=1, max_size=5))
    said, last = texts[0], texts[-1]
    run = CheckRun(last, 1, passed=10**7, failed=10**6, skipped=10**6, failures=tuple(FailedTest(one, said) for one in texts))
    verdict = Verdict(Ruling.FAIL, said, (run, replace(run, command=f"{said}2")), draw(st.sampled_from([(), (said,)])))
    kinds = (FactKind.RULE, FactKind.FAILED_APPROACH)
    return State(
        task=Task(id="t", goal=said, checks=tuple(Check(one) for one in texts), report=draw(st.sampled_from(["", said]))),
        status=draw(st.sampled_from(TaskStatus)),
        workspace=WorkspaceState(
            base="c0ffee" * 7, first_snapshot="s", commit=draw(st.sampled_from(["", "abcdef" * 7])), changed=tuple(texts) * 9
        ),
        times=TaskTimes(updated=1_700_000_000.0),
        verification=VerificationState(
            baseline=Baseline((run,)), verdict=draw(st.sampled_from([None, verdict])), verdict_step=10**6
        ),
        work=WorkState(step=10**6, limit=2 * 10**6, plan=tuple(PlanItem(one) for one in texts), outcome=last),
        dialogue=DialogueState(words=tuple(texts), question=draw(st.sampled_from(["", last]))),
        memory=MemoryState(
            decisions=(Decision(last, "person", subject=said, options=tuple(texts)),),
            facts=tuple(Fact(kind, one, one) for kind in kinds for one in texts),
        ),
    )
