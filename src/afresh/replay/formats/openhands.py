"""Events of OpenHands: a list, JSON lines, a folder with a file each, or the `history` in the outputs of its benchmarks.

The older program writes {id, source, action, args} and {cause, observation, content}; the newer one events with a `kind`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from afresh.replay.content import to_list, to_mapping, to_text
from afresh.replay.entries import JsonEntry
from afresh.replay.formats import openhands_app, openhands_sdk
from afresh.replay.run import RecordedRun
from afresh.replay.whole import runs_from_entries

NAME = "OpenHands"
FILES = "events or trajectory .json, output.jsonl"


def is_event(value: object) -> bool:
    held = to_mapping(value)
    return openhands_sdk.is_sdk_event(held) or openhands_app.is_app_event(held)


def knows(value: object) -> bool:
    return is_event(value) or any(map(is_event, _list_events(to_mapping(value))))


def read(entries: Iterable[JsonEntry], path: str) -> Iterator[RecordedRun]:
    """One run of all the events, or one for each entry if those hold the events of whole runs."""
    waiting = iter(entries)
    head: list[JsonEntry] = []
    while not head or not knows(head[-1].value):
        head.append(next(waiting))
    if is_event(head[-1].value):
        yield _run_from_events(chain(head, waiting), path)
    else:
        yield from runs_from_entries(chain(head, waiting), knows, lambda held, where: _run_from_entry(held, where, path))


def _run_from_events(entries: Iterable[JsonEntry], path: str) -> RecordedRun:
    story = openhands_sdk.OpenHandsRunBuilder(NAME, _name_from_folder(Path(path)))
    for entry in entries:
        if story.usable(entry):
            _read_event(story, to_mapping(entry.value), entry.where)
    return story.run(path)


def _list_events(held: dict[str, Any]) -> list[Any]:
    """The events of a whole run; of old, an action and its observation came as a pair."""
    events = to_list(held.get("history")) or to_list(held.get("trajectory"))
    return [event for item in events for event in (item if isinstance(item, list) else [item])]


def _run_from_entry(held: dict[str, Any], where: str, path: str) -> RecordedRun:
    story = openhands_sdk.OpenHandsRunBuilder(NAME, to_text(held.get("instance_id")))
    settings = to_mapping(held.get("metadata"))
    model = to_text(to_mapping(settings.get("llm_config", settings.get("llm"))).get("model"))
    for number, event in enumerate(_list_events(held), 1):
        if isinstance(event, dict):
            _read_event(story, event, f"{where}, event {number}")
        else:
            story.problem(f"{where}, event {number}", "not an object, left out")
    story.models.update([model] if model else [])
    run = story.run(path)
    return run if run.task else replace(run, task=to_text(held.get("instruction")))


def _read_event(story: openhands_sdk.OpenHandsRunBuilder, held: dict[str, Any], where: str) -> None:
    if openhands_sdk.is_sdk_state(held):
        openhands_sdk.read_sdk_state(story, held)
    elif isinstance(held.get("kind"), str):
        openhands_sdk.read_sdk_event(story, held, where)
    else:
        openhands_app.read_app_event(story, held, where)


def _name_from_folder(place: Path) -> str:
    """A folder of events says nothing of its run; the folder around it has the run's name."""
    return place.parent.name if place.name == "events" else ""
