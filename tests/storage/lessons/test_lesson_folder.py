"""The folder of knowledge: a person's files stay a person's."""

import os
from datetime import date
from pathlib import Path

import pytest

from afresh.core.lesson import MAX_UNUSED_TASKS, Lesson, LessonStatus
from afresh.errors import BadInput
from afresh.storage.lessons.agent_skills import export_skill, make_skill_name, read_skills
from afresh.storage.lessons.lesson_folder import LessonFolder
from afresh.storage.lessons.lesson_library import FolderLessonLibrary
from support.fakes import FakeClock

LEXER = Lesson(
    id="KO-lexer", title="The lexer drops tabs", tags=("lexer",), status=LessonStatus.APPROVED, created="2023-11-01",
    body="## Problem\nThe lexer drops tabs.\n\n## What worked\nunfold_line in lexer.py\n",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> LessonFolder:
    return LessonFolder(tmp_path / "knowledge")


def library(folder: LessonFolder) -> FolderLessonLibrary:
    return FolderLessonLibrary(folder, folder.root.parent, FakeClock())


def found(folder: LessonFolder, question: str = "The lexer drops tabs at the end") -> list[str]:
    return [look.subject for look in library(folder).find([question], 3)]


def test_without_a_folder_there_is_nothing_and_nothing_is_made(folder: LessonFolder) -> None:
    assert not library(folder).stocked() and found(folder) == [] and not folder.root.exists()


def test_only_approved_objects_are_looked_up(folder: LessonFolder) -> None:
    path = folder.add(LEXER)
    assert path and path.name == "KO-lexer-the-lexer-drops-tabs.md" and found(folder) == ["KO-lexer"]
    for status in ("draft", "rejected", "aged"):
        path.write_text(path.read_text().replace("status: approved", f"status: {status}"))
        assert found(folder) == [], status
        path.write_text(path.read_text().replace(f"status: {status}", "status: approved"))
    assert found(folder) == ["KO-lexer"]


def test_an_edit_by_hand_is_seen_at_the_next_look_up(folder: LessonFolder) -> None:
    path, shelf = folder.add(LEXER), library(folder)
    assert path and not shelf.find(["the scheduler sleeps for ever"], 3)
    path.write_text(path.read_text().replace("drops tabs", "wakes the scheduler, which sleeps"))
    (look,) = shelf.find(["the scheduler sleeps for ever"], 3)
    assert "wakes the scheduler" in look.text and shelf.named(["KO-lexer", "KO-gone"]) == [look]
    path.unlink()
    assert not shelf.stocked() and not shelf.find(["the scheduler sleeps for ever"], 3)


def test_what_exists_is_never_replaced_be_it_unreadable(folder: LessonFolder) -> None:
    path = folder.add(LEXER)
    assert path and folder.add(LEXER) is None
    path.write_bytes(b"---\n[\n---\n\xff")
    assert folder.add(LEXER) is None and path.read_bytes().endswith(b"\xff")


def test_a_file_that_changes_while_it_is_counted_is_left_alone(folder: LessonFolder) -> None:
    path = folder.add(LEXER)
    assert path

    def meanwhile(one: Lesson) -> dict[str, int]:
        path.write_text("mine now\n")
        return {"uses": one.uses + 1}

    assert not folder.count("KO-lexer", meanwhile) and path.read_text() == "mine now\n"
    assert [entry.name for entry in path.parent.glob("KO-*")] == [path.name], "no spare file stays behind"


def test_front_matter_that_can_not_be_set_line_by_line_is_left_alone(folder: LessonFolder) -> None:
    path = folder.root / "approved" / "KO-odd.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\n{title: odd, uses: 3}\n---\nbody\n")
    assert not folder.count("KO-odd", lambda one: {"uses": 4}) and "uses: 3" in path.read_text()
    with pytest.raises(BadInput) as refused:
        folder.set("KO-odd", lambda one: {"uses": 4})
    assert "by hand" in refused.value.next


