"""A person changes when a task has its turn, after it was added."""

from person import Person
from test_moving import cloned

from afresh.app.project import open_project


def read_places(person: Person) -> dict[str, tuple[int, list[str]]]:
    return {row["task"]: (row["priority"], row["needs"]) for row in person.types("status", "--json").json["tasks"]}


def test_a_task_is_moved_forward_and_waits_for_others(person: Person) -> None:
    first, second, third = (person.adds(goal) for goal in ("first", "second", "third"))
    told = person.types("edit", third, "--priority", "5", "--after", second, "--json")
    unfiled = {"labels": [], "due": None, "project": None}
    assert told.json == {"task": third, "priority": 5, "needs": [second], **unfiled}
    assert "has priority 3 and waits for no other task" in person.types("edit", second, "--priority", "3").out
    waiting = person.types("status").out
    assert waiting.index("third") < waiting.index("second") < waiting.index("first"), "in the order of their turns"
    assert person.types("edit", third, "--not-after", second, "--after", first).code == 0
    person.types("doctor", "--rebuild")
    assert read_places(person) == {first: (0, []), second: (3, []), third: (5, [first])}
    entries = open_project(person.repo).store.load(third).head.seq
    assert person.types("edit", third, "--priority", "5").code == 0
    assert open_project(person.repo).store.load(third).head.seq == entries, "what is so already is not recorded again"


def test_what_makes_no_sense_is_refused_and_changes_nothing(person: Person) -> None:
    first, second, third = (person.adds(goal) for goal in ("first", "second", "third"))
    person.types("edit", second, "--after", first)
    person.types("edit", third, "--after", second)
    before = read_places(person)
    for words, said in (
        (("edit", first, "--after", third, "--priority", "2"), f"{first} needs {third} needs {second} needs {first}"),
        (("edit", first, "--after", first), f"{first} needs {first}"),
        (("edit", first, "--not-after", second), f"it does not wait for {second}"),
        (("edit", second, "--after", first, "--not-after", first), f"{first} is in --after, too"),
        (("edit", first, "--after", "nobody"), "no such task: nobody"),
        (("edit", first), "nothing to change"),
        (("edit", first, "--priority", "1000000"), "999"),
        (("add", "fourth", "--priority", "-9999999999999999999999"), "999"),
    ):
        told = person.types(*words)
        assert told.code == 2 and said in told.words, told
    assert read_places(person) == before


def test_an_import_that_would_close_a_cycle_changes_nothing(person: Person) -> None:
    first, second = person.adds("first"), person.adds("second")
    folder = str(person.folder / "export")
    assert person.types("export", folder).code == 0
    other = cloned(person, "other")
    assert other.types("import", folder).code == 0
    other.types("edit", first, "--after", second, "--priority", "6")
    person.types("edit", second, "--after", first)
    assert other.types("export", folder).code == 0
    told, before = person.types("import", folder), read_places(person)
    assert told.code == 2 and "nothing was imported" in told.words
    assert f"{first} needs {second} needs {first}" in told.words
    assert read_places(person) == before == {first: (0, []), second: (0, [first])}
    assert person.types("edit", second, "--not-after", first).code == 0
    assert person.types("import", folder).code == 0
    assert read_places(person)[first] == (6, [second])
