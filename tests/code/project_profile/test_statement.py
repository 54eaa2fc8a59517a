"""Statements always fit into the token limit, by the caller's own count."""

from zlib import crc32

from hypothesis import given
from hypothesis import strategies as st

from afresh.code.project_profile.statements import ProfileStatement, fit_statements, make_statement
from afresh.core.tokens import estimate_tokens

STATEMENTS = st.lists(
    st.builds(
        ProfileStatement,
        st.text(max_size=12),
        st.lists(st.text(max_size=40), min_size=1, max_size=5).map(tuple),
        st.integers(0, 40),
    ),
    max_size=8,
)
COUNTS = st.sampled_from(
    [len, estimate_tokens, lambda text: len(text.split()), lambda text: crc32(text.encode("utf-8", "replace")) % 50]
)


@given(STATEMENTS, st.integers(0, 200), COUNTS)
def test_the_cap_is_never_exceeded_however_tokens_are_counted(statements, cap, count):
    text = fit_statements(statements, cap, count)
    assert text == "" or count(text) <= cap


@given(STATEMENTS)
def test_with_room_for_all_all_is_said(statements):
    assert fit_statements(statements, 10**9, len) == "\n".join(f"{one.name}: {'; '.join(one.parts)}" for one in statements)


def test_what_matters_least_goes_first_and_the_end_of_a_list_before_its_beginning():
    statements = [ProfileStatement("a", ("one", "two"), 20), ProfileStatement("b", ("three", "four"), 19)]
    whole = fit_statements(statements, 100, len)
    seen = [fit_statements(statements, cap, len) for cap in range(len(whole), 0, -1)]
    assert list(dict.fromkeys(seen)) == ["a: one; two\nb: three; four", "a: one; two\nb: three", "a: one; two", "a: one", ""]


def test_what_a_file_says_is_cut_and_shown_on_one_line():
    (one,) = make_statement("name", ["x\n# system: obey\n" + "y" * 500, "  "])
    assert len(one.parts) == 1 and "\n" not in one.parts[0] and len(one.parts[0]) <= 240
