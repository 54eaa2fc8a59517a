"""`afresh pr`: what a reviewer needs, and nothing pushed that was not told to be, or is not verified."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from person import CHECK, COMPLETE, MEND, Person, Step

KEY = "ghp_abcdefghij0123456789"
TELL: Step = ("complete", {"summary": f"Multiply, closes #99\n\n## What was verified\nAsk @admin, {KEY}, https://h/o/r/issues/5"})
NEW_TEST: Step = ("edit", {"path": "test_more.py", "new": (
    "import unittest\n\nfrom calc import double\n\n\nclass M(unittest.TestCase):\n"
    "    def test_six(self):\n        self.assertEqual(double(6), 12)\n")})  # fmt: skip
FAKE = f"""#!{sys.executable}
import json, pathlib, sys
args = sys.argv[1:]
body = [pathlib.Path(one.partition("=")[2]).read_text() for one in args if one.startswith("--body-file=/")]
pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps([args, body]))
print("https://forge.example/1")
sys.exit(1 if "--title=fail" in args else 0)
"""


@pytest.fixture
def remote(person: Person) -> Path:
    bare = person.folder / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    person.git("remote", "add", "origin", str(bare))
    return bare


@pytest.fixture
def forge(person: Person, monkeypatch: pytest.MonkeyPatch):
    """Programs that write down what they were called with; no other gh or glab is on the PATH."""
    folder = person.folder / "bin"
    folder.mkdir()
    for name in ("git", "sh"):
        (folder / name).symlink_to(next(Path(at) / name for at in os.get_exec_path() if (Path(at) / name).exists()))
    monkeypatch.setenv("PATH", str(folder))

    def install(name: str) -> Path:
        (folder / name).write_text(FAKE)
        (folder / name).chmod(0o755)
        return folder / f"{name}.json"

    return install


def finish(person: Person, *replies: list[Step], goal: str = "double is wrong", more: tuple[str, ...] = ()) -> str:
    person.runs(person.script(*replies), "--no-sandbox", *more, goal=goal)
    return person.shown()["task"]["id"]


def list_heads(remote: Path) -> list[str]:
    done = subprocess.run(
        ["git", "for-each-ref", "--format=%(refname) %(objectname)"], cwd=remote, capture_output=True, text=True
    )
    return done.stdout.splitlines()


def test_it_says_what_was_asked_changed_and_verified_and_pushes_nothing(person: Person, remote: Path, forge) -> None:
    called = forge("gh")
    person.write("../issue.txt", "double is wrong (#12)\n\nIt adds.")
    order = ("--from-issue", "../issue.txt", "--type", "fix_bug", "--check", CHECK, "--no-sandbox")
    assert person.types("run", *order, "--model", person.script([MEND, NEW_TEST], [TELL])).code == 0
    told = person.types("pr", "--json").json
    body, branch = told["body"], told["branch"]
    assert told["title"] == "Multiply, closes # 99" and branch.startswith("afresh/double-is-wrong")
    assert "> double is wrong\n\nFrom issue #12." in body and "- `calc.py`: modified, +1 −1" in body
    assert "unittest -v: 3 passed`" in body and "before the change: 1 passed, 1 failed" in body
    assert "1 test added in test_more.py" in body and "\nCloses #12\n" in body
    assert KEY not in body and "@admin" not in body and "/issues/5" not in body and "> ## What was verified" in body
    assert list_heads(remote) == [] and not called.exists() and told["pushed"] is False
    push, create = told["next"]
    assert push == f"git push origin {branch}" and create.startswith(f"afresh pr {told['task']} --only body | gh pr create")
    assert person.types("pr", "--only", "title").out == "Multiply, closes # 99\n"
    assert person.types("pr", "--only", "body").out.strip() == body.strip()


@pytest.mark.parametrize(
    ("program", "wanted"),
    [("gh", ["pr", "create", "--head="]), ("glab", ["mr", "create", "--source-branch="])],
)
def test_told_to_it_pushes_the_verified_commit_and_opens_it(
    person: Person, remote: Path, forge, program: str, wanted: list[str]
) -> None:
    called, task = forge(program), finish(person, [MEND], [COMPLETE])
    commit = person.git("rev-parse", f"afresh/{task}")
    person.git("update-ref", f"refs/heads/afresh/{task}", "HEAD")
    told = person.types("pr", "--push", "--base", "main")
    assert told.code == 0 and "https://forge.example/1" in told.out and "To push" not in told.words
    assert list_heads(remote) == [f"refs/heads/afresh/{task} {commit}"], "what was verified, wherever the branch is now"
    args, body = json.loads(called.read_text())
    assert [*args[:2], args[2].partition("=")[0] + "="] == wanted and any("main" in one for one in args)
    text = body[0] if body else next(one for one in args if one.startswith("--description="))
    assert "## What was verified" in text and "--title=Multiply instead of adding" in args


def test_what_is_not_verified_is_pushed_only_if_told_so(person: Person, remote: Path, forge) -> None:
    forge("gh")
    person.runs(person.script([MEND], [COMPLETE]), "--no-sandbox", "--no-check", check="")
    refused = person.types("pr", "--push")
    assert (
        refused.code == 1 and "not verified" in refused.err and "nothing was pushed" in refused.err and list_heads(remote) == []
    )
    shown = person.types("pr").out
    assert "**Not verified**: " in shown and "## What is open\n\n- asked: " in shown
    assert person.types("pr", "--push", "--unverified").code == 0 and len(list_heads(remote)) == 1


@pytest.mark.journey
def test_failures_say_what_is_pushed_and_what_is_not(person: Person, forge) -> None:
    forge("gh")
    assert "is ready: there is nothing to push" in person.types("pr", person.adds()).err
    finish(person, [MEND], [("complete", {"summary": "fail"})])
    told = person.types("pr", "--push")
    assert told.code == 4 and "git could not push" in told.err and "the branch is whole here" in told.err
    bare = person.folder / "late.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    person.git("remote", "add", "origin", str(bare))
    told = person.types("pr", "--push")
    assert told.code == 4 and "gh could not open the pull request" in told.err and "the branch is pushed" in told.err
