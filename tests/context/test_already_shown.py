"""Lines that a prompt shows, as other sections would show them."""

from item_samples import excerpt

from afresh.context.already_shown import collect_shown_lines
from afresh.context.section import SectionPiece
from afresh.core.prompt import Section, Tier


def piece(path: str, first: int, text: str) -> SectionPiece:
    shown = excerpt(path, first, text)
    return SectionPiece("", "lines", group=path, item=shown).with_lines(shown.body)


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
