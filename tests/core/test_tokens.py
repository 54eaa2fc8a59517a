"""The count of a request, by any factor: what is built with it fits it."""

from hypothesis import given
from hypothesis import strategies as st
from item_samples import excerpt, repo_map

from afresh.actions.tools.registry import TOOLS
from afresh.config.templates.load_template import load_template
from afresh.context.build_prompt import build_prompt, select_offered_tools
from afresh.core.codec import to_canonical_json, value_from_json
from afresh.core.context_item import Item
from afresh.core.prompt import Request, Tier
from afresh.core.state import State
from afresh.core.states.work_state import WorkState
from afresh.core.task import Check, Task
from afresh.core.tokens import TOOL_FRAMING_TOKENS, EstimatingCounter, count_pieces, count_request_pieces, render_tool_schemas
from afresh.errors import OverCeiling
from afresh.memory.gathered_context import GatheredContext

STYLE = load_template("fix_bug")
SCHEMAS = select_offered_tools(STYLE, TOOLS)
counters = st.builds(EstimatingCounter, st.integers(50, 412).map(lambda hundredths: hundredths / 100), st.integers(0, 700))
lines = st.text(st.sampled_from("ab {}(),.=ü漢\t"), max_size=60)
pages = st.tuples(st.lists(lines, min_size=1, max_size=4), st.integers(1, 300)).map(lambda drawn: "\n".join(drawn[0] * drawn[1]))
looks = st.one_of(pages.map(lambda text: repo_map(text)), pages.map(lambda text: excerpt("a.py", 1, text, "f", last=9)))


@given(st.lists(looks, max_size=3), st.text("ab ", max_size=900), st.integers(1_500, 17_000), counters)
def test_a_window_fits_by_whatever_counter_or_what_must_be_in_does_not(held, goal, budget, counter) -> None:
    memory = GatheredContext(
        State(task=Task(id="t", goal=goal, checks=(Check("pytest"),)), work=WorkState(limit=60)), tuple(held)
    )
    try:
        window = build_prompt(memory, STYLE, SCHEMAS, budget, counter)
    except OverCeiling as fault:
        needed = (
            counter(STYLE.system)
            + counter(render_tool_schemas(SCHEMAS))
            + counter(goal)
            + counter.framing
            + TOOL_FRAMING_TOKENS * len(SCHEMAS)
            + budget // 4
        )
        assert needed > budget - 180 * counter.factor and "needs" in fault.evidence
    else:
        assert window.tokens == counter.whole(window.request)
        assert window.tokens + window.request.reserve <= budget
        assert window.demand <= budget + 60 and window.unmet >= 0


def test_the_whole_request_is_counted_with_what_is_put_around_it() -> None:
    request = Request("be brief", "what now?", SCHEMAS, 100)
    assert count_request_pieces(request) == count_pieces("be brief") + count_pieces("what now?") + count_pieces(
        render_tool_schemas(SCHEMAS)
    )
    around = 300 + TOOL_FRAMING_TOKENS * len(SCHEMAS)
    assert EstimatingCounter(1.0, 300).whole(request) == count_request_pieces(request) + 1 + around
    assert EstimatingCounter(2.0, 300).whole(request) == 2 * count_request_pieces(request) + 1 + around


def test_a_counter_of_before_there_was_anything_to_learn_is_still_read() -> None:
    assert (
        value_from_json(EstimatingCounter, "{}") == EstimatingCounter(1.15, 12) and to_canonical_json(EstimatingCounter()) == "{}"
    )
    assert value_from_json(EstimatingCounter, to_canonical_json(EstimatingCounter(1.31, 360))) == EstimatingCounter(1.31, 360)


def test_what_was_asked_for_and_left_out_is_told_apart_from_what_merely_would_have_been_nice() -> None:
    def made(*held: Item):
        memory = GatheredContext(State(task=Task(id="t", goal="g", checks=(Check("pytest"),)), work=WorkState(limit=60)), held)
        return build_prompt(memory, STYLE, SCHEMAS, 4_000, EstimatingCounter())

    tree, file = repo_map("src/a.py f, g\n" * 900), excerpt("a.py", 1, "x = 1\n" * 900, "f")
    assert made(tree).omissions and made(tree).unmet == 0
    assert made(file).unmet > 1_000
    window = made(tree, file)
    assert window.demand < 2_500 < window.tokens + 1_000, "a window is full, and under no pressure"
    assert window.demand - 1_000 <= sum(part.tokens for part in window.sections if part.tier is Tier.ALWAYS) + 12
