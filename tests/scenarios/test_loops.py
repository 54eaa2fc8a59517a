"""A task that plans first, turns when its plan does not work, pauses for a person, and lets them take back what it did."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from person import CHECK, COMPLETE, MEND, SHELL_CHECK, Person, Step

from afresh.app.compose import RunTerms, run_task
from afresh.app.dialogue.answer_question import answer_question, list_open_questions
from afresh.app.inspect.inspect_calls import verify_calls
from afresh.app.orders.tasks import TaskOrder, add_task
from afresh.app.project import Project, open_project
from afresh.app.results.task_result import undo_task_steps
from afresh.core.event import CallRequested, QuestionAsked
from afresh.core.state import State
from afresh.core.states.strategy_state import StrategyChanged
from afresh.core.states.supervision_state import PersonAct, PersonRequest, StepsUndone
from afresh.core.task import TaskStatus
from afresh.errors import BadInput

READ: Step = ("read", {"path": "calc.py"})
SHIFT: Step = ("edit", {"path": "calc.py", "old": "x + 2", "new": "x << 1"})
WORSE: Step = ("edit", {"path": "calc.py", "old": "x + 2", "new": "x * 3"})
PLAN: Step = ("plan", {"items": ["mend double", "look at it again"]})
GO = PersonRequest(PersonAct.GO)


def marks(*numbers: int) -> Step:
    return "plan", {"items": [f"[x] {number}" for number in numbers]}


class Gone(BaseException):
    """As if the process were gone."""


class Scripted:
    """A person who says these things, one at each pause, and then nothing."""

    def __init__(self, *words: PersonRequest) -> None:
        self.words, self.shown = [*words], list[State]()

    def at_pause(self, state: State) -> PersonRequest | None:
        self.shown.append(state)
        return self.words.pop(0) if self.words else None


@pytest.fixture
def project(person: Person) -> Iterator[Project]:
    project = open_project(person.repo)
    yield project
    project.storage.close()


def ordered(project: Project, model: str, loop: str = "", check: str = SHELL_CHECK) -> str:
    return add_task(project, TaskOrder("double is wrong", "fix_bug", (check,), model=model, loop=loop)).task.id


def worked(project: Project, task: str, mode: str = "", person: Scripted | None = None) -> State:
    state = run_task(project, task, RunTerms(no_sandbox=True, mode=mode, person=person))
    assert state and all(call.same for call in verify_calls(project, task)), "every call can be built again"
    return state


def count_pauses(project: Project, task: str) -> int:
    return sum(bool(asked.phase) for asked in events(project, task, QuestionAsked))


def events(project: Project, task: str, kind: type) -> list[Any]:
    return [entry.event for entry in project.store.journal(task) if isinstance(entry.event, kind)]


def window(person: Person, task: str, step: int) -> str:
    return person.types("context", "show", task, "--step", str(step), "--json").json["sections"][-1]["text"]


def tools(person: Person, task: str, step: int) -> str:
    sections = person.types("context", "show", task, "--step", str(step), "--json").json["sections"]
    return next(one["text"] for one in sections if one["name"] == "tools")


def test_a_planned_task_plans_works_item_by_item_and_completes(person: Person, project: Project) -> None:
    model = person.script([READ], [PLAN], [MEND, marks(1)], [READ, marks(2)], [COMPLETE])
    task = ordered(project, model, "plan_execute")
    state = worked(project, task)
    assert (state.status, state.work.step) == (TaskStatus.DONE, 5)
    assert "\nRefused now: edit, complete." in window(person, task, 2)
    assert "\nRefused now: complete." in window(person, task, 3) and "Refused now" not in window(person, task, 4)
    assert len({tools(person, task, step) for step in range(1, 6)}) == 1, "what is offered stays the same"
    assert "Now item 1 of 2, step 1 of 8: mend double." in window(person, task, 3)
    assert "Now item 2 of 2" in window(person, task, 4) and "All items are done" in window(person, task, 5)


def test_two_undone_changes_turn_it_and_it_plans_anew_with_the_reason(person: Person, project: Project) -> None:
    model = person.script([PLAN], [WORSE], [WORSE], [PLAN], [MEND, marks(1, 2)], [COMPLETE])
    task = ordered(project, model, "plan_execute", CHECK)
    state = worked(project, task)
    (turn,) = events(project, task, StrategyChanged)
    assert state.status is TaskStatus.DONE and turn == StrategyChanged(
        3, "plan_execute", "2 changes for item 1 (mend double) were undone"
    )
    assert "Make a new `plan`: 2 changes for item 1" in window(person, task, 4) and "Refused now: edit, complete" in window(
        person, task, 4
    )
    assert "another way: plan_execute" in person.types("show", "--decisions", task).words


def test_a_task_that_only_turns_comes_to_rest_with_the_evidence(person: Person, project: Project) -> None:
    ways = [[("edit", {**WORSE[1], "new": f"x * {number}"})] for number in range(3, 9)]
    model = person.script(*[step for number in range(0, 6, 2) for step in ([PLAN], *ways[number : number + 2])])
    state = worked(project, ordered(project, model, "plan_execute", CHECK))
    assert (state.status, state.work.step, state.workspace.reverted) == (TaskStatus.BLOCKED, 9, 6)
    assert (
        "changed its approach 2 times, and again 2 changes for item 1" in state.dialogue.question
        and "undone: 6" in state.dialogue.question
    )


def test_with_nobody_there_it_rests_before_the_first_change_and_goes_on_after_an_answer(person: Person, project: Project) -> None:
    task = ordered(project, person.script([READ], [MEND], [COMPLETE]))
    state = worked(project, task, "supervised")
    assert (state.status, state.work.step, state.workspace.changed) == (
        TaskStatus.BLOCKED,
        1,
        (),
    ) and "About to make the first change (calc.py)" in state.dialogue.question
    assert [one.task.id for one in list_open_questions(project)] == [task]
    with pytest.raises(BadInput, match="its question is still open"):
        worked(project, task)
    answer_question(project, task, "approve")
    state = worked(project, task)
    assert (state.status, state.dialogue.supervision.passed, state.dialogue.supervision.paused) == (
        TaskStatus.BLOCKED,
        ("change",),
        "verify",
    )
    answer_question(project, task, "1")
    assert worked(project, task).status is TaskStatus.DONE and not project.store.load(task).dialogue.words, (
        "an approval takes no place in a window"
    )
    assert count_pauses(project, task) == 2 and project.store.load(task).spending.calls == 3, (
        "the reply that waited was not bought again"
    )


SEVEN: Step = ("edit", {"path": "calc.py", "old": "", "new": "\n\ndef seven():\n    return 7\n"})


def add_seven(person: Person, project: Project, *replies: list[Step], type: str = "implement_feature") -> str:
    """A task without a plan whose checks are green before it begins."""
    check = f"{sys.executable} -c pass"
    return add_task(project, TaskOrder("Add seven", type, (check,), model=person.script(*replies))).task.id


@pytest.mark.parametrize("replies", ([[SEVEN], [COMPLETE]], [[SEVEN, COMPLETE]]), ids=("two replies", "one reply"))
def test_with_green_checks_and_no_plan_it_pauses_before_the_first_change_and_before_done(
    person: Person, project: Project, replies: list[list[Step]]
) -> None:
    task, someone = add_seven(person, project, *replies), Scripted(GO, GO)
    state = worked(project, task, "supervised", someone)
    assert state.status is TaskStatus.DONE
    assert [shown.dialogue.supervision.paused for shown in someone.shown] == ["change", "verify"]
    assert "About to verify the result" in someone.shown[1].dialogue.question


def test_a_report_pauses_before_it_is_written_and_before_done(person: Person, project: Project) -> None:
    text = "`calc.py:1` doubles.\n"
    report: Step = ("edit", {"path": "DISCOVERY.md", "old": "", "new": text})
    task, someone = add_seven(person, project, [report], [COMPLETE], type="discovery"), Scripted(GO, GO)
    assert worked(project, task, "supervised", someone).status is TaskStatus.DONE
    assert [shown.dialogue.supervision.paused for shown in someone.shown] == ["synthesise", "verify"]


class Dies:
    """Whoever is asked is gone, and the process with them."""

    def at_pause(self, state: State) -> PersonRequest | None:
        raise Gone


@pytest.mark.journey
def test_killed_while_it_asks_it_asks_the_same_again_and_never_goes_on_without_an_answer(
    person: Person, project: Project
) -> None:
    task = ordered(project, person.script([MEND], [COMPLETE]))
    with pytest.raises(Gone):
        run_task(project, task, RunTerms(no_sandbox=True, mode="supervised", person=Dies()))
    assert project.store.load(task).dialogue.supervision.paused == "change"
    someone = Scripted(GO, GO)
    assert worked(project, task, person=someone).status is TaskStatus.DONE
    assert [shown.dialogue.supervision.paused for shown in someone.shown] == ["change", "verify"]
    assert count_pauses(project, task) == 2 and project.store.load(task).spending.calls == 2


def test_beside_the_work_one_talks_redirects_and_takes_back(person: Person, project: Project) -> None:
    plan: Step = ("plan", {"items": ["shift"]})
    task = ordered(project, person.script([plan], [SHIFT], [MEND], [COMPLETE]))
    someone = Scripted(
        GO, GO, PersonRequest(PersonAct.UNDO, "no tricks"), PersonRequest(PersonAct.REDIRECT, "multiply", by="Ada"), GO
    )
    state = worked(project, task, "interactive", someone)
    assert (state.status, state.work.plan, state.workspace.kept, state.workspace.reverted) == (TaskStatus.DONE, (), 1, 1)
    undone = someone.shown[3]
    assert (undone.workspace.changed, undone.phase, [item.text for item in undone.work.plan]) == ((), "understand", ["shift"])
    text = "\n".join(one["text"] for one in person.types("context", "show", task, "--step", "3", "--json").json["sections"])
    assert "x + 2 → x << 1): undone by a person: no tricks" in text and "Answer: multiply" in text
    assert [made.text for made in state.memory.decisions if made.by == "person" and made.subject] == ["multiply"]
    log = person.types("show", "--decisions", task).words
    assert "undone: all from step 2 on" in log and "multiply" in log


@pytest.mark.journey
def test_undo_from_the_command_line_takes_back_the_last_change_and_the_task_goes_on_from_there(
    person: Person, project: Project
) -> None:
    person.adds("another that is ready")
    task = ordered(project, person.script([SHIFT, ("note", {"subject": "shift", "text": "works"})], [MEND], [COMPLETE]))
    worked(project, task, "supervised", Scripted(GO, PersonRequest(PersonAct.STOP)))
    told = person.types("undo", task, "--why", "no tricks")
    assert told.code == 0 and "1 change; files still changed: none" in told.words
    assert "continuity.json differs" not in person.types("doctor", "--deep").words, "its place among the tasks changed"
    state = project.store.load(task)
    tree = person.trees / task / "calc.py"
    assert (state.workspace.changed, state.verification.verdict, state.phase) == (
        (),
        None,
        "understand",
    ) and "x + 2" in tree.read_text()
    assert [fact.text for fact in state.memory.facts if fact.subject == "shift"] == ["works (from a step that was undone)"]
    again = person.types("undo", task, "--json")
    assert again.code == 1 and again.error["what"] == "no kept change is left to undo", again.err
    assert worked(project, task, "autonomous").status is TaskStatus.DONE
    assert person.types("undo", task, "--json").json["no_longer_changed"] == ["calc.py"], "a finished one, too"


def test_steps_that_changed_nothing_can_be_taken_back_by_their_number(person: Person, project: Project) -> None:
    task = ordered(project, person.script([PLAN], [READ], [MEND], [COMPLETE]))
    worked(project, task, "interactive", Scripted(GO, GO, PersonRequest(PersonAct.STOP)))
    state = undo_task_steps(project, task, steps=2)
    assert (state.work.plan, state.work.plan_step, state.work.step) == ((), 0, 2)
    with pytest.raises(BadInput, match="no kept change is left to undo"):
        undo_task_steps(project, task)
    told = person.types("undo", person.adds("not begun"))
    assert told.code == 1 and "no step was taken yet" in told.words


def test_a_tree_that_was_not_put_back_in_time_is_put_back_when_the_task_is_taken_up(
    person: Person, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from afresh.workspace.worktree import GitWorkspace

    task = ordered(project, person.script([SHIFT], [MEND], [COMPLETE]))
    whole = GitWorkspace.restore

    def dying(self: GitWorkspace, snapshot: str, paths: tuple[str, ...] = ()) -> None:
        if events(project, task, StepsUndone):
            raise Gone
        whole(self, snapshot, paths)

    with monkeypatch.context() as patch, pytest.raises(Gone):
        patch.setattr(GitWorkspace, "restore", dying)
        worked(project, task, "interactive", Scripted(GO, PersonRequest(PersonAct.UNDO), GO))
    tree: Path = person.trees / task / "calc.py"
    assert "x << 1" in tree.read_text() and project.store.load(task).workspace.changed == ()
    state = worked(project, task, "autonomous")
    assert (state.status, state.workspace.kept, state.workspace.reverted) == (TaskStatus.DONE, 1, 1)
    assert len(events(project, task, CallRequested)) == 3, "nothing was bought twice"


def test_the_users_settings_say_how_closely_and_a_repository_may_not(
    person: Person, project: Project, monkeypatch, tmp_path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    own = tmp_path / "config" / "afresh" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text('mode = "supervised"\nloop = "plan_execute"\n')
    project = open_project(person.repo)
    task = ordered(project, person.script([PLAN, MEND, marks(1, 2)], [COMPLETE]))
    state = worked(project, task)
    assert (state.task.loop, state.dialogue.supervision.mode, state.dialogue.supervision.paused) == (
        "plan_execute",
        "supervised",
        "change",
    )
    own.write_text('mode = "watched"\n')
    assert "mode should be one of: autonomous, supervised, interactive" in person.types("answer", "--json").error["what"]
    own.unlink()
    person.write(".afresh/config.toml", 'mode = "autonomous"\n')
    assert "mode can't be set in this file" in person.types("answer", "--json").error["what"]
