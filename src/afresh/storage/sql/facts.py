"""The table of facts: every fact a project has known, which of them hold, and what became of the others."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from afresh.core.decision import has_same_subject
from afresh.core.event import ChangeKeptOrReverted, Event, JournalEntry, VerdictReached
from afresh.core.fact import (
    USER_JOURNAL,
    Fact,
    FactCorrected,
    FactForgotten,
    FactKind,
    FactScope,
    drop_observations_of_step,
    drop_passed_tests,
    is_withdrawal,
)
from afresh.core.project_facts import (
    CORRECTED_ENDING,
    FORGOTTEN_ENDING,
    FactCorrection,
    ProjectFact,
    extract_facts,
    make_fact_id,
)
from afresh.storage.sql.database import SqlConnection
from afresh.storage.sql.fact_words import FACT_COLUMNS, add_words, remove_words

INSERT_FACT_SQL = f"INSERT INTO fact ({FACT_COLUMNS}) VALUES ({', '.join('?' * 16)}) RETURNING number"
WRITE_SEEN_SQL = (
    "INSERT INTO seen (task, seq, hash) VALUES (?, ?, ?)"
    " ON CONFLICT (task) DO UPDATE SET seq = excluded.seq, hash = excluded.hash"
)
FactTuple = tuple[Fact, ...]


def learn_entries(connection: SqlConnection, entries: Sequence[JournalEntry]) -> bool:
    """Take in entries of one journal without those that were seen already, by another process perhaps. False, and nothing is
    learnt, when some before them are missing. Of the user's own only rules for all projects: it is read in every one."""
    seen = read_seen_seq(connection, entries[0].task) if entries else 0
    fresh = [entry for entry in entries if entry.seq > seen]
    if fresh and fresh[0].seq != seen + 1:
        return False
    for entry in fresh:
        for fact, by in extract_facts(entry):
            if entry.task != USER_JOURNAL or fact.scope is FactScope.USER:
                record_fact(connection, find_fact_owner(entry.task, fact), fact, by, entry.at)
        apply_event(connection, entry.event, entry)
    if fresh:
        last = fresh[-1]
        connection.execute(WRITE_SEEN_SQL, (last.task, last.seq, last.hash))
    return True


def read_seen_seq(connection: SqlConnection, task: str) -> int:
    row = connection.execute("SELECT seq FROM seen WHERE task = ?", (task,)).fetchone()
    return row[0] if row else 0


def find_fact_owner(task: str, fact: Fact) -> str:
    """The journal that a fact belongs to: facts of scope USER to the user's notebook, others to the journal that has them."""
    return USER_JOURNAL if fact.scope is FactScope.USER else task


def record_fact(connection: SqlConnection, task: str, fact: Fact, by: str, at: float) -> None:
    """A newer fact ends the older one about the same. What a person has corrected or wanted forgotten is not learnt again."""
    name = make_fact_id(task, fact)
    older = find_same_subject(connection, task, fact)
    if any(one.id == name for _, one in older) or is_fact_edited(connection, name):
        return
    for number, project_fact in older:
        end_fact(connection, number, project_fact, at, "superseded")
    if not is_withdrawal(fact):
        insert_fact(connection, ProjectFact(name, task, fact, by, at))


def find_same_subject(connection: SqlConnection, task: str, fact: Fact) -> list[tuple[int, ProjectFact]]:
    """Facts in force about the same subject; subjects of decisions are compared without regard to case, as in the state."""
    if fact.kind is not FactKind.DECISION:
        return list(list_facts_in_force(connection, task, fact.kind, fact.subject))
    facts = list_facts_in_force(connection, task, fact.kind)
    return [(number, project_fact) for number, project_fact in facts if has_same_subject(project_fact.fact.subject, fact.subject)]


def insert_fact(connection: SqlConnection, known: ProjectFact) -> None:
    fact = known.fact
    row = (
        known.id, known.task, fact.kind, fact.subject, fact.text, fact.confidence, fact.block, fact.step, fact.source,
        *fact.lines, fact.scope, known.by, known.at, known.ended, known.end,
    )  # fmt: skip
    ((number,),) = connection.execute(INSERT_FACT_SQL, row).fetchall()
    add_words(connection, number, fact.subject, fact.text)


def end_fact(connection: SqlConnection, number: int, known: ProjectFact, at: float, how: str, instead: str | None = None) -> None:
    connection.execute("UPDATE fact SET ended = ?, ending = ?, instead = ? WHERE number = ?", (at, how, instead, number))
    if not known.ended:
        remove_words(connection, number, known.fact.subject, known.fact.text)


