"""Ids of tasks: no two are the same, and old ones stay valid."""

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from afresh.app.orders import tasks
from afresh.app.orders.tasks import TaskOrder, add_task, find_task
from afresh.app.project import Project, open_project
from afresh.core.task import check_task_id, name_briefly
from afresh.errors import BadInput
from support.sample_journals import create_task

ORDER = TaskOrder("Add tabs to the parser", checks=("true",))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    repo = tmp_path / "repo"
    repo.mkdir()
    for command in (["init", "-q"], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty", "-m", "base"]):
        subprocess.run(["git", *command], cwd=repo, check=True)
    return open_project(repo)


def draws(monkeypatch: pytest.MonkeyPatch, *suffixes: str) -> Iterator[str]:
    """What chance gives, in order; what is left of it."""
    left = iter(suffixes)
    monkeypatch.setattr(tasks.secrets, "token_hex", lambda size: next(left))
    return left


def test_a_task_whose_id_is_taken_gets_another(project: Project, monkeypatch: pytest.MonkeyPatch):
    draws(monkeypatch, "0000aaaa", "0000aaaa", "0000aaaa", "0000bbbb")
    first, second = add_task(project, ORDER), add_task(project, ORDER)
    assert (first.task.id, second.task.id) == ("add-tabs-to-the-0000aaaa", "add-tabs-to-the-0000bbbb")
    assert [ticket.task for ticket in project.queue.tickets()] == [first.task.id, second.task.id]
    assert project.store.load(first.task.id) == first and project.store.load(second.task.id) == second


def test_a_task_is_found_by_its_beginning_its_hash_or_any_part_of_its_id(project: Project):
    create_task(project.store, "add-tabs-to-the-parser-3f2a")
    new = add_task(project, ORDER).task.id
    assert check_task_id(new) == new and len(name_briefly(new)) == 8
    assert find_task(project, "add-tabs-to-the-parser-3f2a") == find_task(project, "PARSER-3f2")
    assert {find_task(project, name) for name in (new[:-5], new[-8:], new[-8:-4], new[-6:])} == {new}
    with pytest.raises(BadInput, match=f"matches 2 tasks: .*{new}") as refused:
        find_task(project, "tabs")
    assert "hash at its end" in refused.value.next
    for unknown in ("", "%", "_", "spaces"):
        with pytest.raises(BadInput, match="no such task"):
            find_task(project, unknown)


def test_a_hash_wins_over_the_same_letters_within_another_id(project: Project, monkeypatch: pytest.MonkeyPatch):
    draws(monkeypatch, "cafe0001", "11112222")
    cafe, other = add_task(project, ORDER).task.id, add_task(project, replace(ORDER, goal="Paint the cafe")).task.id
    assert find_task(project, "cafe") == cafe and find_task(project, "paint") == other
