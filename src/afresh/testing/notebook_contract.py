"""What every notebook must do. Subclass it in a test file and give it a `notebook`, fresh and empty (and `reopen`)."""

import pytest

from afresh.core.event import JournalHead
from afresh.core.fact import Fact, FactKind, FactNoted
from afresh.core.hash_chain import link_events
from afresh.errors import Conflict
from afresh.ports.storage import Notebook


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
