"""`afresh template`, and tasks of a type that the project defines itself."""

import pytest
from person import CHECK, COMPLETE, MEND, Person

OURS = "extends: fix_bug\nabout: Mend it our way\nlimit: 5000\nguidance: Say why in the commit.\nphases: {change: {steps: 9}}\n"


@pytest.fixture
def ours(person: Person) -> Person:
    person.write(".afresh/templates/ours.yaml", OURS)
    return person


def test_types_are_listed_with_their_ceiling_and_where_they_come_from(ours: Person) -> None:
    told, rows = ours.types("template", "list"), ours.types("template", "list", "--json").json
    named = {row["name"]: row for row in rows}
    assert told.code == 0 and "project: .afresh/templates/ours.yaml" in told.words and "Mend it our way" in told.words
    assert (named["ours"]["ceiling"], named["ours"]["origin"], named["fix_bug"]["origin"]) == (5_000, "project", "shipped")
    assert named["summary"]["kind"] == "summary" and "base" not in named
    assert all(row["about"] and not row["fault"] for row in rows)


def test_a_template_is_shown_merged_with_the_place_of_every_value(ours: Person) -> None:
    told, shown = ours.types("template", "show", "ours"), ours.types("template", "show", "ours", "--json").json
    values = {value["key"]: (value["value"], value["file"], value["line"]) for value in shown["values"]}
    assert values["limit"] == (5_000, ".afresh/templates/ours.yaml", 3)
    assert values["reserve"][:2] == (0.25, "templates/base.yaml")
    assert values["sections.files.tier"][0] == "demand" and values["phases.change.steps"][0] == 9
    assert shown["files"] == [".afresh/templates/ours.yaml", "templates/fix_bug.yaml", "templates/base.yaml"]
    assert (shown["family"], shown["layout"], shown["phases"]) == ("fix_bug", None, ["understand", "change", "verify"])
    assert ".afresh/templates/ours.yaml:3" in told.words and "max 9 steps" in told.words
    assert "Say why in the commit." in told.words and "phases.verify.guidance" in told.words


def test_a_phase_is_shown_as_its_calls_will_be(ours: Person) -> None:
    ours.write(".afresh/templates/ours.yaml", OURS.replace("steps: 9", "steps: 9, reserve: 0.5, sections: {files: {share: 0.9}}"))
    shown = ours.types("template", "show", "ours", "--phase", "change", "--json").json
    values = {value["key"]: value["value"] for value in shown["values"]}
    assert values["reserve"] == 0.5 and values["sections.files.share"] == 0.9 and values["phases.change.steps"] == 9
    assert not [key for key in values if key.startswith(("phases.verify", "phases.understand"))]
    assert shown["layout"]["reserve"] == 0.5 and shown["layout"]["guidance"].startswith("Fix the cause")
    assert 0 < shown["room"] < 2_500
    plain = ours.types("template", "show", "ours", "--phase", "change")
    assert "90%" in plain.words and "Fix the cause" in plain.words and "If you have not seen the bug" not in plain.words
    wrong = ours.types("template", "show", "ours", "--phase", "report")
    assert wrong.code == 2 and "ours has no phase 'report'" in wrong.err and "understand, change, verify" in wrong.err
    assert "did you mean ours?" in ours.types("template", "show", "our").err


def test_check_tells_every_fault_of_every_file_and_fails(ours: Person) -> None:
    assert ours.types("template", "check").words.endswith("15 templates, 0 errors")
    ours.write(".afresh/templates/one.yaml", "limt: 1\ntools: [eddit]\n")
    ours.write(".afresh/templates/two.yml", "about: x\n")
    ours.write(".afresh/templates/three.yaml", "extends: one\n")
    ours.write(".afresh/templates/big.yaml", "limit: 900\n")
    told, scripted = ours.types("template", "check"), ours.types("template", "check", "--json")
    faults = [(fault["file"].rpartition("/")[2], fault["line"], fault["key"]) for fault in scripted.json["faults"]]
    assert told.code == scripted.code == 1 and scripted.json["ok"] is False
    assert faults == [("big.yaml", 1, "limit"), ("one.yaml", 1, "limt"), ("one.yaml", 2, "tools"), ("two.yml", 1, "")]
    assert ".afresh/templates/one.yaml:2: tools: there is no tool 'eddit' → did you mean edit?" in told.words
    assert "section 'tools' needs" in told.words and told.words.endswith("19 templates, 4 errors")


def test_the_ceiling_is_the_orders_then_the_settings_then_the_types(ours: Person) -> None:
    def ceiling(*more: str) -> int:
        return ours.shown(ours.types("add", "x", "--type", "ours", "--check", "true", *more, "--json").json["task"])["task"].get(
            "budget", 4_000
        )

    assert (ceiling(), ceiling("--set", "budget=7000")) == (5_000, 7_000)
    ours.write(".afresh/config.toml", "budget = 6000\n")
    assert (ceiling(), ceiling("--set", "budget=7000")) == (6_000, 7_000)


def test_a_task_of_the_projects_own_type_is_worked_on_by_its_template_and_judged_as_its_family(
    ours: Person, requires_sandbox
) -> None:
    requires_sandbox()
    script = ours.script([MEND], [COMPLETE])
    told = ours.types("run", "double is wrong", "--type", "ours", "--check", CHECK, "--model", script, "--json")
    assert told.code == 0, told.words
    shown = ours.shown()
    assert (shown["task"]["type"], shown["task"]["family"]) == ("ours", "fix_bug")
    sent = {
        section["name"]: section["text"] for section in ours.types("context", "show", "--step", "1", "--json").json["sections"]
    }
    assert "Say why in the commit." in sent["system"] and "If you have not seen the bug" not in sent["system"]
    assert sent["footer"].startswith("If you have not seen the bug") and "phase understand, step 1 of 12]" in sent["footer"]
    ours.write(".afresh/templates/ours.yaml", "limt: 1\n")
    assert ours.types("context", "verify").code == 0, "a call is built again by the template that was recorded with it"


def test_tests_are_protected_whatever_a_repository_lays_over_a_shipped_type(person: Person, requires_sandbox) -> None:
    requires_sandbox()
    person.write(".afresh/templates/fix_bug.yaml", "extends: write_tests\n")
    spoil = ("edit", {"path": "test_calc.py", "old": "double(2), 4", "new": "4, 4"})
    told = person.runs(person.script([MEND, spoil], [COMPLETE], [COMPLETE]), "--json")
    assert told.code == 3 and "changed without leave: test_calc.py" in person.shown()["recent"][1]["outcome"]
