"""How a run compacts memory: the user's hook before it, and whether a model writes summaries."""

import json
import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from afresh.app.project import Project
from afresh.config.templates.load_template import load_call_template
from afresh.core.step_history import HookAnswer
from afresh.core.truncate import to_one_line
from afresh.models.choose_model import is_provider
from afresh.runtime import CompactionSettings


def configure_compaction(project: Project, spec: str) -> CompactionSettings:
    """By default only a provider's model writes summaries, where the rules lack space; scripts, mailboxes and the offline
    policy do not expect such a call. The user's settings can change that."""
    said, hooks = project.settings.compaction.model_summary, project.settings.hooks
    hook = CommandHook(hooks.before_compaction, hooks.timeout) if hooks.before_compaction else None
    wanted = is_provider(spec, project.settings.models) if said is None else said
    return CompactionSettings(hook, load_call_template("summary", project.templates) if wanted else None, always=bool(said))


SKIP_EXIT_CODE = 10
"""Exit code of a hook that skips the compaction."""


@dataclass(frozen=True, slots=True)
class CommandHook:
    """Runs the user's command with the question as JSON on standard input. Exit 0 allows, 10 skips; any other failure is
    ignored."""

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
