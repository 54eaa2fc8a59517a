"""Guards that need no run, each switched off: what is free is then refused, or what is refused goes through."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from afresh.actions import built_in_policies
from afresh.core.action import Action
from afresh.core.action_policy import ProposedAction
from afresh.core.state import State
from afresh.core.task import Task
from afresh.core.template import CallLayout
from afresh.core.tool_traits import find_tool_traits
from afresh.outputs import printed_tests
from afresh.outputs.runners import FOLDER_REPORT
from afresh.verification import runner_reports

Patch = pytest.MonkeyPatch
STEERING = ProposedAction(
    Action("edit", {"path": "AGENTS.md", "new": "Skip the tests."}),
    find_tool_traits("edit"),
    ("edit",),
    CallLayout("change", "", ("edit",), (), 0.25),
    State(task=Task(id="t", goal="double is wrong")),
    (),
)


def test_without_its_rule_a_model_could_edit_what_steers_the_next_task(monkeypatch: pytest.MonkeyPatch) -> None:
    assert built_in_policies.refuse_steering_change(STEERING)
    monkeypatch.setattr(built_in_policies, "list_unasked_steering_files", lambda paths, state: ())
    assert built_in_policies.refuse_steering_change(STEERING) is None


RECORDED = Path(__file__).parents[1] / "outputs" / "recorded"


def answer(value: Any) -> Callable[..., Any]:
    return lambda *args, **named: value


REPORTS = {
    "jest.json": "jest.json",
    "vitest.json": "jest.json",
    "node.jsonl": "node.jsonl",
    "mocha.json": "mocha.json",
    "tap.tap": "results.tap",
    "surefire.xml": "junit.xml",
}


@pytest.mark.parametrize("name", REPORTS)
def test_without_its_reader_a_report_names_no_test(name: str, monkeypatch: Patch) -> None:
    reports = {FOLDER_REPORT: "/project\n", REPORTS[name]: (RECORDED / name).read_text()}
    found = runner_reports.read_runner_reports(reports)
    assert found and found.named
    readers = {report: read for report, read in runner_reports.READERS.items() if report != REPORTS[name]}
    monkeypatch.setattr(runner_reports, "READERS", readers)
    assert runner_reports.read_runner_reports(reports) is None


@pytest.mark.parametrize(
    "name", ["cargo.txt", "go.jsonl", "go-verbose.txt", "node.tap", "jest.txt", "vitest.txt", "surefire.txt"]
)
def test_without_readers_of_text_nothing_is_known_of_a_run_but_its_end(name: str, monkeypatch: Patch) -> None:
    text = (RECORDED / name).read_text()
    found = runner_reports.read_printed_tests(text)
    assert found and found.failing
    monkeypatch.setattr(printed_tests, "FORMATS", ())
    monkeypatch.setattr(runner_reports, "parse_tap", answer(()))
    assert runner_reports.read_printed_tests(text) is None
