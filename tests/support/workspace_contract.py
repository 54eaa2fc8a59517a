"""What any Workspace must do. Subclass it in a test module and give it a `stage` fixture."""

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from afresh.ports.workspace import Workspace


@dataclass(frozen=True, slots=True)
class WorkspaceStage:
    """A workspace, not yet opened, whose base holds `keep.txt`, `change.txt` and an executable `tool.sh`."""

    workspace: Workspace
    tree: Path
    """Where the task's tree will be."""
    checkout: Path
    """The user's own folder, which must not change."""


def hash_tree(folder: Path, without: tuple[str, ...] = ()) -> dict[str, tuple[str, str]]:
    """Every file and link under `folder` with its kind and a hash of its content; `without` are top-level names to leave out."""
    found: dict[str, tuple[str, str]] = {}
    for top, folders, files in os.walk(folder):
        if Path(top) == folder:
            folders[:] = [name for name in folders if name not in without]
            files = [name for name in files if name not in without]
        for name in (*files, *(name for name in folders if os.path.islink(os.path.join(top, name)))):
            place = Path(top, name)
            found[str(place.relative_to(folder))] = _describe_file(place)
    return found


def _describe_file(place: Path) -> tuple[str, str]:
    mode = place.lstat().st_mode
    if stat.S_ISLNK(mode):
        return "link", os.readlink(place)
    kind = "program" if mode & stat.S_IXUSR else "file"
    return kind, hashlib.sha256(place.read_bytes()).hexdigest() if stat.S_ISREG(mode) else "special"


