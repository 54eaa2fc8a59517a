"""What a person does to memory: found, corrected, forgotten, added; and what the next windows make of it."""

import pytest
from person import COMPLETE, MEND, Person

pytestmark = pytest.mark.usefixtures("confined")

SECRET = "the fixture server answers on port 40404"
ASK = ("ask", {"question": "Go on?"})
NOTE = ("note", {"subject": "fixture server", "text": SECRET})


def windows(person: Person, task: str) -> list[str]:
    """What the model was sent, step by step."""
    steps = person.shown(task)["step"]
    calls = [person.types("context", "show", task, "--step", str(step), "--json").json for step in range(1, steps + 1)]
    return ["\n".join(section["text"] for section in call["sections"]) for call in calls]


def ids(person: Person, *words: str) -> list[str]:
    return [row["id"] for row in person.types("memory", "list", *words, "--json").json]


def paused(person: Person, *replies, goal: str = "double is wrong") -> str:
    told = person.runs(person.script(*replies), "--json", goal=goal)
    return told.json["task"]


def goes_on(person: Person, task: str) -> None:
    assert person.types("answer", task, "Yes, go on.").code == 0
    assert person.types("resume", task).code == 0
    assert person.types("context", "verify", task).code == 0, "every call can be built again, whatever was forgotten since"


def test_what_is_forgotten_is_in_no_later_window_and_in_the_history(person: Person) -> None:
    echo = ("run", {"command": f"echo '{SECRET}'; echo other line"})
    long = ("run", {"command": f"seq 1 400; echo '{SECRET}'; seq 400 430"})
    task = paused(person, [NOTE, echo], [long, ASK], [("read", {"path": "@notes"})], [MEND, COMPLETE])
    assert SECRET in windows(person, task)[1]
    (name,) = ids(person, "fixture", "server", "--kind", "note")
    told = person.types("memory", "forget", name, "--why", "it is nobody's business")
    assert told.code == 0 and "not in later prompts" in told.out
    goes_on(person, task)
    later = windows(person, task)[2:]
    assert len(later) == 2 and not any("40404" in window for window in later)
    shown = person.types("memory", "show", name).words
    assert SECRET in shown and "it is nobody's business" in shown and "forgotten by" in shown
    assert ids(person, "40404") == []
    told = person.types("memory", "forget", name)
    assert told.code == 2 and "already" in told.err and "nothing was changed" in told.err


def test_a_correction_stands_in_later_windows_in_the_place_of_what_was_noted(person: Person) -> None:
    task = paused(person, [NOTE], [ASK], [MEND, COMPLETE])
    (name,) = ids(person, "fixture", "--kind", "note")
    assert person.types("memory", "correct", name, "the fixture server answers on port 51515").code == 0
    goes_on(person, task)
    last = windows(person, task)[-1]
    assert "fixture server: the fixture server answers on port 51515" in last
    assert "fixture server: " + SECRET not in last
    (now,) = ids(person, "51515")
    history = person.types("memory", "show", now, "--json").json["history"]
    assert [(row["text"][-5:], row["holds"]) for row in history] == [("40404", False), ("51515", True)]


@pytest.mark.promise("it repeats failed approaches, forgets your rules")
def test_a_rule_stands_word_for_word_in_every_window_until_a_newer_one_about_the_same(person: Person) -> None:
    assert person.types("memory", "add", "Use tabs, never spaces", "--about", "indent").code == 0
    assert person.types("memory", "add", "Every function has a docstring").code == 0
    task = person.runs(person.script([MEND, COMPLETE]), "--json").json["task"]
    (window,) = windows(person, task)
    assert "Use tabs, never spaces" in window and "Every function has a docstring" in window
    assert person.types("memory", "add", "Use four spaces", "--about", "indent").code == 0
    task = paused(person, [("read", {"path": "calc.py"})], [ASK], goal="again: double is wrong")
    for window in windows(person, task):
        assert "Use four spaces" in window and "Use tabs" not in window and "Every function has a docstring" in window


def test_a_rule_for_all_projects_is_in_the_windows_of_another_repository(person: Person, tmp_path_factory) -> None:
    assert person.types("memory", "add", "Answer in plain English", "--everywhere").code == 0
    assert person.types("memory", "add", "Only for the first repository").code == 0
    other = Person(tmp_path_factory.mktemp("other"))
    other.repo.mkdir()
    other.git("init", "-q")
    other.write("a.py", "x = 1\n")
    other.commit()
    task = other.runs(other.script([("read", {"path": "a.py"})], [ASK]), "--json", goal="look", check="true").json["task"]
    for window in windows(other, task):
        assert "Answer in plain English" in window and "Only for the first" not in window


BAD = {
    "no such fact": (("show", "m00000000"), "no such fact: 'm00000000'"),
    "correct nothing": (("correct", "m00000000", "x"), "no such fact"),
    "forget nothing": (("forget", "zzz"), "no such fact"),
    "empty rule": (("add", "  "), "the text is empty"),
    "long rule": (("add", "word " * 900), "are too many for every prompt"),
    "half a character": (("add", "bad \udcff bytes"), "is not UTF-8"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_and_changes_nothing(person: Person, case: str) -> None:
    args, why = BAD[case]
    told = person.types("memory", *args)
    assert told.code == 2 and why in told.err and len(told.err.splitlines()) >= 2
    assert person.types("memory", "list", "--json").json == []


def test_memory_is_the_same_after_a_rebuild(person: Person) -> None:
    paused(person, [NOTE], [ASK])
    person.types("memory", "add", "Use tabs", "--about", "indent")
    (name,) = ids(person, "fixture", "--kind", "note")
    person.types("memory", "correct", name, "it answers on no port at all")
    before = person.types("memory", "list", "--json").json
    assert len(before) == 2
    assert person.types("doctor", "--rebuild").code == 0
    assert person.types("memory", "list", "--json").json == before
    for path in person.state.glob("memory.db*"):
        path.unlink()
    assert person.types("memory", "list", "--json").json == before


def test_rules_that_no_window_could_hold_are_refused_and_the_others_stay(person: Person) -> None:
    for number in range(2):
        assert person.types("memory", "add", f"{number} never {'x' * 1_900}").code == 0
    told = person.types("memory", "add", f"3 never {'x' * 1_900}")
    assert told.code == 2 and "the maximum is 50 with 4,000" in told.err and "nothing was changed" in told.err
    assert person.types("memory", "add", f"4 never {'x' * 1_900}", "--everywhere").code == 0, "the user's own count apart"
    rules = {row["text"][0]: row["id"] for row in person.types("memory", "list", "--kind", "rule", "--json").json}
    assert set(rules) == {"0", "1", "4"}
    grown = person.types("memory", "correct", rules["1"], f"1 never {'x' * 1_990}")
    assert grown.code == 0, "without the one whose place it takes there is room"
    told = person.types("memory", "add", f"5 never {'x' * 100}")
    assert told.code == 2 and set(ids(person, "--kind", "rule")) >= {rules["0"], rules["4"]}
    assert person.types("memory", "add", "0 always", "--about", f"0 never {'x' * 80}"[:79] + "…").code == 0, (
        "in the place of a long one"
    )
