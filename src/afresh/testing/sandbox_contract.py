"""What every Sandbox must do. Subclass it and give a `place` fixture; what confines must prove that by attacks of its own."""

import os
from pathlib import Path
from typing import Protocol

import pytest

from afresh.ports.workspace import Sandbox


class SandboxPlace(Protocol):
    """What the fixture `place` gives: a tree on the host and a sandbox made for it."""

    @property
    def tree(self) -> Path: ...
    @property
    def sandbox(self) -> Sandbox: ...


class SandboxContract:
    """Fixture `place` is to be given by the subclass."""

    def test_says_which_level_it_is(self, place: SandboxPlace) -> None:
        assert place.sandbox.level in ("bubblewrap", "landlock", "none")

    def test_runs_in_the_tree(self, place: SandboxPlace) -> None:
        (place.tree / "a.txt").write_text("here")
        done = place.sandbox.run("cat a.txt", 600)
        assert (done.exit, done.output, done.timed_out, done.command) == (0, "here", False, "cat a.txt")

    def test_what_it_writes_in_the_tree_stays_and_is_the_users(self, place: SandboxPlace) -> None:
        assert place.sandbox.run("mkdir -p sub && echo new > sub/b.txt", 600).exit == 0
        assert (place.tree / "sub/b.txt").read_text() == "new\n"
        assert (place.tree / "sub/b.txt").stat().st_uid == os.getuid()

    def test_gives_the_exit_code(self, place: SandboxPlace) -> None:
        assert place.sandbox.run("exit 7", 600).exit == 7
        assert place.sandbox.run("kill -9 $$", 600).exit == 137
        assert place.sandbox.run("no-such-program-anywhere", 600).exit == 127

    def test_stdout_and_stderr_come_in_order(self, place: SandboxPlace) -> None:
        assert place.sandbox.run("echo 1; echo 2 >&2; echo 3; echo 4 >&2", 600).output == "1\n2\n3\n4\n"

    def test_stdin_is_empty(self, place: SandboxPlace) -> None:
        assert place.sandbox.run("cat; echo end", 600).output == "end\n"

    def test_output_that_is_no_text_is_kept_readable(self, place: SandboxPlace) -> None:
        assert place.sandbox.run(r"printf 'a\377b'", 600).output == "a\ufffdb"

    def test_quotes_and_newlines_in_a_command_are_the_shells(self, place: SandboxPlace) -> None:
        assert place.sandbox.run("x='a  \"b\"'\nprintf '%s' \"$x\"", 600).output == 'a  "b"'

    def test_a_time_out_keeps_what_was_printed(self, place: SandboxPlace) -> None:
        done = place.sandbox.run("echo before; sleep 60; echo after", 5)
        assert done.timed_out and done.exit != 0
        assert done.output.startswith("before\n") and "\nafter" not in done.output

    def test_a_command_does_not_wait_for_what_it_left_behind(self, place: SandboxPlace) -> None:
        done = place.sandbox.run("sleep 86399 & echo started", 600)
        assert not done.timed_out and done.output == "started\n"

    def test_has_none_of_the_callers_environment(self, place: SandboxPlace, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-seen")
        assert "sk-not-to-be-seen" not in place.sandbox.run("env; cat /proc/self/environ", 600).output

    def test_the_tree_has_the_same_name_wherever_it_lies(self, place: SandboxPlace) -> None:
        (place.tree / "sub").mkdir()
        (place.tree / "sub" / "fails.py").write_text("raise ValueError")
        printed = place.sandbox.run("pwd; echo $PWD/sub/x.py:3; echo $TMPDIR/y; python3 $PWD/sub/fails.py", 600).output
        assert printed.splitlines()[:3] == [".", "sub/x.py:3", "/tmp/y"]
        assert 'File "sub/fails.py", line 1' in printed

    def test_leaves_no_descriptor_open(self, place: SandboxPlace) -> None:
        place.sandbox.run("true", 600)
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            place.sandbox.run("true", 600)
        assert len(os.listdir("/proc/self/fd")) == before
