"""An insight that sees nothing."""

from collections.abc import Collection, Sequence

from afresh.domain.fact import Item, Region
from afresh.domain.sought import SearchHit
from afresh.domain.state import State
from afresh.ports import FileTree


class EmptyInsight:
    def looks(self, state: State, files: FileTree, wanted: Collection[str] = (), about: Sequence[Region] = ()) -> Sequence[Item]:
        return ()

    def measure(self, state: State, files: FileTree) -> int:
        return 0

    def tests_for(self, changed: Sequence[str], files: FileTree) -> Sequence[str]:
        return ()

    def find(self, text: str, files: FileTree) -> Sequence[SearchHit]:
        return ()
