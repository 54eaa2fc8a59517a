import os
from pathlib import Path

import pytest

from afresh.app.compose import RunTerms, build_runtime
from afresh.app.orders.tasks import TaskOrder, add_task
from afresh.app.project import open_project
from afresh.errors import ModelMistake
from afresh.workspace import confined_path as confine
from afresh.workspace.diff import read_files
from afresh.workspace.files import TreeFiles
from afresh.workspace.repository import Repository
from afresh.workspace.worktree import GitWorkspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "module.py").write_text("x = 1\n")
    (tmp_path / "secret").write_text("secret")
    return folder


@pytest.fixture
def files(root: Path) -> TreeFiles:
    return TreeFiles(root, lambda: ("src/module.py",))


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../secret",
        "src/../../secret",
        "a\0b",
        "a" * 300,
        "a/" * 600,
        "/proc/self/root/etc/passwd",
        ".",
        "\ud800",
    ],
)
def test_a_path_that_leads_outside_is_refused(files: TreeFiles, path: str, tmp_path: Path):
    for use in (files.read, lambda path: files.write(path, "x")):
        with pytest.raises(ModelMistake):
            use(path)
    assert (tmp_path / "secret").read_text() == "secret"


@pytest.mark.parametrize(
    "path", [".git", ".git/config", "src/.git/config", ".GIT/config", ".afresh/state/afresh.db", ".afresh/State/x"]
)
def test_git_and_state_are_out_of_reach(files: TreeFiles, root: Path, path: str):
    for use in (files.read, lambda path: files.write(path, "x")):
        with pytest.raises(ModelMistake, match="can't be read or written"):
            use(path)
    assert not (root / path).exists()


@pytest.mark.parametrize("target", ["../secret", "/etc/passwd", "src/../../secret", "/proc/self/root/etc/passwd", "loop"])
def test_a_link_to_the_outside_is_refused(files: TreeFiles, root: Path, target: str, tmp_path: Path):
    (root / "loop").symlink_to("loop")
    (root / "link").symlink_to(target)
    (root / "folder").symlink_to("..")
    for path in ("link", "folder/secret"):
        for use in (files.read, lambda path: files.write(path, "x")):
            with pytest.raises(ModelMistake):
                use(path)
    assert (tmp_path / "secret").read_text() == "secret"


def test_a_link_into_git_is_refused(files: TreeFiles, root: Path):
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("x")
    (root / "link").symlink_to(".git/config")
    with pytest.raises(ModelMistake, match="git's own files"):
        files.read("link")


def test_a_link_inside_is_followed_and_stays_a_link(files: TreeFiles, root: Path):
    (root / "docs").mkdir()
    (root / "docs" / "link.py").symlink_to("../src/module.py")
    (root / "lib").symlink_to("src")
    assert files.read("docs/link.py") == files.read("lib/module.py") == "x = 1\n"
    files.write("docs/link.py", "x = 2\n")
    assert (root / "docs" / "link.py").is_symlink() and (root / "src" / "module.py").read_text() == "x = 2\n"


def test_a_folder_swapped_between_check_and_use_does_not_win(files: TreeFiles, root: Path, tmp_path: Path, monkeypatch):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "module.py").write_text("secret")
    link = confine._Walk._link

    def swapping(self, part):
        if part == "module.py" and not (root / "src").is_symlink():
            (root / "src").rename(root / "moved")
            (root / "src").symlink_to(tmp_path / "outside")
        return link(self, part)

    monkeypatch.setattr(confine._Walk, "_link", swapping)
    assert files.read("src/module.py") == "x = 1\n"
    files_after = TreeFiles(root, tuple)
    monkeypatch.undo()
    with pytest.raises(ModelMistake):
        files_after.write("src/module.py", "overwritten")
    assert (tmp_path / "outside" / "module.py").read_text() == "secret"


def test_a_component_swapped_after_its_check_is_not_followed(files: TreeFiles, root: Path, tmp_path: Path, monkeypatch):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "module.py").write_text("secret")
    link = confine._Walk._link

    def swapping(self, part):
        found = link(self, part)
        if part == "src":
            (root / "src").rename(root / "moved")
            (root / "src").symlink_to(tmp_path / "outside")
        return found

    monkeypatch.setattr(confine._Walk, "_link", swapping)
    with pytest.raises(ModelMistake):
        files.read("src/module.py")


def test_a_hard_link_is_replaced_not_written_through(files: TreeFiles, root: Path, tmp_path: Path):
    os.link(tmp_path / "secret", root / "hard")
    files.write("hard", "changed")
    assert (tmp_path / "secret").read_text() == "secret"


