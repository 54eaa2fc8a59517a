"""What is chosen from memory: within its room, once, the likeliest, and the same twice."""

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st
from traces import SPOKEN, TEXTS, passages, traced

from afresh.config.templates.load_template import load_template
from afresh.core.step_history import PassageVoice
from afresh.core.tokens import count_pieces
from afresh.memory.history.score import HistoryWeights, weights_from_policy
from afresh.memory.history.select import ChosenRow, SelectionBudget, select_history
from afresh.memory.history.trace import Trace, build_trace

SHIPPED = weights_from_policy(load_template("implement_feature").weights)
NOW = 31
rooms = st.builds(SelectionBudget, st.integers(0, 900), st.integers(0, 12), st.integers(0, 4), st.integers(0, 200))
covers = st.sets(
    st.sampled_from(["first_name", "src/parcel/pricing.py", "value_7", "plain words and", "billable.grams = grams // 1000 + 1"])
)


class Choice(NamedTuple):
    rows: list[ChosenRow]
    names: list[str]


def chosen(trace: Trace, room: SelectionBudget, covered: set[str] | None = None, by: HistoryWeights = SHIPPED) -> Choice:
    return Choice(*select_history(trace, NOW, room, covered if covered is not None else set(), by, count_pieces))


def plain(choice: Choice) -> tuple[list[tuple[int, str]], list[str]]:
    return [(entry.number, row.line.key) for entry, row in choice.rows], list(choice.names)


def hits(choice: Choice) -> int:
    """Expected, twice over, where every name and every line has even odds."""
    shown = {*choice.names, *(name for _, row in choice.rows for name in row.line.names)}
    return len(shown) + sum(row.line.telling for _, row in choice.rows)


@given(SPOKEN, rooms, covers)
def test_what_is_chosen_fits_its_room_and_the_names_fit_theirs(spoken, room, covered):
    choice = chosen(traced(spoken), room, covered)
    names = sum(count_pieces(name + " ") for name in choice.names)
    lines = sum(count_pieces(row.line.text + "\n") for _, row in choice.rows)
    headings = sum(
        room.heading if voice is PassageVoice.OUTPUT else room.mark
        for _, voice in {(entry.number, entry.voice) for entry, _ in choice.rows}
    )
    assert names <= room.names and names + lines + headings <= room.tokens


@given(SPOKEN, rooms, covers)
def test_the_same_memory_gives_the_same_choice_whether_it_was_asked_before_or_not(spoken, room, covered):
    trace = traced(spoken)
    first = plain(chosen(trace, room, set(covered)))
    assert first == plain(chosen(trace, room, set(covered))) == plain(chosen(traced(spoken), room, set(covered)))


@given(SPOKEN, rooms)
def test_weights_of_another_template_in_between_leave_no_mark(spoken, room):
    trace, other = traced(spoken), weights_from_policy((("name_age", 2.0), ("line_length", 1.0), ("density", 0.2)))
    first = plain(chosen(trace, room))
    chosen(trace, room, by=other)
    assert first == plain(chosen(trace, room))


@given(SPOKEN, rooms, covers)
def test_what_stands_in_the_window_already_is_not_chosen_and_nothing_is_chosen_twice(spoken, room, covered):
    choice = chosen(traced(spoken), room, set(covered))
    lines = [row.line.key for _, row in choice.rows]
    assert not covered & {*lines, *choice.names}
    assert len(set(lines)) == len(lines) and len(set(choice.names)) == len(choice.names)


@given(SPOKEN)
def test_a_name_of_the_index_stands_in_no_line_that_was_chosen(spoken):
    room, trace = SelectionBudget(120, names=60), traced(spoken)
    covered: set[str] = set()
    choice = chosen(trace, room, covered)
    assert not {*choice.names} & {name for _, row in choice.rows for name in row.line.covers}
    assert {*choice.names} <= covered and {row.line.key for _, row in choice.rows} <= covered


@given(SPOKEN)
def test_only_the_newest_copy_of_a_line_is_chosen(spoken):
    trace = traced(spoken)
    choice = chosen(trace, SelectionBudget(10_000, names=1_000))
    assert all(trace.lines[row.line.key].entry is entry for entry, row in choice.rows)


@given(SPOKEN)
def test_with_room_for_all_every_line_that_tells_something_is_there(spoken):
    trace = traced(spoken)
    choice = chosen(trace, SelectionBudget(50_000))
    shown = {row.line.key for _, row in choice.rows}
    assert {row.line.key for entry in trace.entries for row in entry.rows if row.line.telling} <= shown


@given(SPOKEN, st.integers(20, 400))
def test_twice_the_room_never_holds_fewer_expected_hits(spoken, tokens):
    trace = traced(spoken)
    little, much = (
        hits(chosen(trace, SelectionBudget(size, 6, names=size // 7), by=weights_from_policy(())))
        for size in (tokens, 2 * tokens)
    )
    assert much >= little


def test_nothing_is_chosen_from_nothing_and_for_no_room():
    assert plain(chosen(traced([]), SelectionBudget(900, names=200))) == ([], [])
    assert plain(chosen(traced([(1, PassageVoice.OUTPUT, "first_name")]), SelectionBudget(0))) == ([], [])


def test_a_name_is_indexed_alone_where_its_line_is_too_long():
    spoken = [(1, PassageVoice.ACTION, "first_name " + "and so on " * 90)]
    choice = chosen(traced(spoken), SelectionBudget(40, names=20))
    assert plain(choice) == ([], ["first_name"])


@given(SPOKEN, st.lists(st.tuples(st.just(31), st.sampled_from(PassageVoice), TEXTS), min_size=1, max_size=20), rooms)
def test_a_memory_that_has_grown_into_another_still_gives_its_own_choice(spoken, later, room):
    (held, archive), (grown, more) = passages(spoken), passages([*spoken, *later])
    (other, rest) = passages([*spoken, *later[::-1][:1]])
    before = build_trace(held, archive.__getitem__)
    first = plain(chosen(before, room))
    for longer, texts in ((grown, more), (other, rest)):
        assert plain(chosen(build_trace(longer, texts.__getitem__, before), room)) == plain(
            chosen(build_trace(longer, texts.__getitem__), room)
        )
    assert plain(chosen(before, room)) == first


@given(SPOKEN)
def test_the_tally_of_a_voice_is_what_stands_last_in_it(spoken):
    whole = traced(spoken)
    for voice, tally in whole.tallies.items():
        own = [line for line, sighting in whole.lines.items() if sighting.entry.voice is voice]
        assert (tally.lines, tally.size) == (len(own), sum(map(len, own)))
        steps = [entry.step for entry in whole.entries if entry.voice is voice]
        assert (tally.first, tally.last) == (steps[0], steps[-1])
    assert {entry.voice for entry in whole.entries} == set(whole.tallies)
