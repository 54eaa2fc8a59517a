"""Section `fingerprint`: what the project is and what counts for such a task, in a few lines that stay as they are."""

from collections.abc import MutableMapping

from afresh.domain.state import State
from afresh.insight.code import CodeIndex
from afresh.insight.configuration import read_configuration
from afresh.insight.fingerprint import ProfileInputs, build_profile

PROJECT_PROFILE_TOKENS = 140
TASK_TYPE_PROFILE_TOKENS = 60
MAX_CACHED_PROFILES = 64
"""Tokens of each level, and tasks whose lines are kept."""


def render_project_profile(code: CodeIndex, state: State, kept: MutableMapping[str, str]) -> str:
    """Measured when the task begins, and kept: what it changes hardly changes this, and calls share what stands first."""
    key = f"{state.task.id} {state.opened}"
    if key not in kept:
        made = build_profile(code, read_configuration(code.paths, code.text), ProfileInputs(type=state.task.judged_as), {})
        for old in list(kept)[: max(0, len(kept) - MAX_CACHED_PROFILES + 1)]:
            del kept[old]
        kept[key] = "\n".join(
            text
            for text in (made.render("project", PROJECT_PROFILE_TOKENS), made.render("type", TASK_TYPE_PROFILE_TOKENS))
            if text
        )
    return kept[key]
