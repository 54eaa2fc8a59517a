"""While a prompt is gathered the tree is listed once, however often its files are asked for."""

from collections.abc import Mapping, Sequence

import pytest

from afresh.context.redacted_files import RedactedFiles
from afresh.context.sources.excerpts import find_files_in_goal
from afresh.errors import Broken


class CountedFiles:
    """Files that count how often they are listed."""

    def __init__(self) -> None:
        self.listed = 0

    def read(self, path: str) -> str:
        return "key = 'sk-ant-" + "a1B2" * 12 + "'"

    def write(self, path: str, text: str) -> None:
        raise AssertionError

    def paths(self) -> Sequence[str]:
        return tuple(self.stamps())

    def stamps(self) -> Mapping[str, str]:
        self.listed += 1
        return {"a.py": "1", "pkg/b.py": "2"}


def test_paths_and_stamps_of_one_gathering_are_one_listing():
    counted = CountedFiles()
    files = RedactedFiles(counted)
    assert find_files_in_goal("b.py is wrong", files) == ["pkg/b.py"]
    assert files.stamps() == {"a.py": "1", "pkg/b.py": "2"} and files.paths() == ("a.py", "pkg/b.py")
    assert counted.listed == 1
    RedactedFiles(counted).stamps()
    assert counted.listed == 2, "the next gathering lists again"


def test_a_goal_that_names_no_file_lists_none():
    counted = CountedFiles()
    assert find_files_in_goal("make it faster", RedactedFiles(counted)) == [] and counted.listed == 0


def test_secrets_are_not_shown_and_nothing_is_written():
    files = RedactedFiles(CountedFiles())
    assert "sk-ant" not in files.read("a.py")
    with pytest.raises(Broken):
        files.write("a.py", "")
