"""A passing fault is tried again after a growing delay, up to a limit; what failed on its merits is not."""

from errno import ENOENT, ENOSPC
from pathlib import Path

import pytest
from person import Person

from afresh.app import compose
from afresh.app.compose import RunTerms, run_task
from afresh.app.orders.tasks import end_task
from afresh.app.project import open_project
from afresh.app.queue.retry_later import MAX_DELAY_SECONDS, MAX_FAILURES_IN_A_ROW, choose_delay, find_failure_cause
from afresh.core.states.queue_state import FailureCause
from afresh.core.task import TaskStatus
from afresh.errors import BadInput, Broken, Cancelled, DiskFault, LeaseLost, NeedsPerson, OverLimit, TryAgain
from afresh.workspace.git import GitFailed, GitHangs


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        (TryAgain("overloaded"), FailureCause.PROVIDER),
        (TryAgain("locked", local=True), FailureCause.MACHINE),
        (GitHangs(("status",)), FailureCause.GIT),
        (DiskFault("no room left"), FailureCause.DISK),
        (GitFailed(("add",), 1, "error: No space left on device"), FailureCause.DISK),
        (OSError(ENOSPC, "No space left on device"), FailureCause.DISK),
        (OSError(ENOENT, "no such file"), None),
        (GitFailed(("add",), 1, "fatal: bad object"), None),
        (NeedsPerson("no key"), None),
        (BadInput("no such task"), None),
        (OverLimit("the day's limit"), None),
        (Cancelled("stopped"), None),
        (LeaseLost("taken over"), None),
        (Broken("a bug"), None),
    ],
)
def test_only_what_may_be_over_later_is_tried_again(fault: Exception, cause: FailureCause | None) -> None:
    assert find_failure_cause(fault) is cause


def test_delays_grow_to_a_limit_and_differ_by_task() -> None:
    delays = [choose_delay("one", failed) for failed in range(1, 12)]
    assert all(45 <= delay <= MAX_DELAY_SECONDS for delay in delays) and delays[:6] == sorted(delays[:6])
    assert len({choose_delay(f"task{number}", 3) for number in range(20)}) == 20


@pytest.fixture
def person(tmp_path: Path) -> Person:
    one = Person(tmp_path)
    one.repo.mkdir()
    one.git("init", "-q", "-b", "main")
    one.write("calc.py", "x = 1\n")
    one.commit()
    return one


def test_an_outage_is_logged_and_the_task_waits_for_its_next_attempt(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    project = open_project(person.repo)
    task, other = person.adds("first"), person.adds("second")
    outage = TryAgain("the provider is overloaded (529)", wait=1_800.0)

    def fail(*_: object) -> None:
        raise outage

    monkeypatch.setattr(compose, "advance_or_block", fail)
    with pytest.raises(TryAgain) as found:
        run_task(project, task, RunTerms())
    assert found.value.retry_at >= project.clock.now() + 1_700, "as long as the provider asks for"
    row = next(row for row in person.types("status", "--json").json["tasks"] if row["task"] == task)
    assert (row["state"], row["failures"], row["owner"]) == ("pending", 1, "") and row["retry_at"]
    shown = person.shown(task)["attempts"]["failures"]
    assert [(one["cause"], one["what"]) for one in shown] == [("provider", "the provider is overloaded (529)")]
    assert shown[0]["at"] and shown[0]["retry_at"] == pytest.approx(found.value.retry_at, abs=0.01)
    assert "overloaded (529); to be tried again" in person.types("show", task).words
    told = person.types("resume", task)
    assert told.code == 4 and "tries it again by itself from" in told.words, "a person need not wait"
    assert person.shown(task)["attempts"]["failed"] == 2
    monkeypatch.undo()
    assert project.queue.claim("worker") == other, "the one that waits is passed over"


def test_a_task_is_given_up_after_too_many_failures_in_a_row(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    project, task = open_project(person.repo), person.adds("first")

    def fail(*_: object) -> None:
        raise GitHangs(("status",))

    monkeypatch.setattr(compose, "advance_or_block", fail)
    again = list[float]()
    for _ in range(MAX_FAILURES_IN_A_ROW):
        with pytest.raises(GitHangs) as found:
            run_task(project, task, RunTerms())
        again.append(found.value.retry_at)
        assert found.value.of_one_task, "a worker goes on with others, also after the last one"
    assert all(again[:-1]) and again[-1] == 0
    state = project.store.load(task)
    assert state.status is TaskStatus.FAILED and "given up after 8 failed attempts in a row" in state.work.outcome
    assert state.times.attempts.failed == MAX_FAILURES_IN_A_ROW, "its end is no further failure"
    assert person.types("release", task).code == 0
    assert project.store.load(task).times.attempts.streak == 0, "a person's word begins anew"


def test_work_goes_on_with_the_next_task_after_an_outage(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = person.adds("first", "--priority", "1"), person.adds("second")
    asked = list[str]()

    def fail_or_end(project: object, task: str, terms: object) -> object:
        asked.append(task)
        if task == first:
            raise TryAgain("the provider is away")
        return end_task(open_project(person.repo), task, TaskStatus.UNCHANGED, "nothing to do")

    monkeypatch.setattr(compose, "advance_or_block", fail_or_end)
    told = person.types("work", "--until-empty")
    assert asked == [first, second] and told.code == 4 and "the provider is away" in told.words


NO_KEY = "anthropic:claude-sonnet-4-5"


def set_default_model(monkeypatch: pytest.MonkeyPatch, folder: Path, model: str) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    (folder / "afresh").mkdir(parents=True)
    (folder / "afresh" / "config.toml").write_text(f'model = "{model}"\n')


@pytest.mark.parametrize("way", ["default", "option", "attended"])
def test_a_model_that_everybody_uses_or_somebody_waits_for_stops_the_worker(
    person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    set_default_model(monkeypatch, tmp_path / "config", NO_KEY if way == "default" else "openai:gpt-5")
    task = person.adds("first", *(("--model", NO_KEY) if way != "option" else ()))
    project = open_project(person.repo)
    with pytest.raises(NeedsPerson) as found:
        run_task(project, task, RunTerms(unattended=way != "attended", model=NO_KEY if way == "option" else ""))
    assert not found.value.of_one_task and not project.store.load(task).times.attempts.failed
