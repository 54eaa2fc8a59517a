"""The tables of each database, as SQLite takes them; `translate_schema` says them in PostgreSQL's words. There are no triggers:
`write_ticket` keeps what follows from a change (`sql/queue.py`). Whoever changes a table raises `STORE_FORMAT`."""

import re
from dataclasses import dataclass

LEDGER_FILE_NAME = "ledger.db"
JOURNAL_FILE_NAME = "afresh.db"
"""What an export can bring back; other databases are made again from it."""


@dataclass(frozen=True, slots=True)
class DatabaseSchema:
    application: int
    """SQLite's `application_id`: identifies the file as ours."""
    text: str
    lasting: bool = True
    """Every commit is on the disk before it is reported. What can be made again need not be."""

    @property
    def statements(self) -> list[str]:
        return [statement for statement in re.sub(r"--.*", "", self.text).split(";") if statement.strip()]


NOTE_TABLE = """
-- The journal that no task owns.
CREATE TABLE note (seq INTEGER PRIMARY KEY, hash BLOB NOT NULL, body TEXT NOT NULL) STRICT;
"""
JOURNAL_SCHEMA = DatabaseSchema(
    0x61667265,
    """
CREATE TABLE task (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, goal TEXT NOT NULL, type TEXT NOT NULL) STRICT;
-- What a list shows of each task. `needs`: ids, as JSON; `marks`: labels, due time, project, holds and failures, as JSON; then
-- the parts of it that are searched by. `change` grows with every commit of a journal, so that a reader finds what is new to it.
CREATE TABLE ticket (task INTEGER PRIMARY KEY REFERENCES task, status TEXT NOT NULL, seq INTEGER NOT NULL, hash BLOB NOT NULL,
    step INTEGER, step_limit INTEGER, updated REAL, question TEXT, options TEXT, ruling TEXT, outcome TEXT,
    follows TEXT NOT NULL DEFAULT '', turn INTEGER NOT NULL DEFAULT 0, priority INTEGER NOT NULL, needs TEXT NOT NULL,
    marks TEXT NOT NULL DEFAULT '{}', held INTEGER NOT NULL DEFAULT 0, retry_at REAL NOT NULL DEFAULT 0,
    due REAL NOT NULL DEFAULT 0, project TEXT NOT NULL DEFAULT '', contexts INTEGER NOT NULL DEFAULT 0,
    resumes INTEGER NOT NULL DEFAULT 0, resumed INTEGER NOT NULL DEFAULT 0, change INTEGER NOT NULL) STRICT;
CREATE INDEX ticket_status ON ticket (status, task);
CREATE INDEX ticket_turn ON ticket (status, turn, priority DESC, task);
CREATE INDEX ticket_updated ON ticket (status, updated);
CREATE INDEX ticket_question ON ticket (task) WHERE question != '';
CREATE INDEX ticket_held ON ticket (task) WHERE held = 1;
CREATE INDEX ticket_retry ON ticket (retry_at) WHERE retry_at > 0;
CREATE INDEX ticket_due ON ticket (due) WHERE due > 0;
CREATE INDEX ticket_project ON ticket (project, task) WHERE project != '';
CREATE UNIQUE INDEX ticket_change ON ticket (change);
-- One commit: its entries from `seq` on, one a line, with the hash of each, and the blocks that came with them.
CREATE TABLE record (task INTEGER NOT NULL REFERENCES task, seq INTEGER NOT NULL, hashes BLOB NOT NULL, entries ANY NOT NULL,
    blocks ANY, PRIMARY KEY (task, seq)) STRICT, WITHOUT ROWID;
-- Which record holds a block.
CREATE TABLE block (id BLOB PRIMARY KEY, task INTEGER NOT NULL, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE snapshot (task INTEGER PRIMARY KEY REFERENCES task, seq INTEGER NOT NULL, body ANY NOT NULL) STRICT;
-- `request`: what a person asks of the worker that holds the task.
CREATE TABLE lease (task INTEGER PRIMARY KEY REFERENCES task, worker TEXT NOT NULL, expires REAL NOT NULL,
    token INTEGER NOT NULL, request TEXT NOT NULL DEFAULT '') STRICT;
-- The tasks that are a part of another, with its id.
CREATE TABLE part (task INTEGER PRIMARY KEY REFERENCES task, parent TEXT NOT NULL) STRICT;
CREATE INDEX part_parent ON part (parent);
CREATE TABLE need (task INTEGER NOT NULL, needed TEXT NOT NULL, PRIMARY KEY (task, needed)) STRICT, WITHOUT ROWID;
CREATE INDEX need_needed ON need (needed);
CREATE TABLE label (label TEXT NOT NULL, task INTEGER NOT NULL, PRIMARY KEY (label, task)) STRICT, WITHOUT ROWID;
CREATE INDEX label_task ON label (task);
-- Tells this database from one that was made in its place: there `change` begins again.
CREATE TABLE identity (id TEXT NOT NULL) STRICT;
INSERT INTO identity VALUES (hex(randomblob(16)));
"""
    + NOTE_TABLE,
)
FACTS_SCHEMA = DatabaseSchema(
    0x61667266,
    """
CREATE TABLE fact (number INTEGER PRIMARY KEY, id TEXT NOT NULL, task TEXT NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL,
    text TEXT NOT NULL, confidence REAL NOT NULL, block TEXT NOT NULL, step INTEGER NOT NULL, source TEXT NOT NULL,
    first INTEGER NOT NULL, last INTEGER NOT NULL, scope TEXT NOT NULL, author TEXT NOT NULL, at REAL NOT NULL,
    ended REAL NOT NULL DEFAULT 0, ending TEXT NOT NULL DEFAULT '', instead TEXT) STRICT;
CREATE INDEX fact_in_force ON fact (task, kind, substr(subject, 1, 100)) WHERE ended = 0;
CREATE INDEX fact_id ON fact (id);
CREATE INDEX fact_edited ON fact (number) WHERE instead IS NOT NULL;
CREATE TABLE seen (task TEXT PRIMARY KEY, seq INTEGER NOT NULL, hash TEXT NOT NULL) STRICT;
-- How often a word is in the subject and in the text of a fact that holds, and how many words the fact has.
CREATE TABLE fact_word (word TEXT NOT NULL, fact INTEGER NOT NULL, about INTEGER NOT NULL, body INTEGER NOT NULL,
    size INTEGER NOT NULL, PRIMARY KEY (word, fact)) STRICT, WITHOUT ROWID;
CREATE TABLE fact_total (id INTEGER PRIMARY KEY, facts INTEGER NOT NULL, tokens INTEGER NOT NULL) STRICT;
""",
    lasting=False,
)
FACT_TABLES = "fact, seen, fact_word, fact_total"
LEDGER_SCHEMA = DatabaseSchema(
    0x6166726C,
    """
CREATE TABLE call (number INTEGER PRIMARY KEY, at REAL NOT NULL, project TEXT NOT NULL, name TEXT NOT NULL, task TEXT NOT NULL,
    parent TEXT NOT NULL, kind TEXT NOT NULL, model TEXT NOT NULL, step INTEGER NOT NULL, ceiling INTEGER NOT NULL,
    estimated INTEGER NOT NULL, reserve INTEGER NOT NULL, sections TEXT NOT NULL, price TEXT NOT NULL, worst INTEGER NOT NULL,
    worker TEXT NOT NULL, state TEXT NOT NULL, input INTEGER NOT NULL DEFAULT 0, output INTEGER NOT NULL DEFAULT 0,
    cached INTEGER NOT NULL DEFAULT 0, written INTEGER NOT NULL DEFAULT 0, thinking INTEGER NOT NULL DEFAULT 0,
    counted INTEGER NOT NULL DEFAULT 0, paid INTEGER NOT NULL DEFAULT 0, paid_input INTEGER NOT NULL DEFAULT 0,
    note TEXT NOT NULL DEFAULT '') STRICT;
CREATE INDEX call_open ON call (project, number) WHERE state = 'booked';
CREATE INDEX call_task ON call (project, task);
CREATE INDEX call_at ON call (at);
-- The sum of all calls under one key, what is only booked included, so that a check costs the same however many calls there are;
-- `base` is its value when a person last reset the limit.
CREATE TABLE tally (scope TEXT NOT NULL, key TEXT NOT NULL, unit TEXT NOT NULL, spent INTEGER NOT NULL,
    base INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (scope, key, unit)) STRICT, WITHOUT ROWID;
CREATE TABLE breaker (number INTEGER PRIMARY KEY, scope TEXT NOT NULL, key TEXT NOT NULL, unit TEXT NOT NULL,
    most INTEGER NOT NULL, spent INTEGER NOT NULL, asked INTEGER NOT NULL, at REAL NOT NULL, ended REAL,
    why TEXT NOT NULL DEFAULT '') STRICT;
CREATE UNIQUE INDEX breaker_tripped ON breaker (scope, key, unit) WHERE ended IS NULL;
CREATE TABLE alert (scope TEXT NOT NULL, key TEXT NOT NULL, unit TEXT NOT NULL, percent INTEGER NOT NULL, most INTEGER NOT NULL,
    base INTEGER NOT NULL, spent INTEGER NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (scope, key, unit, percent, most, base)) STRICT, WITHOUT ROWID;
-- The calls of the last minute that a rate limit covers, and those that wait. Times count from the start of the machine.
CREATE TABLE turn (number INTEGER PRIMARY KEY AUTOINCREMENT, boot TEXT NOT NULL, model TEXT NOT NULL, at REAL NOT NULL,
    tokens INTEGER NOT NULL) STRICT;
""",
)
PROJECT_TABLE = """
CREATE TABLE project (key TEXT PRIMARY KEY, name TEXT NOT NULL, remote TEXT NOT NULL, schema TEXT NOT NULL UNIQUE) STRICT;
"""
"""The projects of a server."""
POSTGRES_WORDS = (
    (r"\bnumber INTEGER PRIMARY KEY( AUTOINCREMENT)?", "number BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"),
    (r"\bINTEGER\b", "BIGINT"),
    (r"\bREAL\b", "FLOAT8"),
    (r"\bTEXT\b", 'TEXT COLLATE "C"'),  # compared by bytes, as in SQLite
    (r"\b(BLOB|ANY)\b", "BYTEA"),
    (r"\) STRICT(, WITHOUT ROWID)?", ")"),
    (r"hex\(randomblob\(16\)\)", "md5(random()::text || clock_timestamp()::text)"),
)


def translate_schema(text: str) -> str:
    """The text for PostgreSQL."""
    for word, there in POSTGRES_WORDS:
        text = re.sub(word, there, text)
    return text
