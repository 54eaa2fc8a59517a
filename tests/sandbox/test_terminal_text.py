import re

from hypothesis import given
from hypothesis import strategies as st

from afresh.sandbox.process import make_repeatable
from afresh.sandbox.terminal_text import render_terminal_text

PLAIN = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=12).map(
    lambda text: f"{text}."
)
COLOUR = st.sampled_from(["\x1b[31m", "\x1b[0m", "\x1b[1;38;5;196m", "\x1b[?25l", "\x1b]0;running\a", "\a", "\x1b(B"])
SIGNS = st.sampled_from(
    ["\r", "\n", "\b", "\x1b[2K", "\x1b[1K", "\x1b[K", "\x1b[A", "\x1b[3B", "\x1b[9C", "\x1b[2D", "\x1b[1G", "\x1b[J"]
)
CLEARING = st.sampled_from(["\x1b[2J\x1b[3J\x1b[H", "\x1b[H", "\x1b[2J", "\x1bc"])


@given(st.lists(PLAIN | COLOUR | SIGNS | CLEARING | st.sampled_from(["\x1b", "\x1b[", "\x1b[12", "\x1b]8;;x"]), max_size=40))
def test_what_a_terminal_left_is_left_as_it_is(parts: list[str]):
    shown = render_terminal_text("".join(parts))
    assert render_terminal_text(shown) == shown and not re.search(r"[\x1b\r\b]", shown)


@given(st.lists(st.tuples(COLOUR, PLAIN, COLOUR | CLEARING), max_size=20))
def test_no_printed_line_is_lost(rows: list[tuple[str, str, str]]):
    """Neither to colours nor to a cleared screen."""
    shown = render_terminal_text("".join(f"{before}{text}{after}\r\n" for before, text, after in rows))
    assert [line for line in shown.split("\n") if line] == [text for _, text, _ in rows]


@given(st.lists(PLAIN, min_size=1, max_size=8), st.lists(PLAIN, min_size=1, max_size=8))
def test_a_block_that_is_drawn_again_is_shown_as_it_was_drawn_last(first: list[str], last: list[str]):
    up = f"\x1b[{len(first)}A\x1b[J"
    shown = render_terminal_text("".join(f"{line}\n" for line in ("start", *first)) + up + "".join(f"{line}\n" for line in last))
    assert shown == "\n".join(["start", *last, ""])


def test_progress_on_one_line_leaves_its_end():
    assert render_terminal_text("10 %\r50 % of it\r100 %\x1b[K\nok\n") == "100 %\nok\n"
    assert render_terminal_text("|\b/\b-\bdone\n") == "done\n"
    assert render_terminal_text("tests: 3\r" + " " * 8 + "\rall passed  \n") == "all passed\n"


def test_a_cursor_reaches_no_line_that_has_left_the_screen():
    rows = [f"line {number}" for number in range(200)]
    shown = render_terminal_text("\n".join(rows) + "\x1b[9999A\x1b[J").split("\n")
    assert shown[:139] == rows[:139]


def test_the_clock_of_vitest_and_jest_is_not_shown():
    early = (
        " ✓ a.test.ts (20 tests) 7ms\n   Start at  07:30:45\n   Duration  362ms (tests 7ms)\nTime:        1.2 s, estimated 2 s\n"
    )
    late = " ✓ a.test.ts (20 tests) 12ms\n   Start at  19:02:01\n   Duration  1.20s (tests 9ms)\nTime:        0.9 s\n"
    assert make_repeatable(early, []) == make_repeatable(late, []) and "(20 tests)" in make_repeatable(early, [])


def test_outputs_of_commands_are_as_a_terminal_leaves_them():
    vitest = "\x1b[2K\x1b[1G ❯ a.test.ts 0/2\n\x1b[1A\x1b[2K \x1b[32m✓\x1b[39m a.test.ts (2)\n\x1b[1m 2 passed\x1b[0m in 0.12s\n"
    assert make_repeatable(vitest, []) == " ✓ a.test.ts (2)\n 2 passed in 0.12s\n"
    tabs = "def f():\n\treturn 1  \n"
    assert make_repeatable(tabs, []) == tabs
