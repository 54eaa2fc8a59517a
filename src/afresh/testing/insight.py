"""An insight that sees nothing."""

from collections.abc import Collection, Sequence

from afresh.domain.fact import Look, Region
from afresh.domain.sought import Sought
from afresh.domain.state import State
from afresh.ports import Files


class Blind:
    def looks(self, state: State, files: Files, wanted: Collection[str] = (), about: Sequence[Region] = ()) -> Sequence[Look]:
        return ()

    def measure(self, state: State, files: Files) -> int:
        return 0

    def tests_for(self, changed: Sequence[str], files: Files) -> Sequence[str]:
        return ()

    def find(self, text: str, files: Files) -> Sequence[Sought]:
        return ()
