"""What every Store must do. Subclass it in a test file and give it a `store` (and `reopen`, where there is something to reopen).

class TestMyStore(StoreContract):
    @pytest.fixture
    def store(self): ...
"""

import pytest

from afresh.domain import event as happened
from afresh.domain.chain import block_id
from afresh.domain.event import Head
from afresh.domain.fact import Block
from afresh.domain.fold import fold
from afresh.domain.task import Task
from afresh.errors import BadInput, Broken, Conflict
from afresh.ports import Store
from afresh.testing.journals import asked_and_answered, block, continued, create, take_step, write


class StoreContract:
    """Fixture `store`, fresh and empty, is to be given by the subclass."""

    def reopen(self, store: Store) -> Store:
        """The same store as a new process would find it."""
        return store

    def test_a_new_task_can_be_loaded(self, store: Store) -> None:
        state = create(store)
        assert store.load("one") == state

    def test_an_unknown_task_is_bad_input(self, store: Store) -> None:
        with pytest.raises(BadInput):
            store.load("nothing")
        with pytest.raises(BadInput):
            list(store.journal("nothing"))

    def test_loading_gives_the_state_that_was_appended(self, store: Store) -> None:
        state = create(store)
        for _ in range(8):
            state = take_step(store, state)
            assert store.load("one") == state

    def test_the_fold_of_the_journal_is_the_state(self, store: Store) -> None:
        state = take_step(store, take_step(store, create(store)))
        assert fold(None, store.journal("one")) == state

    def test_the_journal_returns_every_entry_as_it_was_written(self, store: Store) -> None:
        state = create(store)
        entries, after = continued(state, asked_and_answered(1), at=12.5)
        store.append(entries, [], after)
        assert tuple(store.journal("one"))[1:] == entries

    def test_a_reply_is_there_before_it_is_acted_on(self, store: Store) -> None:
        write(store, create(store), asked_and_answered(1))
        pending = self.reopen(store).load("one").pending
        assert pending is not None and pending.reply.thought == "thought 1"

    def test_a_writer_left_behind_gets_a_conflict_and_changes_nothing(self, store: Store) -> None:
        stale = create(store)
        now = write(store, stale, [happened.Claimed("another")])
        with pytest.raises(Conflict):
            write(store, stale, [happened.Claimed("late")], [block("a block of the late one")])
        assert store.load("one") == now
        with pytest.raises(KeyError):
            store.read(block_id("a block of the late one"))

    def test_the_same_place_with_another_past_is_a_conflict(self, store: Store) -> None:
        state = create(store)
        never_written = continued(state, [happened.Claimed("a")])[1]
        write(store, state, [happened.Claimed("b")])
        with pytest.raises(Conflict):
            write(store, never_written, [happened.Claimed("c")])

    def test_a_task_can_be_created_only_once(self, store: Store) -> None:
        state = create(store)
        with pytest.raises(Conflict):
            write(store, None, [happened.Created(Task(id="one", goal="another"))])
        assert store.load("one") == state

    def test_a_state_that_the_entries_do_not_lead_to_is_refused(self, store: Store) -> None:
        state = create(store)
        entries, _ = continued(state, [happened.Claimed("worker")])
        with pytest.raises(Broken):
            store.append(entries, [], state)
        assert store.load("one").head == state.head

    def test_tasks_do_not_disturb_each_other(self, store: Store) -> None:
        first, second = create(store, "one"), create(store, "two")
        first, second = take_step(store, first), take_step(store, second)
        first = take_step(store, first)
        assert (store.load("one"), store.load("two")) == (first, second)

    def test_a_block_comes_back_as_it_was(self, store: Store) -> None:
        texts = ["", "short", "long " * 10_000, "naïve ✓ \U0001f600 \x00 \x1b[31m\r\n\ttail  "]
        write(store, create(store), [happened.Claimed("worker")], [block(text) for text in texts])
        assert [self.reopen(store).read(block_id(text)) for text in texts] == texts

    def test_a_block_can_be_named_by_a_prefix_of_six(self, store: Store) -> None:
        write(store, create(store), [happened.Claimed("worker")], [block("alpha"), block("beta")])
        assert store.read(block_id("alpha")[:6]) == "alpha"
        for name in (block_id("alpha")[:5], "", "ffffff" if block_id("beta")[0] != "f" else "000000", "not hex", "%%%%%%"):
            with pytest.raises(KeyError):
                store.read(name)

    def test_the_same_block_may_come_again(self, store: Store) -> None:
        state = write(store, create(store), [happened.Claimed("worker")], [block("same"), block("same")])
        write(store, state, [happened.Claimed("worker")], [block("same")])
        assert store.read(block_id("same")) == "same"

    def test_blocks_are_found_by_the_task_that_kept_them_first(self, store: Store) -> None:
        write(store, create(store, "one"), [happened.Claimed("worker")], [block("alpha"), block("same")])
        write(store, create(store, "two"), [happened.Claimed("worker")], [block("beta"), block("same")])
        alpha, same = block_id("alpha"), block_id("same")
        assert (list(store.find(alpha[:6], "one")), list(store.find(alpha, "two"))) == ([alpha], [])
        assert (list(store.find(same[:8], "one")), list(store.find(same[:8], "two"))) == ([same], [])
        assert not store.find(alpha[:5], "one") and not store.find("not hex", "one") and not store.find(alpha, "three")

    def test_a_block_under_a_false_name_is_refused(self, store: Store) -> None:
        state = create(store)
        with pytest.raises(Broken):
            write(store, state, [happened.Claimed("worker")], [Block(block_id("true"), "false")])
        assert store.load("one") == state

    def test_what_was_appended_is_there_for_the_next_process(self, store: Store) -> None:
        state = take_step(store, take_step(store, create(store)))
        again = self.reopen(store)
        assert again.load("one") == state
        assert [entry.seq for entry in again.journal("one")] == list(range(1, state.head.seq + 1))
        assert take_step(again, state).step == 3

    def test_the_head_is_the_last_entry(self, store: Store) -> None:
        take_step(store, create(store))
        last = list(store.journal("one"))[-1]
        assert store.load("one").head == Head(last.seq, last.hash)
