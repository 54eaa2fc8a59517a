import os
from pathlib import Path

import pytest

from afresh.workspace.files import RECENT_NANOSECONDS, TreeFiles, stamp_files, stamp_from_stat


def test_a_tree_is_marked_with_one_listing(tmp_path: Path):
    (tmp_path / "a.py").touch()
    (tmp_path / "b").touch()
    asked: list[int] = []
    files = TreeFiles(tmp_path, lambda: asked.append(1) or ("a.py", "b", "gone"))
    assert list(files.stamps()) == ["a.py", "b"]
    assert asked == [1]


@pytest.mark.parametrize("what", ["size", "time", "another file", "a link"])
def test_a_mark_tells_each_way_in_which_a_file_may_change(tmp_path: Path, what: str):
    file = tmp_path / "a.py"
    file.write_text("one")
    later = file.stat().st_mtime_ns + 10 * RECENT_NANOSECONDS
    before = stamp_from_stat(file.stat(), later)
    assert stamp_from_stat(file.stat(), later) == before
    times = (file.stat().st_atime_ns, file.stat().st_mtime_ns)
    if what == "size":
        file.write_text("three")
        os.utime(file, ns=times)
    elif what == "time":
        os.utime(file, ns=(times[0], times[1] + 1))
    elif what == "another file":
        (tmp_path / "b.py").write_text("two")
        os.utime(tmp_path / "b.py", ns=times)
        (tmp_path / "b.py").replace(file)
    else:
        file.unlink()
        file.symlink_to("elsewhere")
    assert stamp_from_stat(file.lstat(), later) != before


def test_a_file_written_just_now_has_a_mark_of_this_moment(tmp_path: Path):
    (tmp_path / "a.py").touch()
    assert stamp_files(tmp_path, ["a.py"]) != stamp_files(tmp_path, ["a.py"])
