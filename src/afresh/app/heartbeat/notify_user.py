"""Tells the user that a task is over or needs an answer: by their own command, or as a desktop notification."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from afresh.core.state import State
from afresh.core.task import TaskStatus
from afresh.core.truncate import to_one_line

DESKTOP_NOTIFICATION = "desktop"
"""Instead of a command: the desktop's notification, if there is one."""
DESKTOP_SCRIPT = 'on run argv\ndisplay notification (item 1 of argv) with title "afresh"\nend run'
MAX_NOTICE_CHARACTERS = 300


def describe_notice(state: State) -> str:
    """Say what a task came to, or what it asks."""
    if state.dialogue.question and state.status is TaskStatus.BLOCKED:
        return to_one_line(f"{state.task.id} asks: {state.dialogue.question}", MAX_NOTICE_CHARACTERS)
    return to_one_line(f"{state.task.id}: {state.status}: {state.work.outcome}", MAX_NOTICE_CHARACTERS)


def notify_user(command: str, text: str, state: State | None = None) -> None:
    """Start the user's command with the text as its argument, and do not wait for it. No failure of it reaches the run."""
    argv = _find_desktop_notifier(text) if command == DESKTOP_NOTIFICATION else ["/bin/sh", "-c", command, "afresh", text]
    if not command or not argv:
        return
    told = {"AFRESH_TEXT": text}
    if state:
        told |= {"AFRESH_TASK": state.task.id, "AFRESH_STATUS": state.status.value}
    quiet = subprocess.DEVNULL
    try:
        subprocess.Popen(argv, stdin=quiet, stdout=quiet, stderr=quiet, env={**os.environ, **told}, start_new_session=True)
    except (OSError, ValueError):
        return


def _find_desktop_notifier(text: str) -> Sequence[str]:
    """Return the command that shows the text on this desktop; empty without one."""
    if found := shutil.which("notify-send"):
        return [found, "--app-name=afresh", "--", "afresh", text]
    if sys.platform == "darwin" and (found := shutil.which("osascript")):
        return [found, "-e", DESKTOP_SCRIPT, text]
    return []
