"""What was in the last call, what was not, and where that lies."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from view_folder import ViewFolder

from afresh.core import event as happened
from afresh.core.archived_block import MAX_INDEX_LINES, BlockIndexLine
from afresh.core.prompt import CallAudit, Omission, SectionCompaction, SectionRef, Tier
from afresh.core.reply import Reply
from afresh.core.state import State
from afresh.core.states.memory_state import MemoryState
from afresh.core.task import Task, TaskStatus
from afresh.views import context_index

BLOCK = "0123456789abcdef" * 4
AUDIT = CallAudit(
    "f" * 64, 4_000, 2_900,
    (SectionRef("task", Tier.ALWAYS, BLOCK, 120), SectionRef("files", Tier.DEMAND, BLOCK, 900)), (),
    omissions=(Omission("files", "a.py 1-9", 30, "no room"), Omission("work", "step 3", 400, "less likely to be needed")),
    reserve=1_000, model="m", compactions=(SectionCompaction("fewer_actions", "earlier", ("one", "two"), 77),),
)  # fmt: skip


def call(step: int, audit: CallAudit = AUDIT) -> tuple[happened.Event, ...]:
    return happened.CallRequested(step, audit), happened.ReplyReceived(step, Reply())


def printed(step: int) -> happened.Event:
    return happened.OutputDigested(index=(BlockIndexLine(f"{step:x}" * 64, "run", "pytest", 9_000, "2 failed", step),))


def test_it_tells_what_was_sent_what_was_not_and_what_lies_on_disk(views: ViewFolder) -> None:
    views.add("t1")
    assert views.json("context/t1.json")["call"] is None
    views.commit("t1", *call(1))
    views.commit("t1", printed(1), happened.StepFinished(1, "ran the tests"))
    found = views.json("context/t1.json")
    assert found["call"]["step"] == 1 and found["call"]["free"] == 100 and found["call"]["tokens left out"] == 430
    assert found["sections"][1] == {"section": "files", "tier": "demand", "tokens": 900, "block": "0123456789ab"}
    assert [row["what"] for row in found["left out"]] == ["step 3", "a.py 1-9"], "the largest first"
    assert found["compacted"] == [{"strategy": "fewer_actions", "section": "earlier", "removed": 2, "tokens": 77}]
    assert found["archive"][0]["block"] == "1" * 12 and found["archive"][0]["says"] == "2 failed"
    assert found["files"]["session"] == "sessions/t1.md"
    views.commit("t1", happened.TaskEnded(TaskStatus.DONE, "done"))
    assert views.json("context/t1.json")["files"]["session"] == "sessions/archive/t1.md"


def test_the_journal_is_read_only_when_the_file_is_not_of_the_last_call(
    views: ViewFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    views.add("t1")
    views.commit("t1", *call(1))
    path = views.folder / "context" / "t1.json"
    older = path.read_text()
    views.commit("t1", *call(2, CallAudit("e" * 64, 4_000, 3_000, (), ())))
    for damaged in ("", "{", "[]", older, '{"call": null}'):
        path.write_text(damaged)
        views.commit("t1", printed(2))
        assert views.json("context/t1.json")["call"]["step"] == 2, damaged
    monkeypatch.delattr(type(views.store), "journal")
    views.commit("t1", printed(3))
    views.commit("t1", *call(3))
    assert not views.complaints and views.json("context/t1.json")["call"]["step"] == 3


def test_nothing_is_written_through_a_link(views: ViewFolder, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (views.folder / "context").mkdir(parents=True)
    (views.folder / "context" / "t1.json").symlink_to(victim)
    views.add("t1")
    assert victim.read_text() == "mine"


texts = st.builds(
    lambda scrap, times: scrap * times, st.text(max_size=4) | st.sampled_from(['"', "\x1b", "漢"]), st.integers(1, 400)
)


@settings(max_examples=settings.default.max_examples // 2)
@given(texts, texts, st.integers(0, 60))
def test_it_is_bounded_whatever_the_call_and_the_archive_hold(one: str, other: str, many: int) -> None:
    audit = CallAudit(
        "f" * 64, 10**6, 10**6, tuple(SectionRef(f"{n}{one}", Tier.PHASE, BLOCK, n) for n in range(many)), (), model=other,
        omissions=tuple(Omission(one, other, n, one) for n in range(many)),
        compactions=tuple(SectionCompaction(one, other, (one,) * n, n) for n in range(many)),
    )  # fmt: skip
    index = tuple(BlockIndexLine(BLOCK, one, other, 10**9, one, n) for n in range(MAX_INDEX_LINES))
    text = context_index.render_context_index(
        State(task=Task(id=one[:30] or "t", goal=other), memory=MemoryState(index=index)), happened.CallRequested(9, audit)
    )
    assert len(text.encode()) < 24_000 and json.loads(text)
