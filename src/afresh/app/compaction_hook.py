"""A command of the user's own that is asked before memory is compacted. It runs as the user, outside the sandbox."""

import json
import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from afresh.core.step_history import HookAnswer
from afresh.core.truncate import to_one_line

SKIP_EXIT_CODE = 10
"""The exit code that means: not this time."""


@dataclass(frozen=True, slots=True)
class CommandHook:
    """The question is JSON on its standard input. Exit 0 lets it be, 10 skips it; a hook that fails otherwise stops nothing."""

    command: str
    timeout: float = 30.0

    def before_compaction(self, about: Mapping[str, Any]) -> HookAnswer:
        try:
            process = subprocess.Popen(
                ["/bin/sh", "-c", self.command],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        except OSError as fault:
            return HookAnswer(True, f"the hook can't be run: {fault.strerror}")
        try:
            _, said = process.communicate(json.dumps(dict(about), ensure_ascii=False), self.timeout)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return HookAnswer(True, f"the hook took longer than {self.timeout:g} s and was stopped")
        if process.returncode in (0, SKIP_EXIT_CODE):
            return HookAnswer(process.returncode == 0)
        return HookAnswer(True, f"the hook ended with {process.returncode}: {to_one_line(said, 200)}".rstrip(": "))
