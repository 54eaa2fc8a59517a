"""A task that goes on from another one's result, or takes the uncommitted changes of the checkout along."""

from pathlib import Path

import pytest
from lived_once import live_once, one_folder, tmp_path  # noqa: F401
from person import COMPLETE, MEND, Person, Step

from afresh.errors import NotPossible
from afresh.workspace.checkout_changes import apply_to_checkout
from afresh.workspace.repository import Repository

TRIPLE: Step = ("edit", {"path": "calc.py", "old": "", "new": "\n\ndef triple(x):\n    return x * 3\n"})
NOTES: Step = ("edit", {"path": "notes.txt", "new": "tripled\n"})


@pytest.fixture
def first(person: Person) -> str:

    def work() -> None:
        assert person.runs(person.script([MEND], [COMPLETE]), "--no-sandbox").code == 0

    return live_once(person, work)


def follow(person: Person, task: str, *steps: list[Step]) -> str:
    model = person.script(*(steps or ([TRIPLE], [COMPLETE])), name="second")
    told = person.runs(model, "--no-sandbox", "--on", task, goal="now also triple")
    assert told.code == 0, told.err
    return person.shown()["task"]["id"]


def test_a_follow_up_builds_on_an_unapplied_result_and_apply_brings_both(person: Person, first: str) -> None:
    second = follow(person, first[:14])
    changed = person.types("diff", second).out
    assert "+def triple" in changed and "+    return x * 2" not in changed, "its own change alone"
    shown = person.types("show", second)
    assert f"with the result of {first}: double is wrong" in shown.words
    assert person.shown(second)["start"]["follows"] == first
    assert f"on {first[-8:]}" in person.types("status").out and f"on {first}" in person.types("status", "--all").out
    assert [one["follows"] for one in person.types("status", "--json").json["tasks"]] == ["", first]
    applied = person.types("apply", second)
    assert applied.code == 0 and f"It includes {first}, which is applied with it." in applied.words
    text = (person.repo / "calc.py").read_text()
    assert "x * 2" in text and "triple" in text and person.git("status", "--porcelain", "--", "calc.py") == ""
    assert person.shown(first)["status"] == "applied" and not person.git("branch", "--list", "afresh/*")


def test_the_second_keeps_the_changes_of_a_first_that_was_discarded(person: Person, first: str) -> None:
    second = follow(person, first)
    assert person.types("discard", first, "--yes").code == 0
    assert person.types("apply", second).code == 0
    assert "x * 2" in (person.repo / "calc.py").read_text() and person.shown(first)["status"] == "discarded"


def test_without_a_result_there_is_nothing_to_go_on_from(person: Person, first: str) -> None:
    ready, before = person.adds(), len(person.types("status", "--json").json["tasks"])
    told = person.runs("offline", "--on", ready)
    assert told.code == 1 and "is ready and has no result to go on from" in told.err and f"afresh resume {ready}" in told.err
    assert person.runs("offline", "--on", "nobody").code == 2
    person.types("discard", first, "--yes")
    assert "was discarded" in person.runs("offline", "--on", first).err
    assert person.runs("offline", "--on", ready, "--with-changes").code == 2
    assert len(person.types("status", "--json").json["tasks"]) == before


@pytest.fixture
def dirty(person: Person) -> Person:
    """A checkout with a staged, an unstaged, a removed, a new and an ignored file."""
    person.write("old.txt", "old\n")
    person.write("staged.txt", "a\n")
    person.write(".gitignore", "*.log\n")
    person.commit("more")
    person.write("calc.py", "def double(x):\n    return x + 2\n\n\ndef half(x):\n    return x // 2\n")
    person.write("staged.txt", "b\n")
    person.git("add", "staged.txt")
    (person.repo / "old.txt").unlink()
    person.write("new/tool.sh", "#!/bin/sh\n")
    (person.repo / "new/tool.sh").chmod(0o755)
    person.write("run.log", "noise\n")
    return person


def take_along(person: Person, *steps: list[Step]) -> str:
    model = person.script(*(steps or ([MEND, NOTES], [COMPLETE])))
    told = person.runs(model, "--no-sandbox", "--with-changes")
    assert told.code == 0 and "outside the task" not in told.words, told.err
    return person.shown()["task"]["id"]


