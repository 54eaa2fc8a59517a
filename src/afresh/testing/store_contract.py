"""What every Store must do. Subclass it in a test file and give it a `store` (and `reopen`, where there is something to reopen).

class TestMyStore(StoreContract):
    @pytest.fixture
    def store(self): ...
"""

import pytest

from afresh.core import event as happened
from afresh.core.archived_block import Block, block_id_from_text
from afresh.core.event import JournalHead
from afresh.core.reducer import fold_entries
from afresh.core.task import Task
from afresh.errors import BadInput, Broken, Conflict
from afresh.ports.storage import JournalStore
from afresh.testing.sample_journals import append_events, append_step, create_task, make_block, make_call_events, make_entries


class StoreContract:
    """Fixture `store`, fresh and empty, is to be given by the subclass."""

    def reopen(self, store: JournalStore) -> JournalStore:
        """The same store as a new process would find it."""
        return store

    def test_a_new_task_can_be_loaded(self, store: JournalStore) -> None:
        state = create_task(store)
        assert store.load("one") == state

    def test_an_unknown_task_is_bad_input(self, store: JournalStore) -> None:
        with pytest.raises(BadInput):
            store.load("nothing")
        with pytest.raises(BadInput):
            list(store.journal("nothing"))

    def test_loading_gives_the_state_that_was_appended(self, store: JournalStore) -> None:
        state = create_task(store)
        for _ in range(8):
            state = append_step(store, state)
            assert store.load("one") == state

    def test_the_fold_of_the_journal_is_the_state(self, store: JournalStore) -> None:
        state = append_step(store, append_step(store, create_task(store)))
        assert fold_entries(None, store.journal("one")) == state

    def test_the_journal_returns_every_entry_as_it_was_written(self, store: JournalStore) -> None:
        state = create_task(store)
        entries, after = make_entries(state, make_call_events(1), at=12.5)
        store.append(entries, [], after)
        assert tuple(store.journal("one"))[1:] == entries

    def test_a_reply_is_there_before_it_is_acted_on(self, store: JournalStore) -> None:
        append_events(store, create_task(store), make_call_events(1))
        pending = self.reopen(store).load("one").work.pending
        assert pending is not None and pending.reply.thought == "thought 1"

    def test_a_writer_left_behind_gets_a_conflict_and_changes_nothing(self, store: JournalStore) -> None:
        stale = create_task(store)
        now = append_events(store, stale, [happened.TaskClaimed("another")])
        with pytest.raises(Conflict):
            append_events(store, stale, [happened.TaskClaimed("late")], [make_block("a block of the late one")])
        assert store.load("one") == now
        with pytest.raises(KeyError):
            store.read(block_id_from_text("a block of the late one"))

    def test_the_same_place_with_another_past_is_a_conflict(self, store: JournalStore) -> None:
        state = create_task(store)
        never_written = make_entries(state, [happened.TaskClaimed("a")])[1]
        append_events(store, state, [happened.TaskClaimed("b")])
        with pytest.raises(Conflict):
            append_events(store, never_written, [happened.TaskClaimed("c")])

    def test_a_task_can_be_created_only_once(self, store: JournalStore) -> None:
        state = create_task(store)
        with pytest.raises(Conflict):
            append_events(store, None, [happened.TaskCreated(Task(id="one", goal="another"))])
        assert store.load("one") == state

    def test_a_state_that_the_entries_do_not_lead_to_is_refused(self, store: JournalStore) -> None:
        state = create_task(store)
        entries, _ = make_entries(state, [happened.TaskClaimed("worker")])
        with pytest.raises(Broken):
            store.append(entries, [], state)
        assert store.load("one").head == state.head

    def test_tasks_do_not_disturb_each_other(self, store: JournalStore) -> None:
        first, second = create_task(store, "one"), create_task(store, "two")
        first, second = append_step(store, first), append_step(store, second)
        first = append_step(store, first)
        assert (store.load("one"), store.load("two")) == (first, second)

    def test_a_block_comes_back_as_it_was(self, store: JournalStore) -> None:
        texts = ["", "short", "long " * 10_000, "naïve ✓ \U0001f600 \x00 \x1b[31m\r\n\ttail  "]
        append_events(store, create_task(store), [happened.TaskClaimed("worker")], [make_block(text) for text in texts])
        assert [self.reopen(store).read(block_id_from_text(text)) for text in texts] == texts

    def test_a_block_can_be_named_by_a_prefix_of_six(self, store: JournalStore) -> None:
        append_events(store, create_task(store), [happened.TaskClaimed("worker")], [make_block("alpha"), make_block("beta")])
        assert store.read(block_id_from_text("alpha")[:6]) == "alpha"
        for name in (
            block_id_from_text("alpha")[:5],
            "",
            "ffffff" if block_id_from_text("beta")[0] != "f" else "000000",
            "not hex",
            "%%%%%%",
        ):
            with pytest.raises(KeyError):
                store.read(name)

    def test_the_same_block_may_come_again(self, store: JournalStore) -> None:
        state = append_events(
            store, create_task(store), [happened.TaskClaimed("worker")], [make_block("same"), make_block("same")]
        )
        append_events(store, state, [happened.TaskClaimed("worker")], [make_block("same")])
        assert store.read(block_id_from_text("same")) == "same"

    def test_blocks_are_found_by_the_task_that_kept_them_first(self, store: JournalStore) -> None:
        append_events(
            store, create_task(store, "one"), [happened.TaskClaimed("worker")], [make_block("alpha"), make_block("same")]
        )
        append_events(
            store, create_task(store, "two"), [happened.TaskClaimed("worker")], [make_block("beta"), make_block("same")]
        )
        alpha, same = block_id_from_text("alpha"), block_id_from_text("same")
        assert (list(store.find(alpha[:6], "one")), list(store.find(alpha, "two"))) == ([alpha], [])
        assert (list(store.find(same[:8], "one")), list(store.find(same[:8], "two"))) == ([same], [])
        assert not store.find(alpha[:5], "one") and not store.find("not hex", "one") and not store.find(alpha, "three")

    def test_a_block_under_a_false_name_is_refused(self, store: JournalStore) -> None:
        state = create_task(store)
        with pytest.raises(Broken):
            append_events(store, state, [happened.TaskClaimed("worker")], [Block(block_id_from_text("true"), "false")])
        assert store.load("one") == state

    def test_what_was_appended_is_there_for_the_next_process(self, store: JournalStore) -> None:
        state = append_step(store, append_step(store, create_task(store)))
        again = self.reopen(store)
        assert again.load("one") == state
        assert [entry.seq for entry in again.journal("one")] == list(range(1, state.head.seq + 1))
        assert append_step(again, state).work.step == 3

    def test_the_head_is_the_last_entry(self, store: JournalStore) -> None:
        append_step(store, create_task(store))
        last = list(store.journal("one"))[-1]
        assert store.load("one").head == JournalHead(last.seq, last.hash)
