"""What an agent keeps, and what it decides in a thought, is in every later prompt of a long run under a small ceiling."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from long_run import ENDLESS as NEVER_STALLED
from long_run import Killed, Printing, StillWorkspace

from afresh.actions.tools.registry import TOOLS
from afresh.config.templates.load_template import load_template
from afresh.context.rebuild_call import rebuild_all_calls
from afresh.core.action import Action
from afresh.core.event import TaskCreated
from afresh.core.reply import Reply
from afresh.core.task import Task
from afresh.core.tokens import EstimatingCounter
from afresh.loop import advance_task
from afresh.storage.sqlite.storage import open_sqlite_journal
from support.fakes import ComputedModel, DictFiles, EmptyInsight, FakeClock
from support.sample_journals import append_events
from support.states import make_runtime

DECIDED = "I decide to keep half because zebra_marker_one must not change."
KEPT = "ALPHA_5 is the one that the caller reads"
OTHER = "the second job prints twice"
REPLIES = {
    6: (f"Both were looked at. {DECIDED} Now the next job.", None),
    12: ("", {"subject": "compact", "text": KEPT}),
    20: ("", {"subject": "compact", "text": OTHER}),
    52: ("", {"subject": "compact", "text": "no longer: second job"}),
}


def test_they_stay_until_they_are_withdrawn(tmp_path: Path):
    store = open_sqlite_journal(tmp_path / "afresh.db")
    task = Task(id="t", goal="See what the jobs print", max_steps=500, budget=4_000, max_budget=4_000)
    append_events(store, None, [TaskCreated(task)])
    sent: dict[int, str] = {}

    def answer(request) -> Reply:
        step = len(sent) + 1
        sent[step] = request.text
        if step == 56:
            raise Killed
        thought, compact = REPLIES.get(step, (f"Now job {step}.", None))
        job = Action("run", {"command": f"python job_{step}.py"})
        return Reply(thought, (Action("note", compact),) if compact else (job,))

    made = make_runtime(
        model=ComputedModel(answer), store=store, workspace=StillWorkspace(), files=DictFiles(), sandbox=Printing(),
        code=EmptyInsight(), tools=TOOLS, template=replace(load_template("implement_feature"), phases=()), clock=FakeClock(),
        counter=EstimatingCounter(), stall=NEVER_STALLED,
    )  # fmt: skip
    with suppress(Killed):
        advance_task("t", "worker", made)
    assert all(DECIDED in sent[step] for step in range(7, 57)), "a decision in a thought"
    assert all(KEPT in sent[step] for step in range(13, 57)), "what the agent keeps"
    assert all(OTHER in sent[step] for step in range(21, 53)) and OTHER not in sent[54], "until it is withdrawn"
    [said] = [one for one in store.load("t").memory.decisions if one.said]
    assert said.text == DECIDED and DECIDED in store.read(said.said), "the thought is the evidence"
    assert all(call.same for call in rebuild_all_calls("t", store))
