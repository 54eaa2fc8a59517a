"""What a project knows: learnt from every journal, found by words, put right by persons; an index that can be made again."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.core import event as happened
from afresh.core import fact
from afresh.core.event import JournalEntry, JournalHead
from afresh.core.fact import NOTEBOOK_JOURNAL, Fact, FactKind, FactScope
from afresh.core.project_facts import FactQuery, fact_from_words, make_fact_id
from afresh.core.state import State
from afresh.errors import TryAgain
from afresh.storage.sql import fact_index as looking
from afresh.storage.sql import facts
from afresh.storage.sql.facts import FACT_COLUMNS
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sql.notebook import SqlNotebook
from afresh.storage.sqlite.database import Database
from afresh.storage.sqlite.storage import open_sqlite_facts
from support.fakes import FakeClock
from support.sample_journals import create_task, make_entries


class Project:
    """A store, a notebook and the facts over them, as a process has them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.clock = folder, FakeClock()
        self.database = Database(folder / "afresh.db")
        self.store, self.notebook = SqlJournal(self.database), SqlNotebook(self.database, self.clock)
        self.facts = open_sqlite_facts(folder / "memory.db", self.store, [self.notebook])
        self.states: dict[str, State] = {}

    def happens(self, task: str, *events: happened.Event, seen: bool = True) -> tuple[JournalEntry, ...]:
        if task not in self.states:
            self.states[task] = create_task(self.store, task)
            self.facts.saw(self.states[task], list(self.store.journal(task)))
        entries, after = make_entries(self.states[task], events, self.clock.now())
        self.store.append(entries, (), after)
        self.states[task] = after
        if seen:
            self.facts.saw(after, entries)
        return entries

    def learns(self, task: str, *facts: Fact, seen: bool = True) -> None:
        self.happens(task, happened.OutputDigested(facts), seen=seen)

    def knows(self, words: str, task: str = "", **more) -> list[str]:
        return [known.fact.text for known in self.facts.look_up(FactQuery(words, task=task, **more))]

    def rows(self) -> list[tuple]:
        with Database(self.folder / "memory.db", schema=self.facts._database._schema).reading() as connection:
            return sorted(connection.execute(f"SELECT {FACT_COLUMNS}, instead FROM fact"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def note(subject: str, text: str, step: int = 1, kind: FactKind = FactKind.NOTE) -> Fact:
    return Fact(kind, subject, text, step=step)


def test_the_same_words_again_are_one_fact(project: Project) -> None:
    assert project.knows("parser") == []
    for step in (1, 2, 3):
        project.learns("one", note("parser", "reads lines", step))
    assert len(project.rows()) == 1


def test_what_happened_while_nobody_looked_is_read_before_the_next_question(project: Project) -> None:
    project.learns("one", note("parser", "reads lines"))
    assert project.knows("parser", "one")
    project.learns("one", note("cache", "is cold"), seen=False)
    assert project.knows("cold", "one") == [], "this process was told of everything, it believes"
    later = Project(project.folder)
    assert later.knows("cold", "one") == ["is cold"]


def test_a_damaged_index_is_made_again(project: Project) -> None:
    project.learns("one", note("parser", "reads lines"))
    assert project.knows("parser", "one")
    project.facts.close()
    (project.folder / "memory.db").write_bytes(b"not a database" * 100)
    assert Project(project.folder).knows("parser", "one") == ["reads lines"]


@pytest.mark.parametrize("task", ["one", "another"])
def test_an_index_of_another_journal_is_made_again(project: Project, tmp_path: Path, task: str) -> None:
    project.learns("one", note("parser", "reads lines"))
    project.notebook.append([fact.FactNoted(Fact(FactKind.RULE, "style", "use tabs", scope=FactScope.PROJECT), "anna")])
    assert len(project.knows("parser tabs", "one")) == 2
    project.facts.close()
    project.database.close()
    for name in ("afresh.db", "afresh.db-wal", "afresh.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    other = Project(tmp_path)
    other.learns(task, note("cache", "is cold"))
    assert other.knows("parser cache tabs", task) == ["is cold"]


def test_a_common_word_costs_no_more_than_a_rare_one_and_the_rare_one_decides(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "MAX_FACTS_SEARCHED_DIRECTLY", 10)
    monkeypatch.setattr(looking, "COMMON_TERM_FACTS", 5)
    project.learns("one", *[note(f"thing {n}", f"value of number {n}") for n in range(40)], note("gem", "value of opal"))
    assert project.knows("the value of the opal", "one")[0] == "value of opal"
    asked: list[str] = []
    with project.facts._database.reading() as connection:
        connection.set_trace_callback(asked.append)
        assert looking.search_facts(connection, FactQuery("value opal", task="one"))
        connection.set_trace_callback(None)
    assert not any("AS score" in one and "'value'" in one for one in asked), "the common word is not ranked by"
    assert len(project.knows("value of", "one", limit=3)) == 3, "if all words are common the newest that hold one are shown"


subjects = st.sampled_from(["parser", "cache", "cli", "db"])
texts = st.sampled_from(["reads lines", "is cold", "swordfish is the word", "takes long"])
moves = st.lists(
    st.one_of(
        st.tuples(st.just("note"), st.sampled_from(["one", "two"]), subjects, texts),
        st.tuples(st.just("say"), st.sampled_from(["one", "two"]), texts),
        st.tuples(st.just("rule"), subjects, texts),
        st.tuples(st.just("correct"), st.integers(0, 5), texts),
        st.tuples(st.just("forget"), st.integers(0, 5)),
        st.tuples(st.just("undo"), st.sampled_from(["one", "two"]), st.integers(1, 3)),
    ),
    max_size=14,
)


@given(moves)
def test_an_index_that_grew_equals_one_that_was_made_again(tmp_path_factory: pytest.TempPathFactory, story) -> None:
    project = Project(tmp_path_factory.mktemp("grown"))
    project.facts.look_up(FactQuery("x"))
    for move in story:
        project.clock.move(1)
        match move:
            case ("note", task, subject, text):
                project.learns(task, note(subject, text), note(f"{subject}::t", text, 1, FactKind.OBSERVED))
            case ("say", task, text):
                project.happens(task, happened.QuestionAnswered(text))
            case ("rule", subject, text):
                project.notebook.append([fact.FactNoted(Fact(FactKind.RULE, subject, text, scope=FactScope.PROJECT), "anna")])
            case ("undo", task, step):
                project.happens(task, happened.ChangeKeptOrReverted(step, False, "s"))
            case (what, place, *text):
                held = sorted(project.facts.look_up(FactQuery("", limit=50)), key=lambda known: known.id)
                if held:
                    name = held[place % len(held)].id
                    edit = fact.FactCorrected(name, text[0], "anna") if what == "correct" else fact.FactForgotten(name, "anna")
                    project.notebook.append([edit])
        project.facts.look_up(FactQuery("x"))
    grown = project.rows()
    project.facts.rebuild()
    assert project.rows() == grown


def test_ids_are_the_same_on_every_machine() -> None:
    assert make_fact_id("one", note("parser", "reads lines")) == "m67b451be"
    assert make_fact_id(NOTEBOOK_JOURNAL, fact_from_words("use tabs")) != make_fact_id("one", fact_from_words("use tabs"))


def test_entries_that_another_process_has_learnt_already_are_not_learnt_again(project: Project) -> None:
    assert project.knows("parser") == []
    project.learns("one", note("parser", "reads lines"), seen=False)
    entries, state = list(project.store.journal("one")), project.states["one"]
    project.learns("one", note("parser", "reads bytes", 2), seen=False)
    other = open_sqlite_facts(project.folder / "memory.db", project.store, [project.notebook])
    assert [one.fact.text for one in other.look_up(FactQuery("parser", task="one"))] == ["reads bytes"]
    project.facts.saw(state, entries)
    assert project.knows("parser", "one") == ["reads bytes"], "the older fact came back"


def test_what_could_not_be_learnt_at_once_is_read_before_the_next_question(project: Project, monkeypatch) -> None:
    assert project.knows("parser") == []
    project.learns("one", note("parser", "reads lines"), seen=False)
    project.learns("one", note("cache", "is empty"))
    assert project.knows("parser", "one") == ["reads lines"], "a gap was passed over"

    def busy(*_) -> bool:
        raise TryAgain("the index is busy")

    with monkeypatch.context() as patch:
        patch.setattr(facts, "learn_entries", busy)
        project.learns("one", note("router", "keeps order"))
    assert project.knows("router", "one") == ["keeps order"]


def count_compared(project: Project, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many journals another process compares before its first answer."""
    other, compared = Project(project.folder), list[str]()
    heads = other.store.heads

    def read_heads(after: int = 0) -> dict[str, JournalHead]:
        found = heads(after)
        compared.extend(found)
        return found

    monkeypatch.setattr(other.store, "heads", read_heads)
    other.knows("anything")
    return len(compared)


def test_a_process_compares_only_the_journals_that_were_written_to_since_the_last_one(project: Project, monkeypatch):
    for number in range(40):
        project.learns(f"task-{number}", note(f"fact {number}", f"fact {number}"))
    project.knows("fact")
    assert count_compared(project, monkeypatch) <= 40
    assert count_compared(project, monkeypatch) == 0
    project.learns("task-7", note("something newer", "something newer"), seen=False)
    project.learns("task-40", note("something else", "something else"), seen=False)
    other = Project(project.folder)
    assert set(other.knows("something")) == {"something newer", "something else"}
    project.learns("task-9", note("the last", "the last"), seen=False)
    assert count_compared(project, monkeypatch) == 1
    assert Project(project.folder).knows("last") == ["the last"]


def test_an_index_that_was_made_of_another_database_is_made_again(project: Project):
    project.learns("one", note("of the lost database", "of the lost database"))
    assert Project(project.folder).knows("database") == ["of the lost database"]
    project.database.discard()
    project.states.clear()
    for number in range(3):
        project.learns(f"new-{number}", note(f"of the new database {number}", f"of the new database {number}"), seen=False)
    assert sorted(Project(project.folder).knows("database")) == [f"of the new database {number}" for number in range(3)]
