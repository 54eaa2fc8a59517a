"""`afresh work --auto-merge`: verified results come into the user's branch in order; what does not fit becomes a task."""

import sys
from collections.abc import Callable

import pytest
from person import CALC, COMPLETE, MEND, Person, Step

from afresh.app.orders.tasks import record_events
from afresh.app.project import Project, open_project
from afresh.app.results import auto_merge
from afresh.app.results.auto_merge import find_next_result, merge_results
from afresh.core.event import TaskClaimed
from afresh.storage.renew_lease import identify_worker

pytestmark = [pytest.mark.journey, pytest.mark.reported]

ALWAYS = "true"
LENGTH = "import calc; assert len(open('calc.py').read().splitlines()) < 6"


@pytest.fixture(autouse=True)
def confined(requires_sandbox) -> None:
    requires_sandbox()


def does(person: Person, goal: str, *steps: Step, check: str = ALWAYS, more: tuple[str, ...] = ()) -> str:
    """A task that is done and waits to be applied."""
    script = person.script([*steps], [COMPLETE], name=f"script-{len(goal)}-{abs(hash(goal))}")
    told = person.types("add", goal, "--check", check, "--model", script, *more, "--json")
    task = told.json["task"]
    assert person.types("resume", task).code == 0
    return task


def writes(path: str, text: str) -> Step:
    return ("edit", {"path": path, "old": "", "new": text})


def edits(old: str, new: str) -> Step:
    return ("edit", {"path": "calc.py", "old": old, "new": new})


def merges(person: Person) -> dict[str, str]:
    said = dict[str, str]()
    merge_results(open_project(person.repo), False, said.__setitem__)
    return said


def states(person: Person) -> dict[str, str]:
    return {ticket.task: ticket.status.value for ticket in open_project(person.repo).queue.tickets()}


@pytest.mark.daily
def test_results_are_merged_in_the_order_of_the_queue_and_changes_of_the_user_stay(person: Person) -> None:
    tasks = [does(person, f"add file {number}", writes(f"file{number}.txt", "x\n")) for number in range(3)]
    person.write("mine.txt", "not committed\n")
    person.write("calc.py", CALC + "# mine\n")
    said = merges(person)
    assert [*said] == tasks and states(person) == dict.fromkeys(tasks, "applied")
    merged = person.git("log", "--first-parent", "--format=%s", "-3").splitlines()
    assert merged[:2] == [f"Merge afresh/{tasks[2]}", f"Merge afresh/{tasks[1]}"]
    assert {path.name for path in person.repo.glob("file*.txt")} == {"file0.txt", "file1.txt", "file2.txt"}
    assert (person.repo / "mine.txt").read_text() == "not committed\n"
    assert person.git("status", "--porcelain", "--", "calc.py", "mine.txt").split() == ["M", "calc.py", "??", "mine.txt"]
    assert not person.git("for-each-ref", "refs/heads/afresh")


def test_a_conflict_becomes_a_task_that_dependents_wait_for_and_closes_the_first(person: Person) -> None:
    first = does(person, "one way", edits("x + 2", "x * 2"))
    second = does(person, "another way", edits("x + 2", "2 * x"))
    waiting = person.adds("and then", "--after", second)
    said = merges(person)
    head, after = person.git("rev-parse", "HEAD"), states(person)
    assert after[first] == "applied" and after[second] == "done"
    (follow_up,) = set(after) - {first, second, waiting}
    assert said[second] == (f"not merged: it conflicts with what was committed since in calc.py; task {follow_up} brings it in")
    shown = open_project(person.repo).store.load(follow_up)
    refused = shown.workspace.start.refused
    assert refused and (refused.task, refused.conflicts) == (second, ("calc.py",))
    assert "2 * x" in (shown.dialogue.issue.body if shown.dialogue.issue else "")
    assert open_project(person.repo).store.load(waiting).place.needs == (second, follow_up)
    assert merges(person) == {} and person.git("rev-parse", "HEAD") == head, "it is not tried again"
    script = person.script([edits("x * 2", "2 * x")], [COMPLETE], name="again")
    assert person.types("resume", follow_up, "--model", script).code == 0
    assert "It includes" in merges(person)[follow_up]
    assert [states(person)[one] for one in (second, follow_up)] == ["applied", "applied"]
    assert "return 2 * x" in (person.repo / "calc.py").read_text()


def test_a_merge_that_breaks_a_check_never_reaches_the_branch(person: Person) -> None:
    check = f'{sys.executable} -c "{LENGTH}"'
    person.write("calc.py", "a = 1\n\nb = 2\n\n")
    person.commit("four lines")
    first = does(person, "longer above", edits("a = 1", "a = 1\nc = 3"), check=check)
    second = does(person, "longer below", edits("b = 2", "b = 2\nd = 4"), check=check)
    said, head = merges(person), person.git("rev-parse", "HEAD")
    assert states(person)[first] == "applied" and head == open_project(person.repo).store.load(first).workspace.commit
    assert "merged with what was committed since, this fails" in said[second] and person.belongings()["status"] == ""
    assert not [*person.trees.glob("*-merge")] and "-merge" not in person.git("branch", "--all")


