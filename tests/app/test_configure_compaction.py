"""The user's own command, really run."""

import json
import shlex
import sys

import pytest

from afresh.app.configure_compaction import CommandHook
from afresh.core.step_history import HookAnswer

ABOUT = {"task": "one", "step": 7, "goal": "schön"}


def script(tmp_path, text: str) -> str:
    path = tmp_path / "hook.py"
    path.write_text(text)
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


@pytest.mark.parametrize(
    ("body", "heard"),
    [
        ("sys.exit(0)", HookAnswer(True)),
        ("sys.exit(10)", HookAnswer(False)),
        ("print('oops', file=sys.stderr); sys.exit(3)", HookAnswer(True, "the hook ended with 3: oops")),
        ("sys.exit(1)", HookAnswer(True, "the hook ended with 1")),
    ],
)
def test_the_exit_code_decides(tmp_path, body, heard):
    assert CommandHook(script(tmp_path, f"import sys\n{body}\n")).before_compaction(ABOUT) == heard


def test_it_gets_the_question_as_json(tmp_path):
    command = script(tmp_path, f"import sys\nopen({str(tmp_path / 'got')!r}, 'w').write(sys.stdin.read())\n")
    CommandHook(command).before_compaction(ABOUT)
    assert json.loads((tmp_path / "got").read_text()) == ABOUT


def test_one_that_hangs_is_stopped_with_all_that_it_started(tmp_path):
    heard = CommandHook("sleep 60 & sleep 60", timeout=0.2).before_compaction(ABOUT)
    assert heard == HookAnswer(True, "the hook took longer than 0.2 s and was stopped")


def test_one_that_reads_nothing_or_is_not_there_stops_nothing():
    assert CommandHook("exit 0").before_compaction({"summary": "x" * 500_000}) == HookAnswer(True)
    assert CommandHook("no-such-command-here").before_compaction(ABOUT).go
