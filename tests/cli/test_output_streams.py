"""What commands write for eyes, and what they write for programs: no control codes in a pipe, no colour with NO_COLOR, and a
line about what goes on wherever it takes longer than a second."""

import contextlib
import io
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import click
import pytest

from afresh.cli import main
from afresh.cli.output import JSON_KEY
from afresh.cli.render import activity
from afresh.cli.render.activity import CLEAR_LINE, ActivityLine, show_activity_line

STYLE = re.compile(r"\x1b\[[0-9;]*m")
COMMANDS = [
    command.split()
    for command in [
        "init",
        "status",
        "status --all",
        "show",
        "diff",
        "show --follow",
        "pr",
        "add --from-issue missing.md",
        "answer",
        "export",
        "import",
        "code map double",
        "code find double",
        "code find --callers double",
        "code violations",
        "code profile",
        "context instructions",
        "memory list",
        "knowledge list",
        "template",
        "context verify",
        "spend",
        "models",
        "doctor --rebuild",
        "show --checkpoints",
        "show --decisions",
        "apply",
        "--help",
        "nonsense",
    ]
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("streams")
    (root / "calc.py").write_text("def double(x):\n    return x + 2\n\n\nprint(double(2))\n")
    identity = ("-c", "user.name=t", "-c", "user.email=t@t")
    for command in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "x")):
        subprocess.run(["git", *identity, *command], cwd=root, check=True)
    return root


def type_command(args: list[str]) -> None:
    with contextlib.suppress(SystemExit):
        main.run_command_line(args)


def type_at_terminal(args: list[str], patch: pytest.MonkeyPatch) -> str:
    """Run a command in this process, with both streams at a terminal; return what it wrote there."""
    master, slave = pty.openpty()
    written = list[bytes]()

    def read_all() -> None:
        with contextlib.suppress(OSError):  # the other end is closed
            while data := os.read(master, 65536):
                written.append(data)

    reader = Thread(target=read_all)
    reader.start()
    with os.fdopen(slave, "w", encoding="utf-8") as stream:
        patch.setattr(sys, "stdout", stream)
        patch.setattr(sys, "stderr", stream)
        type_command(args)
    reader.join()
    os.close(master)
    return b"".join(written).decode()


@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_no_control_codes_in_a_pipe_and_no_colour_with_no_color(
    project: Path, monkeypatch: pytest.MonkeyPatch, args: list[str]
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setenv("PAGER", "cat")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        type_command(args)
    assert "\x1b" not in out.getvalue() + err.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    with pytest.MonkeyPatch.context() as patch:
        written = type_at_terminal(args, patch)
    assert not [code for code in STYLE.findall(written) if re.search(r"\b[34]\d", code)]


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def run_slowly(monkeypatch: pytest.MonkeyPatch, as_json: bool = False) -> str:
    """What a terminal gets while a command takes long; the clock of it is a second that is over at once."""
    screen = Screen()
    monkeypatch.setattr(activity, "DELAY_SECONDS", 0.0)
    monkeypatch.setattr(sys, "stderr", screen)
    with click.Context(click.Command("x")) as context:
        context.meta[JSON_KEY] = as_json
        with show_activity_line("reading the code") as tell:
            tell("reading more")
            while "reading" not in screen.getvalue() and not as_json:
                time.sleep(0.01)
    return screen.getvalue()


def test_what_takes_long_is_shown_with_its_time_and_wiped_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    shown = run_slowly(monkeypatch)
    assert f"{CLEAR_LINE}reading" in shown and "… 0 s" in shown and shown.endswith(CLEAR_LINE) and "\n" not in shown
    monkeypatch.setenv("TERM", "dumb")
    assert run_slowly(monkeypatch).endswith("… 0 s\n") and "\x1b" not in run_slowly(monkeypatch)


def test_nothing_is_shown_beside_json(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_slowly(monkeypatch, as_json=True) == ""


def test_a_line_fits_its_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(ActivityLine(io.StringIO(), "long words " * 30)._line) < 80
