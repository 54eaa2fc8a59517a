"""An export that can't be believed changes nothing, and the error names the file and the line."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from projects import Projects, content, kept

from afresh.app.project import Project
from afresh.app.stored_state.export_import import export_project_tasks, import_project_tasks
from afresh.core.hash_chain import hash_entry
from afresh.core.reducer import fold_entries
from afresh.errors import BadInput, NeedsPerson
from support.sample_journals import append_step, create_task

Spoil = Callable[[Path], object]


@pytest.fixture(scope="module")
def exported(projects: Projects) -> dict[str, bytes]:
    here, folder = projects.fresh(), projects.place()
    for task in ("one", "two"):
        append_step(here.store, append_step(here.store, create_task(here.store, task)))
    export_project_tasks(here, folder)
    return content(folder)


@pytest.fixture
def there(projects: Projects) -> Project:
    """A store with a task of its own."""
    project = projects.fresh()
    append_step(project.store, create_task(project.store, "mine"))
    return project


def laid_out(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    (folder / "work").mkdir(exist_ok=True)
    return folder


def lines(name: str, change: Callable[[list[str]], list[str]]) -> Spoil:
    return lambda folder: (folder / name).write_text(
        "".join(change((folder / name).read_text("utf-8").splitlines(True))), "utf-8"
    )


def queue(change: Callable[[dict], object]) -> Spoil:
    def spoil(folder: Path) -> None:
        plain = json.loads((folder / "queue.json").read_text("utf-8"))
        change(plain)
        (folder / "queue.json").write_text(json.dumps(plain))

    return spoil


def forged(change: Callable[[dict], object], at: int = 3) -> Spoil:
    """Somebody changes an entry and computes every hash from there on again."""

    def spoil(folder: Path) -> None:
        path = folder / "journals/one.jsonl"
        bodies = [json.dumps(json.loads(line)["entry"]) for line in path.read_text("utf-8").splitlines()]
        plain = json.loads(bodies[at - 1])
        change(plain)
        bodies[at - 1], hash, told = json.dumps(plain), "", []
        for body in bodies:
            hash = hash_entry(hash, body)
            told.append(f'{{"entry":{body},"hash":"{hash}"}}\n')
        path.write_text("".join(told))
        queue(lambda plain: plain["tasks"][0]["journal"].update(head=hash))(folder)

    return spoil


def opened_elsewhere(folder: Path) -> None:
    snapshot = {"snapshot": "/../../x", "kept": True, "step": 2}
    forged(lambda plain: plain.update(kind="Settled", data=snapshot), at=12)(folder)


def linked(name: str) -> Spoil:
    def spoil(folder: Path) -> None:
        target = folder.with_name(folder.name + "-elsewhere")
        (folder / name).rename(target)
        (folder / name).symlink_to(target)

    return spoil


def piped(folder: Path) -> None:
    (folder / "journals/one.jsonl").unlink()
    os.mkfifo(folder / "journals/one.jsonl")


SPOILT: dict[str, tuple[Spoil, str]] = {
    "an entry was edited": (
        lines("journals/one.jsonl", lambda all: [*all[:2], all[2].replace("thought", "Thought"), *all[3:]]),
        "one.jsonl:3: journal entry 3 does not match its hash",
    ),
    "an entry is gone": (
        lines("journals/two.jsonl", lambda all: all[:4] + all[5:]),
        "two.jsonl:12: the file ends here; it should",
    ),
    "entries changed places": (lines("journals/two.jsonl", lambda all: [all[1], all[0], *all[2:]]), "two.jsonl:1: .* its hash"),
    "the end is gone": (lines("journals/one.jsonl", lambda all: all[:-2]), "one.jsonl:11: the file ends here"),
    "a line is cut": (lines("journals/one.jsonl", lambda all: [*all[:-1], all[-1][:-9]]), "one.jsonl:13: the line is cut off"),
    "a line is no entry": (
        lines("journals/one.jsonl", lambda all: ["{}\n", *all[1:]]),
        "one.jsonl:1: is not an entry with its hash",
    ),
    "a journal of another task": (
        lambda folder: (folder / "journals/two.jsonl").write_bytes((folder / "journals/one.jsonl").read_bytes()),
        "two.jsonl:1: is entry 1 of 'one'",
    ),
    "a journal is missing": (lambda folder: (folder / "journals/two.jsonl").unlink(), "two.jsonl: is missing"),
    "a block is missing": (
        lines("blocks/two.jsonl", lambda all: all[1:]),
        "two.jsonl:4: entry 4 names block [0-9a-f]{32}, which",
    ),
    "a block was edited": (
        lines("blocks/two.jsonl", lambda all: [all[0], all[1].replace("raw", "Raw")]),
        "blocks/two.jsonl:2: block [0-9a-f]{32} is not named by its content",
    ),
    "a block is no JSON": (lines("blocks/two.jsonl", lambda all: [all[0], "{nonsense}\n"]), "blocks/two.jsonl:2: can't be"),
    "bytes that are no text": (
        lambda folder: (folder / "blocks/one.jsonl").write_bytes(b"\xff\n"),
        "blocks/one.jsonl:1: is not UTF-8",
    ),
    "the queue is no JSON": (lines("queue.json", lambda all: [*all[:3], "nonsense\n"]), "queue.json:4: is not JSON"),
    "the queue nests without end": (
        lambda folder: (folder / "queue.json").write_text("[" * 200_000),
        "queue.json:1: is not JSON",
    ),
    "a newer format": (queue(lambda plain: plain.update(format=99)), "queue.json was written by a newer afresh"),
    "no format": (lambda folder: (folder / "queue.json").write_text("[]"), "queue.json: does not describe an export"),
    "no list of tasks": (queue(lambda plain: plain.update(tasks=3)), "queue.json: does not describe an export"),
    "another field": (queue(lambda plain: plain["tasks"][0].update(colour="red")), "queue.json: does not describe.*colour"),
    "a priority in words": (
        queue(lambda plain: plain["tasks"][0].update(priority="high")),
        "does not describe an export: tasks.priority is of another kind",
    ),
    "a status that its journal does not tell": (
        queue(lambda plain: plain["tasks"][1].update(status="done")),
        'queue.json: task two: status is "done", its journal says',
    ),
    "a way out": (
        queue(lambda plain: plain["tasks"][0].update(id="../../one")),
        r"queue.json: task '../../one': can't be the id",
    ),
    "a task twice": (queue(lambda plain: plain["tasks"].append(plain["tasks"][0])), "queue.json: task 'one': is listed twice"),
    "no entries": (queue(lambda plain: plain["tasks"][0]["journal"].update(entries=-1)), "must have a number and entries"),
    "a linked file": (linked("journals/one.jsonl"), "journals/one.jsonl: can't be read"),
    "a linked queue": (linked("queue.json"), "queue.json: can't be read"),
    "a linked folder": (linked("blocks"), "blocks is a link"),
    "a pipe": (piped, "journals/one.jsonl: is not a plain file"),
    "an unknown event": (forged(lambda plain: plain.update(kind="Flown")), "one.jsonl:3: journal holds an event with an unknown"),
    "an unknown field": (
        forged(lambda plain: plain["data"].update(wings=2)),
        "one.jsonl:3: journal holds an event with an unknown",
    ),
    "a field of another kind": (
        forged(lambda plain: plain["data"].update(step="x")),
        "one.jsonl:3: can't be understood: step is of",
    ),
    "a number beyond all": (forged(lambda plain: plain["data"].update(step=1 << 70)), "one.jsonl:3: can't be understood: step"),
    "half a character": (
        forged(lambda plain: plain["data"]["reply"].update(thought="\ud800")),
        "one.jsonl:3: holds half a character",
    ),
    "another place": (forged(lambda plain: plain.update(seq=7)), "one.jsonl:3: is entry 7 of 'one'; entry 3"),
    "a snapshot that leads elsewhere": (
        lambda folder: (opened_elsewhere(folder), queue(lambda plain: plain["tasks"][0].update(patch="0" * 64))(folder)),
        "one.jsonl:12: names '/../../x', which is no snapshot or commit of git",
    ),
    "no beginning": (
        forged(lambda plain: plain.update(kind="Claimed", data={"worker": "w"}), at=1),
        "does not tell a task's story",
    ),
    "another creation": (
        forged(lambda plain: plain["data"]["task"].update(id="three"), at=1),
        "one.jsonl:1: creates the task 'three'",
    ),
}


@pytest.mark.parametrize("what", SPOILT)
def test_what_can_not_be_believed_is_refused_by_file_and_line_and_nothing_changes(
    what, projects: Projects, exported, there: Project
):
    spoil, said = SPOILT[what]
    folder, before = laid_out(projects.place(), exported), kept(there)
    spoil(folder)
    with pytest.raises(NeedsPerson, match=said) as refused:
        import_project_tasks(there, folder)
    assert refused.value.next and refused.value.safe == "nothing was changed"
    assert kept(there) == before and not (there.paths.state / "import.unfinished").exists()


def test_lines_of_an_export_that_did_not_come_to_its_end_do_not_count(projects: Projects, exported, there: Project):
    """queue.json is written last: until then it speaks of the export before."""
    folder = laid_out(projects.place(), exported)
    with (folder / "journals/one.jsonl").open("a") as journal:
        journal.write('{"entry":{"at":1.0,"da')
    assert {one.task: one.entries for one in import_project_tasks(there, folder)} == {"one": 13, "two": 13}


def test_a_folder_without_an_export_is_named(projects: Projects, there: Project):
    with pytest.raises(BadInput, match="no export found in"):
        import_project_tasks(there, projects.place())


def test_a_folder_with_other_things_is_not_written_to(projects: Projects, there: Project):
    folder = laid_out(projects.place(), {"thesis.tex": b"years of work"})
    with pytest.raises(BadInput, match=r"is not an export and not empty: it contains thesis\.tex"):
        export_project_tasks(there, folder)
    linked("thesis.tex")(folder)
    other = projects.place() / "link"
    other.symlink_to(folder)
    with pytest.raises(BadInput, match="is a link"):
        export_project_tasks(there, other)
    assert sorted(content(folder)) == ["thesis.tex"]


@st.composite
def damages(draw: st.DrawFn) -> tuple[int, Callable[[bytes], bytes]]:
    kind, at, more = (
        draw(st.sampled_from(["cut", "drop", "flip", "insert", "twice"])),
        draw(st.floats(0, 1)),
        draw(st.binary(max_size=6)),
    )

    def damage(data: bytes) -> bytes:
        place = int(at * len(data))
        return {
            "cut": data[:place],
            "drop": data[:place] + data[place + 1 + len(more) :],
            "flip": data[:place] + bytes(byte ^ 1 for byte in data[place : place + 1]) + data[place + 1 :],
            "insert": data[:place] + more + data[place:],
            "twice": data[:place] + data[place // 2 :],
        }[kind]

    return draw(st.integers(0, 4)), damage


@given(damages())
def test_a_damaged_export_never_harms_a_store_and_never_fails_in_another_way(projects: Projects, exported, damaged):
    number, damage = damaged
    name = sorted(name for name in exported if name != ".gitattributes")[number]
    folder = laid_out(projects.place(), {**exported, name: damage(exported[name])})
    there = projects.fresh()
    create_task(there.store, "mine")
    before = kept(there)
    try:
        import_project_tasks(there, folder)
    except NeedsPerson:
        assert kept(there) == before
    else:  # the damage was to what does not count
        _, journals, states = kept(there)
        assert all(fold_entries(None, there.store.journal(task)) == state for task, state in states.items())
        assert all(json.loads(line)["hash"] in journals["one"] for line in exported["journals/one.jsonl"].splitlines())
