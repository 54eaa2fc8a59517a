from pathlib import Path

import pytest

from afresh.errors import BadInput
from afresh.workspace import environment_files as environment
from afresh.workspace.environment_files import find_environment_folders
from afresh.workspace.repository import Repository
from afresh.workspace.worktree import GitWorkspace


def test_environments_are_found_two_levels_deep_and_only_untracked_ones(
    checkout: Path, repository: Repository, tmp_path: Path, git
):
    for folder in (".venv", "web/node_modules", ".tox", "vendor/bundle", "a/b/node_modules", "tracked/node_modules", "src"):
        (checkout / folder).mkdir(parents=True)
    (checkout / ".venv" / "pyvenv.cfg").touch()
    (checkout / "tracked" / "node_modules" / "kept.js").touch()
    git("add", "-f", "tracked")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "pyvenv.cfg").touch()
    (checkout / "env").symlink_to(tmp_path / "elsewhere")
    assert find_environment_folders(repository) == (".tox", ".venv", "env", "vendor/bundle", "web/node_modules")


def test_environments_of_another_repository_inside_are_not_ours_but_those_of_a_submodule_are(
    checkout: Path, repository: Repository
):
    for folder in ("other/node_modules", "other/.git", "part/node_modules"):
        (checkout / folder).mkdir(parents=True)
    (checkout / "part" / ".git").write_text("gitdir: ../.git/modules/part\n")
    assert find_environment_folders(repository) == ("part/node_modules",)


def test_an_environment_that_is_put_into_the_tree_is_no_part_of_a_snapshot(checkout: Path, workspace: GitWorkspace):
    (checkout / "odd name*").mkdir()
    (checkout / "odd name*" / "pyvenv.cfg").touch()
    opened = workspace.open()
    (workspace.root / "odd name*").mkdir()
    (workspace.root / "odd name*" / "pyvenv.cfg").touch()
    assert workspace.snapshot() == opened.snapshot


@pytest.fixture
def installed(checkout: Path, git) -> Path:
    """As an editable install leaves it."""
    (checkout / ".gitignore").write_text("*.egg-info/\n*.so\n_version.py\nversion.py\n*.log\n")
    (checkout / "pkg" / "__init__.py").touch()
    git("add", "-A")
    git("commit", "-qm", "Package")
    (checkout / "pkg.egg-info").mkdir()
    (checkout / "pkg.egg-info" / "PKG-INFO").write_text("Name: pkg\n")
    (checkout / "pkg" / "_version.py").write_text("version = '1'\n")
    (checkout / "pkg" / "fast.so").write_bytes(b"\x7fELF")
    (checkout / "pkg" / "run.log").write_text("log")
    (checkout / "version.py").write_text("in no package")
    return checkout


def test_generated_files_that_imports_need_are_copied_and_named(installed: Path, workspace: GitWorkspace):
    opened = workspace.open()
    assert (workspace.root / "pkg.egg-info" / "PKG-INFO").read_text() == "Name: pkg\n"
    assert (workspace.root / "pkg" / "_version.py").exists() and (workspace.root / "pkg" / "fast.so").exists()
    assert not (workspace.root / "pkg" / "run.log").exists() and not (workspace.root / "version.py").exists()
    workspace.restore(opened.snapshot, fresh=True)
    assert (workspace.root / "pkg" / "_version.py").exists(), "a fresh tree is like the one that the task began with"
    assert "since imports need them: pkg, pkg.egg-info." in opened.note
    assert workspace.snapshot() == opened.snapshot
    workspace.restore(opened.snapshot)
    assert (workspace.root / "pkg" / "_version.py").exists()


def test_what_would_be_too_much_is_left_and_named(installed: Path, workspace: GitWorkspace, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(environment, "MAX_COPIED_BYTES", 20)
    assert "Not copied, though imports may need them: pkg/_version.py." in workspace.open().note
    assert not (workspace.root / "pkg" / "_version.py").exists()


def test_copied_files_stay_out_of_snapshots_though_the_base_does_not_ignore_them(checkout: Path, workspace: GitWorkspace):
    (checkout / ".gitignore").write_text("*.egg-info/\n")
    (checkout / "x.egg-info").mkdir()
    (checkout / "x.egg-info" / "PKG-INFO").write_text("Name: x\n")
    opened = workspace.open()
    assert (workspace.root / "x.egg-info" / "PKG-INFO").exists()
    assert workspace.snapshot() == opened.snapshot


def test_a_link_among_the_generated_files_is_not_followed(installed: Path, workspace: GitWorkspace, tmp_path: Path):
    (tmp_path / "secret").write_text("secret")
    (installed / "pkg.egg-info" / "leak").symlink_to(tmp_path / "secret")
    workspace.open()
    assert not (workspace.root / "pkg.egg-info" / "leak").exists()


def test_ignored_folders_that_are_wanted_are_put_into_the_tree_but_no_key_and_no_change(checkout: Path, repository: Repository):
    for name in ("build/out.js", "build/deep/.env", "build/deep/server.pem", "build/more.js"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text("x")
    workspace = GitWorkspace(repository, "t1", wanted=("build/",))
    opened = workspace.open()
    assert sorted(path.name for path in (workspace.root / "build").rglob("*") if path.is_file()) == ["more.js", "out.js"]
    assert "need them: build." in opened.note and workspace.snapshot() == opened.snapshot
    GitWorkspace(repository, "t1").restore(opened.snapshot, fresh=True)
    assert (workspace.root / "build" / "out.js").exists(), "also in a fresh tree of a process that was not told"


@pytest.mark.parametrize("name", ["/etc", "../other", ".git", "", "a/../../b"])
def test_a_wanted_name_that_leads_out_is_refused(repository: Repository, name: str):
    with pytest.raises(BadInput, match="copy"):
        GitWorkspace(repository, "t1", wanted=(name,)).open()
