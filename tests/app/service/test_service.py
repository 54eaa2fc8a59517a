"""A service runs commands that exist, once per project."""

import subprocess
from pathlib import Path

import pytest

from afresh.app.project import Project, open_project
from afresh.app.service.service import hold_service_lock, keep_address, list_children
from afresh.cli.main import load_command
from afresh.cli.serve import ServeOptions
from afresh.errors import BadInput, NotPossible

EVERYTHING = ServeOptions(3, 0, "127.0.0.1", False, True, "offline", True, True)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for command in (["init", "-q"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return open_project(tmp_path)


def test_the_commands_of_a_service_and_their_options_exist():
    work, heartbeat = list_children(EVERYTHING.workers, EVERYTHING.for_workers, EVERYTHING.schedules)
    begin = work.command.index("work")
    given = load_command("work").make_context("work", list(work.command[begin + 1 :])).params
    assert (given["workers"], given["model"], given["no_sandbox"], given["auto_merge"]) == (3, "offline", True, True)
    assert given["seconds"] > 200 * 365 * 86_400 and not given["until_empty"]
    assert heartbeat.command[-3:] == ("schedule", "run", "--loop")
    assert [child.name for child in list_children(1, (), schedules=False)] == ["workers"]


def test_a_second_service_is_refused_until_the_first_has_ended(here: Project):
    with hold_service_lock(here), pytest.raises(NotPossible, match="already runs for this project"), hold_service_lock(here):
        pass
    with hold_service_lock(here):
        pass


def test_nothing_is_written_through_a_link(here: Project, tmp_path: Path):
    outside = tmp_path / "outside"
    here.paths.make_state()
    for name in ("serve.lock", "serve.address"):
        (here.paths.state / name).symlink_to(outside)
    with pytest.raises(BadInput), hold_service_lock(here):
        pass
    with pytest.raises(BadInput), keep_address(here, "http://127.0.0.1/?token=x"):
        pass
    assert not outside.exists()


def test_the_address_is_readable_by_the_user_only_and_goes_with_the_service(here: Project):
    with keep_address(here, "http://127.0.0.1/?token=x") as path:
        assert path.stat().st_mode & 0o777 == 0o600 and "token=x" in path.read_text()
    assert not path.exists()
