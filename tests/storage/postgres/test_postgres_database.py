"""What a server and a network can do to a commit: lost connections, unknown outcomes, refusals, newer schemas."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from multiprocessing import get_context
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from afresh.core import event as happened
from afresh.core.fact import Fact, FactKind, FactNoted, FactScope
from afresh.core.project_facts import FactQuery
from afresh.errors import AfreshError, Broken, Damaged, NeedsPerson, TryAgain
from afresh.storage.postgres import database as database_module
from afresh.storage.postgres.connection import PostgresConnection, translate_statement
from afresh.storage.postgres.database import PostgresDatabase, PostgresSchema, ServerClock
from afresh.storage.postgres.errors import hide_password
from afresh.storage.postgres.storage import open_project_database
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sql.queue import SqlQueue
from afresh.storage.sql.schema import JOURNAL_SCHEMA
from support.fakes import FakeClock
from support.sample_journals import append_events, append_step, create_task

SECRET = "s3cret/of@mine"


@pytest.fixture
def database(postgres: Any) -> Iterator[PostgresDatabase]:
    with closing(open_project_database(postgres.address, postgres.project, postgres.shared)) as opened:
        yield opened


def end_session(address: str, database: PostgresDatabase) -> None:
    """The server ends the session of this database, as when it restarts."""
    assert database._connection is not None
    process = database._connection._connection.info.backend_pid
    with psycopg.connect(address, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 60000)", (process,))


def test_a_connection_that_was_lost_is_opened_again_at_the_next_use(postgres: Any, database: PostgresDatabase) -> None:
    store = SqlJournal(database)
    state = create_task(store)
    end_session(postgres.address, database)
    assert append_step(store, state).work.step == 1
    end_session(postgres.address, database)
    assert store.load("one").work.step == 1


def test_a_question_whose_connection_is_lost_on_the_way_is_asked_again(
    postgres: Any, database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Journals, notebook and facts are read in pages: one that is lost is read again, and none comes twice."""
    storage, whole, ended = postgres.open(FakeClock()), PostgresConnection.execute, set[str]()
    state = append_step(storage.journal, create_task(storage.journal))
    storage.notebook.append([FactNoted(Fact(FactKind.NOTE, "cents", "amounts are whole cents", scope=FactScope.PROJECT), "me")])
    expected = [entry.body for entry in SqlJournal(database).journal("one")]

    def execute(self: PostgresConnection, statement: str, values: Any = ()) -> Any:
        begins = next((one for one in ("SELECT hashes", "SELECT hash, body", "SELECT facts") if statement.startswith(one)), "")
        if begins and begins not in ended:
            ended.add(begins)
            end_session(postgres.address, storage.journal._database)
        return whole(self, statement, values)

    monkeypatch.setattr(PostgresConnection, "execute", execute)
    assert [entry.body for entry in storage.journal.journal("one")] == expected and state.head.seq == len(expected)
    assert len(list(storage.notebook.entries())) == 1
    assert [one.fact.subject for one in storage.facts.look_up(FactQuery("whole cents"))] == ["cents"]
    assert ended == {"SELECT hashes", "SELECT hash, body", "SELECT facts"}
    storage.close()


