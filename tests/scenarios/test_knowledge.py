"""What tasks have learnt, through the command line: drafted, shown where it fits, counted, and a person's to decide."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from person import CALC, COMPLETE, MEND, Person, Step

from afresh.app.memory import learn_lessons
from afresh.app.project import open_project
from afresh.context.sources import lessons
from afresh.core.fact import LessonJudged

pytestmark = pytest.mark.reported

DRIVER = Path(__file__).with_name("driver.py")
WORSE: Step = ("edit", {"path": "calc.py", "old": "x + 2", "new": "x * 3"})
NOTE: Step = ("note", {"subject": "rounding", "text": "every caller goes through rounding_mode_of"})
BY_HAND = (
    "---\r\nid: KO-hand\r\ntitle: double of a number   # Anna's\r\nowner: anna\r\nuses: 0 # see below\r\n"
    "tags:\r\n  - calc\r\n---\r\n# double of a number is wrong\r\n\r\n## What worked\r\n"
    "Run `python regenerate_tables.py --all` first.  \r\n"
)

TORN = "---\ntitle: x\ntags: [a, b\n---\nbody\n"


@pytest.fixture(autouse=True)
def confined(requires_sandbox) -> None:
    requires_sandbox()


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a model that reads its prompts had said what the script says."""
    monkeypatch.setattr(lessons, "MODELS_THAT_DO_NOT_READ", frozenset())
    monkeypatch.setattr(learn_lessons, "MODELS_THAT_DO_NOT_READ", frozenset())


def objects(person: Person) -> list[dict[str, Any]]:
    told = person.types("knowledge", "list", "--json")
    assert told.code == 0, told.err
    return told.json["objects"]


def window(person: Person, step: int = 1) -> str:
    """What the newest task was shown."""
    task = person.types("status", "--json").json["tasks"][-1]["task"]
    assert person.types("context", "verify", task).code == 0, "every call can be built again to the byte"
    return person.types("context", "show", task, "--step", str(step)).out


def test_a_similar_task_sees_what_an_earlier_one_learnt_and_an_unrelated_one_does_not(person: Person, reading: None) -> None:
    assert person.runs(person.script([WORSE], [NOTE, MEND], [COMPLETE])).code == 0
    (first,) = objects(person)
    assert (first["standing"], first["by"], first["waits"]) == ("approved", "automatic", "")
    assert not person.git("status", "--porcelain"), "what afresh writes by itself is not shown by git"
    assert "rounding_mode_of" in first["file"] or "rounding_mode_of" in (person.repo / first["file"]).read_text()
    uses = person.script([("search", {"text": "rounding_mode_of"})], [MEND], [COMPLETE], name="second")
    assert person.runs(uses, goal="double gives a wrong number").code == 0
    shown = window(person)
    assert f"{first['id']} double is wrong" in shown and "every caller goes through rounding_mode_of" in shown
    assert "x + 2 → x * 3" in shown, "what did not work is told too"
    (after,) = [one for one in objects(person) if one["id"] == first["id"]]
    assert (after["shown"], after["uses"], after["successes"], after["unused"]) == (1, 1, 1, 0)
    assert isinstance(after["tokens_saved"], int) and after["last_used"].endswith("Z")
    mended = CALC.replace("x + 2", "x * 2")
    person.write("calc.py", mended + "\n\ndef greeting():\n    return 'helo'\n")
    person.commit("mended")
    polite: Step = ("edit", {"path": "calc.py", "old": "helo", "new": "hello"})
    assert person.runs(person.script([polite], [COMPLETE], name="third"), goal="The greeting has a typing mistake").code == 0
    assert "From earlier tasks" not in window(person)
    assert next(one for one in objects(person) if one["id"] == first["id"])["shown"] == 1


ASK: Step = ("ask", {"question": "Which way?", "options": ["multiply", "add"]})


@pytest.mark.journey
def test_a_blocked_task_leaves_a_draft_and_its_end_replaces_it(person: Person) -> None:
    model = person.script([WORSE], [ASK], [MEND], [COMPLETE])
    assert person.runs(model).code != 0
    (draft,) = objects(person)
    assert (draft["standing"], draft["waits"]) == ("draft", "drafted while its task was blocked, after 2 steps")
    text = (person.repo / draft["file"]).read_text()
    assert "x + 2 → x * 3" in text and "Nothing is verified yet." in text and "Not verified." in text
    assert person.types("answer", "multiply", "--resume").code == 0
    (after,) = objects(person)
    assert (after["id"], after["standing"]) == (draft["id"], "approved")
    now = (person.repo / after["file"]).read_text()
    assert "- changed `calc.py`: double" in now and "Nothing is verified" not in now and "drafted" not in now


def test_a_file_by_hand_is_used_and_only_its_counters_are_written(person: Person, reading: None) -> None:
    """And one that is broken beside it is told of, and stops nothing."""
    person.write(".afresh/knowledge/approved/KO-torn.md", TORN)
    person.write(".afresh/knowledge/approved/KO-hand.md", BY_HAND)
    path = person.repo / ".afresh/knowledge/approved/KO-hand.md"
    model = person.script([("run", {"command": "python regenerate_tables.py --all || true"})], [MEND], [COMPLETE])
    assert person.runs(model).code == 0
    assert "KO-hand double of a number" in window(person)
    after = path.read_bytes().decode()
    own = re.sub(r"uses: 1 # see below", "uses: 0 # see below", after)
    counters = r"(?:shown|unused|successes|tokens_saved|last_used|last_task): [^\r\n]*\r\n"
    assert re.sub(counters, "", own) == BY_HAND and "uses: 1 # see below" in after and "successes: 1\r\n" in after
    assert "approved/KO-torn.md:4: is not YAML" in person.types("knowledge", "list").words
    assert (person.repo / ".afresh/knowledge/approved/KO-torn.md").read_text() == TORN


