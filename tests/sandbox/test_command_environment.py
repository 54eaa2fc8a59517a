"""Which folders of a PATH become readable."""

import os
import pwd
import shutil
import sys
from pathlib import Path

import pytest

from afresh.sandbox.bubblewrap import Bubblewrap, find_bubblewrap
from afresh.sandbox.command_environment import find_interpreter_folders, list_search_path, make_clean_environment
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


def test_toolchains_and_packages_of_rust_and_go_can_be_read_but_no_credentials(
    home: Path, mounts: Mounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RUSTUP_HOME", "CARGO_HOME", "GOMODCACHE"):
        monkeypatch.delenv(name, raising=False)
    shown = [home / ".rustup", home / ".cargo/registry", home / "go/pkg/mod"]
    for folder in shown:
        folder.mkdir(parents=True)
    (home / ".cargo/credentials.toml").write_text("token")
    assert reached(monkeypatch, mounts, home / ".cargo/bin") == {*shown, home / ".cargo/bin"}
    variables = make_clean_environment(mounts)
    assert variables["RUSTUP_HOME"] == str(home / ".rustup") and variables["CARGO_HOME"] == str(home / ".cargo")
    assert variables["GOMODCACHE"] == str(home / "go/pkg/mod") and variables["HOME"] == "/tmp/home"


def test_a_toolchain_folder_that_would_show_the_home_folder_is_left_out(
    home: Path, mounts: Mounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUSTUP_HOME", str(home))
    monkeypatch.setenv("GOMODCACHE", "relative")
    assert home not in reached(monkeypatch, mounts, home / "bin")


@pytest.mark.skipif(shutil.which("cargo") is None or find_bubblewrap() is None, reason="needs cargo and bubblewrap")
def test_cargo_of_rustup_runs_tests_in_the_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path(pwd.getpwuid(os.getuid()).pw_dir)
    monkeypatch.setenv("RUSTUP_HOME", os.environ.get("RUSTUP_HOME", str(real / ".rustup")))
    tree, at = tmp_path / "tree", tmp_path / "at"
    (tree / "src").mkdir(parents=True)
    at.mkdir()
    (tree / "Cargo.toml").write_text('[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\n[lib]\ndoctest = false\n')
    (tree / "src/lib.rs").write_text("#[test]\nfn adds() {\n    assert_eq!(1 + 1, 2);\n}\n")
    done = Bubblewrap(Mounts(tree, at)).run("cargo test", 120)
    assert done.exit == 0 and "test adds ... ok" in done.output, done.output
