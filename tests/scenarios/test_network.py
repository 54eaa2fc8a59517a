"""A task gets the network only for what a person has allowed, installs a package with it, and its checks run with that."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from package_index import PackageIndex, serve_packages
from person import Person, Step, Told

pytestmark = pytest.mark.reported

CALC = "def double(x):\n    return 2 * x\n"
TEST = "import unittest\n\nfrom tenfold import tenfold\n\n\nclass T(unittest.TestCase):\n    def test_ten(self):\n"
TEST += "        self.assertEqual(tenfold(2), 20)\n"
NEW_TEST: Step = ("edit", {"path": "test_tenfold.py", "new": TEST})
COMPLETE: Step = ("complete", {"summary": "Multiply by ten with the package tenfold"})
CHECK = "python3 -m unittest -v"
FETCH = "import sys, urllib.request\nprint(urllib.request.urlopen(sys.argv[1]).read().decode())\n"
WHY = "the tests import tenfold"


def run(command: str, why: str = "") -> Step:
    return ("run", {"command": command, **({"why_network": why} if why else {})})


@pytest.fixture
def index() -> Iterator[PackageIndex]:
    with serve_packages() as server:
        yield server


@pytest.fixture
def worker(person: Person, requires_sandbox, monkeypatch: pytest.MonkeyPatch) -> Person:
    requires_sandbox("bubblewrap")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(person.folder / "config"))
    person.write("calc.py", CALC)
    person.write("fetch.py", FETCH)
    person.write("test_calc.py", "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_one(self):\n        pass\n")
    person.write(".gitignore", ".venv/\n")
    person.commit("right")
    return person


def make_environment(person: Person) -> None:
    """One in the checkout, with the pip of the Python that it is made from: to install another takes many seconds."""
    command = [sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", person.repo / ".venv"]
    subprocess.run(command, check=True)
    if subprocess.run([person.repo / ".venv/bin/python", "-c", "import pip"], stderr=subprocess.DEVNULL, check=False).returncode:
        pytest.skip(f"the Python of {sys.base_prefix} has no pip")


def start(person: Person, *replies: list[Step], more: tuple[str, ...] = ()) -> Told:
    return person.runs(person.script(*replies), *more, goal="Add tenfold to the tests", check=CHECK)


def network(person: Person) -> dict[str, Any]:
    return person.shown()["network"]


def prompt(person: Person, step: int) -> str:
    return " ".join(person.types("context", "show", "--step", str(step)).out.split())


@pytest.mark.promise("Dependencies")
def test_a_task_asks_installs_what_it_needs_and_its_checks_run_with_it(worker: Person, index: PackageIndex) -> None:
    make_environment(worker)
    packages = sorted(path.name for path in (worker.repo / ".venv").glob("lib/*/site-packages/*"))
    install = index.install_command
    told = start(worker, [run(install, WHY)], [run(install, WHY)], [NEW_TEST], [COMPLETE])
    assert told.code == 3 and f"`{install}` wants the network: {WHY}." in told.words and index.asked == []
    assert "1 allow in this task" in worker.types("answer").words

    task = worker.shown()["task"]["id"]
    assert worker.types("allow", task, "--network", index.address).code == 0, "loopback is no public address"
    done = worker.types("resume", task)
    assert done.code == 0, done.words
    assert "/simple/tenfold/" in index.asked
    used = f"network used: {index.address}; checks ran with the task's own .venv, with tenfold 1.0"
    assert used in " ".join(done.words.replace("│", " ").split())
    assert used in " ".join(worker.git("log", "-1", "--format=%B", f"afresh/{task}").split())
    assert sorted(path.name for path in (worker.repo / ".venv").glob("lib/*/site-packages/*")) == packages, "the user's own"
    shown = worker.types("show").words
    assert f"may reach {index.address} with any command" in shown and "installed tenfold 1.0" in shown
    assert network(worker)["connections"][0]["received"] > 500
    assert "Installed in this task, and used by the checks: .venv (tenfold 1.0)" in prompt(worker, 3)
    worker.types("apply", task)
    assert not list(worker.trees.glob("*.environments")), "removed with the tree"


def test_allowed_always_it_is_in_the_users_settings_and_no_task_of_the_repository_asks_again(
    worker: Person, index: PackageIndex
) -> None:
    fetch = f"python3 fetch.py http://{index.address}/hello"
    start(worker, [run(fetch, "to see")], [run(fetch, "to see")])
    task = worker.shown()["task"]["id"]
    resumed = worker.types("answer", task, "2", "--resume")
    assert "the script has 2 replies" in resumed.words
    assert f'[network."{worker.repo}"]\ncommands = ["{fetch}"]' in (worker.folder / "config/afresh/config.toml").read_text()
    assert network(worker)["connections"][0]["refused"] == "not allowed"
    assert index.asked == [], "an allowed command reaches the default ports of public addresses only"

    start(worker, [run(fetch)], [run(f"{fetch} && true", "?")])
    other = worker.shown()["task"]["id"]
    assert other != task and network(worker)["permissions"] == [{"always": True, "kind": "command", "text": fetch}]
    assert network(worker)["commands"] == [fetch], "without a word of the model, but for this command alone"
    assert worker.types("allow", other, "--revoke", "--command", fetch).code == 1, "it holds always"
    assert worker.types("allow", other, "--revoke", "--command", fetch, "--always").code == 0
    assert "commands = []" in (worker.folder / "config/afresh/config.toml").read_text()
    assert (
        worker.types("allow", task).words
        == f"{task} may: reach any public address with `{fetch}`; in every task of this repository"
    )
    worker.types("resume", task, "--model", worker.script([run("true")] * 3, name="other"))
    assert "has no network" in worker.types("allow", task).words, "taken back when it goes on"


def test_an_address_opens_for_every_command_and_nothing_else_does(worker: Person, index: PackageIndex) -> None:
    with serve_packages() as other:
        both = f"python3 fetch.py http://{index.address}/hello; python3 fetch.py http://{other.address}/hello; python3 fetch.py http://b.example.org/"
        start(worker, [run(both)], [run("true")], more=("--allow-network", index.address))
        assert index.asked == ["/hello"] and other.asked == []
    told = prompt(worker, 2)
    assert "hello from outside" in told and f"closed: {other.address} (not allowed), b.example.org:80 (not allowed)" in told
    assert f"Network: open for the hosts {index.address}; closed for everything else, and for checks" in told
    shown = worker.types("show").words
    assert f"{other.address} refused: not allowed" in shown and f"may reach {index.address} with any command" in shown


def test_checks_have_no_network_whatever_is_allowed(worker: Person, index: PackageIndex) -> None:
    check = f"! python3 fetch.py http://{index.address}/hello"
    done = worker.runs(
        worker.script([("edit", {"path": "notes.txt", "new": "x\n"})], [COMPLETE]),
        *("--allow-network", index.address, "--allow-command", f"python3 fetch.py http://{index.address}/hello"),
        goal="Write notes", check=check,
    )  # fmt: skip
    assert done.code == 0 and index.asked == [], done.words


@pytest.mark.journey
def test_an_environment_that_the_task_makes_itself_survives_into_the_fresh_tree_of_the_checks(
    worker: Person, index: PackageIndex
) -> None:
    make = "python3 -m venv --without-pip --system-site-packages .venv"
    write = "echo 'def tenfold(x): return 10 * x' > .venv/lib/$(ls .venv/lib)/site-packages/tenfold.py"
    both = f"{make} && {write}"
    told = start(worker, [run(both)], [NEW_TEST], [COMPLETE], more=("--allow-command", both))
    assert told.code == 0, told.words
    assert "the network was open, and nothing was reached; checks ran with the task's own .venv" in worker.types("show").words
    task = worker.shown()["task"]["id"]
    assert "reach any public address with `python3 -m venv" in worker.types("allow", task).words
    assert worker.types("allow", task, "--network", "x.example.org").code == 1, "it is over"
