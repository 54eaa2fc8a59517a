"""Instructions of people, from the command line to the window: shown, explained, within their share, never a task's to change."""

from pathlib import Path
from typing import Any

import pytest
from person import CHECK, COMPLETE, MEND, Person

from afresh.app.project import open_project
from afresh.core.states.ceiling_state import CeilingChanged

OURS = "---\nrules:\n  naming: Whole words.\n---\nPrices are in cents.\n\n## Testing\nOne behaviour a test.\n"
LOOK = ("read", {"path": "lib/x.py"})


@pytest.fixture
def ours(person: Person) -> Person:
    person.write(".afresh/AGENT.md", OURS)
    person.write("lib/AGENT.md", "---\nrules: {naming: As it is there.}\n---\n## Testing\nNone here.\n")
    person.write("lib/x.py", "x = 1\n")
    person.commit("instructions")
    return person


def words(count: int) -> str:
    return "word " * count


def sections(person: Person, step: int) -> dict[str, str]:
    told = person.types("context", "show", "--step", str(step), "--json").json["sections"]
    return {section["name"]: section["text"] for section in told}


def raised(person: Person, task: str) -> list[CeilingChanged]:
    return [entry.event for entry in open_project(person.repo).store.journal(task) if isinstance(entry.event, CeilingChanged)]


def lines(told: dict[str, Any]) -> list[tuple[str, str, int]]:
    return [(line["text"], line["file"], line["first"]) for line in told["lines"]]


SETTING = (
    "---\nproject: {test_command: %s}\ndefaults: {max_steps: 7, require_tests: true}\n"
    "preferences: {style: Functions over classes.}\nconstraints: [No new dependency.]\n---\n"
)
NEW_TEST = (
    "import unittest\n\nfrom calc import double\n\n\nclass N(unittest.TestCase):\n    def test_new(self):\n"
    "        assert double(3) == 6\n"
)
TESTED = ("edit", {"path": "test_new.py", "new": NEW_TEST})


def orders(person: Person, *more: str) -> dict[str, Any]:
    added = person.types("add", "double is wrong", "--type", "fix_bug", *more, "--json")
    assert added.code == 0, added.err
    return person.shown(added.json["task"])["task"]


def test_front_matter_sets_what_an_order_leaves_open(person: Person) -> None:
    person.write(".afresh/AGENT.md", SETTING % CHECK)
    made = orders(person)
    assert [check["command"] for check in made["checks"]] == [CHECK]
    assert (made["max_steps"], made["require_tests"]) == (7, True)
    spoken = orders(person, "--check", "true", "--set", "max_steps=9")
    assert [check["command"] for check in spoken["checks"]] == ["true"] and spoken["max_steps"] == 9
    person.write(".afresh/config.toml", 'max_steps = 11\nchecks = ["make test"]\n')
    assert orders(person)["max_steps"] == 11 and orders(person)["checks"][0]["command"] == "make test"
    person.write(".afresh/AGENT.md", "Be kind.\n")
    assert not orders(person).get("require_tests")


def test_required_tests_are_told_and_a_completion_without_one_is_refused(person: Person, requires_sandbox) -> None:
    """Its twin, the same replies without the setting, passes at the first claim."""
    requires_sandbox()
    person.write(".afresh/AGENT.md", SETTING % CHECK)
    assert person.runs(person.script([MEND, COMPLETE], [TESTED, COMPLETE]), check="").code == 0
    assert "and at least one new test passes" in sections(person, 1)["task"]
    assert "no new test was written" in person.types("show", "--decisions").words
    told = sections(person, 1)["instructions"]
    assert "- style (preferred): Functions over classes.\n- always: No new dependency." in told
    person.write(".afresh/AGENT.md", "Be kind.\n")
    assert person.runs(person.script([MEND, COMPLETE], name="twin"), check=CHECK).code == 0


