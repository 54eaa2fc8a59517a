"""Repositories and trees that try to run something, hide something or break a snapshot. The canary must never appear."""

import os
import socket
import subprocess
import traceback
from pathlib import Path

import pytest

from afresh.errors import NeedsPerson
from afresh.workspace.apply_or_discard import discard_task_branch, merge_task_branch
from afresh.workspace.disk_files import clear_path
from afresh.workspace.repository import Repository
from afresh.workspace.worktree import GitWorkspace
from support.workspace_contract import hash_tree

HOOKS = (
    "post-checkout", "pre-commit", "post-commit", "commit-msg", "prepare-commit-msg", "pre-merge-commit", "post-merge",
    "reference-transaction", "post-index-change", "pre-auto-gc", "fsmonitor-watchman", "post-rewrite",
)  # fmt: skip


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    return tmp_path / "canary"


@pytest.fixture
def trap(tmp_path: Path, canary: Path) -> Path:
    """A program that leaves the canary and passes its input on, as a filter would."""
    program = tmp_path / "trap"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {canary}\ncat\n')
    program.chmod(0o755)
    return program


@pytest.fixture
def hostile(checkout: Path, trap: Path, canary: Path, git) -> Path:
    """Everything in a repository that makes git start a program."""
    (checkout / ".gitattributes").write_text("* filter=trap diff=trap merge=trap ident text=auto eol=crlf\n*.txt -diff\n")
    (checkout / "many.txt").write_text("$Id$\n")
    git("add", "-A")
    git("commit", "-qm", "Attributes")
    for hook in HOOKS:
        (checkout / ".git" / "hooks" / hook).write_text(trap.read_text())
        (checkout / ".git" / "hooks" / hook).chmod(0o755)
    settings = {
        "core.fsmonitor": trap, "core.pager": trap, "core.editor": trap, "core.sshCommand": trap, "diff.external": trap,
        "filter.trap.clean": trap, "filter.trap.smudge": trap, "filter.trap.process": trap, "filter.trap.required": "true",
        "diff.trap.textconv": trap, "diff.trap.command": trap, "merge.trap.driver": trap, "gpg.program": trap,
        "commit.gpgSign": "true", "credential.helper": f"!{trap}", "alias.worktree": f"!{trap}", "alias.read-tree": f"!{trap}",
        "core.alternateRefsCommand": trap, "extensions.partialClone": "evil", "remote.evil.promisor": "true",
        "remote.evil.url": f"ext::{trap}", "protocol.ext.allow": "always", "core.askPass": trap, "interactive.diffFilter": trap,
        "uploadpack.packObjectsHook": trap, "gc.auto": "1", "sequence.editor": trap, "core.autocrlf": "true",
    }  # fmt: skip
    with (checkout / ".git" / "config").open("a") as config:
        for name, value in settings.items():
            section, _, key = name.rpartition(".")
            head, _, middle = section.partition(".")
            config.write(f'[{head} "{middle}"]\n' if middle else f"[{head}]\n")
            config.write(f'\t{key} = "{value}"\n')
    (checkout / "change.txt").write_text("uncommitted, so that a careless status would run the clean filter\n")
    canary.unlink(missing_ok=True)
    return checkout


def test_the_traps_work(hostile: Path, canary: Path):
    subprocess.run(["git", "status"], cwd=hostile, capture_output=True, check=False)
    assert canary.exists()


def test_nothing_of_a_hostile_repository_is_run(hostile: Path, canary: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(canary))
    workspace = GitWorkspace(Repository.find(hostile), "t1")
    opened = workspace.open()
    (workspace.root / "keep.txt").write_text("changed\n")
    snapshot = workspace.snapshot()
    changed = workspace.changes(opened.snapshot, snapshot)
    assert [(change.path, "+changed" in change.patch) for change in changed] == [("keep.txt", True)]
    workspace.files.paths()
    workspace.publish(snapshot, "Change")
    workspace.restore(opened.snapshot)
    GitWorkspace(Repository.find(hostile), "t1").open()
    discard_task_branch(workspace.repository, "t1")
    assert not canary.exists(), canary.read_text()


