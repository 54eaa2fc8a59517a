"""What every Storage must do beyond its parts. Subclass it in a test file and give it a `storage`, fresh and empty (and `reopen`)."""

import pytest

from afresh.core import event as happened
from afresh.core.archived_block import block_id_from_text
from afresh.errors import BadInput
from afresh.ports.storage import Storage
from afresh.testing.notebook_contract import list_texts, make_note
from afresh.testing.sample_journals import append_events, append_step, create_task, make_block


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
