"""Excerpts: whole definitions, numbered as they are, marked where they changed."""

import difflib

from hypothesis import given
from hypothesis import strategies as st

from afresh.context.file_chunks import cut_excerpt, extract_function_source, find_excerpt_names, split_into_chunks
from afresh.core.change import Hunk, find_added_lines
from afresh.core.line_region import Region, move_regions

SOURCE = '''\
"""Doc."""

import os

LIMIT = 3


@decorated
def first(x):
    """Says."""
    a = 1
    b = 2
    c = 3
    d = 4
    return x


class Second:
    def method(self):
        one = 1
        two = 2
        three = 3
        four = 4
        return one

    def other(self):
        return 2
'''
LINES = SOURCE.splitlines()
texts = st.lists(
    st.sampled_from(["def f():", "    x = 1", "", "y = 2", "class C:", "    def g(self):", "        pass"]), max_size=200
)


@given(texts)
def test_chunks_cover_every_line_once_and_in_order(lines):
    parts = split_into_chunks(lines)
    assert [number for start, end in parts for number in range(start, end + 1)] == list(range(1, len(lines) + 1))
    assert all(end - start < 80 for start, end in parts)


@given(st.lists(st.integers(2, 79), min_size=1, max_size=6), st.booleans())
def test_a_method_is_never_split_and_large_ones_are_apart(sizes, braces):
    lines = ["class Box {" if braces else "class Box:"]
    for name, size in enumerate(sizes):
        head = f"  async method_{name}(value) {{" if braces else f"    def method_{name}(self):"
        body = [
            "    if (value) {" if braces and number % 7 == 0 else "" if number % 5 == 0 else "        pass"
            for number in range(size - 2)
        ]
        lines += [head, *body, "  }" if braces else "        return None"]
    parts, starts = split_into_chunks(lines), [number for number, line in enumerate(lines, 1) if "method_" in line]
    for start, size in zip(starts, sizes, strict=True):
        assert [part for part in parts if part[0] <= start and start + size - 1 <= part[1]], (start, parts)
    assert all(sum(first <= start <= last for start in starts) == 1 for first, last in parts if last - first >= 70)


def test_a_decorator_stays_with_what_it_decorates():
    (start, end) = next(part for part in split_into_chunks(LINES) if part[0] <= 9 <= part[1])
    assert start <= 8 and "@decorated" in LINES[start - 1 : end]


def test_a_body_is_never_shown_without_the_lines_that_name_it():
    shown = list(map(str, cut_excerpt("a.py", LINES, (22, 24), {23}).body))
    assert [line[5:].strip() for line in shown[:2]] == ["class Second:", "def method(self):"]
    assert shown[-2].startswith("+  23 ") and shown[-1].startswith("   24 ")


def test_a_title_names_constants_and_definitions():
    assert find_excerpt_names(LINES, 1, 9) == ("LIMIT", "first")


def test_a_function_is_named_before_constants_when_there_is_no_place_for_all():
    lines = [*[f"{letter} = 1" for letter in "ABCDE"], "def first():", "    pass"]
    assert find_excerpt_names(lines, 1, 7) == ("first", "A", "B", "C", "…")
    assert find_excerpt_names(lines[2:], 1, 5) == ("C", "D", "E", "first")


def test_the_source_of_a_test_method_is_found_by_its_path_of_names():
    assert extract_function_source(SOURCE, ["Second", "other"]).strip().startswith("def other(self):")
    assert extract_function_source(SOURCE, ["Second", "nothing"]) == ""
    assert extract_function_source("not python (", ["x"]) == ""


def patch(before: list[str], after: list[str], context: int = 0) -> str:
    return "\n".join(line.rstrip("\n") for line in difflib.unified_diff(before, after, "a", "b", n=context, lineterm=""))


numbers = st.lists(st.integers(0, 9).map(lambda n: f"line {n}"), min_size=3, max_size=40)


@given(numbers, numbers, st.integers(0, 3))
def test_the_lines_that_a_patch_adds_are_found_where_they_are_now(before, after, context):
    added = find_added_lines(patch(before, after, context))
    matcher = difflib.SequenceMatcher(None, before, after)
    expected = {n + 1 for tag, _, _, start, end in matcher.get_opcodes() if tag != "equal" for n in range(start, end)}
    assert added == expected


@given(st.integers(1, 30), st.integers(0, 10), st.integers(1, 20), st.integers(0, 10))
def test_a_region_below_a_change_still_shows_the_same_lines(start, grown, place, removed):
    before = [f"line {n}" for n in range(1, 61)]
    place = min(place, 60 - removed)
    after = [*before[: place - 1], *(["new"] * grown), *before[place - 1 + removed :]]
    hunk = Hunk("a.py", place if removed else place - 1, removed, place if grown else place - 1, grown)
    region = Region("a.py", start + 20 + removed, start + 22 + removed, 1)
    if region.start <= place + removed or not (grown or removed):
        return
    found = [one for one in move_regions((region,), (hunk,), 2) if not one.changed]
    assert [after[one.start - 1 : one.end] for one in found] == [before[region.start - 1 : region.end]]
