"""No tasks ever wait for each other."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from afresh.app.queue.queue_place import PlaceEdit, find_cycle
from afresh.core.codec import get_decoder
from afresh.core.event import EVENT_CLASS_BY_TAG, JournalHead, TaskCreated
from afresh.core.hash_chain import link_events
from afresh.core.reducer import fold_entries
from afresh.core.states.queue_state import QueuePlace
from afresh.core.task import Task

NAMES = st.sampled_from("abcdef")
GRAPHS = st.dictionaries(NAMES, st.lists(NAMES, max_size=3, unique=True))


def can_all_start(needs: dict[str, list[str]]) -> bool:
    """By doing what is ready, again and again."""
    left = {task: {need for need in waits if need in needs} for task, waits in needs.items()}
    while ready := [task for task, waits in left.items() if not waits & left.keys()]:
        for task in ready:
            del left[task]
    return not left


@given(GRAPHS)
def test_a_cycle_is_found_exactly_if_some_tasks_could_never_start(needs: dict[str, list[str]]) -> None:
    cycle = find_cycle(needs, lambda task: needs.get(task, ()))
    assert bool(cycle) == (not can_all_start(needs))
    if cycle:
        assert cycle[0] == cycle[-1] and len(set(cycle)) == len(cycle) - 1
        assert all(need in needs[task] for task, need in pairwise(cycle))


@given(st.lists(NAMES, unique=True), st.lists(NAMES), st.none() | st.integers())
def test_an_edit_changes_what_it_names_and_keeps_the_order_of_the_rest(held: list[str], after: list[str], priority) -> None:
    place = PlaceEdit(priority, tuple(after)).apply(QueuePlace(4, tuple(held)))
    assert place.priority == (4 if priority is None else priority)
    assert list(place.needs[: len(held)]) == held and set(place.needs) == {*held, *after}
    assert len(set(place.needs)) == len(place.needs)
    gone = PlaceEdit(not_after=tuple(held)).apply(place)
    assert set(gone.needs) == {*after} - {*held} and gone.priority == place.priority


def test_a_change_that_was_recorded_before_priorities_could_change_keeps_the_priority() -> None:
    old = get_decoder(EVENT_CLASS_BY_TAG["NeedsChanged"])({"needs": ["other"], "by": "somebody"})
    entries = link_events("one", JournalHead(), 1.0, [TaskCreated(Task(id="one", goal="goal", priority=4)), old])
    assert fold_entries(None, entries).place == QueuePlace(4, ("other",))
    assert entries[1].body == '{"at":1.0,"data":{"by":"somebody","needs":["other"]},"kind":"NeedsChanged","seq":2,"task":"one"}'
