"""The sandbox contract, held against every level."""

import contextlib
import re
from dataclasses import replace

import pytest

from afresh.sandbox import bubblewrap, command_environment, process, shown_environments, supervisor
from support.sandbox_contract import ENVIRONMENTS, SandboxContract


class TestBubblewrap(SandboxContract):
    @pytest.fixture
    def place(self, make_place):
        return make_place("bubblewrap", environments=ENVIRONMENTS)


class TestLandlock(SandboxContract):
    @pytest.fixture
    def place(self, make_place):
        return make_place("landlock", environments=ENVIRONMENTS)


class TestNone(SandboxContract):
    @pytest.fixture
    def place(self, make_place):
        return make_place("none", environments=ENVIRONMENTS)


def show_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_environment, "list_mounted_environments", lambda mounts: ())
    monkeypatch.setattr(shown_environments, "list_mounted_environments", lambda mounts: ())


def believe_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment is shown only where the tree has nothing of that name."""
    monkeypatch.setattr(bubblewrap, "list_environment_mounts", lambda mounts: {})
    monkeypatch.setattr(shown_environments, "_show_link", lambda *args: contextlib.nullcontext())


CONTRACT = SandboxContract()
TWINS = {
    "environments are not shown": (show_nothing, CONTRACT.test_environments_of_the_checkout_are_in_the_tree, ()),
    "the tree's own are believed": (believe_the_tree, CONTRACT.test_what_the_tree_has_in_its_place_is_hidden_and_stays, ()),
    "links stay": (
        lambda patch: patch.setattr(shown_environments, "remove_entry", lambda *args: None),
        CONTRACT.test_nothing_of_an_environment_stays_in_the_tree, (),
    ),
    "a replaced link is not noticed": (
        lambda patch: patch.setattr(shown_environments, "_identify", lambda *args: ()),
        CONTRACT.test_a_command_that_replaces_an_environment_does_not_succeed, ("; rm -rf .venv; mv kept .venv",),
    ),
    "packages are shown as they are": (
        lambda patch: patch.setattr(shown_environments, "_show_packages", lambda mounts, source, *rest: source),
        CONTRACT.test_caches_beside_packages_are_private_and_workspaces_are_those_of_the_tree, (),
    ),
    "nothing is said of the checkout": (
        lambda patch: patch.setattr(supervisor, "list_mounted_environments", lambda mounts: (mounts.at,)),
        CONTRACT.test_an_editable_install_leads_to_the_tree, ("path", "packages/a/shop"),
    ),
    "paths are shown as in bubblewrap": (
        lambda patch: patch.setattr(process, "hide_paths", lambda text, *rest: re.sub(r"/tmp/afresh-\w+/tmp", "/tmp", text)),
        CONTRACT.test_a_path_that_it_prints_is_there_for_the_next_command, (),
    ),
}  # fmt: skip
"""What is broken, and the test that then fails under Landlock."""


@pytest.mark.parametrize("name", TWINS)
def test_a_broken_sandbox_fails_the_contract(make_place, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    break_it, test, args = TWINS[name]
    place = make_place("landlock", environments=ENVIRONMENTS)
    break_it(monkeypatch)
    with pytest.raises(AssertionError):
        test(place, *args)


@pytest.mark.parametrize("name", list(TWINS)[:2])
def test_a_broken_bubblewrap_fails_the_contract(make_place, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    break_it, test, args = TWINS[name]
    place = make_place("bubblewrap", environments=ENVIRONMENTS)
    break_it(monkeypatch)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        test(place, *args)


@pytest.mark.parametrize("level", ["bubblewrap", "landlock", "none"])
def test_what_a_command_prints_is_heard_before_it_ends(make_place, level: str) -> None:
    place, heard = make_place(level), list[tuple[str, bytes]]()

    def listen(command: str):
        def hear(data: bytes) -> None:
            heard.append((command, data))
            (place.tree / "heard").touch()

        return hear

    command = "echo first; while [ ! -e heard ]; do sleep 0.05; done; echo second"
    done = replace(place.sandbox, listen=listen).run(command, 20)
    assert (done.exit, done.output) == (0, "first\nsecond\n"), "it waits until its first line was heard"
    assert b"".join(data for _, data in heard) == b"first\nsecond\n" and {name for name, _ in heard} == {command}
