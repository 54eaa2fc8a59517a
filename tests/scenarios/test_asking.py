"""A task asks, a person answers hours later from another process, and the task goes on knowing what was meant."""

import json

import pytest
from person import CHECK, COMPLETE, MEND, Person, Step

from afresh.app.dialogue import answer_question as asking
from afresh.app.orders.tasks import TaskOrder, add_task, end_task, record_events
from afresh.app.project import Project, open_project
from afresh.app.queue.hold_task import discard_task
from afresh.context.sources.task_and_messages import NEWEST_MESSAGE_HEADING
from afresh.core.event import QuestionAsked, TaskEnded
from afresh.core.task import TaskStatus

OPTIONS = ("multiply: works for every number", "shift: whole numbers only")
ASK: Step = ("ask", {"question": "Multiply or shift?", "options": [*OPTIONS]})
DECIDE: Step = ("note", {"subject": "operator", "text": "use *", "why": "the user chose it (90% sure)"})


def asks(
    project: Project, goal: str = "double is wrong", question: str = "Multiply or shift?", options: tuple[str, ...] = OPTIONS
) -> str:
    """A task that waits for an answer, without having been worked on."""
    state = add_task(project, TaskOrder(goal, "fix_bug", (CHECK,)))
    return record_events(
        project, state, state.task.id, [QuestionAsked(question, options), TaskEnded(TaskStatus.BLOCKED, f"asks: {question}")]
    ).task.id


@pytest.fixture
def project(person: Person) -> Project:
    return open_project(person.repo)


def window(person: Person, step: int) -> str:
    sections = person.types("context", "show", "--step", str(step), "--json").json["sections"]
    return "\n\n".join(one["text"] for one in sections if one["name"] not in ("system", "tools"))


@pytest.mark.promise("it guesses, or waits at a prompt")
def test_a_question_is_answered_by_number_from_another_process_and_the_task_goes_on(person: Person, requires_sandbox) -> None:
    requires_sandbox()
    model = person.script([ASK], [DECIDE, MEND], [COMPLETE])
    told = person.runs(model)
    task = person.shown()["task"]["id"]
    assert told.code == 3 and "2 shift: whole numbers only" in told.words
    waiting = person.types("answer")
    assert "1 open question" in waiting.words and "2 shift whole numbers only" in waiting.words
    assert f"afresh answer {task[-8:]} 1" in waiting.words and "no files changed" in waiting.words
    answered = person.starts("answer", task, "2")
    out, err = answered.communicate(timeout=600)
    assert answered.returncode == 0 and "answered: shift: whole numbers only" in out, err
    resumed = person.starts("resume", task, "--json")
    out, err = resumed.communicate(timeout=600)
    assert resumed.returncode == 0 and json.loads(out)["status"] == "done", err
    meant = f"{NEWEST_MESSAGE_HEADING}\nAsked: Multiply or shift? Options: 1 multiply; 2 shift\nAnswer: shift: whole numbers only"
    for step in (2, 3):
        assert window(person, step).count(meant) == window(person, step).count("whole numbers only") == 1, (
            "beside its question, once"
        )
    assert "operator: use *" in window(person, 3) and person.types("context", "verify").code == 0
    log = [json.loads(line) for line in (person.state / f"decisions/{task}.jsonl").read_text().splitlines()]
    kinds = [(line["kind"], line["type"], line["confidence"]) for line in log if line["type"] in ("approach", "override")]
    assert kinds == [("answered", "override", 1.0), ("decided", "approach", 0.9)]
    tree = person.types("show", "--decisions", task)
    for part in ("? Multiply or shift?", "✓ 2 shift: whole numbers only", "(option 2)", "▸ operator: use *", "90% sure",
                 "why: the user chose it", "step 2: kept", "verified", "└── done ("):  # fmt: skip
        assert part in tree.words, part
    assert "said when asked “Multiply or shift?" in (person.state / f"sessions/archive/{task}.md").read_text()


def test_the_harness_says_what_each_answer_would_bring_about(person: Person, requires_sandbox) -> None:
    requires_sandbox()
    person.runs(person.script([("read", {"path": "calc.py"})], [MEND], [COMPLETE]), "--set", "max_steps=1")
    (waiting,) = person.types("answer", "--json").json
    assert waiting["by"] == "harness" and "The limit of 1 steps is reached" in waiting["question"]
    assert waiting["options"][0] == {"number": 1, "option": "go on", "means": "up to 1 more steps"}
    assert person.types("answer", "1").code == 0
    assert person.shown()["limit"] == 2