@pytest.mark.daily
def test_apply_checks_the_merge_with_what_was_committed_since(person: Person) -> None:
    person.write("calc.py", "a = 1\n\nb = 2\n\n")
    person.commit("four lines")
    person.git("config", "user.name", "t"), person.git("config", "user.email", "t@t")
    check = f'{sys.executable} -c "{LENGTH}"'
    first = does(person, "longer above", edits("a = 1", "a = 1\nc = 3"), check=check)
    second = does(person, "longer below", edits("b = 2", "b = 2\nd = 4"), check=check)
    third = does(person, "a file", writes("a.txt", "x\n"), check=check)
    assert "takes it back" in person.types("apply", first).words
    head, refused = person.git("rev-parse", "HEAD"), person.types("apply", second)
    assert refused.code == 1 and "merged with what was committed since, this fails" in refused.words
    assert person.git("rev-parse", "HEAD") == head and states(person)[second] == "done"
    assert "the checks pass on the merged tree, too" in person.types("apply", third).words
    assert f"the merged tree was not checked: run `{check}`" in person.types("apply", second, "--no-check").words
    assert "d = 4" in (person.repo / "calc.py").read_text()


def test_a_result_of_run_is_not_merged_by_a_worker_and_what_is_there_already_makes_no_commit(person: Person) -> None:
    script = person.script([MEND], [COMPLETE], name="run")
    assert person.runs(script).code == 0
    queued = does(person, "double", edits("x + 2", "x * 2"))
    person.write("calc.py", CALC.replace("x + 2", "x * 2"))
    person.commit("the same by hand")
    head = person.git("rev-parse", "HEAD")
    assert [*merges(person)] == [queued] and person.git("rev-parse", "HEAD") == head


def test_work_beside_red_tests_that_nothing_has_shown_waits_for_the_user(person: Person) -> None:
    kept = does(person, "a comment", edits("def", "# adds\ndef"), check=person.check)
    mended = does(person, "double", edits("x + 2", "x * 2"), check=person.check)
    assert [*merges(person)] == [mended] and states(person)[kept] == "done"
    assert "nothing has turned green" in person.types("show", kept).words


def test_a_result_waits_for_earlier_tasks_at_work_unless_another_task_needs_it(person: Person) -> None:
    early = person.adds("takes long")
    project = open_project(person.repo)
    assert project.queue.claim(identify_worker(), early)
    record_events(project, project.store.load(early), early, [TaskClaimed(identify_worker())])
    late = does(person, "late", writes("a.txt", "x\n"))
    assert find_next_result(project) is None
    person.adds("builds on it", "--after", late)
    assert (found := find_next_result(project)) and found.task.id == late
    assert [*merges(person)] == [late]


def test_a_commit_of_the_user_during_the_checks_is_kept_and_merged_with(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (does(person, f"file {name}", writes(name, "x\n")) for name in ("a.txt", "b.txt"))
    verify, rounds = auto_merge.find_merge_failures, list[str]()

    def commit_meanwhile(project: Project, *more) -> tuple[str, ...]:
        if not rounds:
            rounds.append(person.git("rev-parse", "HEAD"))
            person.write("theirs.txt", "")
            person.git("add", "theirs.txt")
            person.git("commit", "-qm", "theirs")
        return verify(project, *more)

    monkeypatch.setattr(auto_merge, "find_merge_failures", commit_meanwhile)
    merges(person)
    assert states(person) == {first: "applied", second: "applied"}
    assert person.git("log", "-1", "--format=%s", "HEAD^") == "theirs"


@pytest.mark.parametrize("line", ["make_merge_commit", "find_merge_failures", "move_to_merge", "apply_task_result"])
@pytest.mark.parametrize("side", ["after", pytest.param("before", marks=pytest.mark.torture)])
def test_after_a_crash_at_any_line_merging_goes_on(person: Person, monkeypatch: pytest.MonkeyPatch, line: str, side: str) -> None:
    first, second = (does(person, f"file {name}", writes(name, "x\n")) for name in ("a.txt", "b.txt"))
    assert person.types("apply", first).code == 0
    called: Callable[..., object] = getattr(auto_merge, line)

    def crash(*given, **named) -> object:
        if side == "after":
            called(*given, **named)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(auto_merge, line, crash)
        with pytest.raises(KeyboardInterrupt):
            merges(person)
    assert person.belongings()["status"] == ""
    merges(person)
    assert states(person) == {first: "applied", second: "applied"} and merges(person) == {}
    assert (person.repo / "b.txt").read_text() == "x\n" and not person.git("for-each-ref", "refs/heads/afresh")


def test_the_pool_merges_what_its_workers_have_done_before_dependents_begin(person: Person) -> None:
    first = person.adds("first", "--model", person.script([MEND], [COMPLETE], name="one"))
    script = person.script([writes("a.txt", "x\n")], [COMPLETE], name="two")
    second = person.adds("second, whose tests pass only with the first", "--after", first, "--model", script)
    person.write("mine.txt", "")
    # One: of two, the second that is asking for work may get the dependent task in the moment before the merge.
    pool = person.starts("work", "--workers", "1", "--until-empty", "--auto-merge")
    _, err = pool.communicate(timeout=600)
    assert pool.returncode == 0 and "Traceback" not in err, err
    for task in (first, second):
        assert f"{task}: applied {task} to main (fast-forward)" in err
    assert states(person) == {first: "applied", second: "applied"} and person.belongings()["status"] == "?? mine.txt"
