"""What counts as a name or a line, and where it was last seen."""

import pytest

from afresh.replay.measure_run import (
    LINE_KIND,
    NAME_KIND,
    CodeReference,
    ReferenceIndex,
    ReferenceSighting,
    find_lines,
    find_names,
)
from afresh.replay.run import MESSAGE_USER_TOOL, RecordedStep


def step(action: str = "", observation: str = "", thought: str = "", said: str = "", tool: str = "bash") -> RecordedStep:
    return RecordedStep(thought, tool, action, observation, said)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("open src/app.py now", {"src/app.py"}),
        ("call parse_header(text)", {"parse_header"}),
        ("class HeaderParser:", {"HeaderParser"}),
        ("utf8 sha256 python3", {"sha256", "python3"}),
        ("plain words only", set()),
        ("a_b", set()),
        ("see `tests/unit/`, and -- --all.", {"tests/unit"}),
        ("../up/there.txt ~/home.cfg", {"/up/there.txt", "~/home.cfg"}),
    ],
)
def test_names_are_words_that_look_like_code(text: str, found: set[str]):
    assert find_names(text) == found


def test_lines_are_long_and_not_rulers():
    text = "short\n    return header.strip()\n" + "=" * 40 + "\n\n-- -- -- -- -- -- -- --\n"
    assert find_lines(text) == {"return header.strip()"}


def test_a_thing_is_needed_if_it_was_seen_and_is_not_in_the_task():
    seen = ReferenceIndex("mend src/app.py")
    seen.note(1, step("cat src/app.py", "from lib.core import load_all"))
    wanted = seen.needed(step("grep load_all src/app.py other/file.py"))
    assert wanted == [(CodeReference(NAME_KIND, "load_all"), ReferenceSighting(1, "observation"))]


def test_the_last_sighting_counts_and_the_output_comes_after_the_action():
    seen = ReferenceIndex("")
    seen.note(1, step("run first_thing", "first_thing says so"))
    seen.note(2, step("echo", thought="first_thing again?"))
    seen.note(3, step(said="look at other_thing"))
    found = dict(seen.needed(step("use first_thing and other_thing")))
    assert found == {
        CodeReference(NAME_KIND, "first_thing"): ReferenceSighting(2, "thought"),
        CodeReference(NAME_KIND, "other_thing"): ReferenceSighting(3, "said"),
    }


def test_a_whole_line_is_a_thing_of_its_own():
    seen = ReferenceIndex("")
    seen.note(1, step(observation="    total = sum(amounts_of(basket))\n"))
    assert [thing.kind for thing, _ in seen.needed(step("sed -i\ntotal = sum(amounts_of(basket))\n"))] == [LINE_KIND, NAME_KIND]


def test_talk_needs_nothing():
    seen = ReferenceIndex("")
    seen.note(1, step("cat some/file.py"))
    assert not seen.needed(step("I have read some/file.py", tool=MESSAGE_USER_TOOL))
