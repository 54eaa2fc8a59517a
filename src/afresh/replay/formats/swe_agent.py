"""Trajectories of SWE-agent: one JSON document with the steps, the messages they led to and a summary."""

from collections.abc import Iterable, Iterator
from typing import Any

from afresh.replay.content import content_text, listed, mapping, text, unwrapped
from afresh.replay.draft import Draft
from afresh.replay.entries import Entry
from afresh.replay.run import Run
from afresh.replay.whole import run_each

NAME = "SWE-agent"
FILES = ".traj"

_OWN = {
    "open", "goto", "scroll_up", "scroll_down", "create", "edit", "insert", "search_dir", "search_file", "find_file",
    "submit", "str_replace_editor", "filemap",
}  # fmt: skip
"""Its own commands; everything else that it writes goes to the shell."""


def knows(value: object) -> bool:
    held = mapping(value)
    steps = held.get("trajectory")
    if not isinstance(steps, list) or not held.keys() & {"history", "info", "environment", "replay_config"}:
        return False
    return not steps or "response" in mapping(steps[0]) or "thought" in mapping(steps[0])


def read(entries: Iterable[Entry], path: str) -> Iterator[Run]:
    return run_each(entries, knows, lambda held, where: _run(held, path))


def _run(held: dict[str, Any], path: str) -> Run:
    draft = Draft(NAME)
    settings = mapping(unwrapped(held.get("replay_config")).get("agent"))
    model = text(mapping(settings.get("model")).get("name"))
    draft.models.update([model] if model else [])
    draft.say(_task(listed(held.get("history"))))
    for number, step in enumerate(held["trajectory"], 1):
        if isinstance(step, dict):
            _step(draft, step)
        else:
            draft.problem(f"step {number}", "not an object, left out")
    return draft.run(path)


def _task(history: list[Any]) -> str:
    """The first words of a user that are no demonstration."""
    spoken = (mapping(message) for message in history)
    asked = (message for message in spoken if message.get("role") == "user" and message.get("is_demo") is not True)
    return content_text(next(asked, {}).get("content"))


def _step(draft: Draft, step: dict[str, Any]) -> None:
    action = text(step.get("action")).rstrip("\n")
    word = action.split(maxsplit=1)[0] if action.strip() else ""
    draft.enter()
    draft.think(text(step.get("thought")) or text(step.get("response")))
    draft.act(word if word in _OWN else "bash", action, answer=text(step.get("observation")))
    draft.end_call()
