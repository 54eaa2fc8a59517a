"""The sample project that is shipped for the demo and the tests."""

import os
import shutil
import subprocess
from pathlib import Path

from afresh.errors import BadInput

SAMPLE_FOLDER = Path(__file__).parents[1] / "sample"
_COMMIT_DATE = "2024-05-01T12:00:00+00:00"
_GIT_IDENTITY = {
    "GIT_AUTHOR_NAME": "Parcel", "GIT_AUTHOR_EMAIL": "parcel@example.org", "GIT_AUTHOR_DATE": _COMMIT_DATE,
    "GIT_COMMITTER_NAME": "Parcel", "GIT_COMMITTER_EMAIL": "parcel@example.org", "GIT_COMMITTER_DATE": _COMMIT_DATE,
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
}  # fmt: skip


def copy_sample(target: Path) -> Path:
    """Copy the sample into a new or empty folder and make it a git repository with one commit, the same everywhere."""
    if target.exists() and any(target.iterdir()):
        raise BadInput(f"{target} is not empty", next="name a folder that does not exist yet", safe="nothing was written")
    shutil.copytree(SAMPLE_FOLDER, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    # a file named .gitignore would be obeyed by this repository, too
    (target / "gitignore").rename(target / ".gitignore")
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Parcel 1.3"]):
        _run_git(target, arguments)
    return target


def _run_git(target: Path, arguments: list[str]) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(["git", *arguments], cwd=target, env=environment | _GIT_IDENTITY, check=True, capture_output=True)
