"""Trajectories of SWE-agent: one JSON document with the steps, the messages they led to and a summary."""

from collections.abc import Iterable, Iterator
from typing import Any

from afresh.replay.json_entries import JsonEntry
from afresh.replay.run import RecordedRun
from afresh.replay.run_builder import RunBuilder, render_content, runs_from_entries, to_list, to_mapping, to_text, unwrap_object

NAME = "SWE-agent"
FILES = ".traj"

_AGENT_COMMANDS = {
    "open", "goto", "scroll_up", "scroll_down", "create", "edit", "insert", "search_dir", "search_file", "find_file",
    "submit", "str_replace_editor", "filemap",
}  # fmt: skip
"""Its own commands; everything else that it writes goes to the shell."""


def knows(value: object) -> bool:
    steps = to_list(to_mapping(value).get("trajectory"))
    first = to_mapping(steps[0]) if steps else {}
    return {"action", "observation"} <= first.keys() and bool({"response", "thought"} & first.keys())


def read(entries: Iterable[JsonEntry], path: str) -> Iterator[RecordedRun]:
    return runs_from_entries(entries, knows, lambda held, where: _read_run(held, path))


def _read_run(held: dict[str, Any], path: str) -> RecordedRun:
    draft = RunBuilder(NAME)
    settings = to_mapping(unwrap_object(held.get("replay_config")).get("agent"))
    draft.use_model(to_mapping(settings.get("model")).get("name"))
    draft.say(_find_task(to_list(held.get("history"))))
    for _, step in draft.objects(held["trajectory"], "step"):
        _read_step(draft, step)
    return draft.run(path)


def _find_task(history: list[Any]) -> str:
    """The first words of a user that are no demonstration."""
    spoken = (to_mapping(message) for message in history)
    asked = (message for message in spoken if message.get("role") == "user" and message.get("is_demo") is not True)
    return render_content(next(asked, {}).get("content"))


def _read_step(draft: RunBuilder, step: dict[str, Any]) -> None:
    action = to_text(step.get("action")).rstrip("\n")
    word = action.split(maxsplit=1)[0] if action.strip() else ""
    draft.enter()
    draft.think(to_text(step.get("thought")) or to_text(step.get("response")))
    draft.act(word if word in _AGENT_COMMANDS else "bash", action, answer=to_text(step.get("observation")))
    draft.end_call()
