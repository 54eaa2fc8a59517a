"""What memory keeps of earlier steps is the same however it came about: step by step, after forgetting, or all at once."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from afresh.core.archived_block import block_id_from_text
from afresh.core.step_history import (
    PASSAGE_CHARACTERS_PER_CEILING_TOKEN,
    Passage,
    PassageVoice,
    bound_passages,
    count_remembered_characters,
)
from afresh.memory.history.names import find_file_names, find_names
from afresh.memory.history.trace import EMPTY_TRACE, Trace, build_trace

LINES = [
    "def first_name(one):", "    return one.two_three", "cat src/parcel/pricing.py", "```python", "```", "~~~", "",
    "plain words only", "FAILED tests/test_pricing.py::test_two - assert 3 == 2", "self.assertEqual(billable_kilograms(2000), 2)",
    "x" * 1_200,
    "<object at 0x7f3a9c2b4d10>", "    billable_kilograms = grams // 1000 + 1",
]  # fmt: skip
texts = st.lists(st.sampled_from(LINES), min_size=1, max_size=6).map("\n".join)
spoken = st.lists(st.tuples(st.sampled_from(PassageVoice), texts, st.booleans()), max_size=14)
"""Voice, text, and whether a new step begins with it."""


class Archive(dict[str, str]):
    def passage(
        self, text: str, step: int = 1, voice: PassageVoice = PassageVoice.OUTPUT, about: tuple[str, ...] = ()
    ) -> Passage:
        self[block_id_from_text(text)] = text
        return Passage(step, voice, block_id_from_text(text), len(text), about=about)


def told(drawn: list[tuple[PassageVoice, str, bool]]) -> tuple[tuple[Passage, ...], Archive]:
    """No passage occurs twice in a step."""
    archive, step, made = Archive(), 1, dict[Passage, None]()
    for voice, text, new in drawn:
        step += new
        made[archive.passage(text, step, voice, find_file_names(text))] = None
    return tuple(made), archive


def sightings(found: Trace) -> tuple[object, ...]:
    """All that a window can tell a trace by."""
    kinds = [
        {what: (one.used, one.seen, one.spoken, one.entry.step, one.entry.voice, one.entry.number) for what, one in held.items()}
        for held in (found.names, found.lines)
    ]
    entries = [(entry.passage, entry.lines, entry.number) for entry in found.entries]
    rows = [[(row.line, row.sighting.used, row.sighting.seen) for row in entry.rows] for entry in found.entries]
    return *kinds, entries, rows, dict(found.touched), found.passages


@given(spoken, st.lists(st.tuples(st.integers(0, 14), st.sets(st.integers(0, 14))), max_size=5))
def test_growing_and_forgetting_in_any_order_is_the_same_as_reading_all_at_once(drawn, moves):
    passages, archive = told(drawn)
    grown = EMPTY_TRACE
    for length, gone in [*moves, (len(passages), set())]:
        held = tuple(passage for number, passage in enumerate(passages[:length]) if number not in gone)
        grown = build_trace(held, archive.__getitem__, grown)
        assert sightings(grown) == sightings(build_trace(held, archive.__getitem__))


@given(spoken, st.integers(0, 14))
def test_a_trace_is_a_value_that_growing_leaves_as_it_was(drawn, cut):
    passages, archive = told(drawn)
    before = build_trace(passages[:cut], archive.__getitem__)
    was = sightings(before)
    build_trace(passages, archive.__getitem__, before)
    assert sightings(before) == was


def test_what_was_read_before_is_not_read_again():
    passages, archive = told([(PassageVoice.OUTPUT, f"first_name_{n}", True) for n in range(9)])
    reads = list[str]()

    def read(block: str) -> str:
        reads.append(block)
        return archive[block]

    grown = build_trace(passages[:6], read)
    grown = build_trace(passages, read, grown)
    build_trace(passages[4:], read, grown)
    assert reads == [passage.block for passage in passages]


def test_a_newer_copy_of_a_line_and_of_a_name_replaces_the_older():
    archive, line = Archive(), "the value of first_name is 3"
    held = (archive.passage(line, 1), archive.passage(f"x\n{line}\n", 5))
    found = build_trace(held, archive.__getitem__)
    assert found.lines[line].entry.step == 5 and found.names["first_name"].entry.step == 5
    assert (found.lines[line].seen, found.names["first_name"].seen) == (2, 2)


def test_a_line_counts_once_in_a_passage_however_often_it_stands_there():
    archive = Archive()
    found = build_trace((archive.passage("the value of first_name is 3\n" * 7),), archive.__getitem__)
    assert found.lines["the value of first_name is 3"].seen == found.names["first_name"].seen == 1
    assert len(found.entries[0].rows) == 1


def test_who_said_it_is_remembered_by_voice():
    archive = Archive()
    said = [
        (PassageVoice.OUTPUT, "first_name!"),
        (PassageVoice.ACTION, "run first_name"),
        (PassageVoice.THOUGHT, "so first_name it is"),
    ]
    found = build_trace(
        tuple(archive.passage(text, step, voice) for step, (voice, text) in enumerate(said, 1)), archive.__getitem__
    )
    one = found.names["first_name"]
    assert (one.seen, one.used, one.spoken, one.entry.voice) == (1, 1, True, PassageVoice.THOUGHT)


def test_of_a_long_passage_beginning_and_end_are_looked_at():
    archive = Archive()
    middle = "".join(f"noise_{number}\n" for number in range(9_000))
    text = f"at_the_beginning\n{middle}at_the_end"
    passage = replace(archive.passage(text), size=count_remembered_characters(text, 4_000))
    found = build_trace((passage,), archive.__getitem__)
    assert {"at_the_beginning", "at_the_end"} <= set(found.names) and "noise_5000" not in found.names
    assert sum(map(len, found.entries[0].lines)) <= PASSAGE_CHARACTERS_PER_CEILING_TOKEN * 4_000
    whole = build_trace((replace(passage, size=count_remembered_characters(text, 40_000)),), archive.__getitem__)
    assert "noise_5000" in whole.names


def test_a_line_without_an_end_is_cut_rather_than_kept_whole():
    archive = Archive()
    found = build_trace((archive.passage("first_name " + "ab cd " * 3_000),), archive.__getitem__)
    assert max(map(len, found.lines)) <= 1_000 and "first_name" in found.names


def test_the_last_action_that_named_a_file_is_known_and_outputs_do_not_touch():
    archive = Archive()
    first, later = (archive.passage(f"cat a.py {n}", n, PassageVoice.ACTION, ("a.py",)) for n in (1, 4))
    printed = replace(archive.passage("a.py is long", 6), about=("a.py", "b.py"))
    assert build_trace((first, later, printed), archive.__getitem__).touched == {"a": 4}


def test_names_are_paths_and_identifiers_and_neither_words_nor_addresses():
    text = "Look at src/parcel/pricing.py:12, first_name and camelCase; not at <x object at 0x7f3a9c2b4d10>, e3b0c44298 or 12345."
    assert find_names(text) == ("src/parcel/pricing.py", "first_name", "camelCase")
    assert find_names("0x7fffdeadbeef deadbeef12 0x0000001") == ()
    assert find_names("one two three. (a.b) x_y") == (), "too short to be worth a place"


def test_names_of_files_are_told_without_their_folders_and_once():
    assert find_file_names("cat src/parcel/pricing.py pricing.py tests/test_x.py::test_one v1.2.3 not_a_file") == (
        "pricing.py",
        "test_x.py",
    )
    assert find_file_names("vim setup.cfg; less docs/index.html") == ("setup.cfg", "index.html")


sizes = st.lists(st.tuples(st.sampled_from(PassageVoice), st.integers(1, 40_000), st.booleans()), max_size=150)


def sized(drawn: list[tuple[PassageVoice, int, bool]]) -> tuple[Passage, ...]:
    step, made = 1, list[Passage]()
    for number, (voice, size, new) in enumerate(drawn):
        step += new
        made.append(Passage(step, voice, f"{number:032x}", size))
    return tuple(made)


@given(sizes, st.integers(500, 16_000))
def test_what_is_remembered_is_bounded_in_order_and_the_same_twice(drawn, ceiling):
    passages = sized(drawn)
    held = bound_passages(passages, ceiling)
    assert held == bound_passages(passages, ceiling)
    assert list(held) == [passage for passage in passages if passage in set(held)]
    assert len(held) <= 60 or sum(passage.size for passage in held) <= 60 * ceiling
    assert len(held) <= max(60, 0.15 * ceiling), "a thousand short ones cost as much as a thousand long ones"
    assert held[-1:] == passages[-1:], "the newest is never forgotten"


def test_short_passages_are_bounded_by_their_number():
    steps = tuple(Passage(step, PassageVoice.ACTION, f"{step:032x}", 1) for step in range(1, 2_001))
    assert bound_passages(steps[:600], 4_000) == steps[:600]
    assert bound_passages(steps[:601], 4_000) == steps[601 - 240 : 601], "two fifths of what there is room for"
    assert len(bound_passages(steps, 4_000)) == 240


@given(sizes, st.integers(500, 16_000))
def test_nothing_is_forgotten_before_something_older_that_was_said_in_the_same_voice(drawn, ceiling):
    passages = sized(drawn)
    held = set(bound_passages(passages, ceiling))
    for voice in PassageVoice:
        steps = [(passage.step, passage in held) for passage in passages if passage.voice is voice]
        gone = max((step for step, kept in steps if not kept), default=0)
        assert all(kept for step, kept in steps if step > gone) and not any(kept for step, kept in steps if step < gone)


def test_outputs_are_forgotten_before_thoughts_and_actions_of_the_same_age():
    passages = sized(
        [
            (voice, 2_000, voice is PassageVoice.ACTION)
            for _ in range(60)
            for voice in (PassageVoice.ACTION, PassageVoice.THOUGHT, PassageVoice.OUTPUT)
        ]
    )
    held = bound_passages(passages, 4_000)
    oldest = {
        voice: min(one.step for one in held if one.voice is voice)
        for voice in (PassageVoice.ACTION, PassageVoice.THOUGHT, PassageVoice.OUTPUT)
    }
    assert oldest[PassageVoice.ACTION] < oldest[PassageVoice.THOUGHT] < oldest[PassageVoice.OUTPUT] < 61


def test_after_forgetting_there_is_room_again_so_that_it_is_rare():
    held, forgot = tuple[Passage, ...](), 0
    for step in range(1, 400):
        before = (*held, Passage(step, PassageVoice.OUTPUT, f"{step:032x}", 3_000))
        held = bound_passages(before, 4_000)
        forgot += len(held) < len(before)
    assert 0 < forgot < 20
