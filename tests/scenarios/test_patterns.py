"""What was learnt in one project is shown in another only if a person says so."""

from pathlib import Path

import pytest
from leak import kept, repository
from person import COMPLETE, MEND, Person

GOAL = "the second request returns old values from the buffer"
LATER = "a later request returns old values: the buffer is not cleared"
PLAIN = "Clear the buffer before every new request"
TELLING = "The manifest in stowage.py was kept too long."
ASK = ("ask", {"question": "Go on?"})


@pytest.fixture
def other(person: Person, tmp_path_factory: pytest.TempPathFactory) -> Person:
    return repository(tmp_path_factory.mktemp("elsewhere"))


def write(
    person: Person, id: str = "KO-1", title: str = GOAL, worked: str = f"{PLAIN}\n{TELLING}", status: str = "draft"
) -> None:
    head = f"id: {id}\ntitle: {title!r}\ntags: [buffer, request, stowage]\nstatus: {status}\nproject: repo\nsource: stow-4f1e\n"
    body = f"## Problem\n{title}\n\n## What worked\n{worked}\n\n## How it was verified\n- `python -m unittest`: 3 passed\n"
    person.write(f".afresh/knowledge/{'drafts' if status == 'draft' else 'approved'}/{id}.md", f"---\n{head}---\n{body}")


def patterns(person: Person) -> list[dict]:
    return person.types("knowledge", "list", "--json").json["patterns"]


def found(person: Person, goal: str = LATER) -> list[str]:
    return [text for _, _, text in person.finds_lessons(goal)]


def windows(person: Person, goal: str = LATER) -> list[str]:
    task = person.runs(person.script([ASK]), "--no-sandbox", "--json", goal=goal).json["task"]
    call = person.types("context", "show", task, "--json").json
    return [section["text"] for section in call["sections"]]


def share(person: Person, id: str = "KO-1") -> None:
    assert person.types("knowledge", "approve", id).code == 0
    assert person.types("knowledge", "share", id, "--yes").code == 0


def test_what_is_shared_is_marked_and_without_its_origin(person: Person, other: Person):
    write(person, worked=PLAIN)
    share(person)
    (pattern,) = patterns(other)
    assert (pattern["by"], pattern["source"], pattern["project"]) == ("confirmed", "KO-1", str(person.repo)), "for people"
    shown = "\n".join(windows(other))
    assert f"{pattern['id']} (pattern from another project, {pattern['created']}) {GOAL}\nWhat worked:\n{PLAIN}" in shown
    left = "\n".join(text for _, text in kept(other.repo / ".afresh"))
    for telling in ("manifest", "KO-1", "stow-4f1e", str(person.repo)):
        assert telling not in shown and telling not in left, telling


def test_nothing_crosses_by_itself(person: Person, other: Person):
    write(person, worked=PLAIN)
    assert person.types("knowledge", "approve", "KO-1").code == 0
    done = ("complete", {"summary": PLAIN})
    assert person.runs(person.script([COMPLETE], [MEND], [done]), "--no-sandbox", goal=GOAL).code == 0
    assert patterns(other) == [] and found(other) == []


def test_a_person_sees_exactly_what_would_cross_and_lets_it(person: Person, other: Person):
    write(person, title="double returns old values from the buffer")
    person.types("knowledge", "approve", "KO-1")
    told = person.types("knowledge", "share", "KO-1")
    assert told.code == 0 and TELLING in told.words and "Nothing is shared yet" in told.words
    assert patterns(other) == []
    offered = person.types("knowledge", "share", "KO-1", "--json").json
    assert offered["crossed"] is None
    assert all(line.lstrip("# ") in told.out for line in offered["text"]["body"].splitlines())
    assert person.types("knowledge", "share", "KO-1", "--yes").code == 0
    (pattern,) = patterns(other)
    assert pattern["by"] == "confirmed" and TELLING in found(other)[0]
    body = Path(pattern["file"]).read_text()
    assert all(line in body for line in offered["text"]["body"].splitlines())
    again = person.types("knowledge", "share", "KO-1", "--yes")
    assert again.code == 2 and f"is already shared, as {pattern['id']}" in again.words


def test_a_pattern_that_a_person_rejects_is_shown_no_more_and_does_not_come_back(person: Person, other: Person):
    write(person)
    share(person)
    (pattern,) = patterns(other)
    assert other.types("knowledge", "reject", pattern["id"]).code == 0
    assert found(other) == []
    assert [row["status"] for row in patterns(person)] == ["rejected"] and found(other) == []
    told = person.types("knowledge", "share", "KO-1", "--yes")
    assert told.code == 2 and "was rejected" in told.words


@pytest.fixture
def config(person: Person, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(person.folder / "config"))
    path = person.folder / "config" / "afresh" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


def test_turned_off_by_the_user_nothing_crosses_and_nothing_is_shown(person: Person, other: Person, config: Path):
    write(person)
    share(person)
    assert len(found(other)) == 1
    config.write_text("patterns = false\n")
    other.write(".afresh/config.toml", "patterns = true\n")
    assert found(other) == [] and "pattern from" not in "\n".join(windows(other)), "a repository can't turn it on"
    write(person, "KO-2", "the last writer waits for the first reader", "Close the file before the lock is released")
    person.types("knowledge", "approve", "KO-2")
    told = person.types("knowledge", "share", "KO-2", "--yes")
    assert told.code == 2 and "patterns are turned off" in told.words and len(patterns(person)) == 1


def test_a_repository_may_keep_to_itself(person: Person, other: Person):
    person.write(".afresh/config.toml", "patterns = false\n")
    write(person)
    person.types("knowledge", "approve", "KO-1")
    assert "patterns are turned off" in person.types("knowledge", "share", "KO-1", "--yes").words
    assert patterns(other) == []
