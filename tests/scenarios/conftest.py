"""A small project with its baseline taken once, and the commands of equal projects tried once."""

import os
import shutil
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # pytest's importlib mode does not let tests share a module otherwise


TRIED: dict[tuple[object, ...], Any] = {}
PATIENT_TRIAL_SECONDS = 120.0
"""What a trial finds does not depend on how busy the machine is."""


@pytest.fixture(scope="session", autouse=True)
def without_plugins(bare_machine: None):
    """Commands in the sandbox start pytest without the plugins that are installed beside it by chance: one takes a second to
    load, five times as long as pytest itself. A test that needs plugins sets the variable to nothing in its command."""
    from afresh.sandbox import command_environment

    whole = command_environment.make_toolchain_variables
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command_environment, "make_toolchain_variables", lambda: {**whole(), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
        yield


@pytest.fixture(autouse=True)
def tried_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """To start pytest in the sandbox takes longer than most tests. What a command does in the same files is asked once, where the
    trial itself is not what is tested."""
    from afresh.app.orders import choose_checks as checks
    from afresh.app.test_commands import try_commands
    from afresh.workspace.checkout_files import CheckoutFiles

    monkeypatch.setattr(try_commands, "DEFAULT_RUN_SECONDS", PATIENT_TRIAL_SECONDS)
    if request.path.stem == "test_fingerprint":
        return
    really = checks.try_test_candidates

    def try_out(place, configuration, found, limit):
        root = place.paths.root
        files = tuple((path, sha256((root / path).read_bytes()).digest()) for path in sorted(CheckoutFiles(root).paths()))
        key = (files, tuple(found), limit, place.settings.readable, os.environ["PATH"], checks.choose_sandbox)
        trials = TRIED.get(key) or really(place, configuration, found, limit and PATIENT_TRIAL_SECONDS)
        if all(one.tried and str(root) not in one.said for one in trials):
            TRIED[key] = trials
        return trials

    monkeypatch.setattr(checks, "try_test_candidates", try_out)


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory):
    from verification_yard import PROJECT, make_yard

    from afresh.verification.baseline import run_baseline_checks

    return run_baseline_checks(make_yard(tmp_path_factory.mktemp("project"), PROJECT).context)


@pytest.fixture
def yard(tmp_path: Path, taken):
    """The project at the start of a task."""
    from verification_yard import PROJECT, make_yard

    yard = make_yard(tmp_path, PROJECT)
    yard.begin(*taken)
    return yard


@pytest.fixture(scope="session")
def first_commit(bare_machine: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository that has a bug and a test that shows it; made once and copied, for a copy needs no git."""
    from person import CALC, TEST, Person

    one = Person(tmp_path_factory.mktemp("first"))
    one.repo.mkdir()
    one.git("init", "-q", "-b", "main", "--template=")
    one.write("calc.py", CALC)
    one.write("test_calc.py", TEST)
    one.commit()
    (one.repo / ".git/info").mkdir()
    return one.repo


@pytest.fixture
def person(tmp_path: Path, first_commit: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest):
    """With a repository that has a bug and a test that shows it."""
    from person import CHECK, SHELL_CHECK, Person

    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    one = Person(tmp_path, CHECK if request.node.get_closest_marker("reported") else SHELL_CHECK)
    shutil.copytree(first_commit, one.repo)
    return one


@pytest.fixture
def held(person, monkeypatch: pytest.MonkeyPatch):
    """A provider whose replies come when the test gives them: the model `held` of the person's settings."""
    from at_work import HeldServer

    config = person.folder / "config" / "afresh" / "config.toml"
    config.parent.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(person.folder / "config"))
    with HeldServer() as server:
        config.write_text(f'[models.held]\nprovider = "vllm"\nmodel = "held"\nbase_url = "{server.openai_url}"\n')
        yield server
