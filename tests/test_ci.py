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
TOOLS = ("awk", "bash", "cat", "dirname", "env", "grep", "mkdir", "rm", "sh", "tail", "tee")
PASSES = ("test journeys", "test-sandboxed PART=sandboxed or browser", "test-sandboxed", "mutants")


MAKE = """
echo "make $*"
[ "$1" != "$WATCHED" ] || for one in $(grep -ls "$PWD/bin" /proc/[0-9]*/environ); do cat "${one%environ}stat"; done 2>/dev/null
case "$1 $2" in
  "$FAILING") echo "FAILED tests/$1.py::a - boom"; echo "1 failed, 3 passed, 2 skipped in 2.50s"; exit 1;;
  *) echo "=== 4 passed, 1 skipped in 1.00s ===";;
esac
"""


PYTHON = 'echo "python $*"; while [ "$1" != -- ]; do shift; done; shift; "$@" || exit; exit ${PYTHON_EXIT:-0}'


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
    assert seen_without("chromium") == before == seen_without()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Create a checkout with .ci/run and programs that only print how they were called."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/run", tmp_path / ".ci/run")
    for name in TOOLS:
        program = shutil.which(name)
        assert program
        put(tmp_path / "bin" / name, f'exec {program} "$@"')
    put(tmp_path / "bin/make", MAKE)
    put(tmp_path / ".venv/bin/python", PYTHON)
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


def test_a_bare_and_busy_machine_comes_first_and_the_counts_of_all_passes_last(checkout: Path):
    code, said = run(checkout)
    assert code == 0 and [line for line in said if line.startswith(("ci:", "make"))] == [
        "make setup",
        "ci: all checks without bubblewrap and Chromium, beside two busy processes",
        "make test journeys -k",
        "ci: not installed, so some tests are skipped: bubblewrap chromium",
        "ci: what depends on a sandbox or a browser, with what there is of both",
        "make test-sandboxed PART=sandboxed or browser",
        "ci: what depends on a sandbox, without any",
        "make test-sandboxed",
        "ci: guards out of action, and mutants by chance; of the second only the share is told",
        "make mutants",
        "ci: new examples for the property tests; what they find decides nothing",
        "make explore",
    ]  # fmt: skip
    assert "python scripts/run-without bubblewrap chromium -- make test journeys -k" in said
    assert "python scripts/run-without bubblewrap landlock -- make test-sandboxed" in said
    assert said[-1] == "12 passed, 3 skipped in 3.00s"


def test_root_installs_what_is_missing_and_a_package_that_cannot_be_had_stops_nothing(checkout: Path):
    put(checkout / "bin/bwrap", "")
    put(checkout / "bin/apt-get", 'echo "apt-get $*"; test "$1" = update')
    code, said = run(checkout, USER_ID="0")
    assert code == 0 and "ci: chromium can't be installed, so some tests are skipped; build/apt.log says why" in said
    assert (checkout / "build/apt.log").read_text().splitlines()[1] == "apt-get install -y --no-install-recommends chromium"


def test_a_machine_that_hides_nothing_makes_the_first_pass_as_it_is(checkout: Path):
    code, said = run(checkout, PYTHON_EXIT=str(NOT_PERMITTED_EXIT_CODE))
    assert code == 0 and "make test journeys -k" in said and "make test-sandboxed" not in said
    assert "ci: no-sandbox: bubblewrap landlock can't be hidden here" in said


@pytest.mark.parametrize("failing", PASSES)
def test_a_pass_that_fails_stops_no_other_and_is_named_before_the_counts(checkout: Path, failing: str):
    code, said = run(checkout, FAILING=failing if " " in failing else f"{failing} ")
    assert code == 1 and "make explore" in said
    counts = "12 passed, 3 skipped in 3.00s" if failing == "mutants" else "1 failed, 11 passed, 4 skipped in 4.50s"
    assert said[-2:] == [f"FAILED tests/{failing.split()[0]}.py::a - boom", counts]


def test_what_new_examples_find_is_named_and_fails_nothing(checkout: Path):
    code, said = run(checkout, FAILING="explore ")
    assert code == 0 and said[-3] == "FAILED tests/explore.py::a - boom" and said[-1] == "12 passed, 3 skipped in 3.00s"


@pytest.mark.parametrize("failing", ["", "test "])
def test_two_processes_compute_beside_the_first_pass_alone(checkout: Path, failing: str):
    def count_loops(watched: str) -> int:
        return sum(" (bash) R " in line for line in run(checkout, WATCHED=watched, FAILING=failing)[1])

    assert count_loops("test") >= 2
    assert count_loops("explore") == 0