def test_a_bare_repository_inside_the_tree_is_a_folder_of_files(hostile: Path, canary: Path, trap: Path):
    """Git takes a folder that looks like a repository for one, and its configuration names programs."""
    workspace = GitWorkspace(Repository.find(hostile), "t1")
    first = workspace.open()
    inside = workspace.root / "docs"
    (inside / "objects").mkdir(parents=True)
    (inside / "refs").mkdir()
    (inside / "HEAD").write_text("ref: refs/heads/main\n")
    (inside / "config").write_text(f"[core]\n\tbare = true\n\tfsmonitor = {trap}\n\tworktree = {workspace.root}\n")
    snapshot = workspace.snapshot()
    assert {change.path for change in workspace.changes(first.snapshot, snapshot)} == {"docs/HEAD", "docs/config"}
    workspace.publish(snapshot, "Change")
    workspace.restore(first.snapshot)
    assert not canary.exists(), canary.read_text()


def test_a_missing_object_is_not_fetched_through_a_transport_of_the_repository(hostile: Path, canary: Path):
    for name in (".gitignore", "keep.txt"):
        blob = subprocess.run(
            ["git", "--git-dir", str(hostile / ".git"), "ls-tree", "--object-only", "HEAD", name],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        (hostile / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    canary.unlink(missing_ok=True)
    with pytest.raises(NeedsPerson):
        GitWorkspace(Repository.find(hostile), "t1").open()
    assert not canary.exists(), canary.read_text()


def test_hooks_do_not_run_when_a_task_is_applied(checkout: Path, trap: Path, canary: Path, git):
    git("config", "core.hooksPath", ".githooks")
    workspace = GitWorkspace(Repository.find(checkout), "t1")
    workspace.open()
    (workspace.root / ".githooks").mkdir()
    for hook in HOOKS:
        (workspace.root / ".githooks" / hook).write_text(trap.read_text())
        (workspace.root / ".githooks" / hook).chmod(0o755)
    workspace.publish(workspace.snapshot(), "Hooks")
    merge_task_branch(workspace.repository, "t1")
    assert (checkout / ".githooks" / "post-merge").exists()
    assert not canary.exists(), canary.read_text()


def test_bytes_are_kept_whatever_attributes_say(opened: GitWorkspace):
    (opened.root / ".gitattributes").write_text("* text=auto eol=lf ident working-tree-encoding=UTF-16\n")
    (opened.root / "crlf.txt").write_bytes(b"a\r\nb\r\n$Id$\n\xff\xfe")
    (opened.root / "ident.txt").write_bytes(b"$Id: abc $\n")
    snapshot, content = opened.snapshot(), hash_tree(opened.root, without=(".git",))
    (opened.root / "crlf.txt").unlink()
    (opened.root / "ident.txt").unlink()
    opened.restore(snapshot)
    assert hash_tree(opened.root, without=(".git",)) == content


@pytest.mark.parametrize("kind", ["gone", "folder", "link", "file"])
def test_a_replaced_git_pointer_is_put_back(opened: GitWorkspace, trap: Path, canary: Path, kind: str, git):
    snapshot, pointer = opened.snapshot(), opened.root / ".git"
    right = pointer.read_bytes()
    pointer.unlink()
    if kind == "folder":
        git("init", "-q", str(opened.root), cwd=opened.root)
        git("config", "core.fsmonitor", str(trap), cwd=opened.root)
    elif kind == "link":
        pointer.symlink_to(opened.repository.git_dir)
    elif kind == "file":
        pointer.write_text("gitdir: /nonexistent\n")
    (opened.root / "keep.txt").write_text("work")
    assert opened.snapshot() != snapshot
    opened.restore(snapshot)
    assert pointer.read_bytes() == right and not pointer.is_symlink()
    assert (opened.repository.git_dir / "HEAD").exists()
    assert not canary.exists()


def test_a_rule_that_the_model_writes_hides_nothing(opened: GitWorkspace):
    before, content = opened.snapshot(), hash_tree(opened.root, without=(".git",))
    (opened.root / ".gitignore").write_text("*\n")
    (opened.root / "pkg" / ".gitignore").write_text("*\n!.gitignore\n")
    (opened.root / "pkg" / "hidden.py").write_text("x = 1\n")
    changed = {change.path for change in opened.changes(before, opened.snapshot())}
    assert changed == {".gitignore", "pkg/.gitignore", "pkg/hidden.py"}
    assert "pkg/hidden.py" in opened.files.paths()
    opened.restore(before)
    assert hash_tree(opened.root, without=(".git",)) == content


def test_a_rule_that_the_model_takes_away_shows_the_file(opened: GitWorkspace):
    before = opened.snapshot()
    (opened.root / "build").mkdir()
    (opened.root / "build" / "out.py").write_text("x = 1\n")
    assert opened.snapshot() == before
    (opened.root / ".gitignore").write_text("*.log\n")
    assert "build/out.py" in {change.path for change in opened.changes(before, opened.snapshot())}


def test_nested_repositories_are_kept_as_files_and_go_at_restore(opened: GitWorkspace, trap: Path, canary: Path, git):
    before, content = opened.snapshot(), hash_tree(opened.root, without=(".git",))
    for place in ("nested", "pkg"):
        git("init", "-q", str(opened.root / place), cwd=opened.root)
        (opened.root / place / "inner.py").write_text("x = 1\n")
        git("add", "-A", cwd=opened.root / place)
        git("commit", "-qm", "Inner", cwd=opened.root / place)
        git("config", "core.fsmonitor", str(trap), cwd=opened.root / place)
    snapshot = opened.snapshot()
    assert {change.path for change in opened.changes(before, snapshot)} == {"nested/inner.py", "pkg/inner.py"}
    opened.restore(before)
    assert hash_tree(opened.root, without=(".git",)) == content
    assert not (opened.root / "nested").exists() and not (opened.root / "pkg" / ".git").exists()
    opened.restore(snapshot)
    assert (opened.root / "nested" / "inner.py").read_text() == "x = 1\n"
    assert not canary.exists()


def test_names_that_git_refuses_do_not_break_a_snapshot(opened: GitWorkspace):
    before, content = opened.snapshot(), hash_tree(opened.root, without=(".git",))
    for folder in (".GIT", "git~1", "pkg/.Git"):
        (opened.root / folder).mkdir()
        (opened.root / folder / "config").write_text("[core]\n")
    assert opened.snapshot() == before
    opened.restore(before)
    assert hash_tree(opened.root, without=(".git",)) == content


def test_pipes_and_sockets_do_not_break_a_snapshot(opened: GitWorkspace, monkeypatch: pytest.MonkeyPatch):
    before, content = opened.snapshot(), hash_tree(opened.root, without=(".git",))
    (opened.root / "keep.txt").unlink()
    os.mkfifo(opened.root / "keep.txt")
    os.mkfifo(opened.root / "new.pipe")
    monkeypatch.chdir(opened.root)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("pkg/socket")
    assert [(c.path, c.kind) for c in opened.changes(before, opened.snapshot())] == [("keep.txt", "deleted")]
    opened.restore(before)
    assert {name: held for name, held in hash_tree(opened.root, without=(".git",)).items() if held[1] != "special"} == content


def test_a_folder_swapped_for_a_link_is_not_followed(opened: GitWorkspace, tmp_path: Path):
    before, content = opened.snapshot(), hash_tree(opened.root, without=(".git",))
    outside = tmp_path / "outside"
    (opened.root / "pkg").rename(outside)
    (outside / ".git").mkdir()
    (outside / "precious").write_text("mine")
    (opened.root / "pkg").symlink_to(outside)
    snapshot = opened.snapshot()
    assert {change.path for change in opened.changes(before, snapshot)} == {"pkg", "pkg/module.py"}
    opened.restore(before)
    assert hash_tree(opened.root, without=(".git",)) == content
    opened.restore(snapshot)
    assert (opened.root / "pkg").is_symlink()
    assert {place.name for place in outside.iterdir()} == {"module.py", ".git", "precious"}


@pytest.mark.parametrize("inside", [".git", "precious"])
def test_an_ignored_link_in_place_of_a_folder_is_put_right_and_not_followed(checkout: Path, tmp_path: Path, git, inside: str):
    (checkout / ".gitignore").write_text("pkg\n")
    git("commit", "-qam", "Ignore what is tracked")
    workspace = GitWorkspace(Repository.find(checkout), "t1")
    before = workspace.open().snapshot
    content, outside = hash_tree(workspace.root, without=(".git",)), tmp_path / "outside"
    (workspace.root / "pkg").rename(outside)
    (outside / inside).mkdir()
    (workspace.root / "pkg").symlink_to(outside)
    assert workspace.snapshot() == before
    workspace.restore(before)
    assert hash_tree(workspace.root, without=(".git",)) == content
    assert not (workspace.root / "pkg").is_symlink()
    assert {place.name for place in outside.iterdir()} == {"module.py", inside}


@pytest.mark.parametrize("target", ["nowhere", "pkg", "/nonexistent", "../../../../.git"])
def test_a_folder_swapped_for_a_broken_link_is_seen_and_put_back(opened: GitWorkspace, target: str):
    before, content = opened.snapshot(), hash_tree(opened.root, without=(".git",))
    clear_path(opened.root, "pkg")
    (opened.root / "pkg").symlink_to(target)
    assert {change.path for change in opened.changes(before, opened.snapshot())} == {"pkg", "pkg/module.py"}
    opened.restore(before)
    assert hash_tree(opened.root, without=(".git",)) == content


@pytest.mark.parametrize("ignored", ["run.log", "__pycache__/x.pyc"])
def test_ignored_files_in_the_way_of_a_restore_give_way(opened: GitWorkspace, ignored: str):
    before, content = opened.snapshot(), hash_tree(opened.root, without=(".git",))
    (opened.root / "keep.txt").unlink()
    (opened.root / "keep.txt" / ignored).parent.mkdir(parents=True)
    (opened.root / "keep.txt" / ignored).write_text("in the way")
    opened.restore(before)
    assert hash_tree(opened.root, without=(".git",)) == content


def test_an_ignored_file_where_a_folder_belongs_gives_way(opened: GitWorkspace):
    before = opened.snapshot()
    (opened.root / "out.log").mkdir()
    (opened.root / "out.log" / "kept.py").write_text("x")
    (opened.root / ".gitignore").write_text("")
    snapshot = opened.snapshot()
    opened.restore(before)
    (opened.root / "out.log").write_text("ignored")
    opened.restore(snapshot)
    assert (opened.root / "out.log" / "kept.py").read_text() == "x"


def test_state_inside_the_tree_is_never_part_of_a_snapshot(opened: GitWorkspace):
    before = opened.snapshot()
    (opened.root / ".afresh" / "state").mkdir(parents=True)
    (opened.root / ".afresh" / "state" / "afresh.db").write_text("fake")
    (opened.root / ".gitignore").write_text("*.log\n/build/\n!.afresh/state/\n")
    assert {change.path for change in opened.changes(before, opened.snapshot())} == {".gitignore"}


def test_a_file_changed_within_the_same_second_and_size_is_seen(opened: GitWorkspace):
    seen = set()
    for number in range(5):
        (opened.root / "change.txt").write_text(f"{number}\n")
        seen.add(opened.snapshot())
    assert len(seen) == 5


def work_with_locked_files(checkout: Path) -> None:
    workspace = GitWorkspace(Repository.find(checkout), "t1")
    before = workspace.open().snapshot
    (workspace.root / "keep.txt").write_text("changed")
    (workspace.root / "keep.txt").chmod(0)
    (workspace.root / "deep").mkdir()
    (workspace.root / "deep" / "file").write_text("x")
    (workspace.root / "deep").chmod(0)
    (workspace.root / "pkg").chmod(0o555)
    snapshot = workspace.snapshot()
    assert len(workspace.changes(before, snapshot)) == 2
    (workspace.root / "deep").chmod(0o111)
    workspace.restore(before)
    assert workspace.snapshot() == before
    assert not (workspace.root / "deep").exists()


def as_ordinary_user(checkout: Path, report: Path) -> None:
    """In a child process that gives up being root."""
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0, report.read_text()
        return
    code = 1
    try:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        work_with_locked_files(checkout)
        code = 0
    except BaseException:
        report.write_text(traceback.format_exc())
    finally:
        os._exit(code)


def test_files_without_rights_are_kept_and_removed_by_an_ordinary_user(checkout: Path, no_settings_of_this_machine: Path):
    if os.geteuid():
        work_with_locked_files(checkout)
        return
    report = checkout.parent / "report"
    report.touch()
    for place in (checkout, report, no_settings_of_this_machine):
        subprocess.run(["chown", "-R", "65534:65534", str(place)], check=True)
    for parent in {*checkout.parents, *no_settings_of_this_machine.parents}:
        if "pytest" in str(parent):
            parent.chmod(parent.stat().st_mode | 0o055)
    as_ordinary_user(checkout, report)
