"""Which lines of a prompt replies drew on, and how much of each section that is."""

from collections.abc import Iterable

import pytest

from afresh.context.measure_yield import (
    AnsweredCall,
    CallYield,
    SectionYield,
    drop_line_number,
    measure_call,
    measure_yields,
    render_reply_words,
)
from afresh.core.action import Action
from afresh.core.prompt import Section, Tier

LONG_LINE = "return subtotal * rate + fee"
OTHER_LINE = "raise KeyError(missing_name)"
"""Of the same length."""


def section(name: str, *lines: str, tokens: int = 100) -> Section:
    return Section(name, Tier.PHASE, "\n".join(lines), tokens)


def whole(sections: Iterable[SectionYield]) -> SectionYield:
    return sum(sections, SectionYield(""))


def shares(call: CallYield) -> dict[str, tuple[float, float]]:
    return {one.name: (one.tokens, one.share) for one in call.sections}


def test_a_line_that_the_reply_repeats_whole_is_drawn_on():
    files = section("files", f"   12 {LONG_LINE}", f"   13 {OTHER_LINE}")
    assert measure_call([files], f"x\n  {LONG_LINE}\n") == [SectionYield("files", 100.0, 50.0)]


@pytest.mark.parametrize("line", [LONG_LINE, f"  {LONG_LINE}  ", f"   12 {LONG_LINE}", f"+  12 {LONG_LINE}", f"12: {LONG_LINE}"])
def test_the_number_before_a_line_is_not_part_of_it(line: str):
    assert drop_line_number(line) == LONG_LINE


def test_a_short_line_may_be_repeated_by_accident():
    assert measure_call([section("files", "x = 1", "y = 2")], "x = 1")[0].share == 0


@pytest.mark.parametrize(("lines", "share"), [(3, 1.0), (4, 0.0)])
def test_a_word_that_many_lines_have_does_not_say_which_was_used(lines: int, share: float):
    found = measure_call([section("files", *["parse_header(a)"] * lines)], "fix parse_header now")
    assert found[0].share == pytest.approx(share)


def test_short_words_are_no_names():
    assert measure_call([section("files", "if a in seen")], "seen")[0].share == 0


def test_what_a_reply_says_is_in_the_arguments_of_its_actions():
    edits = [{"path": "src/a.py", "old": "one", "new": "two\nthree"}]
    words = render_reply_words([Action("edit", {"edits": edits, "times": 2}), Action("run", {"command": "pytest"})])
    assert words.splitlines() == ["edits", "path", "src/a.py", "old", "one", "new", "two", "three", "times", "command", "pytest"]


def test_the_next_reply_counts_and_the_one_after_it_does_not():
    calls = [AnsweredCall(step, (section("files", LONG_LINE),), said) for step, said in ((1, ""), (2, ""), (3, LONG_LINE))]
    assert [whole(call.sections).share for call in measure_yields(calls)] == [0, 1, 1]


def test_sections_of_one_name_are_added_up_in_a_call():
    turns = section("turn", LONG_LINE, tokens=30), section("turn", OTHER_LINE, tokens=10)
    (call,) = measure_yields([AnsweredCall(1, turns, LONG_LINE)])
    assert shares(call) == {"turn": (40, 0.75)}


def test_a_text_that_is_sent_again_counts_once_as_new_text_and_is_drawn_on_by_any_reply():
    base = section("files", LONG_LINE, tokens=50)
    turn = section("turn", OTHER_LINE, tokens=20)
    calls = [
        AnsweredCall(1, (base,), "nothing"),
        AnsweredCall(2, (base, turn), "nothing"),
        AnsweredCall(3, (base, turn), LONG_LINE),
    ]
    found = measure_yields(calls)
    assert [whole(call.sections).tokens for call in found] == [50, 70, 70]
    assert [call.new for call in found] == [(SectionYield("files", 50, 50),), (SectionYield("turn", 20, 0),), ()]


def test_a_text_that_comes_back_is_new_again():
    base, other = section("files", LONG_LINE, tokens=50), section("files", OTHER_LINE, tokens=50)
    found = measure_yields([AnsweredCall(step, (one,), "") for step, one in enumerate((base, other, base), 1)])
    assert [whole(call.new).tokens for call in found] == [50, 50, 50]


def test_a_line_that_a_prompt_has_twice_counts_twice():
    found = measure_yields([AnsweredCall(1, (section("files", LONG_LINE, LONG_LINE),), LONG_LINE)])
    assert whole(found[0].new) == SectionYield("", 100, 100)


def test_an_empty_section_has_no_yield():
    assert measure_call([section("empty", "", " ", tokens=0)], "anything") == [SectionYield("empty")]
    assert SectionYield("empty").share == 0
    assert measure_yields([]) == []
