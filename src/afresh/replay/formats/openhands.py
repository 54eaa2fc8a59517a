"""Events of OpenHands: a list, JSON lines, a folder with a file each, or the `history` in the outputs of its benchmarks.

The older program writes {id, source, action, args} and {cause, observation, content}; the newer one events with a `kind`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from afresh.replay.content import listed, mapping, text
from afresh.replay.entries import Entry
from afresh.replay.formats import openhands_app, openhands_sdk
from afresh.replay.run import Run
from afresh.replay.whole import run_each

NAME = "OpenHands"
FILES = "events or trajectory .json, output.jsonl"


def is_event(value: object) -> bool:
    held = mapping(value)
    return openhands_sdk.is_event(held) or openhands_app.is_event(held)


def knows(value: object) -> bool:
    return is_event(value) or any(map(is_event, _history(mapping(value))))


def read(entries: Iterable[Entry], path: str) -> Iterator[Run]:
    """One run of all the events, or one for each entry if those hold the events of whole runs."""
    waiting = iter(entries)
    head: list[Entry] = []
    while not head or not knows(head[-1].value):
        head.append(next(waiting))
    if is_event(head[-1].value):
        yield _run(chain(head, waiting), path)
    else:
        yield from run_each(chain(head, waiting), knows, lambda held, where: _whole_run(held, where, path))


def _run(entries: Iterable[Entry], path: str) -> Run:
    story = openhands_sdk.Story(NAME, _name(Path(path)))
    for entry in entries:
        if story.usable(entry):
            _take(story, mapping(entry.value), entry.where)
    return story.run(path)


def _history(held: dict[str, Any]) -> list[Any]:
    """The events of a whole run; of old, an action and its observation came as a pair."""
    events = listed(held.get("history")) or listed(held.get("trajectory"))
    return [event for item in events for event in (item if isinstance(item, list) else [item])]


def _whole_run(held: dict[str, Any], where: str, path: str) -> Run:
    story = openhands_sdk.Story(NAME, text(held.get("instance_id")))
    settings = mapping(held.get("metadata"))
    model = text(mapping(settings.get("llm_config", settings.get("llm"))).get("model"))
    for number, event in enumerate(_history(held), 1):
        if isinstance(event, dict):
            _take(story, event, f"{where}, event {number}")
        else:
            story.problem(f"{where}, event {number}", "not an object, left out")
    story.models.update([model] if model else [])
    run = story.run(path)
    return run if run.task else replace(run, task=text(held.get("instruction")))


def _take(story: openhands_sdk.Story, held: dict[str, Any], where: str) -> None:
    if openhands_sdk.is_state(held):
        openhands_sdk.take_state(story, held)
    elif isinstance(held.get("kind"), str):
        openhands_sdk.take(story, held, where)
    else:
        openhands_app.take(story, held, where)


def _name(place: Path) -> str:
    """A folder of events says nothing of its run; the folder around it has the run's name."""
    return place.parent.name if place.name == "events" else ""
