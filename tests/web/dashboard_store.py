"""A project with a task in every state, made by real runs with scripted replies."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from person import CALC, COMPLETE, MEND, TEST, Person, Step

MARKUP = '<img src=x onerror="alert(1)"><script>alert(2)</script>'
IMAGE = "<img src=x onerror=alert(3)>"
BIDI = "user\u202egnp.exe"
LOOK: Step = ("read", {"path": "calc.py"})
WRONG: Step = ("edit", {"path": "calc.py", "old": "x + 2", "new": "2"})
NOTE: Step = ("note", {"subject": "double", "text": "double is used by nobody else, so its sign can change"})
DECIDE: Step = ("note", {"subject": "how to double", "text": "multiply", "why": "the tests say double(5) == 10 (90% sure)"})
ASK: Step = (
    "ask",
    {
        "question": "Shall double accept text, too?",
        "options": ["numbers only: text raises TypeError", "text as well: 'ab' becomes 'abab'"],
    },
)
HOSTILE: list[Step] = [
    ("run", {"command": f"printf %s '{MARKUP}'"}),
    ("edit", {"path": f"{IMAGE}.txt", "old": "", "new": f"{MARKUP}\n"}),
    ("note", {"subject": MARKUP, "text": f"{MARKUP} {BIDI}"}),
]
ASK_HOSTILE: Step = ("ask", {"question": f"Is {MARKUP} right?", "options": [f"{MARKUP}: {MARKUP}", "no"]})
RUN: Step = ("run", {"command": "git status --short"})


def make_repository(folder: Path) -> Person:
    one = Person(folder)
    one.repo.mkdir(parents=True)
    one.git("init", "-q", "-b", "main", "--template=")
    one.write("calc.py", CALC)
    one.write("test_calc.py", TEST)
    one.commit()
    (one.repo / ".git/info").mkdir()
    return one


@contextmanager
def set_homes(folder: Path) -> Iterator[None]:
    """The user's own files are in this folder, too."""
    with mock.patch.dict(os.environ, XDG_DATA_HOME=str(folder / "data"), XDG_CONFIG_HOME=str(folder / "config"), COLUMNS="200"):
        yield


def fill_store(folder: Path) -> dict[str, str]:
    """Make the project, and return its tasks by what became of them."""
    with set_homes(folder):
        return run_tasks(make_repository(folder))


def run_tasks(one: Person) -> dict[str, str]:
    tasks = dict[str, str]()
    watch_commits(one)

    def run(name: str, goal: str, *replies: list[Step]) -> None:
        told = one.runs(one.script(*replies, name=name), "--json", "--set", "baseline=once", goal=goal)
        tasks[name] = told.json["task"]

    run("done", "double adds instead of multiplying", [LOOK, RUN], [NOTE, DECIDE], [WRONG], [MEND], [COMPLETE])
    run("blocked", "double should say what it takes", [LOOK], [ASK], [MEND], [COMPLETE])
    run("failed", "double is wrong for odd numbers", [LOOK], [COMPLETE], [COMPLETE], [COMPLETE], [MEND], [COMPLETE])
    run("hostile", f"show {MARKUP} and {BIDI} as text", HOSTILE, [ASK_HOSTILE])
    tasks["ready"] = one.adds("double should have a docstring")
    tasks["waiting"] = one.adds("write down what double does", "--after", tasks["ready"], "--priority", "2")
    return tasks


def watch_commits(one: Person) -> None:
    """Let a heartbeat see one change, which a scripted model announces."""
    path = one.folder / "heartbeat.jsonl"
    answers = ("ANNOUNCE: the public API changed, and the release notes do not say so", "OK")
    path.write_text("".join(json.dumps({"thought": answer, "actions": []}) + "\n" for answer in answers))
    settings = one.folder / "config/afresh/config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(f'[heartbeat]\nmodel = "scripted:{path}"\n')
    one.write(".afresh/HEARTBEAT.md", "- changes of the public API are in the release notes\n- the README names every command\n")
    assert one.types("schedule", "run").code == 0
    one.git("add", ".afresh/HEARTBEAT.md")
    one.commit("double is exported")
    told = one.types("schedule", "run").words
    assert "2 changed" in told, told