def apply_event(connection: SqlConnection, event: Event, entry: JournalEntry) -> None:
    """Apply an event to the known facts."""
    match event:
        case ChangeKeptOrReverted(step, False):
            drop_facts(connection, entry, lambda facts: drop_observations_of_step(facts, step))
        case VerdictReached(_, verdict):
            drop_facts(connection, entry, lambda facts: drop_passed_tests(facts, verdict))
        case FactCorrected(name, text, by, why):
            for number, fact in find_editable_facts(connection, name, entry):
                if not fact.ended:
                    end_fact(connection, number, fact, entry.at, describe_ending(CORRECTED_ENDING, by, why), text)
                    new = Fact(fact.fact.kind, fact.fact.subject, text, scope=fact.fact.scope, step=fact.fact.step)
                    insert_fact(connection, ProjectFact(make_fact_id(fact.task, new), fact.task, new, by, entry.at))
        case FactForgotten(name, by, why):
            for number, fact in find_editable_facts(connection, name, entry):
                end_fact(connection, number, fact, entry.at, describe_ending(FORGOTTEN_ENDING, by, why), "")
        case _:
            return


def describe_ending(what: str, by: str, why: str) -> str:
    return f"{what} by {by}{f': {why}' if why else ''}"


def find_editable_facts(connection: SqlConnection, name: str, entry: JournalEntry) -> list[tuple[int, ProjectFact]]:
    """The user's notebook is read in every project: only the user's own rules can come of it, or be changed by it."""
    return [fact for fact in find_facts_by_id(connection, name) if entry.task != USER_JOURNAL or fact[1].task == USER_JOURNAL]


def drop_facts(connection: SqlConnection, entry: JournalEntry, kept: Callable[[FactTuple], FactTuple]) -> None:
    """End observed facts and failures that no longer hold."""
    rows = list(list_facts_in_force(connection, entry.task, FactKind.OBSERVED))
    held = set(map(id, kept(tuple(project_fact.fact for _, project_fact in rows))))
    for number, fact in rows:
        if id(fact.fact) not in held:
            end_fact(connection, number, fact, entry.at, "no longer so")


def list_facts_in_force(
    connection: SqlConnection, task: str, kind: str, subject: str | None = None
) -> Iterator[tuple[int, ProjectFact]]:
    # with a plain `subject = ?` SQLite would not use the index over the beginning of the subject
    same = " AND substr(subject, 1, 100) = substr(?, 1, 100) AND subject || '' = ?"
    about = ("", ()) if subject is None else (same, (subject, subject))
    rows = connection.execute(
        f"SELECT number, {FACT_COLUMNS} FROM fact WHERE ended = 0 AND task = ? AND kind = ?{about[0]}", (task, kind, *about[1])
    ).fetchall()
    return ((row[0], fact_from_row(row[1:])) for row in rows)


def find_facts_by_id(connection: SqlConnection, name: str) -> list[tuple[int, ProjectFact]]:
    rows = connection.execute(f"SELECT number, {FACT_COLUMNS} FROM fact WHERE id = ? ORDER BY number", (name,)).fetchall()
    return [(row[0], fact_from_row(row[1:])) for row in rows]


def is_fact_edited(connection: SqlConnection, name: str) -> bool:
    value = connection.execute("SELECT 1 FROM fact WHERE id = ? AND instead IS NOT NULL LIMIT 1", (name,)).fetchone()
    return value is not None


def list_edits(connection: SqlConnection) -> tuple[FactCorrection, ...]:
    """Corrections in the order in which they were made."""
    rows = connection.execute("SELECT id, text, instead FROM fact WHERE instead IS NOT NULL ORDER BY ended, number")
    return tuple(FactCorrection(*row) for row in rows)


def fact_from_row(row: Sequence[Any]) -> ProjectFact:
    name, task, kind, subject, text, confidence, block, step, source, first, last, scope, by, at, ended, ending = row
    fact = Fact(FactKind(kind), subject, text, confidence, block, step, source, (first, last), FactScope(scope))
    return ProjectFact(name, task, fact, by, at, ended, ending)


def list_fact_history(connection: SqlConnection, task: str, kind: str, subject: str) -> list[ProjectFact]:
    rows = connection.execute(
        f"SELECT {FACT_COLUMNS} FROM fact WHERE task = ? AND kind = ? AND subject = ? ORDER BY number", (task, kind, subject)
    )
    return [fact_from_row(row) for row in rows]
