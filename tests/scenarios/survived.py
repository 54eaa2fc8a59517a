"""What a killed process leaves, against what it stood at: states field by field, windows byte for byte."""

import json
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from unittest import mock

from person import SOURCE

from afresh.app.project import Project, open_project, rebuild_views
from afresh.core.codec import to_canonical_json, value_from_json
from afresh.core.reducer import fold_entries
from afresh.core.state import State
from afresh.views.write_files import list_view_files

FIELDS = tuple(field.name for field in fields(State))


def drive(repo: Path, task: str, point: str = "never", step: int = 0) -> int:
    """Work on a task in a process that kills itself at this point; of this source tree, whatever is installed."""
    said = repo.parent / "said"
    process = forking().Process(target=driven, args=(dict(os.environ), said, str(repo), task, point, step))
    process.start()
    process.join(600)
    code = process.exitcode
    process.kill()
    assert code in (0, -signal.SIGKILL), said.read_text()
    return code


@cache
def forking():
    """Processes with the driver's modules and nothing else of the past: to import them anew takes longer than most runs."""
    from multiprocessing import forkserver

    context = get_context("forkserver")
    context.set_forkserver_preload(["driver"])
    with mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join((SOURCE, str(Path(__file__).parent)))):
        forkserver.ensure_running()
    return context


def driven(environment: Mapping[str, str], said: Path, repo: str, task: str, point: str, step: int) -> None:
    import driver

    os.environ.clear()
    os.environ.update(environment)
    sys.stdout = sys.stderr = said.open("w", buffering=1)
    driver.main(repo, task, point, step)


def differing(left: State, right: State) -> list[str]:
    """The fields in which two states are not the same, in value or in writing."""
    pairs = {name: (getattr(left, name), getattr(right, name)) for name in FIELDS}
    return [name for name, (one, other) in pairs.items() if one != other or to_canonical_json(one) != to_canonical_json(other)]


def nothing_lost(repo: Path, task: str, scenario: str) -> State:
    """The state that is loaded now is the fold of the journal and the last that the dead process had committed, and the files
    are those that a rebuild would write as soon as somebody writes."""
    project = open_project(repo)
    project.view_writer.write_again_after_kill()
    files_of_a_rebuild(project)
    store = project.store
    loaded, folded = store.load(task), fold_entries(None, store.journal(task))
    committed = value_from_json(State, (repo.parent / "committed").read_text())
    if committed.task.id != task:
        assert differing(store.load(committed.task.id), committed) == []
        committed = loaded
    assert (differing(loaded, folded), differing(loaded, committed)) == ([], [])
    count(scenario, 2 * len(FIELDS))
    return loaded


def files_of_a_rebuild(project: Project) -> None:
    found = {path: path.read_bytes() for path in list_view_files(project.paths.state)}
    rebuild_views(project)
    rebuilt = {path: path.read_bytes() for path in list_view_files(project.paths.state)}
    stale = [str(path) for path in found.keys() | rebuilt.keys() if found.get(path) != rebuilt.get(path)]
    assert stale == []


def same_windows(repo: Path, scenario: str) -> None:
    """Whoever went on has built for each step what the dead had built for it, to the byte."""
    built = windows(repo)
    assert {step: set(hashes) for step, hashes in built.items() if len(set(hashes)) > 1} == {}
    count(f"{scenario}: windows", sum(len(hashes) - 1 for hashes in built.values()))


def windows(repo: Path, neutral: bool = False) -> dict[str, list[str]]:
    """Hashes of the windows that were built for each step, by the dead and by whoever went on; `neutral`: without what differs
    between any two runs of the same story. Steps of a part stand after its name."""
    built: dict[str, list[str]] = {}
    for line in (repo.parent / "windows").read_text().splitlines():
        step, *hashes = line.split()
        built.setdefault(step, []).append(hashes[neutral])
    return built


def count(scenario: str, compared: int) -> None:
    """For the figures in docs/internals/security.md: COMPARED names a file that they are added to."""
    if place := os.environ.get("COMPARED"):
        with open(place, "a") as file:
            file.write(json.dumps({"scenario": scenario, "compared": compared}) + "\n")