def test_a_missing_file_is_told_with_near_matches(files: TreeFiles):
    with pytest.raises(ModelMistake, match=r"no such file: 'module\.py'; near matches: src/module\.py"):
        files.read("module.py")
    with pytest.raises(ModelMistake, match=r"near matches: src/module\.py"):
        files.read("src/modul.py")


def test_what_is_no_text_file_is_told_with_its_size(files: TreeFiles, root: Path):
    (root / "binary").write_bytes(b"\x7fELF\0\0")
    (root / "large").write_text("x" * 2_000_001)
    os.mkfifo(root / "pipe")
    for path, words in {
        "binary": "binary file of 6 bytes",
        "large": "2,000,001 bytes",
        "pipe": "pipe",
        "src": "holds 1 entries",
    }.items():
        with pytest.raises(ModelMistake, match=words):
            files.read(path)
    with pytest.raises(ModelMistake, match="at most"):
        files.write("new", "x" * 2_000_001)
    with pytest.raises(ModelMistake, match="pipe"):
        files.write("pipe", "x")
    with pytest.raises(ModelMistake, match="is not a folder"):
        files.write("src/module.py/x", "x")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"caf\xe9 = 1\n", b"caf\xe9 = 2\n"),
        (b"a = 1\r\nb\r\n", b"a = 2\r\nb\r\n"),
        (b"a = 1\r\nb\n", b"a = 2\r\nb\n"),
        (b"\xef\xbb\xbfa = 1\n", b"\xef\xbb\xbfa = 2\n"),
        ("é → = 1\n".encode(), "é → = 2\n".encode()),
        (b"a\rb = 1\r\n", b"a\rb = 2\r\n"),
    ],
)
def test_an_edit_keeps_all_other_bytes(files: TreeFiles, root: Path, before: bytes, after: bytes):
    (root / "file").write_bytes(before)
    files.write("file", files.read("file").replace("= 1", "= 2"))
    assert (root / "file").read_bytes() == after


def test_lines_of_a_crlf_file_are_read_with_plain_newlines(files: TreeFiles, root: Path):
    (root / "file").write_bytes(b"a\r\nb\r\n")
    assert files.read("file") == "a\nb\n"


def test_text_that_the_file_can_not_hold_is_refused(files: TreeFiles, root: Path):
    (root / "latin").write_bytes(b"caf\xe9")
    with pytest.raises(ModelMistake, match="latin-1"):
        files.write("latin", "→")
    with pytest.raises(ModelMistake, match="utf-8"):
        files.write("new", "\ud800")
    assert (root / "latin").read_bytes() == b"caf\xe9"


def test_a_write_keeps_the_mode_makes_folders_and_leaves_nothing_beside(files: TreeFiles, root: Path):
    (root / "src" / "module.py").chmod(0o750)
    files.write("src/module.py", "x = 2\n")
    files.write("new/deep/file.py", "new\n")
    assert (root / "src" / "module.py").stat().st_mode & 0o777 == 0o750
    assert sorted(os.listdir(root / "src")) == ["module.py"] and (root / "new/deep/file.py").read_text() == "new\n"


def test_paths_are_tracked_and_new_files_that_are_there(opened: GitWorkspace):
    (opened.root / "new.py").write_text("new")
    (opened.root / "run.log").write_text("ignored")
    (opened.root / "link").symlink_to("new.py")
    (opened.root / "keep.txt").unlink()
    wanted = (".gitignore", "change.txt", "new.py", "pkg/module.py", "tool.sh")
    assert opened.files.paths() == wanted
    opened.snapshot()
    assert opened.files.paths() == wanted
    opened.files.write("written.py", "")
    assert "written.py" in opened.files.paths()
    opened.restore(opened.snapshot())
    (opened.root / "by_command.py").write_text("")
    opened.expect_changes()
    assert "by_command.py" in opened.files.paths()


def test_thousands_of_files_of_a_tree_are_read_and_a_submodule_has_none(checkout: Path, repository: Repository, git):
    """The names together are longer than what the kernel takes as arguments."""
    git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},library")
    tree = git("write-tree")
    paths = ["keep.txt", "library", *(f"{number}/{'x' * 3_000}" for number in range(1_000))]
    for asked in (paths, paths[:2]):
        assert read_files(repository.git, tree, asked) == {"keep.txt": b"keep\n"}


def test_a_file_that_a_command_has_made_is_listed(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Git is not asked again for the names of a tree until something may have changed it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    project = open_project(checkout)
    order = TaskOrder("look", "fix_violation", ("true",), model="offline")
    runtime = build_runtime(project, add_task(project, order), RunTerms(no_sandbox=True))
    runtime.workspace.open()
    runtime.workspace.snapshot()
    assert "made.txt" not in runtime.files.paths()
    assert runtime.sandbox.run("touch made.txt", 600).exit == 0
    assert "made.txt" in runtime.files.paths()
