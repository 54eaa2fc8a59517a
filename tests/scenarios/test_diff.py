"""`afresh diff`: the change of a task at any time of its life, as a patch, for people and for scripts."""

import subprocess
from pathlib import Path

import pytest
from lived_once import live_once, one_folder, tmp_path  # noqa: F401
from person import COMPLETE, MEND, Person, Step
from terminal import Terminal

WRITE: Step = ("edit", {"path": "notes/new.txt", "new": "one\ntwo\n"})
ASK: Step = ("ask", {"question": "Multiply or shift?"})


@pytest.fixture
def done(person: Person) -> str:

    def work() -> None:
        assert person.runs(person.script([MEND, WRITE], [COMPLETE]), "--no-sandbox").code == 0

    return live_once(person, work)


def test_the_latest_task_is_shown_as_a_patch_that_git_takes(person: Person, done: str) -> None:
    patch = person.types("diff").out
    assert "-    return x + 2\n+    return x * 2\n" in patch and "+++ b/notes/new.txt" in patch and "\x1b" not in patch
    subprocess.run(["git", "apply", "-"], cwd=person.repo, input=patch.encode(), check=True)
    assert (person.repo / "calc.py").read_text() == "def double(x):\n    return x * 2\n"
    assert (person.repo / "notes/new.txt").read_text() == "one\ntwo\n"


def test_it_is_there_before_the_end_and_after_apply(person: Person) -> None:
    assert person.runs(person.script([MEND], [ASK], [COMPLETE]), "--no-sandbox").code == 3
    task, asked = person.shown()["task"]["id"], person.types("diff").out
    assert "+    return x * 2" in asked
    assert person.types("answer", task, "multiply", "--resume", "--no-sandbox").code == 0
    assert person.types("diff").out == asked
    assert person.types("apply", task).code == 0
    assert person.types("diff", task).out == asked
    shown = person.types("show", task, "--diff")
    assert shown.out.startswith(task) and shown.out.endswith(asked)
    assert [one["path"] for one in person.types("show", task, "--diff", "--json").json["diff"]] == ["calc.py"]


@pytest.mark.promise("a clone, a pull, an import")
def test_nothing_runs_that_the_repository_configures(person: Person, done: str) -> None:
    trap, caught = person.folder / "trap.sh", person.folder / "caught"
    trap.write_text(f"#!/bin/sh\ntouch {caught}\ncat\n")
    trap.chmod(0o755)
    for name in ("diff.external", "core.pager", "pager.diff", "diff.trap.textconv", "diff.trap.command", "core.fsmonitor"):
        person.git("config", name, str(trap))
    person.write(".gitattributes", "* diff=trap\n")
    assert "+    return x * 2" in person.types("diff").out
    with Terminal(person.repo, "diff", PAGER="cat") as at:
        at.sees("+    return x * 2")
        assert at.ends() == 0
    assert not caught.exists()


def pager(folder: Path) -> tuple[str, Path]:
    """A pager that keeps what it was shown."""
    kept = folder / "paged"
    return f"tee '{kept}'", kept


def test_at_a_terminal_it_is_coloured_and_goes_through_the_pager_of_the_user(person: Person, done: str) -> None:
    command, kept = pager(person.folder)
    with Terminal(person.repo, "diff", done, GIT_PAGER=command, PAGER="false") as at:
        at.sees("+++ b/notes/new.txt")
        assert at.ends() == 0
    assert "\x1b[32m+    return x * 2\x1b[0m" in kept.read_text() and "\x1b[31m-    return x + 2" in kept.read_text()


def test_control_characters_of_a_file_do_not_reach_the_terminal(person: Person) -> None:
    evil: Step = ("edit", {"path": "evil.txt", "new": "red \x1b[31m text\n"})
    assert person.runs(person.script([MEND, evil], [COMPLETE]), "--no-sandbox").code == 0
    with Terminal(person.repo, "diff", NO_COLOR="1", PAGER="cat") as at:
        at.sees("evil.txt")
        assert at.ends() == 0
        assert b"\x1b[31m" not in at.raw
    assert "\x1b[31m" in person.types("diff").out, "a patch is exact"