@pytest.fixture
def own(person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "config" / "afresh"
    folder.mkdir(parents=True)
    return folder / "AGENT.md"


def test_with_auto_commit_a_verified_result_is_in_the_checkout_at_once(person: Person, own: Path, requires_sandbox) -> None:
    requires_sandbox()
    own.write_text("---\ndefaults: {auto_commit: true}\n---\n")
    told = person.runs(person.script([MEND], [COMPLETE]))
    assert told.code == 0 and "applied double-is-wrong" in told.words
    assert "x * 2" in (person.repo / "calc.py").read_text() and person.shown()["status"] == "applied"


FAULTS = (
    ("AGENT.md", "defaults: {max_step: 3}", "there is no default 'max_step'"),
    ("AGENT.md", "defaults: {max_steps: many}", "should be a whole number"),
    ("AGENT.md", "defaults: {auto_commit: true}", "only a file of your own may set auto_commit"),
    ("AGENT.md", "project: {test_comand: x}", "did you mean test_command?"),
    ("AGENT.md", "constraints: no", "should be a list of constraints"),
    ("AGENT.md", "preference: {a: b}", "did you mean preferences?"),
    ("lib/AGENT.md", "defaults: {max_steps: 3}", "a file of a folder can't set this"),
)


@pytest.mark.parametrize(("file", "front", "said"), FAULTS, ids=[front for _, front, _ in FAULTS])
def test_a_wrong_field_is_named_with_what_is_meant(person: Person, file: str, front: str, said: str) -> None:
    person.write(file, f"---\n{front}\n---\n")
    person.write("lib/x.py", "x = 1\n")
    told = person.types("instructions", "lib/x.py")
    assert f"{file}:2" in told.words and said in told.words, told.words


def test_a_task_goes_by_the_checkout_and_cannot_change_its_own_rules(ours: Person, requires_sandbox) -> None:
    requires_sandbox()
    rewrite = ("edit", {"path": ".afresh/AGENT.md", "old": "Whole words.", "new": "Anything goes."})
    asked = "double is wrong; say so in .afresh/AGENT.md"
    told = ours.runs(ours.script([rewrite, LOOK], [MEND], [COMPLETE]), goal=asked, check="test -f calc.py")
    assert told.code == 0, told.words
    assert "instructions: .afresh/AGENT.md" in told.err
    first, second, third = (sections(ours, step) for step in (1, 2, 3))
    assert list(first)[2:5] == ["instructions", "fingerprint", "task"], "after system text and tools"
    assert first["instructions"] == (
        "## Project instructions (the task takes precedence)\n[.afresh/AGENT.md]\n- naming: Whole words.\n"
        "Prices are in cents.\n#### Testing\nOne behaviour a test."
    )
    assert "Anything goes" in ours.git("show", f"{ours.shown()['branch']}:.afresh/AGENT.md"), "the task has rewritten the file"
    assert "Anything goes" not in second["instructions"] + third["instructions"]
    assert "- naming: Whole words. (in lib: see there)" in second["instructions"], "a folder counts once something in it was read"
    assert "[lib/AGENT.md, for lib]" in second["instructions"] and second["instructions"] == third["instructions"]
    assert ours.types("context", "verify").code == 0
    assert "a file of instructions" in ours.types("context", "why", "cents", "--step", "2").words


def test_a_file_that_was_spoilt_later_blocks_the_task_until_it_is_mended(ours: Person, requires_sandbox) -> None:
    requires_sandbox()
    task = ours.adds("double is wrong", "--model", ours.script([MEND], [COMPLETE]), "--set", "max_budget=4000")
    ours.write(".afresh/AGENT.md", words(700))
    assert ours.types("resume", task, "-q").code == 3
    question = ours.shown(task)["question"]
    assert ours.shown(task)["status"] == "blocked" and ".afresh/AGENT.md needs" in question and "over the 600" in question
    assert (
        "Shorten .afresh/AGENT.md" in question
        and "600 that instructions may take (15% of the limit of 4,000 tokens a call)" in question
    )
    assert "over the 600" in ours.types("answer", task, "go on").err, "not before it is mended"
    ours.write(".afresh/AGENT.md", "Be brief.\n")
    assert ours.types("answer", task, "shorter now").code == 0
    ours.write(".afresh/AGENT.md", "---\nrulez: 1\n---\n")
    assert ours.types("resume", task, "-q").code == 3
    assert ours.shown(task)["question"].startswith(".afresh/AGENT.md:2: rulez: there is no field 'rulez'")
    ours.write(".afresh/AGENT.md", "Be brief.\n")
    assert ours.types("answer", task, "mended").code == 0 and ours.types("resume", task, "-q").code == 0


def test_own_instructions_over_their_share_of_the_ordered_limit_are_whole(ours: Person, requires_sandbox) -> None:
    requires_sandbox()
    ours.write(".afresh/AGENT.md", words(1_200))
    looks = [[("run", {"command": f"echo {number}"})] for number in range(6)]
    told = ours.runs(
        ours.script(*looks, [MEND], [COMPLETE]), "--set", "budget=8000", "--set", "max_budget=32000", check="test -f calc.py"
    )
    assert told.code == 0 and "own instructions are over 1,200 tokens, 15% of the limit of 8,000: calls may be larger" in told.err
    assert all(len(sections(ours, step)["instructions"]) > 5 * 1_200 for step in (1, 7))
    assert ours.types("context", "verify").code == 0


def test_each_line_is_shown_with_its_place_and_what_gave_way_to_what(ours: Person, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "mine"))
    (tmp_path / "mine/afresh").mkdir(parents=True)
    (tmp_path / "mine/afresh/AGENT.md").write_text("---\nfirm: true\nrules: {tone: Dry.}\n---\n")
    ours.write(".afresh/tasks/fix_bug.md", "---\nrules: {tone: Warm.}\n---\nName the cause.\n")
    told, plain = ours.types("instructions", "lib/x.py", "-t", "fix_bug", "--json"), ours.types("instructions", "x.py", at="lib")
    assert told.code == plain.code == 0 and "lib/AGENT.md, for lib" in plain.words
    mine = str(tmp_path / "mine/afresh/AGENT.md")
    assert [line for line in lines(told.json) if line[2]] == [
        ("- tone: Dry.", mine, 3),
        ("Prices are in cents.", ".afresh/AGENT.md", 5),
        ("- naming: As it is there.", "lib/AGENT.md", 2),
        ("#### Testing", "lib/AGENT.md", 4),
        ("None here.", "lib/AGENT.md", 5),
        ("Name the cause.", ".afresh/tasks/fix_bug.md", 4),
    ]
    gone = [(one["what"], one["file"], one["first"], one["by"], one["line"]) for one in told.json["overruled"]]
    assert sorted(gone) == [
        ("Testing", ".afresh/AGENT.md", 7, "lib/AGENT.md", 4),
        ("rule naming", ".afresh/AGENT.md", 3, "lib/AGENT.md", 2),
        ("rule tone", ".afresh/tasks/fix_bug.md", 2, mine, 3),
    ]
    assert told.json["tokens"] < told.json["cap"] == 600 and told.json["ok"]
    shown = ours.types("instructions", "lib", "-t", "fix_bug").words
    assert "Testing .afresh/AGENT.md:7-8 lib/AGENT.md:4" in shown and "of 600 tokens, 15% of 4,000" in shown
