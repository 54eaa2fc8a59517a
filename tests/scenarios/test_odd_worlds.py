"""Odd repositories, a git that is none, and files that are too deep: a clear error each, never "a bug in afresh"."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from person import COMPLETE, MEND, Person, run_in_process

from afresh.sandbox import choose_level
from afresh.sandbox.escape_probe import LevelProbe
from afresh.sandbox.resource_limits import ResourceLimits
from afresh.workspace import git

HOSTILE = "a\x9b31mb\u202ec\u200bd\U000e0041e\x7f"
"""CSI of the second control set, an override of the writing direction, a zero-width blank, a tag, and delete."""


def refused(person: Person, *command: str) -> str:
    told = person.types(*command)
    assert told.code and "bug in afresh" not in told.words and "Error:" not in told.words, told
    return told.words


def fake_git(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> None:
    program = folder / "fake" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(git, "find_git", lambda: str(program))
    monkeypatch.setattr("afresh.workspace.repository.find_git", lambda: str(program))
    git.read_git_version.cache_clear()


@pytest.mark.parametrize(
    "script", ["true", "echo garbage", "printf 'false\\n\\n\\n\\n'", "echo false; echo /a; echo /b", "head -c 3000 /dev/zero"]
)
def test_a_git_that_answers_garbage_is_named(person: Person, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str):
    fake_git(monkeypatch, tmp_path, script)
    for command in (("status",), ("status", "--all"), ("add", "goal", "--no-check")):
        assert "does not answer as git does" in refused(person, *command)
    words = person.types("doctor", "--json").json["checks"]
    assert next(one for one in words if one["name"] == "git")["level"] == "fail"
    git.read_git_version.cache_clear()


def test_a_git_that_hangs_is_ended_and_named(person: Person, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    fake_git(monkeypatch, tmp_path, "exec sleep 600")
    monkeypatch.setattr(git, "GIT_TIMEOUT_SECONDS", 0.3)
    assert "has not answered" in refused(person, "status")


@pytest.mark.parametrize(("name", "why"), [("two\nlines", "contains a line break"), ("\udcff", "is not UTF-8")])
def test_a_path_that_can_not_be_written_down_is_named(person: Person, name: str, why: str):
    odd = person.folder / name
    subprocess.run(["git", "clone", "-q", str(person.repo), str(odd)], check=True)
    (odd / "below").mkdir()
    for folder in (odd, odd / "below"):
        told = run_in_process(["status"], folder)
        assert told.code == 2 and why in told.words and "rename that folder" in told.words


def test_json_for_programs_steers_no_terminal_and_loses_nothing(person: Person):
    task = person.adds(f"goal {HOSTILE}")
    for command in (("show", task, "--json"), ("status", "--json"), ("status", "--all", "--json")):
        told = person.types(*command)
        assert not set("\x9b\u202e\u200b\U000e0041\x7f") & set(told.out), command
        assert HOSTILE in json.dumps(told.json, ensure_ascii=False)
    wrong = person.types("show", HOSTILE, "--json")
    assert not set("\x9b\u202e\u200b\U000e0041\x7f") & set(wrong.err) and wrong.error["code"]


def test_an_identity_that_only_the_environment_has_is_used_for_the_merge(person: Person, monkeypatch: pytest.MonkeyPatch):
    for variable, value in {"NAME": "Ci", "EMAIL": "ci@example.org"}.items():
        for who in ("AUTHOR", "COMMITTER"):
            monkeypatch.setenv(f"GIT_{who}_{variable}", value)
    assert person.runs(person.script([MEND], [COMPLETE]), "--no-sandbox").code == 0
    person.write("other.txt", "a commit of the user's\n")
    person.commit("other")
    told = person.types("apply")
    assert told.code == 0, told
    assert person.git("log", "-1", "--format=%an <%ae>, %P").startswith("Ci <ci@example.org>,")
    assert person.git("log", "-1", "--format=%an", "HEAD^2") == "Ci"


def test_a_command_that_writes_too_much_is_stopped_and_the_tree_is_put_back(
    person: Person, requires_sandbox, monkeypatch: pytest.MonkeyPatch
):
    requires_sandbox()
    monkeypatch.setattr(choose_level, "ResourceLimits", partial(ResourceLimits, files=500))
    many = f"{sys.executable} -c \"for i in range(40000): open(f'n{{i}}', 'w').close()\"; sleep 3"
    script = person.script([("run", {"command": many})], [MEND], [COMPLETE])
    assert person.runs(script).code == 0
    task = person.shown()["task"]["id"]
    assert "more than 500 files written" in person.types("context", "show", task, "--step", "2").words
    assert person.git("show", "--stat", "--format=", f"afresh/{task}").startswith("calc.py")


@pytest.mark.parametrize("level", [pytest.param("bubblewrap", marks=pytest.mark.journey), "landlock"])
def test_a_moved_environment_is_in_no_commit_and_in_nobodys_way(
    person: Person, requires_sandbox, monkeypatch: pytest.MonkeyPatch, level: str
):
    requires_sandbox(level)
    holds = choose_level.probe_level
    monkeypatch.setattr(choose_level, "probe_level", lambda one, cache: holds(one) if one == level else LevelProbe(one, ()))
    person.write(".venv/pyvenv.cfg", "home = /usr/bin\n")
    person.write("front/node_modules/left/index.js", "left")
    deeds = ["mv .venv .v2", "ln .venv .v3", "mv front f2; ln -s f2 front", "cat front/node_modules/left/index.js > calc.txt"]
    script = person.script(*([("run", {"command": deed})] for deed in deeds), [MEND], [COMPLETE])
    assert person.runs(script).code == 0
    task = person.shown()["task"]["id"]
    changed = person.git("show", "--name-only", "--format=", f"afresh/{task}").split()
    assert changed == ["calc.py", "calc.txt"] and person.git("show", f"afresh/{task}:calc.txt") == "left"
