"""Which folders of a PATH become readable."""

import sys
from pathlib import Path

import pytest

from afresh.sandbox.command_environment import find_interpreter_folders, list_search_path
from afresh.sandbox.mounts import Mounts


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(sys, "prefix", "/usr")
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    return home


@pytest.fixture
def mounts(home: Path) -> Mounts:
    return Mounts(home / "project/.afresh/state/worktrees/t", home / "project")


def reached(monkeypatch: pytest.MonkeyPatch, mounts: Mounts, *folders: Path) -> set[Path]:
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("PATH", ":".join(map(str, folders)))
    return set(find_interpreter_folders(mounts))


def test_programs_of_the_home_folder_do_not_bring_the_home_folder(
    home: Path, mounts: Mounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "lib/python3.11").mkdir(parents=True)
    (home / "lib/python3.11/os.py").touch()
    assert reached(monkeypatch, mounts, home / "bin", home / ".local/bin", home) == {home / "bin", home / ".local/bin"}


def test_credentials_beside_programs_stay_hidden(home: Path, mounts: Mounts, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".cargo").mkdir()
    (home / ".cargo/credentials.toml").write_text("token")
    assert reached(monkeypatch, mounts, home / ".cargo/bin") == {home / ".cargo/bin"}


def test_a_python_comes_with_its_library(home: Path, mounts: Mounts, monkeypatch: pytest.MonkeyPatch) -> None:
    version = home / ".pyenv/versions/3.12"
    (version / "lib/python3.12").mkdir(parents=True)
    (version / "lib/python3.12/os.py").touch()
    assert reached(monkeypatch, mounts, version / "bin") == {version}


def test_a_virtual_environment_comes_with_the_python_it_is_made_from(
    home: Path, mounts: Mounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, virtual = home / "pythons/3.12", home / "virtual"
    (base / "lib/python3.12").mkdir(parents=True)
    (base / "lib/python3.12/os.py").touch()
    (base / "bin").mkdir()
    (virtual / "bin").mkdir(parents=True)
    (virtual / "pyvenv.cfg").write_text(f"home = {base}/bin\n")
    assert reached(monkeypatch, mounts, virtual / "bin") == {base, virtual}


def test_shims_come_with_the_versions_they_lead_to(home: Path, mounts: Mounts, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".pyenv/versions").mkdir(parents=True)
    assert reached(monkeypatch, mounts, home / ".pyenv/shims") == {home / ".pyenv"}


def test_the_checkout_itself_is_not_reached_through_an_activated_environment(
    home: Path, mounts: Mounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    virtual = mounts.at / ".venv"
    (virtual / "bin").mkdir(parents=True)
    (virtual / "pyvenv.cfg").write_text("home = /usr/bin\n")
    assert reached(monkeypatch, mounts, virtual / "bin", mounts.at / "bin") == set()


def test_relative_folders_on_the_path_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", ".:bin::/usr/bin")
    assert list_search_path() == (Path("/usr/bin"),)


def test_a_folder_of_the_path_that_may_not_be_looked_at_is_left_out(monkeypatch: pytest.MonkeyPatch):
    """As for an ordinary user with a PATH of root's; even root may not look at a name that is too long."""
    monkeypatch.setenv("PATH", f"/{'x' * 300}:/usr/bin")
    assert list_search_path() == (Path("/usr/bin"),)
