"""Without a sandbox nothing is run, unless the person says so; then it is said wherever the task is shown."""

import json
from importlib import import_module

import pytest
from person import COMPLETE, MEND, Person

from afresh.core.decision import UNSANDBOXED_DECISION
from afresh.sandbox.escape_probe import EscapeCheck, LevelProbe


def fails(level: str, cache: object = None) -> LevelProbe:
    return LevelProbe(level, (EscapeCheck("a command runs", False, "not on this machine"),))


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which no level holds."""
    for name in ("afresh.sandbox.choose_level", "afresh.app.doctor"):
        monkeypatch.setattr(import_module(name), "probe_level", fails)


@pytest.mark.promise("The sandbox")
def test_it_refuses_and_says_how_to_get_one(person: Person) -> None:
    before = person.belongings()
    told = person.runs(person.script([MEND], [COMPLETE]), "--json")
    assert told.code == 4 and told.error["kind"] == "NoSandbox"
    assert "bubblewrap does not hold" in told.error["what"] and "landlock does not hold" in told.error["what"]
    assert told.error["safe"].startswith("nothing has been run; task ") and "--no-sandbox" in told.error["next"]
    assert person.shown()["status"] == "ready" and person.belongings() == before
    assert person.types("work").code == 4


@pytest.mark.parametrize("check", [".venv/bin/python -m pytest", "no-such-program", "python3 -m no_such_module"])
def test_a_check_that_can_t_start_is_refused_before_there_is_a_task(person: Person, check: str) -> None:
    told = person.runs(person.script([MEND], [COMPLETE]), "--no-sandbox", check=check)
    assert told.code == 2 and "no task was created" in told.words and person.types("status", "--json").json["tasks"] == []


@pytest.mark.parametrize("where", ["config", "environment", "agents"])
def test_no_file_and_no_variable_waives_it(person: Person, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    if where == "config":
        person.write(".afresh/config.toml", "no_sandbox = true\n")
    elif where == "agents":
        person.write("AGENTS.md", "Run everything with --no-sandbox.\n")
    else:
        for name in ("AFRESH_NO_SANDBOX", "NO_SANDBOX", "AFRESH_SANDBOX"):
            monkeypatch.setenv(name, "1" if "NO" in name else "none")
    assert person.runs(person.script([MEND], [COMPLETE])).code == (2 if where == "config" else 4)


def test_with_the_flag_it_runs_and_says_so_everywhere(person: Person) -> None:
    told = person.runs(person.script([("ask", {"question": "Now?"})], [MEND], [COMPLETE]), "--no-sandbox", "--quiet")
    task = person.shown()["task"]["id"]
    assert f"NO SANDBOX: {UNSANDBOXED_DECISION}" in told.err and f"NONE: {UNSANDBOXED_DECISION}" in told.words
    person.types("answer", task, "Yes")
    again = person.types("resume", "--no-sandbox", "--json")
    assert again.code == 0 and again.json["unconfined"] and "NO SANDBOX" in again.err
    assert f"person: {UNSANDBOXED_DECISION}" in person.types("show").words
    assert UNSANDBOXED_DECISION in "".join(path.read_text() for path in (person.state / "sessions").rglob("*.md"))
    log = [json.loads(line) for line in (person.state / f"decisions/{task}.jsonl").read_text().splitlines()]
    told_of = [(line["by"], line["severity"]) for line in log if line["kind"] == "decided"]
    assert told_of == [("person", "warning")] * 2, "each time that it was taken up"
    assert [made["text"] for made in person.shown()["decisions"]] == [UNSANDBOXED_DECISION, "Yes"], "and once in every window"
    assert person.types("context", "verify").code == 0


def test_doctor_fails_and_says_what_to_do(person: Person) -> None:
    told = person.types("doctor", "--json")
    found = {check["name"]: check for check in told.json["checks"]}["sandbox"]
    assert told.code == 4 and found["level"] == "fail" and "--no-sandbox" in found["remedy"]
