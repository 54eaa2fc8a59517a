"""Commands that read write nothing: neither into the repository nor into the user's folder."""

import gc
import time

import pytest
from person import COMPLETE, MEND, Person, Step

from afresh.app.queue.read_tasks import find_user_folder

READING = (
    "status", "status --all", "status --json", "show", "show --json", "show --checkpoints", "show --tree", "diff", "diff --stat",
    "answer", "spend", "spend --by task", "doctor", "doctor --deep",
    "memory list", "memory list double", "memory show 1", "knowledge list", "knowledge show KO-1", "template", "template check",
    "context show", "context show --text", "context cost", "context cost --sections", "context diff", "context verify",
    "context why double", "context instructions", "context instructions calc.py",
    "code map", "code map double", "code find double", "code find double --callers", "code violations",
    "schedule list", "evolve report", "models", "export {out}",
)  # fmt: skip
"""Every command that only reads, with and without a task that could be meant; an export reads and writes elsewhere."""


def list_files(person: Person) -> dict[str, bytes | str]:
    """All there is in the repository and the user's folder, without what SQLite locks by, and the index of code."""
    found = dict[str, bytes | str]()
    for folder in (person.repo, find_user_folder()):
        for path in folder.rglob("*"):
            if not path.name.endswith("-shm") and find_user_folder() / "code" not in (path, *path.parents):
                kind = (
                    "folder" if path.is_dir() else "" if not path.exists() else "link" if path.is_symlink() else path.read_bytes()
                )
                found[str(path.relative_to(person.folder))] = kind
    return found


def find_written(person: Person, commands: tuple[str, ...]) -> dict[str, list[str]]:
    """By command: which files it changed, made or removed by its end."""
    wrote, before = dict[str, list[str]](), list_files(person)
    for command in commands:
        person.types(*command.format(out=person.folder / "out").split())
        gc.collect()  # what a process closes at its end
        after = list_files(person)
        if changed := sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path)):
            wrote[command] = changed
        before = after
    return wrote


def work(person: Person, *replies: list[Step], **environment: str) -> int:
    model = person.script(*replies)
    order = ("run", "double is wrong", "--type", "fix_bug", "--check", person.check, "--model", model, "--no-sandbox")
    run = person.starts(*order, **environment)
    run.communicate()
    return run.returncode


def test_commands_that_read_write_nothing_after_work(person: Person):
    assert work(person, [MEND], [COMPLETE]) == 0
    assert not [*person.repo.rglob("*-wal"), *find_user_folder().glob("*-wal")], "the worker has moved its logs into the files"
    assert find_written(person, READING) == {}


@pytest.mark.journey
def test_commands_that_read_write_nothing_into_a_repository_that_was_never_used(person: Person):
    assert find_written(person, READING) == {}
    assert not (person.repo / ".afresh").exists()


def test_commands_that_read_leave_the_log_of_a_killed_worker_where_it_is(person: Person):
    run = person.starts(
        "run", "double is wrong", "--type", "fix_bug", "--check", "sleep 600", "--model", person.script([MEND]), "--no-sandbox"
    )
    while not (person.state / "afresh.db-wal").exists() or not person.state.joinpath("sessions").exists():
        assert run.poll() is None
        time.sleep(0.05)
    run.kill()
    run.communicate()
    assert (person.state / "afresh.db-wal").stat().st_size
    assert find_written(person, ("status", "show", "show --checkpoints", "diff", "memory list", "context show", "doctor")) == {}