@pytest.mark.parametrize("status", [LessonStatus.APPROVED, LessonStatus.REJECTED])
def test_a_person_s_word_on_a_file_without_front_matter_stands_before_its_text(
    folder: LessonFolder, status: LessonStatus
) -> None:
    path = folder.root / "drafts" / "KO-note.md"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"# Tabs\r\n\r\nkeep them\r\n")
    assert not folder.count("KO-note", lambda one: {"uses": 1})
    folder.set("KO-note", lambda one: {"status": status}, begin=True)
    assert path.read_bytes() == f"---\nstatus: {status}\n---\n".encode() + b"# Tabs\r\n\r\nkeep them\r\n"
    assert folder.objects()["KO-note"].status is status


def test_no_link_is_followed(folder: LessonFolder, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "KO-x.md").write_text("---\ntitle: secret lexer tabs\nstatus: approved\n---\n")
    (folder.root / "approved").mkdir(parents=True)
    (folder.root / "approved" / "KO-link.md").symlink_to(outside / "KO-x.md")
    (held,) = folder.held()
    assert held.read.knowledge is None and "link" in held.read.notes[0].what
    os.rmdir(folder.root / "drafts") if (folder.root / "drafts").exists() else None
    (folder.root / "drafts").symlink_to(outside)
    assert len(folder.held()) == 1
    with pytest.raises(BadInput):
        folder.add(Lesson(id="KO-new", title="x"))
    skill = tmp_path / ".claude/skills/x"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").symlink_to(outside / "KO-x.md")
    assert read_skills(tmp_path, {}) == ([], [])


def test_of_two_files_with_one_id_the_first_counts_and_the_other_is_told_of(folder: LessonFolder) -> None:
    folder.add(LEXER)
    (folder.root / "approved").mkdir()
    (folder.root / "approved/KO-again.md").write_text("---\nid: KO-lexer\n---\n")
    first, second = folder.held()
    assert first.read.knowledge and second.read.knowledge is None
    assert "has the id KO-lexer of approved/KO-again.md" in str(second.read.notes[0])


@pytest.mark.parametrize(
    ("change", "aged"),
    [({}, ""), ({"unused": MAX_UNUSED_TASKS}, "drew nothing"), ({"unused": MAX_UNUSED_TASKS - 1}, ""),
     ({"created": "2023-01-01"}, "days"), ({"created": "2023-01-01", "last_used": "2023-11-02T10:00:00.000Z"}, ""),
     ({"created": "soon"}, "")],
)  # fmt: skip
def test_what_is_never_used_ages_out(folder: LessonFolder, change: dict[str, object], aged: str) -> None:
    from dataclasses import replace

    one = replace(LEXER, **change)
    assert aged in one.aged(date(2023, 11, 14)) and bool(one.aged(date(2023, 11, 14))) == bool(aged)
    folder.add(one)
    assert found(folder) == ([] if aged else ["KO-lexer"]), "the clock of this test stands at 2023-11-14"


def test_only_the_description_of_a_skill_counts(folder: LessonFolder, tmp_path: Path) -> None:
    skill = tmp_path / ".agents/skills/forms/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: forms\ndescription: Fill in PDF forms\n---\nThe scheduler sleeps.\n")
    assert found(folder, "fill in a PDF form") == [".agents/skills/forms/SKILL.md"]
    assert found(folder, "the scheduler sleeps for ever") == []
    skill.write_text("---\nname: forms\n---\n")
    assert "no description" in read_skills(tmp_path, {})[1][0].what


def test_an_exported_skill_keeps_to_the_format_and_is_read_back(tmp_path: Path) -> None:
    long = Lesson(
        id="KO-1234abcd", title="The " + "very " * 30 + "long: title", tags=("a", "b"), body="## Problem\n" + "word " * 900
    )
    path = export_skill(long, tmp_path / ".afresh/skills")
    (skill,), notes = read_skills(tmp_path, {})
    assert not notes and skill.name == path.parent.name == make_skill_name(long)
    assert len(skill.name) <= 64 and skill.name == skill.name.lower() and skill.name.replace("-", "").isalnum()
    assert len(skill.description) <= 1024 and skill.description.endswith("Use it for tasks that concern a, b.")
    with pytest.raises(BadInput):
        export_skill(long, tmp_path / ".afresh/skills")
