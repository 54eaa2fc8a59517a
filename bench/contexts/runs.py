"""Recorded runs: read, joined to longer sessions, and made into one that goes on for ever. Nothing but Python."""

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from contexts.needed import TALK, WORD, Run, Step, is_name

LEFT_OUT = "codex"
"""Agents whose recorded actions hold output as well: a score of them would mean nothing."""

DATE = re.compile(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\dZ")


def read(path: Path, limit: int | None = None) -> list[Run]:
    """The runs that can be scored, in the order of the file."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        found = [json.loads(line) for line in file if line.strip()]
    return [run for run in found if LEFT_OUT not in run.get("agent", "").lower()][:limit]


def source(run: Run) -> str:
    return run["id"].split("/")[0].split("-")[0]


def project(run: Run) -> str:
    """Runs of one source on the same code. Only SWE-bench names its projects in the id; a log folder is one project."""
    folder, _, name = run["id"].partition("/")
    return f"{folder}/{name.rsplit('-', 1)[0]}" if "__" in name else folder


def recorded(run: Run) -> tuple[str, str]:
    """When, if the file it came from says so; else by id."""
    found = DATE.search(json.dumps(run.get("meta", {})))
    return (found.group() if found else "", run["id"])


def chains(runs: Sequence[Run], steps: int) -> list[Run]:
    """Runs of the same project joined in the order of their recording, each chain just as long as is needed."""
    groups: dict[str, list[Run]] = {}
    for run in sorted(runs, key=recorded):
        groups.setdefault(project(run), []).append(run)
    return [chain for group in groups.values() for chain in chained(group, steps)]


def chained(runs: Sequence[Run], steps: int) -> Iterator[Run]:
    """What is left over at the end is too short and is dropped."""
    pending: list[Run] = []
    for run in runs:
        pending.append(run)
        if sum(len(one["steps"]) for one in pending) >= steps:
            yield joined(pending, steps)
            pending = []


def joined(runs: Sequence[Run], steps: int) -> Run:
    """One session in which a person gives the next task when the last is done."""
    first, *others = runs
    taken: list[Step] = list(first["steps"])
    for run in others:
        taken[-1:] = handed_over(taken[-1], run["task"])
        taken += run["steps"]
    return {**first, "steps": taken[:steps], "joined": [run["id"] for run in runs]}


def handed_over(last: Step, task: str) -> list[Step]:
    """The next task is what the person says after the last word, or, where there was none, a turn of its own."""
    if last["action"]["tool"] == TALK and not last.get("observation"):
        return [{**last, "observation": task}]
    return [last, {"thought": "", "action": {"tool": TALK, "text": ""}, "observation": task}]


def mixed(runs: Sequence[Run], steps: int) -> list[Step]:
    """So many steps of whole runs, of all sources in turn."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(source(run), []).append(run)
    taken: list[Step] = []
    while any(groups.values()) and len(taken) < steps:
        for group in groups.values():
            taken += group.pop(0)["steps"] if group else []
    return taken[:steps]


class Endless(Sequence[Step]):
    """The same real steps over and over. In each round every name is another one, so that lines keep being new.

    Steps are made when asked for and not kept, so that what memory grows by is what the builder keeps.
    """

    def __init__(self, cycle: Sequence[Step], steps: int) -> None:
        self.cycle, self.steps = cycle, steps

    def __len__(self) -> int:
        return self.steps

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(self.steps))]
        if not -self.steps <= index < self.steps:
            raise IndexError(index)
        turn, place = divmod(index % self.steps, len(self.cycle))
        return renamed(self.cycle[place], turn)


def renamed(step: Step, turn: int) -> Step:
    """The step with the number of the turn in each of its names: `query.py` becomes `query_2.py`."""

    def changed(value: Any) -> Any:
        if isinstance(value, str):
            return WORD.sub(lambda found: rename(found.group(), turn), value)
        if isinstance(value, dict):
            return {key: changed(inner) for key, inner in value.items()}
        return [changed(inner) for inner in value] if isinstance(value, list) else value

    if not turn:
        return step
    action = {key: value if key in ("tool", "kind") else changed(value) for key, value in step["action"].items()}
    return {**step, "thought": changed(step.get("thought")), "action": action, "observation": changed(step.get("observation"))}


def rename(word: str, turn: int) -> str:
    if not is_name(word.strip(".-")):
        return word
    stem, dot, ending = word.rpartition(".")
    return f"{stem}_{turn}.{ending}" if dot and stem and "/" not in ending else f"{word}_{turn}"
