"""Our index brought up to date: a walk of the tree, what changed read and understood, all of it kept in the store."""

import sys
from pathlib import Path

from measured import measured

from afresh.adapters.store.code import SqliteCode
from afresh.adapters.workspace.walk import Checkout
from afresh.insight.index import refresh
from afresh.insight.languages import speaker


def brought_up_to_date(root: Path, state: Path) -> int:
    store = SqliteCode(state / "code.db")
    code = refresh(Checkout(root), str(root), store)
    store.close()
    return len(code.files)


if __name__ == "__main__":
    speaker("python")
    measured(lambda: brought_up_to_date(Path(sys.argv[1]), Path(sys.argv[2])))
