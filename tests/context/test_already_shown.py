"""Files that a prompt shows whole, by path and line number."""

from item_samples import excerpt

from afresh.context.already_shown import collect_shown_lines, find_fully_shown_files
from afresh.context.section import SectionPiece
from afresh.core.context_item import LineGap, MapEntry
from afresh.core.prompt import Section, Tier


def piece(path: str, first: int, text: str) -> SectionPiece:
    shown = excerpt(path, first, text)
    return SectionPiece("", "lines", group=path, item=shown).with_lines(shown.body)


LISTED = [MapEntry("my dir/a.py", 3), MapEntry("b.py", 3), MapEntry("src: c.py")]


def test_a_file_is_shown_whole_when_its_parts_have_all_its_lines_whatever_its_name():
    parts = [piece("my dir/a.py", 1, "a\nb"), piece("my dir/a.py", 2, "b\nc"), piece("b.py", 1, "a\nb")]
    assert find_fully_shown_files(LISTED, parts) == {"my dir/a.py"}


def test_lines_that_a_stub_stands_for_are_not_shown():
    parts = [piece("b.py", 1, "a\nb").with_lines([LineGap(1, 3)]), piece("b.py", 3, "c")]
    assert not find_fully_shown_files(LISTED, parts)


def test_lines_of_files_are_known_as_searches_and_printed_files_show_them():
    files = Section("files", Tier.PHASE, "", 0), [piece("my dir/a.py", 7, "    return 1")]
    shown = collect_shown_lines(["## Notes\nuse tabs"], [files])
    assert {
        "use tabs",
        "return 1",
        "7: return 1",
        "my dir/a.py:7: return 1",
        "7\t    return 1",
        "my dir/a.py:7:    return 1",
    } <= shown


def test_lines_that_an_output_shows_with_numbers_are_known_without_them():
    last = Section("last", Tier.DEMAND, "", 0), [SectionPiece("a.py:12: return total\n  13\treturn None", "output 0 of run")]
    assert {"return total", "return None"} <= collect_shown_lines([], [last])
