"""State is what the journal says, stays bounded, and does not depend on where the fold was interrupted."""

from any_event import events
from hypothesis import given
from hypothesis import strategies as st

from afresh.core import event as happened
from afresh.core.archived_block import MAX_INDEX_LINES, BlockIndexLine
from afresh.core.event import Event, JournalHead
from afresh.core.fact import MAX_FACTS, Fact, FactKind
from afresh.core.hash_chain import link_events
from afresh.core.line_region import MAX_REGIONS, Region, add_region
from afresh.core.reducer import EFFECTS, WITHOUT_EFFECT, fold_entries
from afresh.core.state import State
from afresh.core.states.memory_state import MAX_RECENT_STEPS
from afresh.core.step_history import Passage, PassageVoice
from afresh.core.task import Task, TaskStatus
from afresh.core.verdict import Ruling, Verdict
from support.sample_journals import make_action_events, make_block, make_call_events, make_entries

BEGINNING = happened.TaskCreated(Task(id="one", goal="goal"))


def after(*told: Event) -> State:
    return make_entries(None, [BEGINNING, *told])[1]


def noted(subject: str, text: str = "x", kind: FactKind = FactKind.NOTE) -> Event:
    return happened.OutputDigested(facts=(Fact(kind, subject, text),))


@given(st.lists(events("Created"), max_size=8), st.integers(0, 8))
def test_folding_on_from_any_point_gives_the_same_state(told: list[Event], cut: int) -> None:
    entries = link_events("one", JournalHead(), 3.0, [BEGINNING, *told])
    whole = fold_entries(None, entries)
    assert fold_entries(fold_entries(None, entries[: cut + 1]), entries[cut + 1 :]) == whole
    assert whole.head == JournalHead(entries[-1].seq, entries[-1].hash)


def test_each_kind_of_event_has_an_effect_or_is_named_as_without_one() -> None:
    assert EFFECTS.keys() | WITHOUT_EFFECT == {*happened.EVENT_CLASS_BY_TAG.values()} and not EFFECTS.keys() & WITHOUT_EFFECT


def test_a_state_is_bounded_whatever_the_number_of_steps() -> None:
    told: list[Event] = []
    for step in range(1, 200):
        told += [*make_call_events(step), *make_action_events(step, make_block(f"output {step}"))]
        told.append(happened.OutputDigested(regions=(Region(f"file{step}.py", 1, 9, step),)))
    state = after(*told)
    assert (len(state.memory.facts), len(state.memory.recent)) == (MAX_FACTS, MAX_RECENT_STEPS)
    assert (len(state.memory.regions), len(state.memory.index)) == (MAX_REGIONS, MAX_INDEX_LINES)
    assert (state.work.step, state.spending.calls, state.memory.archived, state.spending.usage.input) == (199, 199, 199, 19_900)


def test_a_paid_reply_is_pending_until_its_step_is_finished() -> None:
    replied = after(*make_call_events(1))
    assert replied.work.pending and replied.work.pending.step == 1 and replied.work.step == 0
    state = make_entries(replied, make_action_events(1, make_block("output")))[1]
    assert state.work.pending is None and state.work.step == 1


def test_a_newer_fact_takes_the_place_of_the_older_one() -> None:
    state = after(noted("a", "old"), noted("b", "other"), noted("a", "new"))
    assert [(fact.subject, fact.text) for fact in state.memory.facts] == [("b", "other"), ("a", "new")]


def test_what_failed_is_forgotten_after_all_plain_notes() -> None:
    failed = [noted(f"failed{number}", kind=FactKind.FAILED_APPROACH) for number in range(10)]
    state = after(*failed, *(noted(f"note{number}") for number in range(MAX_FACTS)))
    assert sum(fact.kind is FactKind.FAILED_APPROACH for fact in state.memory.facts) == 10
    assert len(state.memory.facts) == MAX_FACTS


def test_a_reverted_step_counts_as_such_and_leaves_the_snapshot() -> None:
    state = after(
        *make_action_events(1, make_block("a")),
        happened.ActionsExecuted(2, ()),
        happened.ChangeKeptOrReverted(2, False, "snapshot1", why="worse"),
    )
    assert (state.workspace.snapshot, state.workspace.kept, state.workspace.reverted, state.memory.recent[-1].kept) == (
        "snapshot1",
        1,
        1,
        False,
    )


def test_an_answer_makes_a_blocked_task_ready_and_keeps_the_words() -> None:
    state = after(
        happened.QuestionAsked("which?", ("a", "b")),
        happened.TaskEnded(TaskStatus.BLOCKED, "asked"),
        happened.QuestionAnswered("b, please"),
    )
    assert (state.status, state.dialogue.question, state.dialogue.options, state.dialogue.words) == (
        TaskStatus.READY,
        "",
        (),
        ("b, please",),
    )


def test_a_claim_makes_it_run_and_an_end_frees_the_worker() -> None:
    running = after(happened.TaskClaimed("me"))
    assert (running.status, running.worker) == (TaskStatus.RUNNING, "me")
    ended = make_entries(running, [happened.TaskEnded(TaskStatus.DONE, "all pass", "commit")])[1]
    assert (ended.status, ended.worker, ended.workspace.commit, ended.work.outcome) == (TaskStatus.DONE, "", "commit", "all pass")


PLACES = st.tuples(st.sampled_from("ab"), st.integers(1, 60), st.integers(0, 9))
REGION = PLACES.map(lambda place: Region(place[0], place[1], place[1] + place[2], 1))


@given(st.lists(REGION, max_size=12))
def test_regions_never_overlap_and_lose_no_line(looks: list[Region]) -> None:
    regions: tuple[Region, ...] = ()
    for look in looks:
        regions = add_region(regions, look)
    lines = [(region.path, line) for region in regions for line in range(region.start, region.end + 1)]
    assert len(lines) == len(set(lines))
    assert set(lines) == {(look.path, line) for look in looks for line in range(look.start, look.end + 1)}


def test_index_lines_are_counted_when_they_no_longer_fit() -> None:
    lines = tuple(BlockIndexLine(str(number), "read", "", 1, "", 1) for number in range(MAX_INDEX_LINES + 5))
    state = after(happened.OutputDigested(index=lines))
    assert state.memory.archived == MAX_INDEX_LINES + 5 and state.memory.index[-1].block == str(MAX_INDEX_LINES + 4)


def test_an_action_is_remembered_as_kept_undone_or_refused() -> None:
    def deed(step: int, ended: str = "ok") -> Event:
        return happened.OutputDigested(passages=(Passage(step, PassageVoice.ACTION, f"{step:032x}", 9, ended=ended),))

    refused = Verdict(Ruling.FAIL, "nothing is changed", final=True)
    state = after(
        deed(1), happened.ChangeKeptOrReverted(1, True, "a"), deed(2), happened.ChangeKeptOrReverted(2, True, "a"),
        deed(3), happened.ChangeKeptOrReverted(3, False, "a"), deed(4, "failed"), happened.ChangeKeptOrReverted(4, True, "b"),
        deed(5), happened.VerdictReached(5, refused), happened.ChangeKeptOrReverted(5, True, "b"),
    )  # fmt: skip
    assert [passage.ended for passage in state.memory.passages] == ["kept", "ok", "undone", "failed", "refused"]


def test_the_last_change_is_the_last_step_that_changed_a_file_and_was_kept() -> None:
    told = [(1, True, "a"), (2, True, "b"), (3, True, "b"), (4, False, "b")]
    assert after(*[happened.ChangeKeptOrReverted(*one) for one in told]).workspace.last_change == 2
