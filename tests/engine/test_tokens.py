"""The count of a request, by any factor: what is built with it fits it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from afresh.adapters.templates import template
from afresh.adapters.tools import TOOLS
from afresh.domain.codec import dumps, loads
from afresh.domain.fact import Look
from afresh.domain.memory import Memory
from afresh.domain.state import State
from afresh.domain.task import Check, Task
from afresh.domain.window import Request, Tier
from afresh.engine.build import build, offered
from afresh.engine.tokens import TOOL_FRAMING, Counter, pieces, raw, tools_text
from afresh.errors import OverCeiling

STYLE = template("fix_bug")
SCHEMAS = offered(STYLE, TOOLS)
counters = st.builds(Counter, st.integers(50, 412).map(lambda hundredths: hundredths / 100), st.integers(0, 700))
lines = st.text(st.sampled_from("ab {}(),.=ü漢\t"), max_size=60)
pages = st.tuples(st.lists(lines, min_size=1, max_size=4), st.integers(1, 300)).map(lambda drawn: "\n".join(drawn[0] * drawn[1]))
looks = st.one_of(pages.map(lambda text: Look("outline", "", text)), pages.map(lambda text: Look("file", "a.py:1-9 f", text)))


@settings(max_examples=60)
@given(st.lists(looks, max_size=3), st.text("ab ", max_size=900), st.integers(1_500, 17_000), counters)
def test_a_window_fits_by_whatever_counter_or_what_must_be_in_does_not(held, goal, budget, counter) -> None:
    memory = Memory(State(task=Task(id="t", goal=goal, checks=(Check("pytest"),)), limit=60), tuple(held))
    try:
        window = build(memory, STYLE, SCHEMAS, budget, counter)
    except OverCeiling as fault:
        needed = (
            counter(STYLE.system)
            + counter(tools_text(SCHEMAS))
            + counter(goal)
            + counter.framing
            + TOOL_FRAMING * len(SCHEMAS)
            + budget // 4
        )
        assert needed > budget - 180 * counter.factor and "needs" in fault.evidence
    else:
        assert window.tokens == counter.whole(window.request)
        assert window.tokens + window.request.reserve <= budget
        assert window.demand <= budget + 60 and window.unmet >= 0


def test_the_whole_request_is_counted_with_what_is_put_around_it() -> None:
    request = Request("be brief", "what now?", SCHEMAS, 100)
    assert raw(request) == pieces("be brief") + pieces("what now?") + pieces(tools_text(SCHEMAS))
    around = 300 + TOOL_FRAMING * len(SCHEMAS)
    assert Counter(1.0, 300).whole(request) == raw(request) + 1 + around
    assert Counter(2.0, 300).whole(request) == 2 * raw(request) + 1 + around


def test_a_counter_of_before_there_was_anything_to_learn_is_still_read() -> None:
    assert loads(Counter, "{}") == Counter(1.15, 12) and dumps(Counter()) == "{}"
    assert loads(Counter, dumps(Counter(1.31, 360))) == Counter(1.31, 360)


def test_what_was_asked_for_and_left_out_is_told_apart_from_what_merely_would_have_been_nice() -> None:
    def made(*held: Look):
        memory = Memory(State(task=Task(id="t", goal="g", checks=(Check("pytest"),)), limit=60), held)
        return build(memory, STYLE, SCHEMAS, 4_000, Counter())

    tree, file = Look("outline", "", "src/a.py f, g\n" * 900), Look("file", "a.py:1-900 f", "x = 1\n" * 900)
    assert made(tree).omissions and made(tree).unmet == 0
    assert made(file).unmet > 1_000
    window = made(tree, file)
    assert window.demand < 2_500 < window.tokens + 1_000, "a window is full, and under no pressure"
    assert window.demand - 1_000 <= sum(part.tokens for part in window.sections if part.tier is Tier.ALWAYS) + 12
