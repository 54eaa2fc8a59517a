"""Markdown taken apart: nothing is lost, and only real headings count."""

from hypothesis import example, given
from hypothesis import strategies as st

from afresh.config.instructions.parse_instructions import parse_own_instructions, split_into_parts
from afresh.core.instructions import InstructionPart, NumberedLine

LINES = st.sampled_from(["", "text", "# A", "## B", "### C ##", "##", "#no", "```", "~~~~", "    # code", "- # item", "```py"])


def taken(text: str) -> tuple[InstructionPart, ...]:
    return split_into_parts([NumberedLine(number, line) for number, line in enumerate(text.split("\n"), 1)])


def told(text: str) -> list[tuple[tuple[str, ...], int, int]]:
    return [(part.path, part.first, part.last) for part in taken(text)]


def test_a_section_ends_where_the_next_heading_begins_and_knows_what_it_stands_under():
    text = "top\n\n## Testing\nuse pytest\n\n### Unit\nfast\n## Style\nplain\n"
    assert told(text) == [((), 1, 1), (("testing",), 3, 4), (("testing", "unit"), 6, 7), (("style",), 8, 9)]


def test_the_one_heading_above_all_others_is_the_title_and_no_section():
    assert told("# Parcel\nabout\n## Style\nplain") == [((), 1, 2), (("style",), 3, 4)]
    assert told("# Style\nplain") == [(("style",), 1, 2)], "alone it is a section like any other"
    assert told("# A\nx\n# B\ny") == [(("a",), 1, 2), (("b",), 3, 4)]


def test_a_heading_is_known_by_its_words():
    keys = {taken(text)[0].path for text in ("## Code **style**:", "# code style", "###  Code  Style. ###", "## `Code` style")}
    assert keys == {("code style",)}


def test_what_stands_in_a_fence_is_no_heading():
    assert told("```sh\n# format\n```\n# Real\nx\n~~~~\n```\n# no\n~~~\n~~~~\n# Next\ny") == [
        ((), 1, 3),
        (("real",), 4, 10),
        (("next",), 11, 12),
    ]
    assert told("```\n# never closed") == [((), 1, 2)]


@given(st.lists(LINES, max_size=14))
@example(["# A", "## B"])
def test_every_line_that_says_something_is_in_one_part_and_in_order(lines: list[str]):
    parts = taken("\n".join(lines))
    numbers = [line.number for part in parts for line in part.lines]
    said = [number for number, line in enumerate(lines, 1) if line.strip()]
    assert numbers == sorted(set(numbers)) and set(said) <= set(numbers)
    assert all(line.text == lines[line.number - 1] for part in parts for line in part.lines)


def test_front_matter_takes_style_patterns_and_free_text_and_says_what_it_does_not_know():
    head = "project: {name: calc, language: python}\nstyle: {max_line_length: 100}\npatterns: {errors: raise}\n"
    head += "instructions: |\n  Read first.\n"
    parsed = parse_own_instructions("AGENT.md", f"---\n{head}---\nMore.\n", (), False)
    assert not parsed.faults
    assert [(line.number, line.text) for part in parsed.parts for line in part.lines] == [
        (2, "- project name: calc"), (2, "- project language: python"), (3, "- max_line_length: 100"), (4, "- errors: raise"),
        (6, "Read first."), (8, "More."),
    ]  # fmt: skip
    (fault,) = parse_own_instructions("AGENT.md", "---\nstyl: {a: b}\n---\n", (), False).faults
    assert "styl" in fault.what and fault.next == "did you mean style?"