def test_an_append_whose_connection_is_lost_on_the_way_is_done_again_and_once(
    postgres: Any, database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, whole, ended = SqlJournal(database), PostgresConnection.execute, list[int]()
    state = create_task(store)

    def execute(self: PostgresConnection, statement: str, values: Any = ()) -> Any:
        if statement.startswith("INSERT INTO record") and not ended:
            ended.append(1)
            end_session(postgres.address, database)
        return whole(self, statement, values)

    monkeypatch.setattr(PostgresConnection, "execute", execute)
    state = append_events(store, state, [happened.TaskClaimed("worker")])
    assert ended and store.load("one") == state and len(list(store.journal("one"))) == 2


@pytest.mark.parametrize("commits", [True, False])
def test_a_commit_whose_answer_is_lost_is_looked_up_and_never_written_twice(
    postgres: Any, database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch, commits: bool
) -> None:
    store, whole, lost = SqlJournal(database), PostgresConnection.run_script, list[int]()
    state = create_task(store)

    def run_script(self: PostgresConnection, script: str) -> Any:
        if script != "COMMIT" or lost:
            return whole(self, script)
        lost.append(1)
        if commits:
            whole(self, script)
        end_session(postgres.address, database)
        return whole(self, "SELECT 1")

    monkeypatch.setattr(PostgresConnection, "run_script", run_script)
    state = append_events(store, state, [happened.TaskClaimed("worker")])
    assert lost and store.load("one") == state
    assert len(list(store.journal("one"))) == 2


def test_an_outcome_that_nobody_can_tell_is_not_reported_as_done(
    postgres: Any, database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, whole = SqlJournal(database), PostgresConnection.run_script
    state = create_task(store)

    def run_script(self: PostgresConnection, script: str) -> Any:
        if script == "COMMIT":
            end_session(postgres.address, database)
            monkeypatch.setattr(database, "_address", f"postgresql://afresh@127.0.0.1:{find_closed_port()}/postgres")
        return whole(self, script)

    monkeypatch.setattr(PostgresConnection, "run_script", run_script)
    monkeypatch.setattr(database_module, "RECONNECT_SECONDS", 0.2)
    with pytest.raises(TryAgain, match="went away during a commit"):
        append_events(store, state, [happened.TaskClaimed("worker")])


def find_closed_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def test_writers_of_a_project_take_turns_and_one_that_stays_away_is_ended(
    postgres: Any, database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that was stopped in the middle of a transaction keeps nobody waiting for long: the server ends it."""
    other = open_project_database(postgres.address, postgres.project, postgres.shared)
    SqlJournal(database).heads()
    with closing(other), pytest.raises(TryAgain, match="lost"), database.writing() as connection:
        connection.run_script("SET idle_in_transaction_session_timeout = '200ms'")
        done = threading.Thread(target=lambda: create_task(SqlJournal(other)))
        done.start()
        done.join(600)
        assert not done.is_alive()
        connection.execute("SELECT 1")
    assert SqlJournal(database).load("one")


def test_leases_go_by_the_clock_of_the_server(database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    create_task(SqlJournal(database))
    monkeypatch.setattr("time.time", lambda: 4_000_000_000.0)
    assert SqlQueue(database, ServerClock(database)).claim("elsewhere:1:1") == "one"
    assert SqlQueue(database, ServerClock(database)).claim("another:1:1") is None
    (held,) = SqlQueue(database, ServerClock(database)).tickets()
    assert held.owner == "elsewhere:1:1"


def test_a_newer_schema_is_refused_and_left_as_it_is(postgres: Any, database: PostgresDatabase) -> None:
    store = SqlJournal(database)
    state = create_task(store)
    with database.writing() as connection:
        connection.execute("UPDATE schema_version SET number = number + 1")
    database.close()
    with pytest.raises(Damaged, match="newer afresh") as told:
        store.load("one")
    assert told.value.next and told.value.safe
    with psycopg.connect(postgres.address, autocommit=True) as other:
        other.execute(f"UPDATE {postgres.project.schema}.schema_version SET number = number - 1")
    assert store.load("one") == state


def test_tables_whose_making_fails_leaves_nothing(postgres: Any) -> None:
    broken = PostgresSchema("afresh_broken", f"{JOURNAL_SCHEMA.text}; SELECT 1 / 0")
    with pytest.raises(Broken):
        SqlJournal(PostgresDatabase(postgres.address, broken)).heads()
    with psycopg.connect(postgres.address) as other:
        found = other.execute("SELECT count(*) FROM pg_namespace WHERE nspname = 'afresh_broken'").fetchone()
    assert found == (0,)


def test_many_processes_may_open_a_new_project_at_once(postgres: Any) -> None:
    schema = f"{postgres.project.schema}_new"
    failed: list[BaseException] = []

    def open_it() -> None:
        try:
            with closing(PostgresDatabase(postgres.address, PostgresSchema(schema, JOURNAL_SCHEMA.text))) as one:
                SqlJournal(one).heads()
        except BaseException as fault:
            failed.append(fault)

    threads = [threading.Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with psycopg.connect(postgres.address, autocommit=True) as other:
        other.execute(f"DROP SCHEMA {schema} CASCADE")
    assert not failed


def test_a_forked_process_has_a_connection_of_its_own(database: PostgresDatabase) -> None:
    store = SqlJournal(database)
    state = create_task(store)
    process = get_context("fork").Process(target=lambda: append_step(SqlJournal(database), state))
    process.start()
    process.join(600)
    assert process.exitcode == 0
    assert store.load("one").work.step == 1


def change_address(address: str, **parts: str) -> str:
    found = urlsplit(address)
    user, port = parts.get("user", found.username), parts.get("port", found.port)
    return urlunsplit(found._replace(netloc=f"{user}:s3cret%2Fof%40mine@127.0.0.1:{port}", path=parts.get("path", found.path)))


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"port": "1"}, "can't be reached"),
        ({"path": "/nowhere"}, "there is no such database"),
        ({"user": "stranger"}, "refuses this user"),
    ],
)
def test_a_server_that_refuses_is_named_without_the_password(postgres: Any, parts: dict[str, str], words: str) -> None:
    address = change_address(postgres.address, **parts)
    with pytest.raises(NeedsPerson, match=words) as told:
        SqlJournal(open_project_database(address, postgres.project, postgres.shared)).heads()
    assert told.value.next and told.value.safe
    said = f"{told.value} {told.value.next} {told.value.__cause__} {told.value!r}"
    assert "s3cret" not in said and not isinstance(told.value, Broken)


@contextmanager
def tell_error(code: str) -> Iterator[None]:
    """A server that reports this code."""
    with pytest.MonkeyPatch.context() as patch:

        def execute(self: PostgresConnection, statement: str, values: Any = ()) -> Any:
            raise psycopg.errors.lookup(code)(f"of {SECRET}")

        patch.setattr(PostgresConnection, "execute", execute)
        yield


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("53100", NeedsPerson),
        ("42501", NeedsPerson),
        ("25006", NeedsPerson),
        ("55P03", TryAgain),
        ("XX001", Damaged),
        ("42P01", Broken),
    ],
)
def test_what_the_server_says_is_sorted_by_who_must_act(postgres: Any, code: str, kind: type[AfreshError]) -> None:
    address = change_address(postgres.address)
    with closing(open_project_database(address, postgres.project, postgres.shared)) as one:
        SqlJournal(one).heads()
        with tell_error(code), pytest.raises(kind) as told:
            SqlJournal(one).heads()
        assert "s3cret" not in str(told.value)
        assert SqlJournal(one).heads() == {}, "the connection can be used again"


def test_a_password_is_hidden_however_it_is_written() -> None:
    address = "postgresql://me:s3cret%2Fof%40mine@host/base"
    assert hide_password(f"{SECRET} and s3cret%2Fof%40mine", address) == "*** and ***"


def test_statements_are_translated_and_percent_signs_stay() -> None:
    assert translate_statement("SELECT '5%' WHERE a = ? AND b IN (SELECT value FROM json_each(?))") == (
        b"SELECT '5%%' WHERE a = %s AND b IN (SELECT value FROM jsonb_array_elements_text(%s::jsonb) AS listed (value))"
    )


def test_texts_with_the_character_zero_are_kept(database: PostgresDatabase) -> None:
    store = SqlJournal(database)
    state = append_events(store, create_task(store), [happened.TaskClaimed("a\0b")])
    assert store.load("one") == state
