"""Code that nobody asked for is shown if it is worth its tokens."""

from dataclasses import replace

import pytest

from afresh.context.sources.code_analysis import draft_analysis_sections
from afresh.context.worth import NOT_WORTH_REASON, drop_unworthy_pieces, estimate_chance
from afresh.core.context_item import Excerpt, Item, Note, SourceLine
from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY
from afresh.core.line_region import Region
from afresh.core.state import State
from afresh.core.task import Task
from afresh.core.tokens import EstimatingCounter
from afresh.core.worth_policy import WorthPolicy
from afresh.memory.gathered_context import GatheredContext
from support.states import make_state

COUNTER = EstimatingCounter()
WORTH = DEFAULT_CONTEXT_POLICY.allocation.worth
FIRST = make_state(Task(id="t", goal="mend parse_header"))
READ = replace(FIRST, memory=replace(FIRST.memory, regions=(Region("a.py", 1, 9, 1),)))
CHANGED = replace(READ, workspace=replace(READ.workspace, changed=("a.py",)))


def code(basis: str, lines: int = 60, kind: str = "target") -> Excerpt:
    source = tuple(SourceLine(number, f"    value_{number} = parse_header(text, {number})") for number in range(1, lines + 1))
    return Excerpt(kind, "b.py", 1, lines, ("parse_header",), source, basis=basis)


def shown(item: Item, state: State = FIRST, policy=DEFAULT_CONTEXT_POLICY):
    memory = GatheredContext(state, (item,), policy=policy)
    [draft] = [draft for draft in draft_analysis_sections(memory) if draft.name == item.kind]
    return drop_unworthy_pieces(draft, COUNTER, policy)


def test_the_highest_price_grows_with_the_chance_and_a_step():
    assert [round(WORTH.max_price(chance)) for chance in (0.0, 0.1, 0.5, 0.8)] == [0, 67, 600, 2400]
    assert WORTH.max_price(1.0) == WorthPolicy(step_tokens=0).max_price(0.1) == float("inf")


def test_what_the_task_names_is_shown_whole_and_what_a_file_has_by_its_lines_that_matter():
    [named], [found] = shown(code("named")).pieces, shown(code("file")).pieces
    assert len(named.text.splitlines()) == 61
    assert COUNTER(found.text) <= WORTH.max_price(0.5) and " … " in found.text


def test_a_guess_is_shown_whole_or_not_at_all():
    """With holes it would have to be read again if it was right."""
    assert not shown(code("option")).pieces and "value_9" in shown(code("option", lines=12)).pieces[0].text
    holes = replace(DEFAULT_CONTEXT_POLICY.allocation, worth=replace(WORTH, min_partial_chance=0.0))
    assert " … " in shown(code("option"), policy=replace(DEFAULT_CONTEXT_POLICY, allocation=holes)).pieces[0].text


def test_what_is_not_worth_its_tokens_is_left_out_and_recorded():
    draft = shown(code("pattern", kind="similar"), CHANGED)
    assert not draft.pieces and [piece.what for piece in draft.left] and draft.why_left == NOT_WORTH_REASON


@pytest.mark.parametrize("basis", ["named", "file", "words", "example", "option"])
def test_guesses_fade_once_something_was_read_and_more_once_something_was_changed(basis: str):
    first, read, changed = (estimate_chance(code(basis), state, WORTH) for state in (FIRST, READ, CHANGED))
    assert first > read > changed


def test_the_open_plan_item_and_a_traceback_do_not_fade():
    assert estimate_chance(code("plan"), CHANGED, WORTH) == estimate_chance(code("plan"), FIRST, WORTH)
    assert estimate_chance(code("traceback"), CHANGED, WORTH) > 0.5


def test_callers_that_a_search_has_just_printed_are_not_listed_again():
    found = Note("callers", "callers of f", "a.py:3 in g\nb.py:7 in h")
    search = Note("output", "1234", "a.py:3: f(1)")
    for items, lines in (
        ((found, search), ["callers of f", "b.py:7 in h"]),
        ((found,), ["callers of f", *found.text.split("\n")]),
    ):
        [draft] = [one for one in draft_analysis_sections(GatheredContext(FIRST, items)) if one.name == "callers"]
        assert draft.pieces[0].text.split("\n") == lines
