"""Section `fingerprint`: what the project is and what counts for such a task, in a few lines that stay as they are."""

from collections.abc import MutableMapping

from afresh.domain.state import State
from afresh.insight.code import Code
from afresh.insight.configuration import configuration_of
from afresh.insight.fingerprint import About, fingerprint

PROJECT = 140
TYPE = 60
KEPT = 64
"""Tokens of each level, and tasks whose lines are kept."""


def project(code: Code, state: State, kept: MutableMapping[str, str]) -> str:
    """Measured when the task begins, and kept: what it changes hardly changes this, and calls share what stands first."""
    key = f"{state.task.id} {state.opened}"
    if key not in kept:
        made = fingerprint(code, configuration_of(code.paths, code.text), About(type=state.task.judged_as), {})
        for old in list(kept)[: max(0, len(kept) - KEPT + 1)]:
            del kept[old]
        kept[key] = "\n".join(text for text in (made.render("project", PROJECT), made.render("type", TYPE)) if text)
    return kept[key]
