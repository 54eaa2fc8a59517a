"""Where things are kept: by the user's word alone, and under a key that is the same on every machine."""

import subprocess
import sys
from pathlib import Path
from socket import gethostname

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.config.settings_file import find_user_config
from afresh.errors import BadInput, NeedsPerson
from afresh.storage import choose_storage
from afresh.storage.choose_storage import find_store_address, identify_project, normalise_remote, remove_credentials

NAMES = st.text("abcxyz0189-_", min_size=1, max_size=8)


@given(st.sampled_from(["github.com", "Git.Example.org"]), NAMES, NAMES, NAMES, NAMES)
def test_a_remote_is_the_same_however_it_is_written_and_holds_no_secret(
    host: str, owner: str, name: str, user: str, password: str
) -> None:
    whole = f"{host.lower()}/{owner}/{name}"
    for address in (
        f"https://{host}/{owner}/{name}.git",
        f"https://{user}:{password}@{host}/{owner}/{name}",
        f"https://{host}:8443/{owner}/{name}.git?token={password}",
        f"ssh://{user}@{host}:22/{owner}/{name}.git",
        f"{user}@{host}:{owner}/{name}.git",
    ):
        assert normalise_remote(address) == whole


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("", ""),
        ("../there", ""),
        ("/srv/one.git", f"{gethostname().lower()}/srv/one"),
        ("file:///srv/one", f"{gethostname().lower()}/srv/one"),
    ],
)
def test_a_folder_is_a_remote_of_this_machine_alone(address: str, key: str) -> None:
    assert normalise_remote(address) == key


@pytest.mark.parametrize(
    ("remote", "kept"),
    [
        ("https://token@example.org/a.git", "https://example.org/a.git"),
        ("ssh://git:pw@example.org:22/a", "ssh://git@example.org:22/a"),
        ("git@example.org:a/b.git", "git@example.org:a/b.git"),
        ("/srv/git/x.git", "/srv/git/x.git"),
    ],
)
def test_workers_get_a_remote_that_they_can_clone_and_no_password(remote: str, kept: str) -> None:
    assert remove_credentials(remote) == kept


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path / "repo")], check=True)
    identify_project.cache_clear()
    return tmp_path / "repo"


def test_without_a_remote_the_key_is_kept_in_the_state_folder(repo: Path) -> None:
    key = identify_project(repo).key
    identify_project.cache_clear()
    assert len(key) > 20 and identify_project(repo).key == key
    assert identify_project(repo).schema.startswith("afresh_") and key not in identify_project(repo).schema


def test_a_person_sets_the_key_by_git_or_by_the_environment(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "remote", "add", "origin", "https://me:pw@example.org/a/b.git"], cwd=repo, check=True)
    assert identify_project(repo).key == "example.org/a/b"
    subprocess.run(["git", "config", "afresh.project", "mine"], cwd=repo, check=True)
    identify_project.cache_clear()
    assert (identify_project(repo).key, identify_project(repo).remote) == ("mine", "https://example.org/a/b.git")
    monkeypatch.setenv("AFRESH_PROJECT", "other")
    identify_project.cache_clear()
    assert identify_project(repo).key == "other"


def test_the_address_comes_from_the_environment_or_the_users_own_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert find_store_address() == ""
    config = find_user_config()
    config.parent.mkdir(parents=True)
    config.write_text('store = "postgresql://one/base"\n')
    assert find_store_address() == "postgresql://one/base"
    monkeypatch.setenv("AFRESH_STORE", "postgresql://two/base")
    assert find_store_address() == "postgresql://two/base"
    monkeypatch.setenv("AFRESH_STORE", "mysql://u:hunter2@h/b")
    with pytest.raises(BadInput) as told:
        find_store_address()
    assert "hunter2" not in f"{told.value} {told.value.next}" and told.value.next


def test_a_missing_package_is_named(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AFRESH_STORE", "postgresql://one/base")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(NeedsPerson, match="not installed") as told:
        choose_storage.open_journal_database(repo).read_version()
    assert "postgres" in told.value.next
