"""How SQLite keeps whose turn it is: triggers follow what tasks wait for. Released migrations are never edited."""

from sqlite3 import Connection

SATISFIES_SQL = "IN ('done', 'unchanged', 'applied')"
UNMET_SQL = (
    "SELECT 1 FROM need WHERE need.task = ticket.task AND NOT EXISTS (SELECT 1 FROM task AS other JOIN ticket AS theirs"
    f" ON theirs.task = other.number WHERE other.id = needed AND theirs.status {SATISFIES_SQL})"
)
TURN_SQL = (
    "UPDATE ticket SET turn = CASE WHEN EXISTS (SELECT 1 FROM part WHERE part.task = ticket.task) THEN 2"
    f" WHEN EXISTS ({UNMET_SQL}) THEN 1 ELSE 0 END"
)
DEPENDENTS_SQL = "task IN (SELECT need.task FROM need WHERE needed = (SELECT id FROM task WHERE number = NEW.task))"
COPY_NEEDS_SQL = "INSERT OR IGNORE INTO need (task, needed) SELECT number, value FROM task, json_each(needs)"


COPY_PRIORITY_SQL = ", priority = (SELECT priority FROM task WHERE number = ticket.task)"
COUNT_TICKET_SQL = (
    "INSERT INTO ticket_count SELECT NEW.status, 1 FROM ticket WHERE task = NEW.task AND turn < 2"
    " ON CONFLICT (status) DO UPDATE SET tasks = tasks + 1"
)
TURN_TRIGGERS_SQL = (
    f"task_added AFTER INSERT ON task WHEN NEW.needs != '[]' BEGIN {COPY_NEEDS_SQL} WHERE number = NEW.number; END",
    "task_needs AFTER UPDATE OF needs ON task WHEN NEW.needs != OLD.needs BEGIN DELETE FROM need WHERE task = NEW.number;"
    f" {COPY_NEEDS_SQL} WHERE number = NEW.number; {TURN_SQL} WHERE task = NEW.number; END",
    "task_priority AFTER UPDATE OF priority ON task BEGIN UPDATE ticket SET priority = NEW.priority WHERE task = NEW.number; END",
    f"ticket_added AFTER INSERT ON ticket BEGIN {TURN_SQL}{COPY_PRIORITY_SQL} WHERE task = NEW.task;"
    f" {TURN_SQL} WHERE NEW.status {SATISFIES_SQL} AND {DEPENDENTS_SQL}; {COUNT_TICKET_SQL}; END",
    f"ticket_ended AFTER UPDATE OF status ON ticket WHEN (NEW.status {SATISFIES_SQL}) != (OLD.status {SATISFIES_SQL})"
    f" BEGIN {TURN_SQL} WHERE {DEPENDENTS_SQL}; END",
    "ticket_counted AFTER UPDATE OF status ON ticket WHEN NEW.status != OLD.status AND NEW.turn < 2 BEGIN"
    f" UPDATE ticket_count SET tasks = tasks - 1 WHERE status = OLD.status; {COUNT_TICKET_SQL}; END",
)


def index_turns(connection: Connection) -> None:
    """Whose turn it is, so that claiming reads one row however many tasks there are. `turn` is 0: it can be claimed; 1: it waits
    for other tasks; 2: it is a part of another. Triggers keep it, and the number of tasks in each status, whoever writes."""
    needs = "task INTEGER NOT NULL, needed TEXT NOT NULL, PRIMARY KEY (task, needed)"
    connection.execute(f"CREATE TABLE need ({needs}) STRICT, WITHOUT ROWID")
    connection.execute("CREATE INDEX need_needed ON need (needed)")
    connection.execute("ALTER TABLE ticket ADD COLUMN turn INTEGER NOT NULL DEFAULT 0")
    connection.execute("ALTER TABLE ticket ADD COLUMN priority INTEGER NOT NULL DEFAULT 0")
    connection.execute(COPY_NEEDS_SQL)
    connection.execute(TURN_SQL + COPY_PRIORITY_SQL)
    connection.execute("CREATE INDEX ticket_turn ON ticket (status, turn, priority DESC, task)")
    connection.execute("CREATE INDEX ticket_updated ON ticket (status, updated)")
    connection.execute("CREATE INDEX ticket_question ON ticket (task) WHERE question != ''")
    connection.execute("CREATE INDEX part_parent ON part (parent)")
    connection.execute("CREATE TABLE ticket_count (status TEXT PRIMARY KEY, tasks INTEGER NOT NULL) STRICT, WITHOUT ROWID")
    connection.execute("INSERT INTO ticket_count SELECT status, count(*) FROM ticket WHERE turn < 2 GROUP BY status")
    for trigger in TURN_TRIGGERS_SQL:
        connection.execute(f"CREATE TRIGGER {trigger}")


