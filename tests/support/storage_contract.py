"""What every journal store, notebook and Storage must do. Subclass one in a test file and give it the fixture that it names, and
`reopen` where there is something to reopen."""

import pytest

from afresh.core import event as happened
from afresh.core.archived_block import Block, block_id_from_text
from afresh.core.event import JournalHead
from afresh.core.fact import Fact, FactKind, FactNoted
from afresh.core.hash_chain import link_events
from afresh.core.reducer import fold_entries
from afresh.core.task import Task
from afresh.errors import BadInput, Broken, Conflict
from afresh.ports.storage import JournalStore, Notebook, Storage
from support.sample_journals import append_events, append_step, create_task, make_block, make_call_events, make_entries


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


def make_note(text: str) -> FactNoted:
    return FactNoted(Fact(FactKind.RULE, text, f"{text} — ünïcode ✓"), "anna")


def list_texts(notebook: Notebook) -> list[str]:
    return [entry.event.fact.subject for entry in notebook.entries() if isinstance(entry.event, FactNoted)]


class NotebookContract:
    """Fixture `notebook`, fresh and empty, is to be given by the subclass."""

    def reopen(self, notebook: Notebook) -> Notebook:
        """The same notebook as another process has it."""
        return notebook

    def test_a_new_notebook_is_empty(self, notebook: Notebook) -> None:
        assert notebook.head() == JournalHead() and not list(notebook.entries())

    def test_what_was_appended_is_there_in_order_for_the_next_process(self, notebook: Notebook) -> None:
        first = notebook.append([make_note("one"), make_note("two")])
        second = notebook.append([make_note("three")])
        again = self.reopen(notebook)
        assert tuple(again.entries()) == (*first, *second)
        assert [entry.seq for entry in again.entries()] == [1, 2, 3]
        assert {entry.task for entry in again.entries()} == {notebook.name}

    def test_the_head_is_the_last_entry_also_of_another_writer(self, notebook: Notebook) -> None:
        notebook.append([make_note("one")])
        (last,) = self.reopen(notebook).append([make_note("two")])
        assert notebook.head() == JournalHead(last.seq, last.hash)
        (next,) = notebook.append([make_note("three")])
        assert next.seq == 3 and list_texts(notebook) == ["one", "two", "three"]

    def test_reading_can_begin_after_any_entry(self, notebook: Notebook) -> None:
        entries = notebook.append([make_note(str(number)) for number in range(300)])
        at = entries[255]
        assert tuple(notebook.entries(JournalHead(at.seq, at.hash))) == tuple(entries[256:])

    def test_entries_from_elsewhere_come_in_as_they_are(self, notebook: Notebook) -> None:
        entries = link_events(notebook.name, JournalHead(), 12.5, [make_note("one"), make_note("two")])
        notebook.extend(entries[:1])
        notebook.extend(entries[1:])
        assert tuple(self.reopen(notebook).entries()) == entries

    def test_entries_that_do_not_continue_the_chain_are_a_conflict_and_nothing_is_written(self, notebook: Notebook) -> None:
        elsewhere = link_events(notebook.name, JournalHead(), 12.5, [make_note("one"), make_note("two")])
        notebook.append([make_note("mine")])
        for entries in (elsewhere, elsewhere[1:]):
            with pytest.raises(Conflict):
                notebook.extend(entries)
        assert list_texts(notebook) == ["mine"]


class StorageContract:
    """Fixture `storage`, fresh and empty, is to be given by the subclass."""

    def reopen(self, storage: Storage) -> Storage:
        """The same storage as another process has it."""
        return storage

    def test_what_is_written_in_a_transaction_is_there_together(self, storage: Storage) -> None:
        with storage.transaction():
            state = append_step(storage.journal, create_task(storage.journal, "one"))
            create_task(storage.journal, "two")
            storage.notebook.append([make_note("both")])
            assert [ticket.task for ticket in storage.queue.tickets()] == ["one", "two"], "it sees what it has written"
        again = self.reopen(storage)
        assert again.journal.load("one") == state and again.journal.load("two")
        again.journal.check("one")
        assert list_texts(again.notebook) == ["both"]

    def test_nothing_of_a_transaction_that_fails_is_written(self, storage: Storage) -> None:
        state = create_task(storage.journal, "one")
        with pytest.raises(KeyError), storage.transaction():
            append_events(storage.journal, state, [happened.TaskClaimed("worker")], [make_block("of the failed one")])
            storage.notebook.append([make_note("failed")])
            storage.queue.claim("worker", "one")
            raise KeyError
        again = self.reopen(storage)
        assert again.journal.load("one") == state and not list_texts(again.notebook)
        assert [ticket.owner for ticket in again.queue.tickets()] == [""]

    def test_a_block_of_a_transaction_that_failed_is_kept_when_it_comes_again(self, storage: Storage) -> None:
        state, block = create_task(storage.journal, "one"), make_block("comes twice")
        with pytest.raises(KeyError), storage.transaction():
            append_events(storage.journal, state, [happened.TaskClaimed("worker")], [block])
            raise KeyError
        append_events(storage.journal, state, [happened.TaskClaimed("worker")], [block])
        assert self.reopen(storage).journal.read(block_id_from_text("comes twice")) == "comes twice"

    def test_the_first_fault_ends_the_whole_transaction(self, storage: Storage) -> None:
        state = create_task(storage.journal, "one")
        with pytest.raises(BadInput), storage.transaction():
            append_step(storage.journal, state)
            storage.queue.claim("worker", "nothing")
        assert storage.journal.load("one") == state
        assert append_step(storage.journal, state).work.step == 1, "and the next commit is one of its own"
