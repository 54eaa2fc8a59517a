"""Attacks by a command for which the network is open in part."""

import os
import socket
import sys
from pathlib import Path

import pytest

from afresh.core.network_access import NetworkAccess, parse_address
from afresh.errors import Broken, NotPossible
from afresh.sandbox import network_proxy
from afresh.sandbox.bubblewrap import Bubblewrap
from afresh.sandbox.choose_level import open_level
from afresh.sandbox.mounts import Mounts
from afresh.sandbox.network_probe import probe_network
from afresh.sandbox.own_environments import find_environment_source, list_own_environments

ANYWHERE = NetworkAccess(public=True)
FETCH = "python3 fetch.py"
FETCH_SCRIPT = """\
import sys, urllib.error, urllib.request
try:
    print(urllib.request.urlopen(sys.argv[1]).read().decode())
except urllib.error.HTTPError as error:
    print(error.read().decode())
"""


@pytest.fixture
def sandbox(requires_sandbox, tmp_path: Path) -> Bubblewrap:
    requires_sandbox("bubblewrap")
    for name in ("worktree", "repository", "outside"):
        (tmp_path / name).mkdir()
    (tmp_path / "outside/key").write_text("secret")
    (tmp_path / "worktree/fetch.py").write_text(FETCH_SCRIPT)
    return Bubblewrap(Mounts(tmp_path / "worktree", tmp_path / "repository", (".venv",), own=tmp_path / "own"))


def make_environment(sandbox: Bubblewrap) -> Path:
    place = sandbox.mounts.at / ".venv"
    (place / "bin").mkdir(parents=True)
    (place / "pyvenv.cfg").write_text(f"home = {sys.base_prefix}/bin\n")
    return place


def test_with_one_address_open_every_attempt_at_more_fails(requires_sandbox) -> None:
    requires_sandbox("bubblewrap")
    result = probe_network()
    assert result.holds, result.why_not
    assert len(result.checks) > 15


def test_a_proxy_that_lets_everything_through_is_found(requires_sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    requires_sandbox("bubblewrap")
    monkeypatch.setattr(NetworkAccess, "covers", lambda self, host, port: True)
    assert "reach other" not in probe_network().why_not, "their addresses are not public"
    monkeypatch.setattr(network_proxy, "is_public_address", lambda address: address.is_loopback)
    assert "reach another port" in probe_network().why_not


def test_any_public_address_is_no_address_of_this_machine(sandbox: Bubblewrap) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        port = listening.getsockname()[1]
        done = sandbox.run(
            f"{FETCH} http://127.0.0.1:{port}/; {FETCH} http://localhost/; {FETCH} http://127.0.0.1/", 60, network=ANYWHERE
        )
        with pytest.raises(BlockingIOError):
            listening.accept()
    assert done.network and all(one.refused for one in done.network.connections) and len(done.network.connections) == 3


def test_the_port_is_gone_with_the_command_and_none_other_is_given_one(sandbox: Bubblewrap) -> None:
    look = f"http_proxy=http://127.0.0.1:3128 {FETCH} http://b.invalid/"
    assert "is closed" in sandbox.run(f"({look}; sleep 60) & sleep 0.2; {look}", 600, network=ANYWHERE).output
    assert "b.invalid is closed" not in sandbox.run(look, 600).output
    assert "proxy" not in sandbox.run("env", 600).output.lower()


def test_the_users_environment_is_never_written_to(sandbox: Bubblewrap) -> None:
    place = make_environment(sandbox)
    done = sandbox.run("echo evil > .venv/bin/python; rm .venv/pyvenv.cfg; echo x > .venv/new", 600, network=ANYWHERE)
    assert done.exit == 0, done.output
    assert sorted(path.name for path in place.iterdir()) == ["bin", "pyvenv.cfg"] and not list((place / "bin").iterdir())
    assert "new" in sandbox.run("ls .venv", 600).output, "the task has its own"


def test_without_the_network_the_tasks_own_environment_is_read_only(sandbox: Bubblewrap) -> None:
    make_environment(sandbox)
    sandbox.run("echo x > .venv/new", 600, network=ANYWHERE)
    assert sandbox.run("echo y > .venv/new", 600).exit != 0 and sandbox.run("cat .venv/new", 600).output == "x\n"


def test_a_rewritten_environment_brings_no_folder_of_the_host(sandbox: Bubblewrap, tmp_path: Path) -> None:
    """`home` of a pyvenv.cfg is made readable, since Python lives there: of the user's own file, never of the task's."""
    make_environment(sandbox)
    outside = tmp_path / "outside"
    rewrite = f"echo 'home = {outside}' > .venv/pyvenv.cfg; ln -s {outside} .venv/lib; ln -sfn {outside} .venv/link"
    made = f"mkdir made x; echo 'home = {outside}' > made/pyvenv.cfg"
    links = f"ln -s {outside} node_modules; ln -s {outside} x/node_modules"
    sandbox.run(f"{rewrite}; {made}; {links}", 600, network=ANYWHERE)
    assert list_own_environments(sandbox.mounts) == (".venv", "made")
    shown = sandbox.run(f"cat {outside}/key .venv/lib/key .venv/link/key made/../node_modules/key", 600)
    assert "secret" not in shown.output
    assert find_environment_source(sandbox.mounts, "made").is_dir() and not (tmp_path / "own/of-node_modules").exists()


def test_a_sandbox_without_a_place_of_its_own_opens_nothing(sandbox: Bubblewrap) -> None:
    make_environment(sandbox)
    with pytest.raises(Broken):
        Bubblewrap(Mounts(sandbox.mounts.tree, sandbox.mounts.at, (".venv",))).run("true", 60, network=ANYWHERE)


@pytest.mark.parametrize("level", ["landlock", "none"])
def test_a_level_that_can_not_filter_runs_nothing_with_the_network(level: str, tmp_path: Path) -> None:
    sandbox = open_level(level, Mounts(tmp_path, tmp_path))
    with pytest.raises(NotPossible, match="network for a command needs bubblewrap"):
        sandbox.run("touch ran", 600, network=NetworkAccess((parse_address("packages.example.org"),)))
    assert not os.path.exists(tmp_path / "ran")
