"""Chooses checks for a task that names none: a command from the project's files that was seen to run its tests."""

import contextlib
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path

from afresh.app.open_workspace import make_mounts
from afresh.app.settings import ProjectPaths, Settings
from afresh.app.test_commands.candidates import CommandCandidate, find_candidates
from afresh.app.test_commands.try_commands import CommandTrial, TrialNote, TrialResults, try_candidates
from afresh.code.config_files import ProjectConfiguration, read_configuration
from afresh.core.codec import to_canonical_json, value_from_json
from afresh.core.text import format_count
from afresh.errors import AfreshError, NoSandbox
from afresh.ports.workspace import read_text
from afresh.sandbox.choose_level import choose_sandbox
from afresh.sandbox.import_origin import find_foreign_imports, list_top_level_packages
from afresh.workspace.checkout_files import CheckoutFiles, make_scratch_copy
from afresh.workspace.disk_files import write_durable_file
from afresh.workspace.environment_files import find_environment_folders
from afresh.workspace.repository import Repository

MAX_UNASKED_TEST_SECONDS = 10.0
"""How long tests may run when nobody asked for them."""
TRIALS_FILE = "tests.json"
MAX_REASONS = 3
NO_COMMAND_FOUND = (
    "no file here names a test command: not CI, a Makefile, tox, package.json, Cargo.toml, go.mod with tests, "
    "pom.xml, build.gradle, nor Python or node test files"
)


@dataclass(frozen=True, slots=True)
class ProjectWithSettings:
    """A project's paths and settings: all that trying a command needs."""

    paths: ProjectPaths
    settings: Settings


@dataclass(frozen=True, slots=True)
class ChosenChecks:
    """The checks of a task, and a note for the user."""

    checks: tuple[str, ...] = ()
    told: str = ""
    failed: tuple[str, ...] = ()
    """Commands that should run the tests and do not, each with the reason."""


def choose_checks(place: ProjectWithSettings, limit: float = MAX_UNASKED_TEST_SECONDS) -> ChosenChecks:
    """Return no check rather than one that checks nothing. Without a sandbox, nothing is run and the first candidate is taken."""
    tried = find_project_tests(place, limit)
    best = tried.best
    if best:
        return ChosenChecks((best.command,), describe_check_trial(best))
    untried = next((one for one in tried.trials if one.note is TrialNote.NO_TRIAL), None)
    if untried:
        return ChosenChecks((untried.command,), untried.said)
    failed = [f"{one.command}: {one.said}" for one in sorted(tried.trials, key=lambda one: not one.tried)[:MAX_REASONS]]
    return ChosenChecks((), "; ".join(failed) or NO_COMMAND_FOUND, tuple(failed))


def try_set_checks(place: ProjectWithSettings, limit: float = MAX_UNASKED_TEST_SECONDS) -> ChosenChecks:
    """Try the checks of the settings. They count whatever comes of it."""
    files = CheckoutFiles(place.paths.root)
    configuration = read_configuration(files.paths(), partial(read_text, files))
    told, failed = list[str](), list[str]()
    for check in place.settings.checks:
        (trial,) = try_test_candidates(place, configuration, [CommandCandidate(check, "script", "settings")], limit)
        if trial.tried and not trial.holds:
            failed.append(f"{check}: {trial.said}")
        else:
            told.append(describe_check_trial(trial) if trial.tried else trial.said)
    return ChosenChecks(place.settings.checks, "; ".join(dict.fromkeys(told)), tuple(failed))


def suggest_check(place: ProjectWithSettings) -> str:
    """Return a test command as an example for this project: the first that its files name, tried or not."""
    files = CheckoutFiles(place.paths.root)
    found = find_named_commands(place, read_configuration(files.paths(), partial(read_text, files)))
    return next((one.command for one in found if not one.refused), "python3 -m pytest -q")


def find_named_commands(place: ProjectWithSettings, configuration: ProjectConfiguration) -> tuple[CommandCandidate, ...]:
    """Return the test commands that the files name. Where only python3 is there (Debian), `python` is called by that name."""
    found = find_candidates(configuration)
    if shutil.which("python") or not shutil.which("python3") or find_environment_folders(Repository.find(place.paths.root)):
        return found
    return tuple(replace(one, command=re.sub(r"(?<![\w/.-])python(?= )", "python3", one.command)) for one in found)


