"""Decisions in force: the model may change its own mind, a person's word stands, and a state stays bounded."""

from hypothesis import given
from hypothesis import strategies as st

from afresh.core import event as happened
from afresh.core.answer_options import UserStatement, list_user_statements
from afresh.core.codec import value_from_json
from afresh.core.decision import MAX_DECISIONS, Decision, add_decision, has_same_subject
from afresh.core.event import Event, QuestionAnswered, QuestionAsked
from afresh.core.state import State
from afresh.core.task import Task, TaskStatus
from support.sample_journals import make_entries

BEGINNING = happened.TaskCreated(Task(id="one", goal="goal"))
SUBJECTS = st.sampled_from(["", "parser", "Parser ", "names"])
MADE = st.builds(
    Decision, text=st.text("ab", max_size=2), by=st.sampled_from(["model", "harness", "person"]), step=st.integers(0, 9),
    subject=SUBJECTS,
)  # fmt: skip


def after(*told: Event) -> State:
    return make_entries(None, [BEGINNING, *told])[1]


def model(subject: str, text: str) -> Event:
    return happened.DecisionMade(Decision(text, "model", "because", 1, subject))


def texts(state: State) -> list[str]:
    return [made.text for made in state.memory.decisions]


def test_a_newer_decision_of_the_model_on_a_subject_takes_the_place_of_its_older_one() -> None:
    assert texts(after(model("parser", "a table"), model("names", "short"), model(" PARSER", "by hand"))) == ["short", "by hand"]
    assert texts(after(model("", "one"), model("", "two"))) == ["one", "two"], "without a subject nothing is superseded"


def test_the_model_can_go_back_to_what_it_had_decided_before() -> None:
    assert texts(after(model("parser", "a table"), model("parser", "by hand"), model("parser", "a table"))) == ["a table"]


def test_what_a_person_or_the_harness_decided_is_not_superseded_by_the_model() -> None:
    theirs = [happened.DecisionMade(Decision("keep the names", by, "", 1, "names")) for by in ("person", "harness")]
    assert texts(after(*theirs, model("names", "rename all"))) == ["keep the names", "keep the names", "rename all"]


def test_decisions_are_bounded_and_a_persons_are_never_dropped() -> None:
    told: list[Event] = []
    for number in range(MAX_DECISIONS + 30):
        told += [
            QuestionAsked(f"question {number}?"),
            QuestionAnswered(f"answer {number}"),
            model(f"subject {number}", f"decision {number}"),
        ]
    state = after(*told)
    theirs = [made for made in state.memory.decisions if made.by == "person"]
    ours = [made for made in state.memory.decisions if made.by != "person"]
    assert len(theirs) == MAX_DECISIONS + 30 and [made.text for made in ours] == [
        f"decision {n}" for n in range(30, MAX_DECISIONS + 30)
    ]


@given(st.lists(MADE, max_size=60))
def test_the_newest_stands_and_each_subject_has_one_decision_of_the_model(made: list[Decision]) -> None:
    held: tuple[Decision, ...] = ()
    for one in made:
        held = add_decision(held, one)
        assert any((old.text, old.by, old.subject) == (one.text, one.by, one.subject) for old in held)
    ours = [one.subject for one in held if one.by == "model" and one.subject]
    assert not [one for one in ours if sum(has_same_subject(one, other) for other in ours) > 1]
    known = {(one.text, one.subject) for one in made if one.by == "person"}
    assert {(one.text, one.subject) for one in held if one.by == "person"} == known


def test_an_answer_is_the_users_words_and_a_persons_decision_on_the_question() -> None:
    state = after(
        QuestionAsked("which?", ("a: fast", "b")),
        happened.TaskEnded(TaskStatus.BLOCKED, "asked"),
        QuestionAnswered("a: fast", "Anna", 1),
    )
    assert state.dialogue.words == ("a: fast",) and (
        state.dialogue.question,
        state.dialogue.options,
        state.dialogue.asked_by,
    ) == ("", (), "")
    assert state.memory.decisions == (Decision("a: fast", "person", "", 0, "which?", 1.0, ("a: fast", "b"), 1),)


def test_an_open_question_is_closed_when_the_task_is_over() -> None:
    asked = QuestionAsked("which?", ("a", "b"), "harness")
    assert after(asked, happened.TaskEnded(TaskStatus.BLOCKED, "asked")).dialogue.asked_by == "harness"
    state = after(asked, happened.TaskEnded(TaskStatus.BLOCKED, "asked"), happened.TaskEnded(TaskStatus.DISCARDED, "by the user"))
    assert (state.dialogue.question, state.dialogue.options, state.dialogue.asked_by) == ("", (), "")


def test_each_word_stands_beside_the_question_that_it_answers() -> None:
    state = after(
        QuestionAnswered("unasked"),
        QuestionAsked("first?"),
        QuestionAnswered("yes"),
        QuestionAsked("second?", ("yes: go", "no")),
        QuestionAnswered("yes"),
        QuestionAnswered("more"),
    )
    assert list_user_statements(state) == (
        UserStatement("unasked"),
        UserStatement("yes", "first?"),
        UserStatement("yes", "second?", ("yes: go", "no")),
        UserStatement("more"),
    )


def test_the_question_tells_what_options_mean_unless_the_answer_does() -> None:
    options = ("a: fast", "b: small")
    assert UserStatement("the first", "which?", options).asked == "which? Options: 1 a: fast; 2 b: small"
    assert UserStatement("a: fast", "which?", options).asked == "which? Options: 1 a; 2 b"
    assert UserStatement("yes", "sure?").asked == "sure?"


def test_journals_from_before_options_had_meanings_still_load() -> None:
    assert value_from_json(QuestionAsked, '{"options":["a","b"],"question":"which?"}') == QuestionAsked(
        "which?", ("a", "b"), "model"
    )
    assert value_from_json(QuestionAnswered, '{"text":"the first"}') == QuestionAnswered("the first", "person", 0)
    assert value_from_json(Decision, '{"by":"model","step":2,"text":"a table","why":"shorter"}') == Decision(
        "a table", "model", "shorter", 2
    )