def test_checks_that_could_not_run_are_run_again_after_an_answer_unless_it_says_to_go_on(
    person: Person, requires_sandbox
) -> None:
    requires_sandbox()
    told = person.runs(person.script([MEND], [COMPLETE]), "--force", check="no-such-program --all")
    assert told.code == 3 and "can't run: no-such-program" in told.words and person.shown()["calls"] == 0
    (waiting,) = person.types("answer", "--json").json
    assert [one["option"] for one in waiting["options"]] == ["check again", "work without"]
    assert person.types("answer", "I have installed it").code == 0
    assert person.types("resume").code == 3 and person.shown()["calls"] == 0, "it was checked again, and asks again"
    assert person.types("answer", "2").code == 0
    person.types("resume")
    assert person.shown()["calls"] == 2


def test_the_inbox_shows_the_oldest_question_first(person: Person, project: Project) -> None:
    first, second = asks(project, "one thing"), asks(project, "another thing", "Really?", ())
    add_task(project, TaskOrder("not asked", "fix_bug", (CHECK,)))
    assert [row["task"] for row in person.types("answer", "--json").json] == [first, second]
    assert [row["question"] for row in person.types("status", "--json").json["tasks"]] == ["Multiply or shift?", "Really?", ""]
    assert "2 open questions: afresh answer" in person.types("status").words
    assert (
        "asks: Really?" in person.types("status", "--all").words
        and "Questions: afresh answer" in person.types("status", "--all").words
    )
    session = (person.state / f"sessions/{first}.md").read_text()
    assert "2. shift: whole numbers only" in session and f'`afresh answer {first[-8:]} "…"`' in session


def test_without_a_task_the_only_question_is_answered_and_of_several_none(person: Person, project: Project) -> None:
    assert person.types("answer", "yes", "--json").error["what"] == "no task has an open question"
    task = asks(project)
    assert "is a task" in person.types("answer", task, "--json").error["what"]
    assert "put the answer in quotes" in person.types("answer", task, "use", "both").err
    assert person.types("answer", "B").code == 0
    assert person.shown(task)["words"] == [OPTIONS[1]]
    asks(project, "one"), asks(project, "two")
    several = person.types("answer", "yes", "--json").error
    assert "2 tasks have open questions" in several["what"] and "afresh answer lists" in several["next"]


@pytest.mark.parametrize(
    ("text", "why"),
    [("7", "no such option: 7"), ("", "the answer is empty"), (" \n", "the answer is empty"),
     ("word " * 18_000, "that does not fit into a prompt"), ("bad \udcff bytes", "not UTF-8")],
)  # fmt: skip
def test_an_answer_that_can_not_be_used_changes_nothing(person: Person, project: Project, text: str, why: str) -> None:
    task = asks(project)
    before = project.store.load(task)
    assert why in person.types("answer", task, text, "--json").error["what"]
    assert project.store.load(task) == before


def refused(person: Person, task: str) -> str:
    error = person.types("answer", task, "too late", "--json").error
    assert error["safe"] == asking.ANSWER_NOT_RECORDED and error["next"]
    return error["what"]


def test_a_task_that_is_gone_over_or_asks_nothing_takes_no_answer(person: Person, project: Project) -> None:
    assert person.types("answer", "no-such-task", "yes", "--json").error["what"] == "no such task: no-such-task"
    gone, over = asks(project), asks(project)
    discard_task(project, gone)
    end_task(project, over, TaskStatus.FAILED, "gave up")
    silent = add_task(project, TaskOrder("silent", "fix_bug", (CHECK,))).task.id
    assert f"task {gone} was discarded" in refused(person, gone)
    assert refused(person, over) == f"task {over} is finished: failed"
    assert refused(person, silent) == f"task {silent} is ready and has no question"
    assert person.types("answer", "--json").json == []


@pytest.mark.journey
def test_of_many_answers_at_once_exactly_one_is_taken(person: Person, project: Project) -> None:
    task = asks(project)
    people = [person.starts("answer", task, f"words of {number}", "--json") for number in range(4)]
    ended = [(one.communicate(timeout=600), one.returncode) for one in people]
    assert sorted(code for _, code in ended) == [0, 1, 1, 1]
    (winner,) = [json.loads(out)["answer"] for (out, _), code in ended if code == 0]
    assert project.store.load(task).dialogue.words == (winner,)
    for (_, err), code in ended:
        assert code == 0 or f"“{winner}”" in json.loads(err)["error"]["what"]
