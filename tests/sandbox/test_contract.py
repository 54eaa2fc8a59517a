"""The sandbox contract, held against every level."""

from dataclasses import replace

import pytest

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
