"""Code that nobody asked for is shown while it can save a step."""

from dataclasses import replace

import pytest

from afresh.context.sources.code_analysis import MAX_GUESS_CHARACTERS, NOBODY_ASKED_REASON, draft_analysis_sections
from afresh.core.context_item import Excerpt, Item, Note, SourceLine
from afresh.core.line_region import Region
from afresh.core.state import State
from afresh.core.task import Task
from afresh.memory.gathered_context import GatheredContext
from support.states import make_state

FIRST = make_state(Task(id="t", goal="mend parse_header"))
READ = replace(FIRST, memory=replace(FIRST.memory, regions=(Region("a.py", 1, 9, 1),)))
CHANGED = replace(READ, workspace=replace(READ.workspace, changed=("a.py",)))


def code(basis: str, lines: int = 12, kind: str = "target") -> Excerpt:
    source = tuple(SourceLine(number, f"    value_{number} = parse_header(text, {number})") for number in range(1, lines + 1))
    return Excerpt(kind, "b.py", 1, lines, ("parse_header",), source, basis=basis)


def shown(item: Item, state: State):
    [draft] = [draft for draft in draft_analysis_sections(GatheredContext(state, (item,))) if draft.name == item.kind]
    return draft


@pytest.mark.parametrize(
    ("item", "stages"),
    [
        (code("words"), 1),
        (code("option"), 1),
        (code("pattern", lines=6, kind="similar"), 1),
        (code("named", lines=200), 2),
        (Note("callers", "callers of f", "a.py:3 in g"), 2),
        (code("plan", lines=200), 3),
        (code("traceback"), 3),
        (code("thought"), 3),
    ],
    ids=str,
)
def test_a_guess_is_gone_once_something_was_read_and_what_was_named_once_something_was_changed(item: Item, stages: int):
    drafts = [shown(item, state) for state in (FIRST, READ, CHANGED)]
    assert [bool(draft.pieces) for draft in drafts] == [stage < stages for stage in range(3)]
    assert all(draft.left and draft.why_left == NOBODY_ASKED_REASON for draft in drafts[stages:])


def test_a_long_guess_is_not_shown():
    assert not shown(code("words", lines=MAX_GUESS_CHARACTERS["target"] // 20), FIRST).pieces


def test_callers_that_a_search_has_just_printed_are_not_listed_again():
    found = Note("callers", "callers of f", "a.py:3 in g\nb.py:7 in h")
    search = Note("output", "1234", "a.py:3: f(1)")
    for items, lines in (
        ((found, search), ["callers of f", "b.py:7 in h"]),
        ((found,), ["callers of f", *found.text.split("\n")]),
    ):
        [draft] = [one for one in draft_analysis_sections(GatheredContext(FIRST, items)) if one.name == "callers"]
        assert draft.pieces[0].text.split("\n") == lines
