"""The tree of a part: it begins where its parent stands, and gives back only what it has changed."""

from pathlib import Path

from afresh.workspace.apply_or_discard import retire_part_branch
from afresh.workspace.repository import Repository
from afresh.workspace.worktree import GitWorkspace, PartOrigin


def begun(repository: Repository) -> tuple[GitWorkspace, GitWorkspace, str]:
    """A task that has changed something, and a part that begins with that."""
    whole = GitWorkspace(repository, "whole")
    base = whole.open().base
    whole.files.write("change.txt", "by the whole\n")
    whole.files.write("new.txt", "new\n")
    snapshot = whole.snapshot()
    return whole, GitWorkspace(repository, "whole-1-1", origin=PartOrigin("whole", base, snapshot)), snapshot


def test_a_part_begins_with_what_its_parent_has_changed(repository: Repository, checkout: Path) -> None:
    whole, part, snapshot = begun(repository)
    opened = part.open()
    assert (opened.snapshot, opened.base, opened.note) == (snapshot, whole.open().base, "")
    assert part.files.read("change.txt") == "by the whole\n" and part.files.read("new.txt") == "new\n"
    assert part.snapshot() == snapshot
    assert (checkout / "change.txt").read_text() == "before\n"


def test_a_part_that_was_opened_again_begins_with_the_same(repository: Repository) -> None:
    _, part, snapshot = begun(repository)
    part.open()
    part.files.write("keep.txt", "changed\n")
    again = GitWorkspace(repository, "whole-1-1", origin=part.origin)
    assert again.open().snapshot == snapshot and again.files.read("keep.txt") == "changed\n"


def test_only_what_the_part_has_changed_is_taken_over(repository: Repository) -> None:
    whole, part, snapshot = begun(repository)
    part.open()
    part.files.write("new.txt", "by the part\n")
    part.files.write("pkg/added.py", "x = 1\n")
    (part.root / "keep.txt").unlink()
    after = part.snapshot()
    whole.files.write("change.txt", "meanwhile\n")
    for _ in range(2):
        whole.take_over("whole-1-1", snapshot, after)
    assert whole.files.read("new.txt") == "by the part\n" and whole.files.read("pkg/added.py") == "x = 1\n"
    assert whole.files.read("change.txt") == "meanwhile\n", "what the whole has done since stays"
    assert not (whole.root / "keep.txt").exists()
    kept = whole.snapshot()
    whole.files.write("new.txt", "other\n")
    whole.restore(kept)
    assert whole.files.read("new.txt") == "by the part\n", "the snapshot holds it without the part's own objects"


def test_a_retired_part_leaves_neither_tree_nor_branch_and_can_still_be_taken_over(repository: Repository) -> None:
    whole, part, snapshot = begun(repository)
    part.open()
    part.files.write("new.txt", "by the part\n")
    after = part.snapshot()
    assert part.publish(after, "message") == "", "its work is its parent's to publish"
    for _ in range(2):
        retire_part_branch(repository, "whole-1-1")
    assert not part.root.exists() and not part.branch.tip
    whole.take_over("whole-1-1", snapshot, after)
    assert whole.files.read("new.txt") == "by the part\n"