@pytest.mark.journey
def test_a_run_killed_after_its_end_is_drafted_at_the_next_look(person: Person) -> None:
    task = person.adds("double is wrong", "--model", person.script([NOTE, MEND], [COMPLETE]))
    command = [sys.executable, str(DRIVER), str(person.repo), task, "after:Ended", "1"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    assert subprocess.run(command, env=environment, capture_output=True, timeout=600).returncode == -signal.SIGKILL
    assert not (person.repo / ".afresh/knowledge").exists()
    (drafted,) = objects(person)
    assert drafted["source"] == task
    file = person.repo / drafted["file"]
    before = file.read_bytes()
    assert objects(person) == [drafted] and file.read_bytes() == before, "once is enough"


def test_what_was_undone_at_the_end_waits_for_a_person_who_approves_it(person: Person) -> None:
    """The last step but one is undone; without that it would be approved: see the first test."""
    helper: Step = ("edit", {"path": "extra.py", "text": "EXTRA_TABLE = 1\n"})
    worse: Step = ("edit", {"path": "calc.py", "old": "x * 2", "new": "x * 3"})
    assert person.runs(person.script([MEND, helper], [worse], [COMPLETE])).code == 0
    (one,) = objects(person)
    assert one["standing"] == "draft" and "was undone" in one["waits"] and one["file"].startswith(".afresh/knowledge/drafts/")
    assert person.finds_lessons("double is wrong") == [], "a draft is shown to no task"
    told = person.types("knowledge", "approve", one["id"].removeprefix("KO-"))
    assert told.code == 0 and f"{one['id']} is approved: .afresh/knowledge/approved/" in told.words
    judged = [entry.event for entry in open_project(person.repo).notebook.entries() if isinstance(entry.event, LessonJudged)]
    assert [(event.object, event.standing, bool(event.by)) for event in judged] == [(one["id"], "approved", True)]
    (after,) = objects(person)
    assert person.git("status", "--porcelain") == "?? .afresh/", "what a person approves may be committed"
    assert (after["standing"], after["by"]) == ("approved", "confirmed")
    assert [hit[0] for hit in person.finds_lessons("double is wrong")] == [one["id"]]
    assert not list((person.repo / ".afresh/knowledge/drafts").glob("*.md"))


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def use(shell: str) -> None:
        path = tmp_path / "editor.sh"
        path.write_text(f"#!/bin/sh\n{shell}\n")
        path.chmod(0o755)
        monkeypatch.setenv("EDITOR", str(path))
        monkeypatch.delenv("VISUAL", raising=False)

    return use


def test_an_object_becomes_a_skill_and_skills_are_found_by_their_description(person: Person) -> None:
    person.write(
        ".afresh/knowledge/approved/KO-tabs.md", "---\ntitle: The lexer splits tabs\ntags: [lexer]\n---\n## What worked\nTabs.\n"
    )
    written = person.types("knowledge", "export", "KO-tabs")
    assert written.code == 0 and (person.repo / ".afresh/skills/the-lexer-splits-tabs-ko-tabs/SKILL.md").is_file()
    assert person.types("knowledge", "export", "KO-tabs", "--json").error["what"].endswith("exists already")
    person.write(
        ".claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Fill in forms of PDF documents.\n---\nUse pdf_filler.\n"
    )
    (hit,) = person.finds_lessons("Fill in the PDF form of invoices")
    assert hit[0] == ".claude/skills/pdf/SKILL.md" and "Use pdf_filler." in hit[2]
    assert person.finds_lessons("the lexer is slow on spaces") == []
    unknown = person.types("knowledge", "show", "KO-none", "--json")
    assert unknown.code == 2 and "no such lesson: 'KO-none'" in unknown.error["what"]


def test_a_link_in_place_of_the_folder_is_told_of_and_not_followed(person: Person, tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "approved").mkdir(parents=True)
    (tmp_path / "elsewhere" / "approved" / "KO-x.md").write_text("# the lexer drops tabs\n")
    (person.repo / ".afresh").mkdir()
    (person.repo / ".afresh" / "knowledge").symlink_to(tmp_path / "elsewhere")
    told = person.types("knowledge", "list")
    assert told.code == 0 and ".afresh/knowledge:1: is a link" in told.words and "KO-x" not in told.words
    assert person.finds_lessons("the lexer drops tabs") == []


def test_a_model_words_it_better_if_the_user_says_so_and_is_asked_once(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    config = person.folder / "config/afresh/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[knowledge]\nmodel_wording = true\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(person.folder / "config"))
    model = person.script([NOTE, MEND], [COMPLETE])
    words = "In calc.py the function double added two; it multiplies by two now; callers use rounding_mode_of."
    with (person.folder / "script.jsonl").open("a") as script:
        script.write(json.dumps({"thought": words, "actions": []}) + "\n")
    told = person.runs(model, "--json")
    assert told.code == 0 and told.json["tokens"]["calls"] == 3, "what was paid for is counted"
    (one,) = objects(person)
    assert (
        words in (person.repo / one["file"]).read_text() and "- changed `calc.py`" not in (person.repo / one["file"]).read_text()
    )
