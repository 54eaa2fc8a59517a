"""Who sits at the keyboard, for the records: two people may answer the same task."""

import os
from pathlib import Path

from afresh.adapters.workspace.git import GitFailed, run_git_as_user


def find_author_name(folder: Path) -> str:
    """The name that git knows, else the login, else `person`."""
    try:
        name = run_git_as_user(folder, "config", "--get", "user.name").decode(errors="replace")
    except GitFailed:
        name = ""
    names = (" ".join(name.split()), os.environ.get("LOGNAME", ""), os.environ.get("USER", ""))
    return next((name for name in names if name and name.isprintable()), "person")
