"""The command line in a process of its own that kills itself at a point of `afresh undo`. Called by test_kill_undo.py.

undo_driver.py POINT ARGUMENT...: POINT is `never`, or where to die: `unwritten` and `written` around the commit, `half` when one
file is put back, `whole` when all are and nobody has been told.
"""

import os
import signal
import sys

from afresh.cli import main
from afresh.storage.sql.journal import SqlJournal
from afresh.workspace.worktree import GitWorkspace


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def deadly_commit(point: str) -> None:
    whole = SqlJournal.append

    def append(self, entries, blocks, state) -> None:
        if point == "unwritten":
            die()
        whole(self, entries, blocks, state)
        die()

    SqlJournal.append = append


def deadly_restore(point: str) -> None:
    whole = GitWorkspace.restore

    def restore(self, snapshot, paths=(), fresh=False) -> None:
        if point == "half":
            whole(self, snapshot, ("calc.py",))
        else:
            whole(self, snapshot, paths)
        die()

    GitWorkspace.restore = restore


if __name__ == "__main__":
    point, *arguments = sys.argv[1:]
    if point in ("unwritten", "written"):
        deadly_commit(point)
    elif point != "never":
        deadly_restore(point)
    sys.exit(main.run_command_line(arguments))
