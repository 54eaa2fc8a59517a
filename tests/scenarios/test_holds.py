"""A person holds and discards tasks, also those that a worker runs; every list says the same of them."""

from collections.abc import Sequence

from person import COMPLETE, MEND, Person

from afresh.app.compose import RunTerms, run_task
from afresh.app.project import open_project
from afresh.app.queue.hold_task import pause_task
from afresh.core.event import JournalEntry, ReplyReceived
from afresh.core.progress_event import ProgressEvent
from afresh.core.state import State
from afresh.core.states.queue_state import HoldKind

READ = ("read", {"path": "calc.py"})


class Meanwhile:
    """A Watcher that does something when the first reply has come: as another process would while the worker runs."""

    def __init__(self, act) -> None:
        self.act, self.done = act, False

    def saw(self, state: State, entries: Sequence[JournalEntry]) -> None:
        if not self.done and any(isinstance(entry.event, ReplyReceived) for entry in entries):
            self.done = True
            self.act(state.task.id)

    def follow(self, event: ProgressEvent) -> None:
        """Only commits matter."""


def find_row(person: Person, task: str) -> dict:
    return next(row for row in person.types("status", "--json").json["tasks"] if row["task"] == task)


def test_a_held_task_waits_with_its_reason_in_every_list(person: Person) -> None:
    task, other = person.adds("first"), person.adds("second")
    told = person.types("hold", task, "the key is missing")
    assert told.code == 0 and f"afresh release {task}" in told.out
    row = find_row(person, task)
    assert (row["state"], row["status"], row["ready"], row["next"]) == ("paused", "ready", False, f"afresh release {task[-8:]}")
    assert row["hold"]["reason"] == "the key is missing" and "the key is missing" in row["why"]
    for command in ("status", "status --all", f"show {task}", "status --state paused"):
        assert "the key is missing" in person.types(*command.split()).words, command
    ready = person.types("status", "--state", "ready").out
    assert task not in ready and other in ready
    assert person.types("status").words.endswith("1 paused, 1 ready; afresh work runs the next"), "as the rows say"
    assert person.types("release", other).code == 1 and "nobody holds" in person.types("release", other).words
    person.types("doctor", "--rebuild")
    assert person.types("release", task).code == 0 and find_row(person, task)["state"] == "ready"


def test_a_released_task_with_an_open_question_waits_for_the_answer(person: Person, requires_sandbox) -> None:
    requires_sandbox()
    task = person.adds("double is wrong", "--model", person.script([("ask", {"question": "Why?", "options": ["a", "b"]})]))
    person.types("resume", task)
    person.types("hold", task)
    told = person.types("release", task)
    assert told.code == 0 and f"is blocked; it waits for `afresh answer {task}" in told.words and "in its turn" not in told.words
    other = person.adds("second")
    assert person.types("hold", other).code == 0 and "in its turn" in person.types("release", other).words


def test_a_running_task_is_paused_before_its_next_call(person: Person, requires_sandbox) -> None:
    requires_sandbox()
    task = person.adds("double is wrong", "--model", person.script([READ], [MEND], [COMPLETE]))
    project = open_project(person.repo)
    watcher = Meanwhile(lambda name: pause_task(open_project(person.repo), name, "stop here"))
    state = run_task(project, task, RunTerms(watchers=(watcher,)))
    assert state and state.place.hold and (state.place.hold.kind, state.place.hold.reason) == (HoldKind.PAUSED, "stop here")
    assert state.spending.calls == 1 and not find_row(person, task)["owner"], "no second call was bought"
    assert run_task(project, None, RunTerms()) is None
    assert person.types("resume", task).code == 0 and person.shown(task)["status"] == "done"
    assert person.shown(task)["attempts"]["resumed"] == 1


def test_a_task_that_is_not_done_is_discarded(person: Person) -> None:
    task = person.adds("first")
    later = person.adds("second", "--after", task)
    person.types("hold", task)
    assert person.types("discard", task, "--why", "no longer wanted").code == 0
    row = find_row(person, task)
    assert (row["state"], row["hold"]) == ("discarded", None) and "no longer wanted" in row["outcome"]
    waiting = find_row(person, later)
    assert waiting["state"] == "blocked" and waiting["blocked_by"] == [task] and f"{task} (discarded)" in waiting["why"]
    assert person.types("discard", task).code == 1
    new = person.types("release", task, "--json").json["task"]
    assert find_row(person, later)["needs"] == [new]


def test_filing_is_changed_after_a_task_was_added_and_goes_with_a_new_order(person: Person) -> None:
    task = person.adds("first", "--label", "ui", "--label", "slow", "--due", "2026-12-31", "--project", "web")
    told = person.types("edit", task, "--no-label", "slow", "--label", "new", "--due", "none", "--json").json
    assert (told["labels"], told["due"], told["project"]) == (["ui", "new"], None, "web")
    person.types("edit", task, "--priority", "3")
    row = find_row(person, task)
    assert (row["labels"], row["project"], row["priority"]) == (["ui", "new"], "web", 3)
    for words, found in (
        (("--label", "new"), True),
        (("--label", "slow"), False),
        (("--project", "web"), True),
        (("--project", "repo"), False),
        (("--due", "99w"), False),
    ):
        assert (task in person.types("status", "--all", *words).out) is found, words
    person.types("discard", task)
    new = person.types("release", task, "--json").json["task"]
    assert find_row(person, new)["labels"] == ["ui", "new"]
    for words in (("--label", "two words"), ("--due", "soon"), ("--project", "a b")):
        assert person.types("edit", new, *words).code == 2
