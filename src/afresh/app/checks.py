"""The checks of a task when nobody names any: the command that was found in the project's files and seen to run its tests."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from afresh.adapters.sandbox import Mounts, choose
from afresh.adapters.sandbox.own_tree import import_probe, top_level_packages
from afresh.adapters.workspace.environment import environment_folders
from afresh.adapters.workspace.repository import Repository
from afresh.adapters.workspace.scratch import scratch
from afresh.adapters.workspace.trees import write_durably
from afresh.adapters.workspace.walk import Checkout
from afresh.app.project import Project
from afresh.app.settings import Settings
from afresh.domain.codec import dumps, loads
from afresh.errors import AfreshError, NoSandbox
from afresh.insight.commands import Candidate, Trial, Tried, attempt, candidates
from afresh.insight.configuration import Configuration, configuration_of

LIMIT = 10.0
"""Seconds that the tests may run for when nobody has asked for it."""
FILE = "tests.json"
ELSEWHERE = "is imported from"


@dataclass(frozen=True, slots=True)
class Place:
    """A project and its settings, as much as is needed to try a command in it."""

    project: Project
    settings: Settings


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a task gets, and what a person should know of it."""

    checks: tuple[str, ...] = ()
    told: str = ""


def choose_checks(place: Place, limit: float = LIMIT) -> Chosen:
    """None is better than one that checks nothing. Where no sandbox holds, nothing is run and the first one found is taken."""
    tried = find_tests(place, limit)
    best = tried.best
    if best:
        return Chosen((best.command,), outcome(best))
    untried = next((one for one in tried.trials if not one.tried and one.said.startswith("not tried")), None)
    if untried:
        return Chosen((untried.command,), untried.said)
    failed = next((one for one in tried.trials if one.tried), None)
    return Chosen((), f"tried {failed.command}: {failed.said}" if failed else "")


def outcome(trial: Trial) -> str:
    """How well a command is known, in a few words."""
    tests = f"{trial.tests:,} tests" if trial.tests else "tests"
    if not trial.ran:
        return f"tried: {tests} found"
    if trial.said.startswith("still running") or ELSEWHERE in trial.said:
        return f"tried: {tests} found, {trial.said}"
    return f"tried: {tests} {'pass' if trial.exit == 0 else 'run, not all pass'}"


def find_tests(place: Place, limit: float = 0.0, again: bool = False) -> Tried:
    """What is kept for the files as they are, or else a new trial. One that found nothing is not kept: the machine may change."""
    files = Checkout(place.project.root)
    configuration = configuration_of(files.paths(), files.read)
    found = candidates(configuration)
    digest = decisive(configuration, found)
    before = kept(place.project.state / FILE)
    enough = before.best and (before.best.ran or not limit)
    if before.digest == digest and enough and not again:
        return before
    if not found:
        return Tried(digest)
    now = Tried(digest, try_out(place, configuration, found, limit))
    if now.best and ELSEWHERE not in now.best.said:
        write_durably(place.project.state / FILE, dumps(now))
    return now


def decisive(configuration: Configuration, found: Sequence[Candidate]) -> str:
    """Changes with the files that say how tests are run, and with what is read out of them; not with the code."""
    return sha256("\n".join([configuration.digest, *(one.command for one in found)]).encode("utf-8", "replace")).hexdigest()


def kept(path: Path) -> Tried:
    """Nothing, if what lies there can't be read: it is made again."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        return loads(Tried, path.read_text("utf-8"))
    return Tried()


def try_out(place: Place, configuration: Configuration, found: Sequence[Candidate], limit: float) -> tuple[Trial, ...]:
    """In a copy of the checkout, inside the sandbox; without one nothing is run."""
    repository = Repository.find(place.project.root)
    try:
        with scratch(repository, configuration.paths) as tree:
            mounts = Mounts(
                tree=tree,
                at=repository.root,
                environments=environment_folders(repository),
                readable=tuple(Path(path).expanduser() for path in place.settings.readable),
            )
            sandbox = choose(mounts, cache=place.project.state / "sandbox-probe")
            trials = attempt(found, sandbox, limit)
            strange = import_probe(sandbox, top_level_packages(tree))
            return tuple(replace(one, said=strange[0]) if strange and one.holds else one for one in trials)
    except NoSandbox:
        why = "not tried: nothing on this machine confines a command"
    except AfreshError as fault:
        why = f"not tried: {fault}"
    return tuple(Trial(one.command, one.source, said=one.refused or why, tried=False) for one in found)