class WorkspaceContract:
    def content(self, stage: WorkspaceStage) -> dict[str, tuple[str, str]]:
        return hash_tree(stage.tree, without=(".git",))

    def change_everything(self, tree: Path) -> None:
        (tree / "change.txt").write_bytes(b"\x00\xff changed\r\n")
        (tree / "keep.txt").unlink()
        (tree / "tool.sh").chmod(0o644)
        (tree / "new" / "deep").mkdir(parents=True)
        (tree / "new" / "deep" / "file").write_text("new")
        (tree / "new" / "link").symlink_to("deep/file")

    def test_opening_twice_gives_the_same(self, stage: WorkspaceStage):
        first = stage.workspace.open()
        (stage.tree / "new.txt").write_text("kept")
        assert stage.workspace.open() == first
        assert (stage.tree / "new.txt").read_text() == "kept"

    def test_the_opened_tree_is_the_base(self, stage: WorkspaceStage):
        opened = stage.workspace.open()
        assert {"keep.txt", "change.txt", "tool.sh"} <= set(self.content(stage))
        assert stage.workspace.snapshot() == opened.snapshot

    def test_the_same_tree_has_the_same_id(self, stage: WorkspaceStage):
        opened = stage.workspace.open()
        before = (stage.tree / "change.txt").read_bytes()
        (stage.tree / "change.txt").write_text("other")
        other = stage.workspace.snapshot()
        (stage.tree / "change.txt").write_bytes(before)
        assert other != opened.snapshot == stage.workspace.snapshot()

    def test_an_executable_bit_alone_makes_another_snapshot(self, stage: WorkspaceStage):
        opened = stage.workspace.open()
        (stage.tree / "tool.sh").chmod(0o644)
        assert stage.workspace.snapshot() != opened.snapshot

    def test_restore_gives_the_same_bytes_modes_and_links(self, stage: WorkspaceStage):
        opened = stage.workspace.open()
        base = self.content(stage)
        self.change_everything(stage.tree)
        changed, kept = stage.workspace.snapshot(), self.content(stage)
        stage.workspace.restore(opened.snapshot)
        assert self.content(stage) == base
        assert not (stage.tree / "new").exists()
        stage.workspace.restore(changed)
        assert self.content(stage) == kept

    def test_a_fresh_restore_leaves_nothing_that_is_in_no_snapshot(self, stage: WorkspaceStage):
        opened = stage.workspace.open()
        base = self.content(stage)
        (stage.tree / "__pycache__").mkdir()
        (stage.tree / "__pycache__" / "keep.pyc").write_bytes(b"forged")
        self.change_everything(stage.tree)
        changed = stage.workspace.snapshot()
        stage.workspace.restore(opened.snapshot)
        assert (stage.tree / "__pycache__" / "keep.pyc").exists()
        stage.workspace.restore(opened.snapshot, fresh=True)
        assert self.content(stage) == base and stage.workspace.snapshot() == opened.snapshot
        stage.workspace.restore(changed, fresh=True)
        assert stage.workspace.snapshot() == changed

    def test_a_fresh_restore_goes_by_content_and_knows_files_only(self, stage: WorkspaceStage):
        opened = stage.workspace.open()
        base, tracked = self.content(stage), stage.tree / "keep.txt"
        for fresh in (False, True):
            was = tracked.lstat()
            tracked.write_bytes(bytes(was.st_size))
            os.utime(tracked, ns=(was.st_atime_ns, was.st_mtime_ns))
            os.mkfifo(stage.tree / "pipe")
            (stage.tree / "empty" / "folder").mkdir(parents=True, exist_ok=True)
            (stage.tree / "link").symlink_to("/")
            stage.workspace.restore(opened.snapshot, fresh=fresh)
            if not fresh:
                (stage.tree / "pipe").unlink(missing_ok=True)
        assert self.content(stage) == base
        assert set(os.listdir(stage.tree)) == {name.partition("/")[0] for name in base} | {".git"}

    def test_files_are_apart_in_a_fresh_tree(self, stage: WorkspaceStage):
        stage.workspace.open()
        one, other = stage.tree / "one", stage.tree / "other"
        one.write_text("the same")
        other.write_text("the same")
        snapshot = stage.workspace.snapshot()
        other.unlink()
        os.link(one, other)
        stage.workspace.restore(snapshot, fresh=True)
        assert one.read_text() == other.read_text() and not one.samefile(other)

    def test_restore_of_some_paths_leaves_the_others(self, stage: WorkspaceStage):
        opened = stage.workspace.open()
        base = self.content(stage)
        self.change_everything(stage.tree)
        changed = self.content(stage)
        stage.workspace.restore(opened.snapshot, ["keep.txt", "new"])
        wanted = {name: held for name, held in changed.items() if not name.startswith("new/")} | {"keep.txt": base["keep.txt"]}
        assert self.content(stage) == wanted

    def test_changes_say_what_differs_by_path(self, stage: WorkspaceStage):
        opened = stage.workspace.open()
        (stage.tree / "change.txt").write_text("one\ntwo\n")
        (stage.tree / "keep.txt").unlink()
        (stage.tree / "new.txt").write_text("1\n2\n3\n")
        found = {change.path: change for change in stage.workspace.changes(opened.snapshot, stage.workspace.snapshot())}
        assert {path: change.kind for path, change in found.items()} == {
            "change.txt": "modified",
            "keep.txt": "deleted",
            "new.txt": "added",
        }
        assert (found["new.txt"].added, found["new.txt"].removed) == (3, 0)
        assert "+two" in found["change.txt"].patch
        assert stage.workspace.changes(opened.snapshot, opened.snapshot) in ((), [])

    def test_files_of_a_snapshot_are_read_whatever_the_tree_holds_now(self, stage: WorkspaceStage):
        opened = stage.workspace.open()
        self.change_everything(stage.tree)
        now = stage.workspace.snapshot()
        held = stage.workspace.read_files(opened.snapshot, ["keep.txt", "new/link"])
        assert held.keys() == {"keep.txt"} and not (stage.tree / "keep.txt").exists()
        held = stage.workspace.read_files(now, ["change.txt", "new/link", "new/deep/file", "keep.txt"])
        assert held == {"change.txt": b"\x00\xff changed\r\n", "new/link": b"deep/file", "new/deep/file": b"new"}
        assert stage.workspace.read_files(now, []) == {}

    def test_lines_of_a_snapshot_are_found_by_their_words(self, stage: WorkspaceStage):
        opened = stage.workspace.open()
        (stage.tree / "a.py").write_text("from golden import five\nfives = 'five.txt'\n")
        now = stage.workspace.snapshot()
        assert stage.workspace.search(now, ["five", "six"]) == [
            ("a.py", "from golden import five"),
            ("a.py", "fives = 'five.txt'"),
        ]
        assert stage.workspace.search(opened.snapshot, ["golden"]) == [] == stage.workspace.search(now, [])

    def test_a_checkout_applies_attributes_and_runs_no_filter(self, stage: WorkspaceStage):
        stage.workspace.open()
        (stage.tree / ".gitattributes").write_text("*.py ident eol=crlf\n*.sh filter=evil\n")
        (stage.tree / "a.py").write_bytes(b'MARK = "$Id$"\n')
        (stage.tree / "b.py").write_bytes(b"x = 1\n")
        snapshot = stage.workspace.snapshot()
        stage.workspace.restore(snapshot, fresh=True)
        assert stage.workspace.check_out(["a.py", "tool.sh", "gone.py"]) == ["a.py"]
        written = (stage.tree / "a.py").read_bytes()
        assert written.startswith(b'MARK = "$Id: ') and written.endswith(b"\r\n")
        assert (stage.tree / "b.py").read_bytes() == b"x = 1\n"
        stage.workspace.restore(snapshot)
        assert (stage.tree / "a.py").read_bytes() == b'MARK = "$Id$"\n'
        assert stage.workspace.snapshot() == snapshot

    def test_publishing_twice_gives_one_commit(self, stage: WorkspaceStage):
        opened = stage.workspace.open()
        (stage.tree / "new.txt").write_text("new")
        snapshot = stage.workspace.snapshot()
        first = stage.workspace.publish(snapshot, "Add it\n\nBecause.")
        assert first != opened.base
        assert stage.workspace.publish(snapshot, "Add it\n\nBecause.") == first

    def test_the_users_checkout_is_never_touched(self, stage: WorkspaceStage):
        before = hash_tree(stage.checkout, without=(".git", ".afresh"))
        opened = stage.workspace.open()
        self.change_everything(stage.tree)
        snapshot = stage.workspace.snapshot()
        stage.workspace.restore(opened.snapshot)
        stage.workspace.publish(snapshot, "All changed")
        assert hash_tree(stage.checkout, without=(".git", ".afresh")) == before
