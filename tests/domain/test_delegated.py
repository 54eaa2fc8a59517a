"""Whatever another agent did or said, what comes back of it is within its bounds."""

from hypothesis import given
from hypothesis import strategies as st

from afresh.domain.action import Usage
from afresh.domain.codec import dumps, loads
from afresh.domain.delegated import FILES, GOAL, LINE, LINES, PATH, SUMMARY, Delegated, Fate, Metrics, bounded

ANY = st.text() | st.text("ab \n\t\u2028\x00\u202e", max_size=3_000) | st.lists(st.just("word"), max_size=400).map(" ".join)
RESULTS = st.builds(
    Delegated, task=st.just("whole-2-1"), step=st.just(2), goal=ANY, status=st.sampled_from(Fate),
    files=st.lists(ANY, max_size=40).map(tuple), state=st.lists(ANY, max_size=9).map(tuple), summary=ANY,
    metrics=st.builds(Metrics, st.integers(0, 10**6), st.integers(0, 10**6), st.builds(Usage, st.integers(0), st.integers(0))),
)  # fmt: skip


@given(RESULTS)
def test_a_result_is_within_its_bounds(found: Delegated) -> None:
    told = bounded(found)
    assert len(told.summary.split()) < 100 and len(told.summary) <= SUMMARY and len(told.goal) <= GOAL
    assert len(told.files) <= FILES and all(len(path) <= PATH for path in told.files)
    assert len(told.state) <= LINES and all(len(line) <= LINE for line in told.state)
    assert len(told.files) + told.more == len(found.files)
    assert len(told.text.splitlines()) == 5, "nothing in it can pass for another line of it"
    assert bounded(told) == told and loads(Delegated, dumps(told)) == told


def test_a_summary_of_a_hundred_words_is_cut_and_says_so() -> None:
    found = Delegated("one-2-1", 2, "goal", Fate.DONE, (), (), "word " * 100, Metrics())
    assert bounded(found).summary == "word " * 98 + "…"


def test_money_is_told_where_it_was_spent() -> None:
    assert "$0.0123" in Metrics(money=12_300_000).words
    assert "$" not in Metrics(money=None).words + Metrics(money=0).words
