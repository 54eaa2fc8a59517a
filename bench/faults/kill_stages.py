"""The commands that are killed: what must be there before each, what continues it, and how its outcome is read."""

import hashlib
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afresh.core.event import MemoryCompacted, ReplyReceived
from afresh.core.state import State
from afresh.storage.sql.journal import SqlJournal
from afresh.storage.sqlite.database import Database
from afresh.views.write_files import list_view_files
from faults.trial import RUN, Trial

RESUME = ("resume", "--no-sandbox", "-q")


@dataclass(frozen=True, slots=True)
class Stage:
    name: str
    command: Callable[[Trial], tuple[str, ...]]
    read: Callable[[Trial], Any]
    """What must be as after an undisturbed command in the end."""
    prepare: Callable[[Trial], None] = lambda trial: None
    continued: Callable[[Trial], tuple[str, ...]] | None = None
    """None: it is typed again, if it has not happened yet."""
    whole: bool = True
    """It happens as a whole or not at all."""
    compacting: bool = False
    weight: int = 1
    works: bool = False
    """A task is worked on: replies are bought."""


def read_journals(trial: Trial) -> list[tuple[State, list[Any]]]:
    """Each task's state and its events, with every hash checked."""
    path = trial.state / "afresh.db"
    if not path.exists():
        return []
    with closing(Database(path)) as database:
        journal = SqlJournal(database)
        with database.reading() as connection:
            tasks = [row[0] for row in connection.execute("SELECT id FROM task ORDER BY number")]
        return [(journal.load(task), [entry.event for entry in journal.journal(task)]) for task in tasks]


def count_bought(trial: Trial) -> tuple[int, int]:
    """Replies that are in journals, and calls that are in the ledger."""
    replies = sum(isinstance(event, ReplyReceived) for _, events in read_journals(trial) for event in events)
    ledger = trial.home / ".local/share/afresh/ledger.db"
    if not ledger.exists():
        return replies, 0
    with closing(sqlite3.connect(ledger)) as connection:
        tables = connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'call'").fetchone()[0]
        return replies, connection.execute("SELECT count(*) FROM call").fetchone()[0] if tables else 0


def read_work(trial: Trial) -> Any:
    """What a worked task came to, whatever its id is."""
    found = list[Any]()
    for state, events in read_journals(trial):
        verdict = state.verification.verdict
        commit = trial.git("log", "-1", "--format=%T %B", f"afresh/{state.task.id}").replace(state.task.id, "TASK")
        facts = sorted((str(fact.kind), fact.subject) for fact in state.memory.facts)
        compacted = [event.gone for event in events if isinstance(event, MemoryCompacted)]
        found.append((
            str(state.status), state.work.step, state.spending.calls, state.workspace.kept, state.workspace.reverted,
            verdict and str(verdict.ruling), state.work.plan, facts, len(compacted), commit,
        ))  # fmt: skip
    return found


def read_undone(trial: Trial) -> Any:
    """What the task stands at. Its tree follows with the next step (`tests/scenarios/test_kill_undo.py`)."""
    return [(str(state.status), state.work.step, state.workspace.kept) for state, _ in read_journals(trial)]


def read_queue(trial: Trial) -> Any:
    return sorted((state.task.goal, str(state.status)) for state, _ in read_journals(trial))


def read_rules(trial: Trial) -> Any:
    told = json.loads(trial.types("memory", "list", "--json").out)
    facts = told if isinstance(told, list) else told["facts"]
    return sorted(str(fact.get("text")) for fact in facts)


def read_lessons(trial: Trial) -> Any:
    told = json.loads(trial.types("knowledge", "list", "--json").out)
    return sorted((lesson["title"], lesson["status"]) for lesson in told["objects"])


def read_folder(folder: Path) -> dict[str, str]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()] if folder.is_dir() else []
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def read_imported(trial: Trial) -> Any:
    return [(state.task.goal, str(state.status), state.head, len(events)) for state, events in read_journals(trial)]


def read_settings(trial: Trial) -> Any:
    config = trial.repo / ".afresh/config.toml"
    return config.read_text() if config.exists() else ""


def read_views(trial: Trial) -> Any:
    return {str(path.relative_to(trial.state)): path.read_bytes() for path in list_view_files(trial.state)}


def read_branch(trial: Trial) -> Any:
    return (
        trial.git("log", "--format=%T %s", "main"),
        (trial.repo / "calc.py").read_text(),
        trial.git("status", "--porcelain", "calc.py"),
    )


def finish_task(trial: Trial) -> None:
    trial.types(*RUN, "--model", trial.model)


def remove_tests(trial: Trial) -> None:
    """So that there is nothing for `init` to try in a sandbox, which takes far longer than all that it writes."""
    trial.git("rm", "-q", "test_calc.py")
    trial.git("commit", "-qm", "no tests")


def stop_early(trial: Trial) -> None:
    """After the change was kept, before it was reported done."""
    trial.types(*RUN, "--model", trial.model, "--set", "max_steps=4")


def export_and_lose_state(trial: Trial) -> None:
    finish_task(trial)
    trial.types("export")
    for path in trial.state.glob("afresh.db*"):
        path.unlink()


def damage_views(trial: Trial) -> None:
    finish_task(trial)
    for path in list_view_files(trial.state):
        path.write_bytes(path.read_bytes()[:10])


def name_lesson(trial: Trial) -> str:
    return json.loads(trial.types("knowledge", "list", "--json").out)["objects"][0]["id"]


def name_open_task(trial: Trial) -> str:
    return next(state.task.id for state, _ in read_journals(trial) if not state.status.over)


def add_and_finish(trial: Trial) -> None:
    finish_task(trial)
    trial.types("add", "another goal", "--no-check")


STAGES = (
    Stage("init", lambda trial: ("init",), read_settings, remove_tests, continued=lambda trial: ("init",)),
    Stage("run", lambda trial: (*RUN, "--model", trial.model), read_work, continued=lambda trial: RESUME, whole=False, weight=5,
          works=True),
    Stage("compaction", lambda trial: (*RUN, "--model", trial.model), read_work, continued=lambda trial: RESUME, whole=False,
          compacting=True, weight=3, works=True),
    Stage("undo", lambda trial: ("undo",), read_undone, stop_early, weight=2),
    Stage("queue: add", lambda trial: ("add", "another goal", "--no-check"), read_queue, finish_task, weight=2),
    Stage("queue: discard", lambda trial: ("discard", name_open_task(trial)), read_queue, add_and_finish, weight=2),
    Stage("knowledge: rule", lambda trial: ("memory", "add", "whole words only"), read_rules, finish_task, weight=2),
    Stage("knowledge: lesson", lambda trial: ("knowledge", "reject", name_lesson(trial)), read_lessons, finish_task,
          weight=2),
    Stage("export", lambda trial: ("export",), lambda trial: read_folder(trial.repo / ".afresh/export"), add_and_finish,
          continued=lambda trial: ("export",), whole=False, weight=2),
    Stage("import", lambda trial: ("import",), read_imported, export_and_lose_state, weight=2),
    Stage("rebuild", lambda trial: ("doctor", "--rebuild"), read_views, damage_views,
          continued=lambda trial: ("doctor", "--rebuild"), whole=False, weight=2),
    Stage("apply", lambda trial: ("apply",), read_branch, finish_task, weight=2),
)  # fmt: skip
