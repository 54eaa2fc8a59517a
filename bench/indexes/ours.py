"""Our index brought up to date: a walk of the tree, what changed read and understood, all of it kept in the store."""

import sys
from pathlib import Path

from measured import measured

from afresh.code.index.code_index import refresh_code_index
from afresh.code.languages.registry import load_language
from afresh.storage.sqlite.code_index import SqliteCodeIndex
from afresh.workspace.checkout_files import CheckoutFiles


def brought_up_to_date(root: Path, state: Path) -> int:
    store = SqliteCodeIndex(state / "code.db")
    code = refresh_code_index(CheckoutFiles(root), str(root), store)
    store.close()
    return len(code.files)


if __name__ == "__main__":
    load_language("python")
    measured(lambda: brought_up_to_date(Path(sys.argv[1]), Path(sys.argv[2])))
