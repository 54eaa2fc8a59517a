"""Our own ranking, over an index in memory that is kept from commit to commit."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from afresh.code.index.code_index import refresh_code_index
from afresh.code.index.update_index import MemoryCodeStore
from afresh.code.ranking.query import RankingQuery
from afresh.code.ranking.score_files import score_files
from afresh.core.commit import CommitFiles, CommitHistory
from localizing.commits import TRAILER


class Checkout:
    """The folder as the port `Files`, told by others what has changed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.moves = folder, 0
        self.marks: dict[str, str] = {}

    def move(self, changed: Sequence[str], gone: Sequence[str]) -> None:
        self.moves += 1
        kept = {path: mark for path, mark in self.marks.items() if path not in set(gone)}
        self.marks = dict(sorted((kept | dict.fromkeys(changed, str(self.moves))).items()))

    def read(self, path: str) -> str:
        return (self.folder / path).read_bytes().decode(errors="replace")

    def write(self, path: str, text: str) -> None:
        raise PermissionError("a commit does not change")

    def paths(self) -> Sequence[str]:
        return list(self.marks)

    def stamps(self) -> Mapping[str, str]:
        return self.marks


class Contestant:
    package = "afresh"

    def __init__(self, folder: Path) -> None:
        self.files, self.store = Checkout(folder), MemoryCodeStore()

    def moved(self, changed: list[str], gone: list[str]) -> None:
        self.files.move(changed, gone)

    def rank(self, text: str, past: list[Any]) -> list[str]:
        commits = tuple(CommitFiles(TRAILER.sub("", message), tuple(paths), when) for message, paths, when in past)
        head = str(self.files.moves) if commits else ""
        return score_files(
            refresh_code_index(self.files, "tree", self.store), RankingQuery(text, (), CommitHistory(head, commits))
        ).best()
