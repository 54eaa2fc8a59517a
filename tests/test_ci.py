"""The stages of .ci/run, and a machine without bubblewrap or Landlock as its later stages see it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOT_PERMITTED_EXIT_CODE = 77
SEE = (
    "from afresh.sandbox.bubblewrap import find_bubblewrap; from afresh.sandbox.landlock import read_landlock_version; "
    "print(find_bubblewrap(), read_landlock_version())"
)
TOOLS = ("bash", "dirname", "env", "mkdir", "sh")


def seen_without(*names: str) -> tuple[str, str]:
    """Return the path of bubblewrap and the version of Landlock, as a command sees them."""
    command = [sys.executable, ROOT / "scripts/run-without", *names, "--", sys.executable, "-c", SEE]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode == NOT_PERMITTED_EXIT_CODE:
        pytest.skip(done.stderr.strip())
    bubblewrap, landlock = done.stdout.split()
    return bubblewrap, landlock


def test_what_is_hidden_is_hidden_from_the_command_alone():
    before = seen_without()
    assert seen_without("bubblewrap") == ("None", before[1])
    assert seen_without("landlock") == (before[0], "0")
    assert seen_without("bubblewrap", "landlock") == ("None", "0")
    assert seen_without() == before


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Create a checkout with .ci/run and programs that only print how they were called."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/run", tmp_path / ".ci/run")
    for name in TOOLS:
        program = shutil.which(name)
        assert program
        put(tmp_path / "bin" / name, f'exec {program} "$@"')
    put(tmp_path / "bin/make", 'echo "make $*"; exit ${MAKE_EXIT:-0}')
    put(tmp_path / ".venv/bin/python", 'echo "python $*"; exit ${PYTHON_EXIT:-0}')
    put(tmp_path / "bin/id", "echo ${USER_ID:-1000}")
    return tmp_path


def put(path: Path, body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def run(checkout: Path, **variables: str) -> tuple[int, list[str]]:
    environment = {"PATH": str(checkout / "bin"), **variables}
    bash = shutil.which("bash")
    assert bash
    done = subprocess.run([bash, ".ci/run"], cwd=checkout, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()


def test_all_three_levels_are_run_and_what_is_missing_is_named(checkout: Path):
    code, said = run(checkout)
    assert (code, said) == (0, [
        "ci: not installed, so some tests are skipped: bubblewrap chromium",
        "make test",
        "ci: what depends on the sandbox, without bubblewrap",
        "python scripts/run-without bubblewrap -- make test-sandboxed",
        "ci: what depends on the sandbox, without bubblewrap landlock",
        "python scripts/run-without bubblewrap landlock -- make test-sandboxed",
    ])  # fmt: skip


def test_root_installs_what_is_missing_and_a_package_that_cannot_be_had_stops_nothing(checkout: Path):
    put(checkout / "bin/bwrap", "")
    put(checkout / "bin/apt-get", 'echo "apt-get $*"; test "$1" = update')
    code, said = run(checkout, USER_ID="0")
    assert code == 0 and said[:2] == [
        "ci: chromium can't be installed, so some tests are skipped; build/apt.log says why",
        "make test",
    ]
    assert (checkout / "build/apt.log").read_text().splitlines()[1] == "apt-get install -y --no-install-recommends chromium"


def test_a_machine_that_hides_nothing_leaves_the_later_passes_out(checkout: Path):
    code, said = run(checkout, PYTHON_EXIT=str(NOT_PERMITTED_EXIT_CODE))
    assert code == 0 and said.count("ci: left out: it can't be hidden here") == 2


@pytest.mark.parametrize("failing", ["MAKE_EXIT", "PYTHON_EXIT"])
def test_a_pass_that_fails_fails_the_run(checkout: Path, failing: str):
    assert run(checkout, **{failing: "2"})[0] == 2
