"""Every window tells what the user said, word for word, beside what was asked; and tells it once."""

from hypothesis import given
from hypothesis import strategies as st

from afresh.actions.tools.registry import TOOLS
from afresh.config.templates.load_template import load_template
from afresh.context.build_prompt import build_prompt, select_offered_tools
from afresh.context.sources.task_and_messages import NEWEST_MESSAGE_HEADING, render_user_messages
from afresh.core.decision import Decision
from afresh.core.event import DecisionMade, Event, QuestionAnswered, QuestionAsked, TaskCreated
from afresh.core.state import State
from afresh.core.task import Task
from afresh.core.tokens import EstimatingCounter
from afresh.memory.gathered_context import GatheredContext
from support.sample_journals import make_entries


def after(*told: Event) -> State:
    return make_entries(None, [TaskCreated(Task(id="one", goal="goal")), *told])[1]


def window(state: State) -> str:
    chosen = load_template("fix_bug")
    return build_prompt(
        GatheredContext(state, ()), chosen, select_offered_tools(chosen.at(state.phase), TOOLS), 8_000, EstimatingCounter()
    ).request.message


def test_a_mind_that_was_built_afresh_knows_what_yes_meant() -> None:
    state = after(
        QuestionAsked("Keep the old names?"),
        QuestionAnswered("yes"),
        QuestionAsked("How?", ("alias: both work", "rename: one breaks")),
        QuestionAnswered("as in 1"),
    )
    assert render_user_messages(state) == [
        "- Asked: Keep the old names? The user said: yes",
        f"{NEWEST_MESSAGE_HEADING}\nAsked: How? Options: 1 alias: both work; 2 rename: one breaks\nAnswer: as in 1",
    ]
    assert all(line in window(state) for line in render_user_messages(state))


def test_what_was_said_unasked_stands_alone() -> None:
    assert render_user_messages(after(QuestionAnswered("no tabs"), QuestionAnswered("no spaces"))) == [
        "- The user said: no tabs",
        f"{NEWEST_MESSAGE_HEADING}\nno spaces",
    ]
    assert render_user_messages(after()) == []


def test_a_long_question_of_before_is_cut_and_its_answer_never() -> None:
    question, answer = "why " * 200, "because " * 150
    first, _ = render_user_messages(after(QuestionAsked(question), QuestionAnswered(answer), QuestionAnswered("more")))
    assert first.endswith(f"The user said: {answer}") and len(first) < len(answer) + 300


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), max_size=6))
def test_each_answer_stands_once_in_the_window_with_its_question(turns: list[tuple[bool, int]]) -> None:
    told: list[Event] = []
    for place, (asked, options) in enumerate(turns):
        told += [QuestionAsked(f"question-{place}-?", tuple(f"way{n}: so" for n in range(options)))] if asked else []
        told += [
            QuestionAnswered(f"answer-{place}-!"),
            DecisionMade(Decision(f"choice-{place}-!", "model", "so", 1, f"subject {place}")),
        ]
    shown = window(after(*told))
    for place, (asked, _) in enumerate(turns):
        assert shown.count(f"answer-{place}-!") == 1 and shown.count(f"choice-{place}-!") == 1
        assert shown.count(f"question-{place}-?") == asked
        assert not asked or shown.index(f"question-{place}-?") < shown.index(f"answer-{place}-!")


def test_a_decision_that_was_superseded_is_in_no_later_window() -> None:
    made = [DecisionMade(Decision(text, "model", "so", 1, "parser")) for text in ("use a table", "write it by hand")]
    shown = window(after(*made))
    assert "parser: write it by hand" in shown and "use a table" not in shown