def describe_check_trial(trial: CommandTrial) -> str:
    """Describe in a few words what happened when a command was tried."""
    tests = format_count(trial.tests, "test") if trial.tests else "tests"
    if trial.note is TrialNote.FOREIGN_IMPORT:
        return f"{tests} found, {trial.said}"
    if not trial.ran:
        return f"{tests} found, not run yet"
    if trial.note is TrialNote.CUT_OFF:
        return f"did not finish in {trial.seconds:.0f} s: not tried to the end"
    if trial.exit == 0 and trial.skipped:
        verb = "is" if trial.skipped == 1 else "are"
        return f"runs: {trial.tests - trial.skipped:,} of {tests} pass, {trial.skipped:,} {verb} skipped"
    if trial.exit == 0:
        return f"runs: {tests} {'passes' if trial.tests == 1 else 'pass'}" if trial.tests else "runs: exit 0"
    if trial.failed and trial.tests:
        return f"runs: {trial.failed:,} of {tests} {'fails' if trial.failed == 1 else 'fail'}"
    return f"runs: not all {tests} pass"


def find_project_tests(place: ProjectWithSettings, limit: float = 0.0, again: bool = False) -> TrialResults:
    """Return the cached trials if the files that name commands are unchanged, else run new ones. How a run ended counts only for
    the tree that it ran on. Trials that found no tests are not cached, because the machine may change."""
    files = CheckoutFiles(place.paths.root)
    configuration = read_configuration(files.paths(), partial(read_text, files))
    found = find_named_commands(place, configuration)
    digest = sha256("\n".join([configuration.digest, *(one.command for one in found)]).encode()).hexdigest()
    before, tree = load_kept_trials(place.paths.state / TRIALS_FILE), identify_tested_tree(Repository.find(place.paths.root))
    if not tree or before.tree != tree:
        before = replace(before, trials=tuple(replace(one, ran=False) for one in before.trials))
    enough = before.best and (before.best.ran or not limit)
    if before.digest == digest and enough and not again:
        return before
    if not found:
        return TrialResults(digest)
    now = TrialResults(digest, try_test_candidates(place, configuration, found, limit), tree)
    if now.best and now.best.note is not TrialNote.FOREIGN_IMPORT:
        write_durable_file(place.paths.make_state() / TRIALS_FILE, to_canonical_json(now))
    return now


def identify_tested_tree(repository: Repository) -> str:
    """Name the commit and the installed environments; empty where the checkout has changes that are not committed."""
    changed = repository.git.ask("status", "--porcelain").splitlines()
    if any(not line.endswith(" .afresh/") for line in changed):
        return ""
    packages = [path for name in find_environment_folders(repository)
                for path in (repository.root / name, *(repository.root / name).glob("lib/*/site-packages"))]  # fmt: skip
    installed = [f"{path}\0{path.stat().st_mtime_ns}" for path in packages if path.exists()]
    return sha256(os.fsencode("\n".join([repository.head, os.environ.get("PATH", ""), *installed]))).hexdigest()


def load_kept_trials(path: Path) -> TrialResults:
    """Return no trials if the file can't be read; they are run again."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        return value_from_json(TrialResults, path.read_text("utf-8"))
    return TrialResults()


def try_test_candidates(
    place: ProjectWithSettings, configuration: ProjectConfiguration, found: Sequence[CommandCandidate], limit: float
) -> tuple[CommandTrial, ...]:
    """Run the candidates in a copy of the checkout, inside the sandbox; without a sandbox run nothing."""
    repository = Repository.find(place.paths.root)
    try:
        with make_scratch_copy(repository, configuration.paths, place.settings.copy) as tree:
            mounts = make_mounts(repository, tree, place.settings)
            sandbox = choose_sandbox(mounts, cache=place.paths.make_state() / "sandbox-probe")
            trials = try_candidates(found, sandbox, limit)
            strange = find_foreign_imports(sandbox, list_top_level_packages(tree))
            foreign = TrialNote.FOREIGN_IMPORT
            return tuple(replace(one, said=strange[0], note=foreign) if strange and one.holds else one for one in trials)
    except NoSandbox:
        why = "not tried: no sandbox on this machine"
    except AfreshError as fault:
        why = f"not tried: {fault}"
    return tuple(
        CommandTrial(
            one.command,
            one.source,
            said=one.refused or why,
            tried=False,
            note=TrialNote.NONE if one.refused else TrialNote.NO_TRIAL,
        )
        for one in found
    )
