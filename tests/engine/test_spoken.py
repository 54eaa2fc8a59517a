"""Every window tells what the user said, word for word, beside what was asked; and tells it once."""

from hypothesis import given, settings
from hypothesis import strategies as st

from afresh.adapters.templates import template
from afresh.adapters.tools import TOOLS
from afresh.domain.event import Answered, Asked, Created, Decided, Event
from afresh.domain.fact import Decision
from afresh.domain.memory import Memory
from afresh.domain.state import State
from afresh.domain.task import Task
from afresh.engine.build import build, offered
from afresh.engine.spoken import NEWEST, spoken
from afresh.engine.tokens import Counter
from afresh.testing.journals import continued


def after(*told: Event) -> State:
    return continued(None, [Created(Task(id="one", goal="goal")), *told])[1]


def window(state: State) -> str:
    chosen = template("fix_bug")
    return build(Memory(state, ()), chosen, offered(chosen.at(state.phase), TOOLS), 8_000, Counter()).request.message


def test_a_mind_that_was_built_afresh_knows_what_yes_meant() -> None:
    state = after(
        Asked("Keep the old names?"),
        Answered("yes"),
        Asked("How?", ("alias: both work", "rename: one breaks")),
        Answered("as in 1"),
    )
    assert spoken(state) == [
        "- Asked: Keep the old names? The user said: yes",
        f"{NEWEST}\nAsked: How? Options: 1 alias: both work; 2 rename: one breaks\nAnswer: as in 1",
    ]
    assert all(line in window(state) for line in spoken(state))


def test_what_was_said_unasked_stands_alone() -> None:
    assert spoken(after(Answered("no tabs"), Answered("no spaces"))) == ["- The user said: no tabs", f"{NEWEST}\nno spaces"]
    assert spoken(after()) == []


def test_a_long_question_of_before_is_cut_and_its_answer_never() -> None:
    question, answer = "why " * 200, "because " * 150
    first, _ = spoken(after(Asked(question), Answered(answer), Answered("more")))
    assert first.endswith(f"The user said: {answer}") and len(first) < len(answer) + 300


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), max_size=6))
def test_each_answer_stands_once_in_the_window_with_its_question(turns: list[tuple[bool, int]]) -> None:
    told: list[Event] = []
    for place, (asked, options) in enumerate(turns):
        told += [Asked(f"question-{place}-?", tuple(f"way{n}: so" for n in range(options)))] if asked else []
        told += [Answered(f"answer-{place}-!"), Decided(Decision(f"choice-{place}-!", "model", "so", 1, f"subject {place}"))]
    shown = window(after(*told))
    for place, (asked, _) in enumerate(turns):
        assert shown.count(f"answer-{place}-!") == 1 and shown.count(f"choice-{place}-!") == 1
        assert shown.count(f"question-{place}-?") == asked
        assert not asked or shown.index(f"question-{place}-?") < shown.index(f"answer-{place}-!")


def test_a_decision_that_was_superseded_is_in_no_later_window() -> None:
    made = [Decided(Decision(text, "model", "so", 1, "parser")) for text in ("use a table", "write it by hand")]
    shown = window(after(*made))
    assert "parser: write it by hand" in shown and "use a table" not in shown
