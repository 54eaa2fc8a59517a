"""How both databases know whose turn a task is: triggers follow what it waits for."""

SATISFIES_SQL = "IN ('done', 'unchanged', 'applied')"
TURN_SQL = (
    "UPDATE ticket SET turn = CASE WHEN EXISTS (SELECT 1 FROM part WHERE part.task = ticket.task) THEN 2"
    " WHEN held = 1 OR retry_at > 0 OR EXISTS (SELECT 1 FROM need WHERE need.task = ticket.task AND NOT EXISTS"
    " (SELECT 1 FROM task AS other JOIN ticket AS theirs ON theirs.task = other.number"
    f" WHERE other.id = needed AND theirs.status {SATISFIES_SQL})) THEN 1 ELSE 0 END"
)
"""0: it can be claimed; 1: it is held back, or waits for other tasks or another attempt; 2: it is a part of another."""
DEPENDENTS_SQL = "task IN (SELECT need.task FROM need WHERE needed = (SELECT id FROM task WHERE number = NEW.task))"
COPY_PRIORITY_SQL = ", priority = (SELECT priority FROM task WHERE number = ticket.task)"
COUNT_TICKET_SQL = (
    "INSERT INTO ticket_count SELECT NEW.status, 1 FROM ticket WHERE task = NEW.task AND turn < 2"
    " ON CONFLICT (status) DO UPDATE SET tasks = ticket_count.tasks + 1"
)
Trigger = tuple[str, str, str, str]
"""Its name, event, condition and statements."""


def list_turn_triggers(copy_needs: str) -> tuple[Trigger, ...]:
    """Keep the turn of each task, and the number of tasks in each status, whoever writes. `copy_needs` fills the table of needs
    of the task that is written."""
    return (
        ("task_added", "INSERT ON task", "NEW.needs != '[]'", f"{copy_needs};"),
        (
            "task_needs",
            "UPDATE OF needs ON task",
            "NEW.needs != OLD.needs",
            f"DELETE FROM need WHERE task = NEW.number; {copy_needs}; {TURN_SQL} WHERE task = NEW.number;",
        ),
        (
            "task_priority",
            "UPDATE OF priority ON task",
            "true",
            "UPDATE ticket SET priority = NEW.priority WHERE task = NEW.number;",
        ),
        (
            "ticket_added",
            "INSERT ON ticket",
            "true",
            f"{TURN_SQL}{COPY_PRIORITY_SQL} WHERE task = NEW.task;"
            f" {TURN_SQL} WHERE NEW.status {SATISFIES_SQL} AND {DEPENDENTS_SQL}; {COUNT_TICKET_SQL};",
        ),
        (
            "ticket_ended",
            "UPDATE OF status ON ticket",
            f"(NEW.status {SATISFIES_SQL}) != (OLD.status {SATISFIES_SQL})",
            f"{TURN_SQL} WHERE {DEPENDENTS_SQL};",
        ),
        (
            "ticket_counted",
            "UPDATE OF status ON ticket",
            "NEW.status != OLD.status AND NEW.turn < 2",
            f"UPDATE ticket_count SET tasks = tasks - 1 WHERE status = OLD.status; {COUNT_TICKET_SQL};",
        ),
        (
            "ticket_held",
            "UPDATE OF held, retry_at ON ticket",
            "NEW.held != OLD.held OR (NEW.retry_at > 0) != (OLD.retry_at > 0)",
            f"{TURN_SQL} WHERE task = NEW.task;",
        ),
    )
