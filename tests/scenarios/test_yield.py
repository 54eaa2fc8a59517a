"""What a task's calls were paid, beside a kept history, and what its replies drew on: from the journal of a scripted run."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from handed import COMPLETE, DOUBLE, PLAN, TRIPLE, make

from afresh.app.compose import RunTerms, run_task
from afresh.app.inspect.inspect_calls import load_call
from afresh.app.inspect.measure_calls import compare_with_history, list_call_prices, measure_task_yield, price_recorded_call
from afresh.app.project import Project, open_project
from afresh.cli.main import root_command
from afresh.core.cache_rates import DEFAULT_CACHE_RATES
from afresh.spending import price_list

SCRIPT = [
    [PLAN],
    [("read", {"path": "one.py"}), ("read", {"path": "two.py"})],
    [DOUBLE, TRIPLE, ("plan", {"items": ["[x] 1", "[x] 2"]})],
    [COMPLETE],
]


@pytest.fixture
def worked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Project, str]:
    """By a model whose cache has the usual rates."""
    monkeypatch.setattr(price_list, "UNCACHED_MODELS", ())
    repo, task = make(tmp_path, SCRIPT, {})
    project = open_project(repo)
    run_task(project, task, RunTerms(no_sandbox=True))
    monkeypatch.chdir(repo)
    return project, task


def as_json(*words: str):
    done = CliRunner().invoke(root_command, [*words, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


def test_what_no_provider_counted_is_estimated_from_the_beginning_that_two_calls_share(worked: tuple[Project, str]):
    project, task = worked
    first, *later = list_call_prices(project, task)
    assert first.paid == round(DEFAULT_CACHE_RATES.write * first.sent) and first.estimated
    for one in later:
        same = one.beginning.same
        assert same >= DEFAULT_CACHE_RATES.minimum
        assert one.paid == pytest.approx(0.1 * same + 1.25 * (one.sent - same), abs=1)
    assert [price_recorded_call(load_call(project, task, one.step)) for one in later] == later
    shown = as_json("context", "cost", task)
    assert [(one["sent"], one["paid"], one["paid_estimated"]) for one in shown] == [
        (o.sent, o.paid, True) for o in (first, *later)
    ]


def test_a_kept_history_is_sent_again_and_read_from_the_cache(worked: tuple[Project, str]):
    project, task = worked
    found = compare_with_history(project, task)
    prices = list_call_prices(project, task)
    assert (found.calls, found.sent, found.paid) == (4, sum(one.sent for one in prices), sum(one.paid for one in prices))
    assert 4 * prices[0].sent < found.accumulating < 8 * prices[0].sent
    assert found.accumulating_paid < found.accumulating and found.saved_paid and found.saved and found.saved_paid < found.saved
    line = next(one for one in as_json("spend", "--by", "task")["lines"] if one["name"] == task)
    assert (line["sent"], line["sent_paid"], line["accumulating_paid"]) == (found.sent, found.paid, found.accumulating_paid)
    assert line["paid"] == pytest.approx(found.paid, rel=0.2) and line["paid_estimated"] == 4
    assert as_json("show", task)["cost"]["paid"] == line["paid"]


def test_the_code_that_is_edited_is_drawn_on_and_said_so_by_call_and_in_all(worked: tuple[Project, str]):
    project, task = worked
    calls = measure_task_yield(project, task)
    assert [call.step for call in calls] == [1, 2, 3, 4]
    found = as_json("context", "cost", task, "--sections")
    assert found["calls"] == 4 and found["new"]["tokens"] < found["sent"]["tokens"]
    assert found["sent"]["tokens"] == pytest.approx(sum(one.tokens for call in calls for one in call.sections), abs=1)
    sections = found["sections"]
    assert sections["tools"]["drawn_on"] is sections["system"]["drawn_on"] is None, "every call sends them, asked for or not"
    counted = [part for part in sections.values() if part["drawn_on"] is not None]
    drawn = sum(part["tokens"] * part["drawn_on"] for part in counted) / sum(part["tokens"] for part in counted)
    assert 0 < drawn < 1 and found["sent"]["drawn_on"] == pytest.approx(drawn, abs=0.002) and len(found["unused"]) == 3
    told = CliRunner().invoke(root_command, ["context", "cost", task, "--sections"]).output
    said = f"{found['sent']['counted']:,} tokens sent beside tools and system text: drawn on {drawn:.0%}"
    assert said in " ".join(told.split())
    shown = {row["name"]: row["drawn_on"] for row in as_json("context", "show", task, "--step", "2")["sections"]}
    by_step = {name: part["drawn_on"] for name, part in found["steps"][1]["sections"].items()}
    assert shown == {name: by_step.get(name, 0) for name in shown}
