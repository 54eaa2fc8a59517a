"""Every program and script of examples/ works as its first lines say."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from person import CHECK, COMPLETE, MEND, SOURCE, Person, Step

from afresh.ports.model import Model
from support.model_contract import ModelContract

pytestmark = pytest.mark.reported

EXAMPLES = Path(__file__).parents[2] / "examples"
ASK: Step = ("ask", {"question": "Multiply or shift?", "options": ["multiply: plain", "shift: fast"]})
REPLY = '{"thought": "look", "actions": [{"tool": "read", "args": {"path": "a.py"}}]}'
TRIED_ELSEWHERE = {"afresh.service", "Containerfile", "github-action.yml", "mailbox_model.py"}
"""In test_service_examples.py, test_github_actions.py and test_being_the_model.py."""
MOST_LINES = 40
LONGER = {"github-action.yml"}
"""A job that starts from an issue or a button, and keeps its keys apart."""


@pytest.fixture
def afresh_on_path(person: Person) -> str:
    tools = person.folder / "tools"
    tools.mkdir()
    program = tools / "afresh"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m afresh.cli.main "$@"\n')
    program.chmod(0o755)
    return f"{tools}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def run_example(person: Person, path: str, name: str, *args: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    starter = "sh" if name.endswith(".sh") else sys.executable
    variables = {**os.environ, "PATH": path, "PYTHONPATH": SOURCE, "AFRESH_LOG": str(person.folder / "messages.txt")}
    return subprocess.run(
        [starter, str(EXAMPLES / name), *args], cwd=person.repo, env=variables, input=typed, capture_output=True, text=True
    )


@pytest.fixture
def order(requires_sandbox, person: Person) -> list[str]:
    requires_sandbox()
    return ["--type", "fix_bug", "--check", CHECK, "--model", person.script([MEND], [COMPLETE])]


def test_a_task_is_run_and_its_result_taken(person: Person, afresh_on_path: str, order: list[str]) -> None:
    done = run_example(person, afresh_on_path, "run-task.sh", "double is wrong", *order)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "x * 2" in (person.repo / "calc.py").read_text() and "applied" in done.stdout


@pytest.mark.journey
def test_a_task_that_asks_is_left_for_an_answer(person: Person, afresh_on_path: str, order: list[str]) -> None:
    done = run_example(person, afresh_on_path, "run-task.sh", "double is wrong", *order[:-1], person.script([ASK]))
    assert done.returncode == 3 and "Multiply or shift?" in done.stdout, done.stderr


@pytest.mark.journey
def test_a_checklist_is_worked_through_and_becomes_pull_requests(person: Person, afresh_on_path: str, order: list[str]) -> None:
    person.write("PLAN.md", "- [ ] double is wrong\n- [x] done before\n- [ ] double five as well\n")
    for _ in range(2):
        done = run_example(person, afresh_on_path, "overnight.sh", "PLAN.md", *order)
        assert done.returncode == 0 and "2 done" in done.stdout, done.stdout + done.stderr
    shown = run_example(person, afresh_on_path, "pull-request.sh")
    assert shown.returncode == 0 and shown.stdout.count("## What was verified") == 2, shown.stderr


@pytest.mark.journey
def test_a_heartbeat_writes_its_checklist_once_and_checks_it(person: Person, afresh_on_path: str, requires_sandbox) -> None:
    requires_sandbox()
    for words in ("first run", "no change"):
        done = run_example(person, afresh_on_path, "heartbeat.sh")
        assert done.returncode == 0 and "2 checked" in done.stdout and words in done.stdout, done.stderr
    assert (person.repo / ".afresh/HEARTBEAT.md").read_text().startswith("---\nevery: 6h\n")


@pytest.mark.journey
def test_python_runs_a_task_answers_its_question_and_applies_it(person: Person, afresh_on_path: str, order: list[str]) -> None:
    person.write(".afresh/config.toml", f'checks = ["{CHECK}"]\n')
    model = person.script([ASK], [MEND], [COMPLETE])
    done = run_example(person, afresh_on_path, "python_api.py", "double is wrong", model, typed="1\n")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "doing ask" in done.stdout and "1 multiply" in done.stdout and "x * 2" in (person.repo / "calc.py").read_text()


@pytest.mark.journey
def test_another_agent_uses_the_memory(person: Person, afresh_on_path: str) -> None:
    assert person.types("init").code == 0
    done = run_example(person, afresh_on_path, "mcp_agent.py")
    assert done.returncode == 0, done.stderr
    assert "note" in done.stdout.partition("## recall")[2] and "calc.py:1" in done.stdout.partition("## find")[2]


def test_a_task_type_of_ones_own_is_accepted_and_shown(person: Person) -> None:
    person.write(".afresh/templates/security_review.yaml", (EXAMPLES / "security_review.yaml").read_bytes())
    assert person.types("template", "--check").code == 0
    assert "Look only for what an attacker could use" in person.types("template", "security_review").words


def test_a_hook_writes_down_what_it_is_told(person: Person, afresh_on_path: str) -> None:
    assert run_example(person, afresh_on_path, "notify-hook.sh", "double-1a2b: done").returncode == 0
    assert "double-1a2b: done" in (person.folder / "messages.txt").read_text()


def make_command_model(*command: str) -> Model:
    place = importlib.util.spec_from_file_location("command_model", EXAMPLES / "command_model.py")
    assert place and place.loader
    module = sys.modules[place.name] = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module.CommandModel(command)


class TestCommandModel(ModelContract):
    def make(self) -> Model:
        return make_command_model("echo", REPLY)


def test_every_example_is_tried_is_listed_and_says_how_to_start_it() -> None:
    names = {path.name for path in EXAMPLES.iterdir() if path.suffix not in (".md", ".pyc")} - {"__pycache__"}
    here, listed = Path(__file__).read_text("utf-8"), (EXAMPLES / "README.md").read_text("utf-8")
    assert [name for name in names if name not in here or f"]({name})" not in listed] == []
    texts = {name: (EXAMPLES / name).read_text("utf-8") for name in names}
    assert [name for name, text in texts.items() if not text.startswith(("#", '"""'))] == []
    assert {name for name, text in texts.items() if text.count("\n") > MOST_LINES} == LONGER