@pytest.mark.promise("Uncommitted changes")
def test_uncommitted_changes_come_along_and_nothing_of_the_user_is_touched(dirty: Person) -> None:
    before, index = dirty.belongings(), (dirty.repo / ".git/index").read_bytes()
    task = take_along(dirty)
    assert dirty.belongings() == before and dirty.git("stash", "list") == ""
    assert (dirty.repo / ".git/index").read_bytes() == index
    base = dirty.shown(task)["base"]
    assert dirty.git("rev-parse", f"{base}^") == dirty.git("rev-parse", "HEAD")
    listed = dirty.git("ls-tree", "-r", base).splitlines()
    assert {line.split("\t")[1] for line in listed} == {".gitignore", "calc.py", "new/tool.sh", "staged.txt", "test_calc.py"}
    assert dirty.git("show", f"{base}:staged.txt") == "b" and "half" in dirty.git("show", f"{base}:calc.py")
    assert [line.split()[0] for line in listed if "tool.sh" in line] == ["100755"]
    assert dirty.types("diff", task, "--name-only").out.split() == ["calc.py", "notes.txt"], "only what the task did"
    assert "uncommitted changes of your checkout" in dirty.types("show", task).words


def test_apply_puts_the_result_beside_the_changes_and_commits_nothing(dirty: Person) -> None:
    task, head, staged = take_along(dirty), dirty.git("rev-parse", "HEAD"), dirty.git("diff", "--cached", "--name-only")
    applied = dirty.types("apply", task)
    assert applied.code == 0 and "to the files of your checkout" in applied.out and "Nothing is committed" in applied.out
    text = (dirty.repo / "calc.py").read_text()
    assert "x * 2" in text and "half" in text and (dirty.repo / "notes.txt").read_text() == "tripled\n"
    assert dirty.git("rev-parse", "HEAD") == head and dirty.git("diff", "--cached", "--name-only") == staged
    assert not (dirty.repo / "old.txt").exists() and dirty.shown(task)["status"] == "applied"
    back = dirty.types("undo", task)
    assert back.code == 1 and f"afresh diff {task} | git apply -R" in back.err


def test_apply_refuses_when_a_file_has_changed_since_and_writes_nothing(dirty: Person) -> None:
    task = take_along(dirty)
    dirty.write("calc.py", "def double(x):\n    return 0\n")
    before = dirty.belongings()
    refused = dirty.types("apply", task)
    assert refused.code == 1 and "calc.py is not as it was when the task took your changes along" in refused.err
    assert "git apply -3" in refused.err and dirty.belongings() == before
    assert dirty.git("branch", "--list", f"afresh/{task}")


def test_a_clean_checkout_and_a_filtered_file_are_refused(person: Person) -> None:
    told = person.runs("offline", "--with-changes")
    assert told.code == 2 and "has no uncommitted changes" in told.err and person.types("status", "--json").json["tasks"] == []
    person.write(".gitattributes", "*.bin filter=lfs\n")
    person.git("config", "filter.lfs.clean", f"touch {person.folder}/caught; cat")
    person.commit("attributes")
    person.write("model.bin", "weights\n")
    told = person.runs("offline", "--with-changes")
    assert told.code == 2 and "model.bin goes through a filter of git" in told.err
    assert not (person.folder / "caught").exists(), "and the filter did not run for us"


@pytest.mark.journey
def test_an_apply_that_was_killed_in_the_middle_is_completed_by_the_next(dirty: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    task = take_along(dirty)
    repository, base = Repository.find(dirty.repo), dirty.shown(task)["base"]
    from afresh.workspace import checkout_changes

    written = list[bytes]()
    write = checkout_changes._write_file

    def killed(root: Path, name: bytes, version: checkout_changes.FileVersion) -> None:
        if written:
            raise KeyboardInterrupt
        written.append(name)
        write(root, name, version)

    monkeypatch.setattr(checkout_changes, "_write_file", killed)
    with pytest.raises(KeyboardInterrupt):
        apply_to_checkout(repository, base, base, dirty.git("rev-parse", f"afresh/{task}"))
    monkeypatch.undo()
    assert written == [b"calc.py"] and not (dirty.repo / "notes.txt").exists()
    assert dirty.types("apply", task).code == 0 and (dirty.repo / "notes.txt").exists()


def test_a_folder_that_became_a_link_is_not_written_through(dirty: Person) -> None:
    task = take_along(dirty, [MEND, ("edit", {"path": "new/more.txt", "new": "more\n"})], [COMPLETE])
    (dirty.repo / "new").rename(dirty.folder / "elsewhere")
    (dirty.repo / "new").symlink_to(dirty.folder / "elsewhere")
    with pytest.raises(NotPossible, match=r"new/more\.txt"):
        repository, base = Repository.find(dirty.repo), dirty.shown(task)["base"]
        apply_to_checkout(repository, base, base, dirty.git("rev-parse", f"afresh/{task}"))
    assert not (dirty.folder / "elsewhere/more.txt").exists() and "x * 2" not in (dirty.repo / "calc.py").read_text()