MARKED_TURN_SQL = TURN_SQL.replace(
    " WHEN EXISTS (SELECT 1 FROM need", " WHEN held = 1 OR retry_at > 0 OR EXISTS (SELECT 1 FROM need"
)
MARKED_TRIGGERS_SQL = (
    *(trigger.replace(TURN_SQL, MARKED_TURN_SQL) for trigger in TURN_TRIGGERS_SQL if TURN_SQL in trigger),
    "ticket_held AFTER UPDATE OF held, retry_at ON ticket WHEN NEW.held != OLD.held OR (NEW.retry_at > 0) != (OLD.retry_at > 0)"
    f" BEGIN {MARKED_TURN_SQL} WHERE task = NEW.task; END",
)


def add_marks(connection: Connection) -> None:
    """What a ticket shows of labels, due time, project, holds and failures (`marks`, as JSON), the parts of it that are searched
    by, and how often a task was taken up. A task that is held back or waits for another attempt has turn 1. `request` is what a
    person asks of the worker that holds a task."""
    for column in (
        "marks TEXT NOT NULL DEFAULT '{}'",
        "held INTEGER NOT NULL DEFAULT 0",
        "retry_at REAL NOT NULL DEFAULT 0",
        "due REAL NOT NULL DEFAULT 0",
        "project TEXT NOT NULL DEFAULT ''",
        "contexts INTEGER NOT NULL DEFAULT 0",
        "resumes INTEGER NOT NULL DEFAULT 0",
        "resumed INTEGER NOT NULL DEFAULT 0",
    ):
        connection.execute(f"ALTER TABLE ticket ADD COLUMN {column}")
    connection.execute("ALTER TABLE lease ADD COLUMN request TEXT NOT NULL DEFAULT ''")
    connection.execute(
        "CREATE TABLE label (label TEXT NOT NULL, task INTEGER NOT NULL, PRIMARY KEY (label, task)) STRICT, WITHOUT ROWID"
    )
    connection.execute("CREATE INDEX label_task ON label (task)")
    connection.execute("CREATE INDEX ticket_held ON ticket (task) WHERE held = 1")
    connection.execute("CREATE INDEX ticket_retry ON ticket (retry_at) WHERE retry_at > 0")
    connection.execute("CREATE INDEX ticket_due ON ticket (due) WHERE due > 0")
    connection.execute("CREATE INDEX ticket_project ON ticket (project, task) WHERE project != ''")
    for trigger in MARKED_TRIGGERS_SQL:
        connection.execute(f"DROP TRIGGER IF EXISTS {trigger.split()[0]}")
        connection.execute(f"CREATE TRIGGER {trigger}")


def number_changes(connection: Connection) -> None:
    """`change` grows with every commit of a journal, so that a reader finds what is new to it without reading every ticket. The
    identity tells this database from one that was made in its place: there the numbers begin again."""
    connection.execute("ALTER TABLE ticket ADD COLUMN change INTEGER NOT NULL DEFAULT 0")
    connection.execute("UPDATE ticket SET change = task")
    connection.execute("CREATE INDEX ticket_change ON ticket (change)")
    connection.execute("CREATE TABLE identity (id TEXT NOT NULL) STRICT")
    connection.execute("INSERT INTO identity VALUES (lower(hex(randomblob(16))))")
