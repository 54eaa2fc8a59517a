"""Where state may be written: never through a symbolic link, which could lead anywhere."""

from pathlib import Path

from afresh.errors import BadInput


def refuse_symlinks(*paths: Path) -> None:
    """BadInput if any of these is a symbolic link; what does not exist is fine."""
    for path in paths:
        if path.is_symlink():
            raise BadInput(
                f"{path} is a symbolic link; afresh does not write its state through one",
                next=f"remove the link, or replace it by a real {'file' if path.suffix else 'folder'}",
                safe="nothing was read or written through it",
            )
